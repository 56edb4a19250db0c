# SPDX-License-Identifier: Apache-2.0
"""Whole models: .onnx to OpenVINO IR and back. OpenVINO and onnxseq run the IR, onnxseq the .onnx made of it; outputs
must be those of the first.

ir_models.py FOLDER [WORD ...]: every .onnx file below it, or those whose path contains one of the words; inputs are
in:NAME of io/NAME.npz beside the folder where there is such a file, else random of the declared shape, N of them 2.
Needs numpy and openvino beside onnxseq.
"""

import multiprocessing
import pathlib
import sys
import tempfile

import numpy as np
import onnxseq

CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}


def stored_feeds(path, folder):
    for parent in (path.parent, *path.parents):
        stored = parent / "io" / f"{path.stem}.npz"
        if stored.exists():
            arrays = np.load(stored, allow_pickle=True)
            return {key[3:]: arrays[key] for key in arrays.files if key.startswith("in:")}
        if parent == folder:
            return None
    return None


def made_feeds(session):
    random = np.random.default_rng(1)
    feeds = {}
    for value in session.get_inputs():
        shape = [dim if isinstance(dim, int) else 2 for dim in value.shape or []]
        dtype = np.dtype(
            value.type.removeprefix("tensor(")
            .removesuffix(")")
            .replace("float", "float32")
            .replace("float3216", "float16")
            .replace("double", "float64")
        )
        feeds[value.name] = (random.standard_normal(shape) if dtype.kind == "f" else np.ones(shape)).astype(dtype)
    return feeds


def openvino_runs(path, feeds):
    import openvino as ov

    compiled = ov.Core().compile_model(str(path), "CPU", CONFIG)
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        name = next((name for name in feeds if name in port.get_names()), None)
        if name is not None:
            request.set_tensor(port, ov.Tensor(np.array(feeds[name], order="C")))
    request.start_async()
    request.wait()
    return [np.array(request.get_tensor(port).data) for port in compiled.outputs]


def differs(got, expected):
    for value, truth in zip(got, expected, strict=True):
        value, truth = np.asarray(value), np.asarray(truth)
        if value.shape != truth.shape:
            return f"shape {value.shape}, expected {truth.shape}"
        if truth.dtype.kind in "OUS":
            if list(value.ravel()) != list(truth.ravel()):
                return "strings differ"
        elif not np.allclose(value, truth, rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"differs by {np.nanmax(np.abs(value.astype(np.float64) - truth))}"
    return None


def check(path, folder):
    """(what was done, what went wrong)"""
    with tempfile.TemporaryDirectory() as made:
        written, back = pathlib.Path(made) / "model.xml", pathlib.Path(made) / "back.onnx"
        how = ""
        try:
            onnxseq.convert(path, written)
        except onnxseq.Unsupported as error:
            try:
                onnxseq.convert(path, written, lower=True)
                how = " --lower"
            except onnxseq.Unsupported:
                return "refused", str(error)
        session = onnxseq.InferenceSession(path)
        feeds = stored_feeds(path, folder) or made_feeds(session)
        expected = session.run(None, feeds)
        states = [value.name for value in onnxseq.InferenceSession(written).get_outputs()]
        text = differs(onnxseq.InferenceSession(written).run(None, feeds)[: len(expected)], expected)
        if text is not None or len(states) != len(expected):
            return "onnxseq of the IR" + how, text or f"outputs {states}"
        onnxseq.convert(written, back)
        text = differs(onnxseq.InferenceSession(back).run(None, feeds), expected)
        if text is not None:
            return "onnxseq of what the IR became" + how, text
        try:
            text = differs(openvino_runs(written, feeds), expected)
        except Exception as error:  # noqa: BLE001 - each case tells what went wrong
            text = " ".join(str(error).split())
        return ("openvino" + how, text) if text else ("agrees" + how, "")


def in_child(path, folder, answer):
    try:
        answer.send(check(path, folder))
    except Exception as error:  # noqa: BLE001
        answer.send(("error", f"{type(error).__name__}: {error}"))


def main(words):
    folder, words = pathlib.Path(words[0]), words[1:]
    failed = 0
    for path in sorted(folder.rglob("*.onnx")):
        if words and not any(word in str(path) for word in words):
            continue
        receive, send = multiprocessing.Pipe(False)
        child = multiprocessing.Process(target=in_child, args=(path, folder, send))
        child.start()
        send.close()
        try:
            kind, text = receive.recv() if receive.poll(120) else ("error", "no answer in two minutes")
        except EOFError:
            kind, text = "error", "the process ended"
        child.kill()
        child.join()
        failed += not kind.startswith(("agrees", "refused"))
        print(f"{kind}: {path.relative_to(folder)}{': ' + text if text else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
