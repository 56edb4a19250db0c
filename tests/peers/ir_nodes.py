# SPDX-License-Identifier: Apache-2.0
"""Every official ONNX test that can be written as OpenVINO IR: what OpenVINO and onnxseq make of the IR against the
outputs the test says. Lists what is refused, with -v, and what differs; differences that ir_nodes.txt names with a
reason are expected.

ir_nodes.py [-v] [NAME ...]: all, or those whose name contains one of the words. Needs numpy, onnx and openvino beside
onnxseq.
"""

import collections
import concurrent.futures
import multiprocessing
import pathlib
import sys
import tempfile

import numpy as np
from expected import reasons

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python" / "tests"))
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}
FOUR_BITS = ("int4", "uint4", "float4_e2m1fn")


def packed(values):
    """The bytes of IR: two to a byte, the first in the low half, where elements have four bits."""
    values = np.asarray(values, order="C")
    if values.dtype.name not in FOUR_BITS:
        return np.frombuffer(values.tobytes(), np.uint8)
    halves = np.frombuffer(values.tobytes(), np.uint8) & 15
    halves = np.append(halves, np.zeros(halves.size % 2, np.uint8))
    return halves[0::2] | halves[1::2] << 4


def unpacked(data, like):
    """Elements of the type of `like` from the bytes of IR."""
    if like.dtype.name not in FOUR_BITS:
        return data.view(like.dtype)
    halves = np.stack([data & 15, data >> 4], -1).ravel()
    if like.dtype.name == "int4":
        halves = (halves.view(np.int8) ^ 8) - 8
    return halves.view(like.dtype) if like.dtype.name == "float4_e2m1fn" else halves.astype(like.dtype)


def openvino_runs(path, inputs, like):
    """The outputs, as arrays of the types in `like`."""
    import openvino as ov

    compiled = ov.Core().compile_model(str(path), "CPU", CONFIG)
    request = compiled.create_infer_request()
    for port, x in zip(compiled.inputs, inputs, strict=True):
        tensor = ov.Tensor(port.get_element_type(), ov.Shape(x.shape))
        if x.dtype.kind in "OUS":
            tensor.str_data = x.astype(str)
        elif x.size:
            tensor.data.reshape(-1).view(np.uint8)[:] = packed(x)
        request.set_tensor(port, tensor)
    request.start_async()
    request.wait()
    outputs = []
    for port, truth in zip(compiled.outputs, like, strict=True):
        tensor, truth = request.get_tensor(port), np.asarray(truth)
        if truth.dtype.kind in "OUS":
            outputs.append(np.array(tensor.str_data))
            continue
        values = unpacked(np.array(tensor.data).reshape(-1).view(np.uint8), truth)
        outputs.append(values[: int(np.prod(tensor.shape))].reshape(tensor.shape))
    return outputs


def difference(got, expected, case):
    from cases import difference

    if len(got) != len(expected):
        return f"{len(got)} outputs, expected {len(expected)}"
    for value, truth in zip(got, expected):
        half = getattr(truth, "dtype", np.float32).itemsize == 2
        text = difference(value, truth, max(case.rtol, 2**-6 if half else 1e-3), max(case.atol, 1e-5))
        if text is not None:
            return text
    return None


def run_case(name):
    """(kind, text): "refused", "onnxseq", "openvino" or "agrees"."""
    import onnxseq
    from test_node_suite import as_array, inputs_of, load, suite

    case = suite()[name]
    model, data_sets = load(case)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.xml"
        try:
            onnxseq.convert(model, path, lower=True)
        except onnxseq.Unsupported as error:
            return "refused", str(error)
        names = [value.name for value in inputs_of(model)]
        for inputs, outputs in data_sets:
            inputs, outputs = list(map(as_array, inputs)), list(map(as_array, outputs))
            try:
                session = onnxseq.InferenceSession(path)
                text = difference(session.run(None, dict(zip(names, inputs))), outputs, case)
            except Exception as error:  # noqa: BLE001 - each case tells what went wrong
                text = f"{type(error).__name__}: {error}"
            if text is not None:
                return "onnxseq", text
            try:
                text = difference(openvino_runs(path, inputs, outputs), outputs, case)
            except Exception as error:  # noqa: BLE001
                text = f"{type(error).__name__}: {str(error).strip()}"
            if text is not None:
                return "openvino", text
    return "agrees", ""


def results(names):
    """Some models end the process: each pool has one, and is replaced."""
    context = multiprocessing.get_context("fork")
    pool = concurrent.futures.ProcessPoolExecutor(1, context)
    for name in names:
        try:
            yield name, *pool.submit(run_case, name).result(timeout=60)
        except concurrent.futures.process.BrokenProcessPool:
            yield name, "openvino", "the process ended"
            pool = concurrent.futures.ProcessPoolExecutor(1, context)
        except TimeoutError:
            yield name, "openvino", "no answer in a minute"
            for process in pool._processes.values():
                process.kill()
            pool = concurrent.futures.ProcessPoolExecutor(1, context)


def main(words):
    from test_node_suite import MANIFEST, suite

    verbose = "-v" in words
    words = [word for word in words if word != "-v"]
    names = [n for n, reason in MANIFEST.items() if not reason and (not words or any(w in n for w in words))]
    suite()
    known, counts, unexpected = reasons(__file__), collections.Counter(), 0
    for name, kind, text in results(names):
        counts[kind] += 1
        expected = name in known and kind == "openvino"
        unexpected += (kind in ("onnxseq", "openvino") and not expected) or (name in known and kind == "agrees")
        if kind != "agrees" and (verbose or not expected) and (verbose or kind != "refused"):
            print(f"{kind} {name}: {' '.join(text.split())[:600]}", flush=True)
        if name in known and kind == "agrees":
            print(f"agrees {name}, though ir_nodes.txt says: {known[name]}")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
