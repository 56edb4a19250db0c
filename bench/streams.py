# SPDX-License-Identifier: Apache-2.0
"""64 streams of an LSTM fed one step at a time: one by one, and together as one batch. Interleaved, least of each;
what part of the machine's limit (limits.py) the batch reaches, and the ratio if both were at their limit.

.venv/bin/python bench/streams.py
"""

import time

import limits
import numpy as np
import onnxseq
from onnx import TensorProto, helper, numpy_helper

STREAMS, ROUNDS = 64, 40


def session_of(size):
    random = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(random.uniform(-0.1, 0.1, (1, 4 * size, size)).astype(np.float32), name)
        for name in "WR"
    ]
    value, float_ = helper.make_tensor_value_info, TensorProto.FLOAT
    state = [1, "N", size]
    graph = helper.make_graph(
        [helper.make_node("LSTM", ["x", "W", "R", "", "", "h", "c"], ["y", "hn", "cn"], hidden_size=size)],
        "g",
        [value("x", float_, ["T", "N", size])] + [value(name, float_, state) for name in "hc"],
        [value("y", float_, ["T", 1, "N", size])] + [value(name, float_, state) for name in ("hn", "cn")],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    return onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=1))


def main():
    print(
        "| LSTM, inputs = units | one by one, ms | together, ms | ratio | ratio of the limits | together, of the limit |"
    )
    print("|---" * 6 + "|")
    for size in (128, 256, 512):
        group = onnxseq.StreamGroup(session_of(size), {"h": "hn", "c": "cn"}, batch="N")
        alone, together = ([group.open() for _ in range(STREAMS)] for _ in range(2))
        random = np.random.default_rng(1)
        best = [float("inf")] * 2
        for _ in range(ROUNDS):
            xs = [random.uniform(-1, 1, (1, 1, size)).astype(np.float32) for _ in range(STREAMS)]
            start = time.perf_counter()
            singles = [stream.run({"x": x})[0] for stream, x in zip(alone, xs)]
            middle = time.perf_counter()
            batched = group.run([(stream, {"x": x}) for stream, x in zip(together, xs)])
            end = time.perf_counter()
            best = [min(best[0], middle - start), min(best[1], end - middle)]
            for single, (one,) in zip(singles, batched):
                np.testing.assert_allclose(single, one, atol=1e-5)
        floor = limits.floor(1, 4, STREAMS, 1, size, 1)
        # One by one each reads all of W and R; together they are read once, and multiply-adds are what takes time.
        weights = 4 * 2 * 4 * size * size
        _, reads = limits.machine_limits(1)
        one_by_one = STREAMS * weights / limits.read_rate(reads, weights)
        print(
            f"| {size} | {best[0] * 1e3:.3f} | {best[1] * 1e3:.3f} | {best[0] / best[1]:.1f} | {one_by_one / floor:.1f} | {floor / best[1]:.0%} |"
        )


main()
