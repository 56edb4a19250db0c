# SPDX-License-Identifier: Apache-2.0
"""Stacked recurrent layers, and recurrent nodes that need nothing of each other, beside onnxruntime and beside the same nodes one
after the other, at two threads. usage: stacks.py [THREADS [SECONDS PER ROW]]"""

import os
import pathlib
import sys

import numpy as np
import onnxseq
from onnx import TensorProto, helper, numpy_helper

sys.path.append(str(pathlib.Path(__file__).parent / "peers"))
import timing  # noqa: E402

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.3
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS = 100

# Operator, units, layers, directions of the stacks that stand side by side.
CASES = {}
for op, units, layers in [("LSTM", 64, 2), ("LSTM", 128, 2), ("LSTM", 128, 4), ("LSTM", 256, 2), ("GRU", 128, 2)]:
    CASES[f"{op} H={units}, {layers} layers"] = (op, units, layers, ["forward"])
for op, units, layers in [("GRU", 256, 2), ("RNN", 128, 2)]:
    CASES[f"{op} H={units}, {layers} layers"] = (op, units, layers, ["forward"])
for op, units in [("LSTM", 128), ("LSTM", 256), ("GRU", 128)]:
    CASES[f"{op} H={units}, two encoders"] = (op, units, 1, ["forward", "forward"])
CASES["LSTM H=128, forward and reverse as two nodes"] = ("LSTM", 128, 1, ["forward", "reverse"])
CASES["LSTM H=128, two stacks of 2 layers"] = ("LSTM", 128, 2, ["forward", "forward"])


def network(op, units, layers, directions):
    rng = np.random.default_rng(0)
    nodes, inputs, outputs = [], [], []
    initializers = [numpy_helper.from_array(np.array([1]), "one")]

    def weights(name, *shape):
        values = rng.uniform(-1, 1, shape) / np.sqrt(units)
        initializers.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def value(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["T", 1, units])

    for stack, direction in enumerate(directions):
        x = f"x{stack}"
        inputs.append(value(x))
        for layer in range(layers):
            name = f"{stack}_{layer}"
            given = [x, *(weights(f"{w}{name}", 1, GATES[op] * units, units) for w in "WR")]
            given.append(weights(f"B{name}", 1, 2 * GATES[op] * units))
            nodes.append(helper.make_node(op, given, [f"y{name}"], hidden_size=units, direction=direction))
            x = f"s{name}"
            nodes.append(helper.make_node("Squeeze", [f"y{name}", "one"], [x]))
        outputs.append(value(x))
    graph = helper.make_graph(nodes, op, inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model, {v.name: rng.standard_normal((STEPS, 1, units)).astype(np.float32) for v in inputs}


def make(row, threads, names):
    model, feeds = network(*CASES[row])
    model = model.SerializeToString()
    calls = {}
    if "onnxruntime" in names:
        ort = timing.onnxruntime_session(model, threads)
        calls["onnxruntime"] = lambda: ort.run(None, feeds)
    # Read when a model is loaded: multiply-adds from which on nodes run at the same time.
    for name, least in (("one by one", str(10**15)), ("onnxseq", None)):
        if name not in names:
            continue
        if least is not None:
            os.environ["ONNXSEQ_GROUP_FROM"] = least
        session = onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=threads))
        os.environ.pop("ONNXSEQ_GROUP_FROM", None)
        calls[name] = lambda session=session: session.run(None, feeds)
    return calls


NAMES = ["onnxruntime", "one by one", "onnxseq"]
if len(sys.argv) <= 3:  # not a contestant's own process
    for row in CASES:
        results = {name: call() for name, call in make(row, THREADS, NAMES).items()}
        timing.check(row, results)
        timing.check(row, {name: results[name] for name in ("one by one", "onnxseq")}, rtol=0, atol=0)
timing.compare(__file__, list(CASES), make, NAMES, THREADS, SECONDS)
