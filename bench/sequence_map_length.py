# SPDX-License-Identifier: Apache-2.0
"""Time of a SequenceMap of Add over n elements of [16] and one extra tensor, through Python and in C++: linear in n.

.venv/bin/python bench/sequence_map_length.py
"""

import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnxseq
from onnx import TensorProto, helper

PROGRAM = pathlib.Path(__file__).parents[1] / "build/release/bin/onnxseq"


def model():
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["a", "b"], ["y"])],
        "body",
        [value("a", TensorProto.FLOAT, None), value("b", TensorProto.FLOAT, None)],
        [value("y", TensorProto.FLOAT, None)],
    )
    sequence = helper.make_tensor_sequence_value_info
    graph = helper.make_graph(
        [helper.make_node("SequenceMap", ["s", "t"], ["o"], body=body)],
        "graph",
        [sequence("s", TensorProto.FLOAT, None), value("t", TensorProto.FLOAT, [16])],
        [sequence("o", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def in_cpp(folder, elements, extra):
    """Microseconds per element without Python: the program's own clock."""
    path, feeds = folder / "add.onnx", folder / "feeds.npz"
    path.write_bytes(model().SerializeToString())
    np.savez(feeds, t=extra, **{f"s/{i}": element for i, element in enumerate(elements)})
    command = [PROGRAM, "bench", path, "--inputs", feeds, "--threads", "1", "--repeat", "10", "--json"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(text)["weights"]["f32"]["median_seconds"] * 1e6 / len(elements)


def least(call, repeats=5):
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def main():
    session = onnxseq.InferenceSession(model().SerializeToString(), onnxseq.SessionOptions(threads=1))
    extra = np.ones(16, np.float32)
    print("| elements | ms | us each | less the making of as many arrays | us each in C++ |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for n in (100, 1000, 10_000, 20_000, 100_000):
            elements = [np.random.rand(16).astype(np.float32) for _ in range(n)]
            seconds, (result,) = least(lambda elements=elements: session.run(None, {"s": elements, "t": extra}))
            assert all((y == x + 1).all() for x, y in zip(elements, result, strict=True))
            arrays, _ = least(lambda n=n: [np.empty(16, np.float32) for _ in range(n)])
            cpp = in_cpp(pathlib.Path(folder), elements, extra)
            each = seconds / n * 1e6
            print(f"| {n} | {seconds * 1e3:.2f} | {each:.2f} | {each - arrays / n * 1e6:.2f} | {cpp:.3f} |")


main()
