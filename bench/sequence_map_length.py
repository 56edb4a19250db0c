# SPDX-License-Identifier: Apache-2.0
"""Time of a SequenceMap of Add over n elements of [16] and one extra tensor, through Python: linear in n.

.venv/bin/python bench/sequence_map_length.py
"""

import time

import numpy as np
import onnxseq
from onnx import TensorProto, helper


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


def main():
    session = onnxseq.InferenceSession(model().SerializeToString())
    extra = np.ones(16, np.float32)
    for n in (100, 1000, 10_000, 20_000, 100_000):
        elements = [np.random.rand(16).astype(np.float32) for _ in range(n)]
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            (result,) = session.run(None, {"s": elements, "t": extra})
            best = min(best, time.perf_counter() - start)
        assert all((y == x + 1).all() for x, y in zip(elements, result, strict=True))
        print(f"{n:7d} elements {best * 1e3:9.2f} ms {best / n * 1e6:6.2f} us each")


main()
