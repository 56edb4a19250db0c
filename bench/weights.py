# SPDX-License-Identifier: Apache-2.0
"""One row of LSTM, GRU and RNN with weights kept as f32, bf16 and int8: they take turns, least of each; the part of the machine's limit
each reaches (limits.py), and how far y is from that of f32.

.venv/bin/python bench/weights.py
"""

import time

import limits
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


def main():
    print(
        "| one row, 50 steps | units | f32, ms | bf16, ms | int8, ms | f32/bf16 | f32/int8 | of the limit | error bf16, int8 |"
    )
    print("|---" * 9 + "|")
    for op, gates in GATES.items():
        for size in (128, 256, 512, 1024):
            model = model_of(op, size)
            sessions = {
                name: onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=1, weights=name))
                for name in STORAGE
            }
            x = np.random.default_rng(1).standard_normal((STEPS, 1, size)).astype(np.float32)
            exact = sessions["f32"].run(None, {"x": x})[0]
            best = dict.fromkeys(STORAGE, float("inf"))
            error = dict.fromkeys(STORAGE, 0.0)
            for _ in range(ROUNDS):
                for name, session in sessions.items():
                    start = time.perf_counter()
                    y = session.run(None, {"x": x})[0]
                    best[name] = min(best[name], time.perf_counter() - start)
                    error[name] = float(np.abs(y - exact).max())
                    assert error[name] < 0.05
            reached = []
            for name, width in STORAGE.items():
                floor = limits.floor(1, gates, STEPS, STEPS, size, 1, width, 4 if name == "int8" else 1)
                reached.append(f"{floor / best[name]:.0%}")
            print(
                f"| {op} | {size} | {' | '.join(f'{best[name] * 1e3:.3f}' for name in STORAGE)} | {best['f32'] / best['bf16']:.2f} "
                f"| {best['f32'] / best['int8']:.2f} | {', '.join(reached)} | {error['bf16']:.4f}, {error['int8']:.4f} |"
            )


main()
