# SPDX-License-Identifier: Apache-2.0
"""Runs the program as a user would and checks what it prints and how it exits. Needs nothing but Python.

cli_test.py PROGRAM REPOSITORY
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

PROGRAM, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLES = REPOSITORY / "examples"
ADD = EXAMPLES / "test_cc_sequence_map_add_1_sequence_1_tensor"
IR = EXAMPLES / "lstm_sequence_ir"


def call(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Cli(unittest.TestCase):
    def succeed(self, *arguments):
        code, out, err = call(*arguments)
        self.assertEqual((code, err), (0, ""))
        return out

    def fail_with(self, message, *arguments, code=1):
        got, out, err = call(*arguments)
        self.assertEqual((got, out), (code, ""))
        self.assertIn(message, err)

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"^onnxseq \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_2(self):
        commands = "run, bench, shapes, convert, info, check, ops (see onnxseq --help)\n"
        self.fail_with("onnxseq: a command is needed: " + commands, code=2)
        self.fail_with("onnxseq: there is no command ran: " + commands, "ran", ADD / "model.onnx", code=2)
        self.fail_with("onnxseq: MODEL is required (see onnxseq run --help)\n", "run", code=2)
        self.fail_with("--no-such-option", "run", ADD / "model.onnx", "--no-such-option", code=2)
        self.fail_with("--no-such-option", "run", ADD / "model.onnx", "folder", "--no-such-option", code=2)
        arguments = ("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz")
        self.fail_with("there is no option --no-such-option", *arguments, "--no-such-option", "3", code=2)
        self.fail_with("-q", "run", ADD / "model.onnx", "-q", code=2)
        self.fail_with("--threads", "run", ADD / "model.onnx", "--threads", "-1", code=2)
        self.fail_with("--timeout: must be a positive number, got -1", *arguments, "--timeout", "-1", code=2)
        self.fail_with("--memory-limit: must be a positive number, got 0", *arguments, "--memory-limit", "0", code=2)
        self.fail_with("must be 0 to 4096, got x", *arguments, "--threads", "x", code=2)
        self.fail_with(
            "--sequence-map: must be auto, elements, stacked or packed, got all",
            *arguments,
            "--sequence-map",
            "all",
            code=2,
        )

    def test_help_names_what_options_take(self):
        for command in ("run", "bench", "shapes", "convert", "info", "check", "ops"):
            text = self.succeed(command, "--help")
            self.assertIn(f"Usage: onnxseq {command}", text)
            for word in ("TEXT", "INT", "FLOAT", "Excludes", "REQUIRED", "{false}"):
                self.assertNotIn(word, text)
        self.assertIn("  --timeout SECONDS", self.succeed("run", "--help"))

    def test_operators_page_is_up_to_date(self):
        page = (REPOSITORY / "docs" / "operators.md").read_text()
        self.assertEqual(self.succeed("ops", "--markdown"), page, "run `make docs`")

    def test_ops_json_says_types_and_attributes(self):
        ops = {op["op_type"]: op for op in json.loads(self.succeed("ops", "--json"))}
        clip = ops["Clip"]["versions"]
        self.assertEqual([version["since_version"] for version in clip], ops["Clip"]["since_versions"])
        self.assertEqual(
            clip[0]["inputs"],
            [
                {
                    "name": "input",
                    "kind": "tensor",
                    "optional": False,
                    "variadic": False,
                    "types": ["float", "float16", "double", "bfloat16"],
                }
            ],
        )
        self.assertEqual(clip[0]["attributes"][0], {"name": "min", "kind": "float", "required": False})
        self.assertEqual(
            (clip[0]["kernel"], clip[0]["shape"], clip[0]["batching"]), ("elementwise", "own", "elementwise")
        )

    def test_explain(self):
        arguments = ("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz")
        out = self.succeed(*arguments)
        explained = self.succeed(*arguments, "--explain")
        plain = 'SequenceMap "map"\n  not stacked: with elements so few, or so large, nothing is gained\n'
        self.assertEqual(explained, "2 nodes, 2 after the passes\n" + plain + out)
        stacked = self.succeed(*arguments, "--explain", "--sequence-map", "stacked")
        self.assertIn('SequenceMap "map"\n  stacked: 3 elements in 1 group, 1 node for all of a group\n', stacked)
        self.assertEqual(self.succeed(*arguments, "--explain", "--no-optimize"), "the nodes run as they are\n" + out)
        as_json = json.loads(self.succeed(*arguments, "--explain", "--json"))
        self.assertEqual(as_json["explain"], "2 nodes, 2 after the passes\n" + plain)

    def test_convert_optimize(self):
        with tempfile.TemporaryDirectory() as folder:
            text, out = pathlib.Path(folder, "in.onnxtxt"), pathlib.Path(folder, "out.onnxtxt")
            text.write_text(
                '<ir_version: 8, opset_import: ["" : 17]>\n'
                "g (float[2] x) => (float[2] y) { a = Identity(x) b = Neg(a) y = Abs(b) }"
            )
            self.succeed("convert", text, out, "--optimize")
            self.assertEqual(out.read_text().count("="), 3)  # the graph's own, two nodes
            self.assertNotIn("Identity", out.read_text())

    def test_convert_batch_sequence_map(self):
        with tempfile.TemporaryDirectory() as folder:
            text, out = pathlib.Path(folder) / "in.onnxtxt", pathlib.Path(folder) / "out.onnxtxt"
            text.write_text(
                '<ir_version: 8, opset_import: ["" : 17]>\n'
                "g (float[N,2] x, int64[K] sizes) => (float[N,2] y, seq(int64) z) {\n"
                "  xs = SplitToSequence <axis = 0> (x, sizes)\n"
                "  [neg] ys = SequenceMap <body = b (float[L,2] e) => (float[L,2] r) { r = Neg(e) }> (xs)\n"
                "  y = ConcatFromSequence <axis = 0> (ys)\n"
                "  z = SequenceMap <body = b (float[L,2] e) => (int64[2,M] r) { r = NonZero(e) }> (xs)\n"
                "}"
            )
            code, printed, err = call("convert", text, out, "--batch-sequence-map")
            self.assertEqual((code, printed), (0, ""))
            self.assertEqual(
                err,
                'onnxseq: SequenceMap node "neg": packed along axis 0, 1 node for all elements\n'
                'onnxseq: SequenceMap node of "z": left as it is: NonZero: there is no rule for it\n',
            )
            written = out.read_text()
            self.assertEqual(written.count("SequenceMap"), 1)
            self.assertIn("y = Neg(x)", written)
            self.assertNotIn("ConcatFromSequence", written)

    def test_run_prints_outputs(self):
        out = self.succeed("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz")
        self.assertEqual(
            out,
            "y0: seq(tensor(float)), 3 elements\n"
            "  [0] tensor(float)[4] = [100, 201, 302, 403]\n"
            "  [1] tensor(float)[4] = [99, 198, 297, 396]\n"
            "  [2] tensor(float)[4] = [100.5, 201.5, 302.5, 403.5]\n",
        )

    def test_run_json_and_outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out.npz"
            arguments = (
                "run",
                ADD / "model.onnx",
                "--inputs",
                ADD / "inputs.npz",
                "--json",
                "--repeat",
                "3",
                "--outputs",
                path,
            )
            result = json.loads(self.succeed(*arguments))
            self.assertEqual(result["runs"], 3)
            self.assertEqual(result["outputs"]["y0"]["elements"][1]["data"], [99, 198, 297, 396])
            # What was written can be fed again.
            again = self.succeed("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz", "--input", f"x0_seq={path}")
            self.assertIn("[0] tensor(float)[4] = [200, 401, 602, 803]", again)

    def test_run_random(self):
        first = self.succeed("run", IR / "model.xml", "--random", "X_0=2,X_1=3,H0_0=2,C0_0=2,lens_0=2")
        again = self.succeed("run", IR / "model.xml", "--random", "X_0=2,X_1=3,H0_0=2,C0_0=2,lens_0=2", "--seed", "0")
        self.assertEqual(first, again)
        self.assertIn("Y: tensor(float)[2,2,3,4]", first)
        self.fail_with("dim 'X_1' has no size", "run", IR / "model.xml", "--random", "X_0=2")
        # The other dims are equal to these.
        self.assertIn("Y: tensor(float)[2,2,3,4]", self.succeed("run", IR / "model.xml", "--random", "X_0=2,X_1=3"))
        ranged = self.succeed("run", IR / "model.xml", "--random", "X_0=2,X_1=3,lens=3..3")
        self.assertIn("Y: tensor(float)[2,2,3,4]", ranged)
        self.fail_with("no input has a dim 'Q', there are:", "run", IR / "model.xml", "--random", "X_0=2,X_1=3,Q=1")

    def test_run_errors(self):
        self.fail_with("no_such.onnx", "run", "no_such.onnx")
        self.fail_with('input "x0_seq": is missing', "run", ADD / "model.onnx")
        self.fail_with("no input 'q'", "run", ADD / "model.onnx", "--input", "q=x.npy")
        self.fail_with("expected NAME=FILE", "run", ADD / "model.onnx", "--input", "x1", code=2)
        self.fail_with(
            "--seed: must be 0 or a positive number, got -1", "run", ADD / "model.onnx", "--seed", "-1", code=2
        )
        self.fail_with("--random:", "run", ADD / "model.onnx", "--random", "N=x", code=2)

    def test_bench(self):
        lstm = EXAMPLES / "sequence_map_lstm_ragged"
        arguments = ("bench", lstm / "model.onnx", "--inputs", lstm / "inputs.npz", "--repeat", "3", "--threads", "1")
        self.assertRegex(
            self.succeed(*arguments), r"^load .* ms, first run .* ms, 3 more: median .* ms, fastest .* ms\n$"
        )
        text = self.succeed(*arguments, "--accuracy")
        self.assertRegex(text, r"weights int8: load .* times as fast as f32\n  ys: largest error ")
        report = json.loads(self.succeed(*arguments, "--accuracy", "--json"))
        self.assertEqual(report["runs"], 3)
        self.assertEqual(list(report["weights"]), ["f32", "bf16", "int8"])
        self.assertEqual(report["weights"]["f32"]["errors"], {})
        for weights in ("bf16", "int8"):
            error = report["weights"][weights]["errors"]["ys"]
            self.assertTrue(0 < error["largest"] < 0.01 and error["relative"] < 0.05, error)

    def test_bench_warns_once(self):
        conv = REPOSITORY / "tests" / "data" / "runtime" / "ort_extended_conv"
        command = [PROGRAM, "bench", conv / "model.onnx", "--inputs", conv / "inputs.npz", "--accuracy"]
        missing = {**os.environ, "ONNXSEQ_DNN": "/nowhere/libonnxseq_dnn.so"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=missing)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(
            done.stderr, r"^warning: cannot find /nowhere/libonnxseq_dnn\.so, the module with oneDNN: .*\n$"
        )

    def test_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = pathlib.Path(folder) / "trace.npz", pathlib.Path(folder) / "profile.json"
            arguments = ("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz")
            self.succeed(*arguments, "--trace", path, "--profile", out)
            with zipfile.ZipFile(path) as archive:
                names = sorted(archive.namelist())
            self.assertEqual(names[:3], [f"/map/body/c/{i}.npy" for i in range(3)])
            self.assertEqual(names[3:6], [f"y0/{i}.npy" for i in range(3)])
            events = json.loads(out.read_text())["traceEvents"]
            self.assertEqual(sorted(e["cat"] for e in events), ["Add", "Add", "Add", "SequenceMap"])
            self.assertEqual(events[0]["cat"], "SequenceMap")
            self.assertTrue(all(e["ph"] == "X" and e["dur"] > 0 for e in events))
            self.assertEqual(events[1]["args"], {"path": "/map/body"})
            self.fail_with("excludes", *arguments, "--trace", path, "--repeat", "2", code=2)

    def test_limits(self):
        arguments = ("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz")
        self.fail_with("needs 16 more bytes, 0 of the limit of 1 are in use", *arguments, "--memory-limit", "1e-6")
        self.fail_with("the run takes longer than its limit of 0 ms", *arguments, "--timeout", "1e-9")

    def test_output_that_cannot_be_written(self):
        for arguments in (("ops",), ("--version",), ("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz")):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"the output cannot be written", done.stderr)
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([PROGRAM, "ops"], stdout=writing, stderr=subprocess.PIPE, timeout=60)
        os.close(writing)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the output cannot be written: Broken pipe", done.stderr)

    def test_interrupt_ends_a_run(self):
        process = subprocess.Popen(
            [PROGRAM, "run", str(IR / "model.xml"), "--random", "X_0=64,X_1=200000,H0_0=64,C0_0=64,lens_0=64"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(
                signal.SIGINT, signal.SIG_DFL
            ),  # shells ignore it for what they start aside
        )
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=5)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_shapes_table(self):
        out = self.succeed("shapes", EXAMPLES / "sequence_map_lstm_ragged" / "model.onnx")
        self.assertIn("body of map:\n", out)
        self.assertRegex(out, r"(?m)^ys +seq\(tensor\(float\)")
        self.assertRegex(out, r"(?m)^  y4 +tensor\(float\)\[")

    def test_shapes_json(self):
        arguments = ("shapes", IR / "model.xml", "--json", "--dim", "X_0=2", "--shape", "lens=2")
        result = json.loads(self.succeed(*arguments))
        self.assertEqual(result["model"], str(IR / "model.xml"))
        self.assertEqual(result["values"]["Y"], {"kind": "tensor", "dtype": "float32", "shape": [2, 2, "X_1", 4]})
        self.assertEqual(result["problems"], [])
        result = json.loads(self.succeed("shapes", EXAMPLES / "sequence_map_lstm_ragged" / "model.onnx", "--json"))
        self.assertEqual(result["values"]["ys"]["kind"], "sequence")
        self.assertEqual([graph["path"] for graph in result["subgraphs"]], ["/map/body"])
        self.fail_with("'x' is no size", "shapes", ADD / "model.onnx", "--dim", "N=x", code=2)

    def test_shapes_writes_a_model(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out.onnx"
            self.succeed("shapes", ADD / "model.onnx", "-o", path)
            self.succeed("run", path, "--inputs", ADD / "inputs.npz")

    def test_shapes_written_are_those_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            text, path = pathlib.Path(folder) / "m.onnxtxt", pathlib.Path(folder) / "out.onnxtxt"
            text.write_text('<ir_version: 8, opset_import: ["": 17]> g (float[N] x) => (y) { z = Neg (x) y = Neg (z) }')
            self.succeed("shapes", text, "--dim", "N=4", "-o", path)
            self.assertIn("g (float[4] x) => (float[4] y)\n  <float[4] z>\n", path.read_text())
            self.succeed("shapes", text, "--shape", "x=2*K", "-o", path)
            self.assertIn('g (float["2*K"] x) => (float["2*K"] y)\n', path.read_text())

    def test_convert(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.assertEqual(self.succeed("convert", ADD / "model.onnx", folder / "m.onnxtxt"), "")
            self.assertIn("SequenceMap", (folder / "m.onnxtxt").read_text())
            self.succeed("convert", folder / "m.onnxtxt", folder / "m.onnx")
            expected = self.succeed("run", ADD / "model.onnx", "--inputs", ADD / "inputs.npz")
            for name in ("m.onnx", "m.onnxtxt"):
                self.assertEqual(self.succeed("run", folder / name, "--inputs", ADD / "inputs.npz"), expected)
            self.fail_with("OpenVINO IR cannot say this model", "convert", folder / "m.onnx", folder / "m.xml")
            words = ["convert", folder / "m.onnx", folder / "other.onnx", "--ir-version", "10"]
            self.fail_with("--ir-version: OUT is no OpenVINO IR, whose name ends in .xml", *words, code=2)
            words = ["convert", folder / "m.onnx", folder / "m.xml", "--external-data", "1"]
            self.fail_with("--external-data: an OpenVINO IR has its weights in a .bin", *words, code=2)

    def test_external_data(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            text = (
                '<ir_version: 8, opset_import: ["": 17]> g (float[N] x) => (y) <float[300] w = {%s}> { y = Add (x, w) }'
            )
            (folder / "m.onnxtxt").write_text(text % ", ".join("1" * 300))
            self.succeed("convert", folder / "m.onnxtxt", folder / "m.onnx", "--external-data", "100")
            (data,) = folder.glob("m.onnx.*.data")
            self.assertEqual(data.stat().st_size, 1200)
            self.succeed("shapes", folder / "m.onnx", "-o", folder / "n.onnx")
            self.assertEqual(len(list(folder.glob("n.onnx.*.data"))), 1)
            data.unlink()
            code, out, err = call("shapes", folder / "m.onnx")
            self.assertEqual((code, err), (0, ""))
            self.assertRegex(out, 'warning: tensor "w": has its data in .*, which cannot be opened: No such file')
            code, out, err = call("info", folder / "m.onnx")
            self.assertEqual(code, 0)
            self.assertIn('warning: tensor "w"', err)
            self.fail_with("No such file or directory", "convert", folder / "m.onnx", folder / "o.onnxtxt")
            self.fail_with("No such file or directory", "run", folder / "m.onnx", "--random", "N=300")

    def test_info(self):
        out = self.succeed("info", ADD / "model.onnx")
        self.assertIn("opset   ai.onnx 17\n", out)
        self.assertIn("1 SequenceMap\n", out)
        result = json.loads(self.succeed("info", ADD / "model.onnx", "--json"))
        self.assertEqual(result["operators"], {"Add": 1, "SequenceMap": 1})
        self.assertEqual(result["inputs"][1], {"name": "x1", "type": "tensor(float)"})

    def test_check(self):
        self.assertIn("no problems", self.succeed("check", ADD / "model.onnx"))
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(b"no model")
            file.flush()
            code, out, _ = call("check", file.name, "--json")
            self.assertEqual(code, 1)
            self.assertEqual(json.loads(out)["problems"][0]["level"], "error")

    def test_ops(self):
        self.assertRegex(self.succeed("ops"), r"(?m)^ai\.onnx +SequenceMap +17$")
        result = json.loads(self.succeed("ops", "--json"))
        ops = [(op["domain"], op["op_type"], op["since_versions"]) for op in result]
        self.assertIn(("ai.onnx", "SequenceMap", [17]), ops)
        self.assertNotIn("FusedElementwise", [op_type for _, op_type, _ in ops])
        self.assertTrue(self.succeed("ops", "--markdown").startswith("# Operators\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
