# SPDX-License-Identifier: Apache-2.0
"""One row of LSTM, GRU and RNN with weights kept as f32, bf16 and int8: they take turns, least of each; and the bytes of R a second
that the steps read, beside what one core reads of an array that is as large.

.venv/bin/python bench/weights.py
"""

import time

import numpy as np
import onnxseq
from onnx import TensorProto, helper, numpy_helper

STEPS, ROUNDS = 50, 15
STORAGE = {"f32": 4, "bf16": 2, "int8": 1}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def model_of(op, size):
    random = np.random.default_rng(0)
    shape = (1, GATES[op] * size, size)
    weights = [
        numpy_helper.from_array(random.uniform(-1, 1, shape).astype(np.float32) / np.float32(np.sqrt(size)), name)
        for name in "WR"
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "W", "R"], ["y"], hidden_size=size)],
        "g",
        [value("x", TensorProto.FLOAT, ["T", 1, size])],
        [value("y", TensorProto.FLOAT, None)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def read_rate(size):
    """Bytes a second of reading `size` bytes again and again."""
    array = np.ones(size // 4, np.float32)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        array.max()
        best = min(best, time.perf_counter() - start)
    return size / best


def main():
    print("| one row, 50 steps | units | f32, ms | bf16, ms | int8, ms | f32/bf16 | f32/int8 | GB/s f32, bf16, int8 |")
    print("|---|---|---|---|---|---|---|---|")
    for op in GATES:
        for size in (128, 256, 512, 1024):
            model = model_of(op, size)
            sessions = {
                name: onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=1, weights=name))
                for name in STORAGE
            }
            x = np.random.default_rng(1).standard_normal((STEPS, 1, size)).astype(np.float32)
            exact = sessions["f32"].run(None, {"x": x})[0]
            best = dict.fromkeys(STORAGE, float("inf"))
            for _ in range(ROUNDS):
                for name, session in sessions.items():
                    start = time.perf_counter()
                    y = session.run(None, {"x": x})[0]
                    best[name] = min(best[name], time.perf_counter() - start)
                    assert np.abs(y - exact).max() < 0.05
            bytes_of_r = {name: STEPS * GATES[op] * size * size * width for name, width in STORAGE.items()}
            rates = ", ".join(f"{bytes_of_r[name] / best[name] / 1e9:.0f}" for name in STORAGE)
            times = " | ".join(f"{best[name] * 1e3:.3f}" for name in STORAGE)
            print(
                f"| {op} | {size} | {times} | {best['f32'] / best['bf16']:.2f} | {best['f32'] / best['int8']:.2f} | {rates} |"
            )
    sizes = [1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26]
    print("\nReads of an array of " + ", ".join(f"{s >> 10} KB: {read_rate(s) / 1e9:.0f} GB/s" for s in sizes))


main()
