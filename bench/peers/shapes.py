# SPDX-License-Identifier: Apache-2.0
"""Shape inference of large models beside onnx, onnxruntime's symbolic_shape_infer, onnx-shape-inference and tract.

usage: shapes.py PROGRAM [FOLDER FOR RESULTS]

PROGRAM is onnxseq's command line. Each measurement is a process of its own; a contestant is measured three times, all in
turn, and the run with the least CPU time counts: wall and CPU time of reading the file and inferring, and the largest resident memory.
What each says of the output is checked: onnxseq's must be exact, a peer's is shown.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
import timing
from onnx import TensorProto, helper, numpy_helper

ROUNDS = 3
LAYERS, ROWS, COLUMNS = 37, 2048, 3840  # of the model with external weights


class Graph:
    def __init__(self):
        self.nodes, self.initializers, self.inputs = [], [], []

    def input(self, name, dims):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        return name

    def constant(self, value, dtype=np.int64):
        self.initializers.append(numpy_helper.from_array(np.array(value, dtype), f"c{len(self.initializers)}"))
        return self.initializers[-1].name

    def node(self, op, inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def save(self, path, output):
        out = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", self.inputs, [out], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        with open(path, "wb") as file:
            file.write(model.SerializeToString())


def chain(path):
    """5,000 elementwise nodes."""
    g = Graph()
    v, one = g.input("x", ["N", 64]), g.constant(np.ones(64), np.float32)
    for i in range(5000):
        op, more = [("Relu", []), ("Add", [one]), ("Mul", [v]), ("Sigmoid", []), ("Sub", [one])][i % 5]
        v = g.node(op, [v, *more])
    g.save(path, v)


def transformer(path):
    """500 layers, 15,000 nodes, whose reshapes take batch and length from Shape, Gather and Concat."""
    g = Graph()
    x = g.input("x", ["B", "S", 64])
    w, up, down = (g.constant(np.zeros(s), np.float32) for s in ((64, 64), (64, 256), (256, 64)))
    scale, factor = g.constant(np.ones(64), np.float32), g.constant(0.35, np.float32)
    zero, one, front, heads, width = (g.constant(value) for value in (0, 1, [0], [8, 8], [64]))
    for _ in range(500):
        h = g.node("LayerNormalization", [x, scale], axis=-1)
        shape = g.node("Shape", [h])
        b, s = (g.node("Unsqueeze", [g.node("Gather", [shape, i]), front]) for i in (zero, one))
        split = g.node("Concat", [b, s, heads], axis=0)
        q, k, v = (
            g.node("Transpose", [g.node("Reshape", [g.node("MatMul", [h, w]), split])], perm=perm)
            for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        a = g.node("Softmax", [g.node("Mul", [g.node("MatMul", [q, k]), factor])], axis=-1)
        joined = g.node("Transpose", [g.node("MatMul", [a, v])], perm=[0, 2, 1, 3])
        o = g.node("Reshape", [joined, g.node("Concat", [b, s, width], axis=0)])
        x = g.node("Add", [x, g.node("MatMul", [o, w])])
        f = g.node("MatMul", [g.node("LayerNormalization", [x, scale], axis=-1), up])
        x = g.node("Add", [x, g.node("MatMul", [g.node("Gelu", [f]), down])])
    g.save(path, x)


def external(path):
    """2.2 GB of weights, and the targets of reshapes, in a file beside the model; on disk all but the targets are holes."""
    g = Graph()
    v, offset = g.input("x", ["B", "S", ROWS]), 0
    folder = os.path.dirname(path)
    with open(os.path.join(folder, "weights.bin"), "wb") as data:

        def stored(dims, data_type, content=b""):
            nonlocal offset
            size = int(np.prod(dims)) * (4 if data_type == TensorProto.FLOAT else 8)
            tensor = TensorProto(name=f"w{len(g.initializers)}", data_type=data_type, dims=dims)
            tensor.data_location = TensorProto.EXTERNAL
            for key, text in (("location", "weights.bin"), ("offset", offset), ("length", size)):
                entry = tensor.external_data.add()
                entry.key, entry.value = key, str(text)
            data.seek(offset)
            data.write(content)
            offset += size
            g.initializers.append(tensor)
            return tensor.name

        def target(*dims):
            return stored([len(dims)], TensorProto.INT64, np.array(dims).tobytes())

        for _ in range(LAYERS):
            v = g.node("Relu", [g.node("MatMul", [v, stored([ROWS, COLUMNS], TensorProto.FLOAT)])])
            v = g.node("Reshape", [v, target(0, -1, COLUMNS)])
            v = g.node("MatMul", [v, stored([COLUMNS, ROWS], TensorProto.FLOAT)])
        v = g.node("Reshape", [v, target(0, 0, 32, 64)])
        data.truncate(offset)
    g.save(path, v)


MODELS = {
    "chain of 5,000 nodes": (chain, ["N", 64]),
    "transformer of 15,000 nodes": (transformer, ["B", "S", 64]),
    "2.2 GB of external weights": (external, ["B", "S", 32, 64]),
}

# Reads the model at `path` and leaves what is said of its output in `out`: a list of numbers, names and None.
DIMS = "out = [d.dim_value or d.dim_param or None for d in proto.type.tensor_type.shape.dim]"
CONTESTANTS = {
    "onnxseq": ("import onnxseq", "out = onnxseq.infer_shapes(path)['values'][output]['shape']"),
    "onnxseq, load and plan": ("import onnxseq", "out = list(onnxseq.InferenceSession(path).get_outputs()[0].shape)"),
    "onnx": (
        "import onnx",
        "m = onnx.load(path, load_external_data=False)\n"
        "proto = onnx.shape_inference.infer_shapes(m, data_prop=True).graph.output[0]\n" + DIMS,
    ),
    "onnxruntime": (
        "import onnx\nfrom onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference",
        "proto = SymbolicShapeInference.infer_shapes(onnx.load(path)).graph.output[0]\n" + DIMS,
    ),
    "onnx-shape-inference": (
        "import onnx_ir, onnx_shape_inference",
        "m = onnx_ir.load(path)\nonnx_shape_inference.infer_symbolic_shapes(m, warn_on_missing=False)\n"
        "out = [d if isinstance(d, int) else str(d) for d in m.graph.outputs[0].shape]",
    ),
    "tract": ("import tract", "m = tract.onnx().load(path)\nm.analyse()\nout = str(m.output_fact(0))"),
}
TIMED = """
import json, logging, sys, time, warnings
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
path, output = sys.argv[1:]
{setup}
wall, cpu = time.perf_counter(), time.process_time()
{code}
times = [time.perf_counter() - wall, time.process_time() - cpu]
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([*times, int(peak.split()[1]) / 1024, out]))
"""
TIMEOUT = 300


def measure(command):
    """[wall, CPU, MB, output], or what went wrong as text."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"over {TIMEOUT} s"
    if done.returncode != 0:
        return "fails: " + (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:60]
    return json.loads(done.stdout.splitlines()[-1])


WHOLE = """
import json, os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
text = child.stdout.read()
_, status, usage = os.wait4(child.pid, 0)
assert status == 0
print(json.dumps([time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text]))
"""


def program(executable, path, output):
    """The command line as a whole: from its start to its end."""
    found = measure([sys.executable, "-c", WHOLE, executable, "shapes", path])
    if isinstance(found, str):
        return found
    line = next(line for line in found[3].splitlines() if line.split(" ")[0] == output)
    dims = line[line.index("[") + 1 : line.rindex("]")].split(",")
    return [*found[:3], [int(dim) if dim.isdigit() else dim for dim in dims]]


def measure_all(executable, path, output, expected):
    best = {}
    for _ in range(ROUNDS):
        for name in ["onnxseq, the program", *CONTESTANTS]:
            if name == "onnxseq, the program":
                found = program(executable, path, output)
            elif name == "onnxseq, load and plan" and "external" in os.path.basename(path):
                continue  # weights of holes: packing them would be most of it
            else:
                setup, code = CONTESTANTS[name]
                found = measure([sys.executable, "-c", TIMED.format(setup=setup, code=code), path, output])
            if name.startswith("onnxseq"):
                assert not isinstance(found, str), f"{name}: {found}"
                wanted = [str(dim) for dim in expected] if "plan" in name else expected
                assert [*found[3]] == wanted or [str(d) for d in found[3]] == wanted, f"{name} infers {found[3]}"
            before = best.get(name)
            if before is None or isinstance(found, str) or found[1] < before[1]:
                best[name] = found
    return best


def is_right(output, expected):
    """tract's text has the element type behind the dims."""
    text = output if isinstance(output, str) else ",".join(map(str, output))
    return text.removesuffix(",f32") == ",".join(map(str, expected))


def table(title, best, expected):
    peers = [
        found
        for name, found in best.items()
        if not name.startswith("onnxseq") and not isinstance(found, str) and is_right(found[3], expected)
    ]
    lines = [f"## {title}", "", "| | ms | CPU ms | MB | output | CPU / onnxseq |", "|---|---|---|---|---|---|"]
    ours = best["onnxseq"][1]
    for name, found in best.items():
        if isinstance(found, str):
            lines.append(f"| {name} | {found} | | | | |")
            continue
        wall, cpu, memory, output = found
        text = output if isinstance(output, str) else "[" + ",".join(map(str, output)) + "]"
        lines.append(
            f"| {name} | {wall * 1e3:.3g} | {cpu * 1e3:.3g} | {memory:.0f} | `{text[:60]}` | {cpu / ours:.3g} |"
        )
    return [
        *lines,
        "",
        f"Best peer that says the same / onnxseq, CPU: {min(found[1] for found in peers) / ours:.3g}",
        "",
    ]


def main():
    warnings.filterwarnings("ignore")
    executable = os.path.abspath(sys.argv[1])
    lines = [
        "# Shape inference of large models",
        "",
        f"`make bench-shapes` on {timing.machine()}, {os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}. Reading the "
        f"file included, the run of {ROUNDS} with the least CPU time; the program: from its start to its end. MB: largest resident memory of the process.",
        "",
    ]
    for title, (make, expected) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"{make.__name__}.onnx")
            make(path)
            output = onnx.load(path, load_external_data=False).graph.output[0].name
            lines += table(title, measure_all(executable, path, output, expected), expected)
            print(title, flush=True)
    text = "\n".join(lines)
    print(text)
    if len(sys.argv) > 2:
        cpu = re.search("epyc|xeon|ryzen|core|neoverse|$", timing.machine().lower()).group() or "cpu"
        with open(f"{sys.argv[2]}/{datetime.date.today()}-{cpu}-shapes.md", "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
