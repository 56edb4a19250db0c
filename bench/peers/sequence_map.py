# SPDX-License-Identifier: Apache-2.0
"""SequenceMap beside onnxruntime. usage: sequence_map.py [THREADS [SECONDS PER ROW]]

WHO=onnxseq,... in the environment: other contestants, by name: elements, stacked, packed are ours with that strategy,
single is ours on one thread.
"""

import os
import sys
import time

import numpy as np
import onnxseq
import timing
from onnx import TensorProto, helper, numpy_helper

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 3

rng = np.random.default_rng(0)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def constant(name, array):
    return numpy_helper.from_array(array, name)


def value(name, dtype=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def body(nodes, inputs=("a",), dtype=TensorProto.FLOAT, initializers=(), shape=None):
    nodes = [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    return helper.make_graph(nodes, "body", [value(i, shape=shape) for i in inputs], [value("y", dtype)], initializers)


def mlp(width):
    weights = [constant("w1", floats(width, 4 * width) / 11), constant("w2", floats(4 * width, width) / 22)]
    nodes = [
        ("MatMul", ["a", "w1"], ["t"]),
        ("Relu", ["t"], ["u"]),
        ("MatMul", ["u", "w2"], ["v"]),
        ("Add", ["v", "a"], ["y"]),
    ]
    return body(nodes, initializers=weights)


def lstm(inputs, hidden, directions):
    def weights(name, *shape):
        return constant(name, (rng.uniform(-1, 1, shape) / np.sqrt(hidden)).astype(np.float32))

    initializers = [
        constant("one", np.array([1])),
        weights("W", directions, 4 * hidden, inputs),
        weights("R", directions, 4 * hidden, hidden),
        weights("B", directions, 8 * hidden),
    ]
    attributes = {"hidden_size": hidden, "direction": "forward" if directions == 1 else "bidirectional"}
    nodes = [("Unsqueeze", ["a", "one"], ["x"]), ("LSTM", ["x", "W", "R", "B"], ["", "y"], attributes)]
    return body(nodes, initializers=initializers, shape=["T", inputs])


def ragged(count, longest, width):
    return [floats(int(rng.integers(1, longest)), width) for _ in range(count)]


def softmax_sum():
    nodes = [("Softmax", ["a"], ["s"], {"axis": -1}), ("ReduceSum", ["s", "axes"], ["y"], {"keepdims": 0})]
    return body(nodes, initializers=[constant("axes", np.array([0]))])


CASES = {
    "Add, 10,000 of [16]": lambda: (
        body([("Add", ["a", "b"], ["y"])], ("a", "b")),
        {"xs": [floats(16) for _ in range(10_000)], "extra": floats(16)},
    ),
    "Shape, 10,000": lambda: (
        body([("Shape", ["a"], ["y"])], dtype=TensorProto.INT64),
        {"xs": [floats(4, 3) for _ in range(10_000)]},
    ),
    "MLP 128-512-128, 1,000 of [1,128]": lambda: (mlp(128), {"xs": [floats(1, 128) for _ in range(1000)]}),
    "the same, 256 of [1..63,128]": lambda: (mlp(128), {"xs": ragged(256, 64, 128)}),
    "Softmax, ReduceSum, 512 of [64,256]": lambda: (softmax_sum(), {"xs": [floats(64, 256) for _ in range(512)]}),
    "LSTM h128, 256 of [1..63,64]": lambda: (lstm(64, 128, 1), {"xs": ragged(256, 64, 64)}),
    "BiLSTM h256, 64 of [1..199,80]": lambda: (lstm(80, 256, 2), {"xs": ragged(64, 200, 80)}),
}


def make(row, threads, names):
    graph, feeds = CASES[row]()
    sequence = helper.make_tensor_sequence_value_info
    inputs = [sequence("xs", TensorProto.FLOAT, None)] + ([value("extra")] if "extra" in feeds else [])
    node = helper.make_node("SequenceMap", list(feeds), ["ys"], body=graph)
    output = sequence("ys", graph.output[0].type.tensor_type.elem_type, None)
    main = helper.make_graph([node], "main", inputs, [output])
    model = helper.make_model(main, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()
    calls = {}
    if "onnxruntime" in names:
        ort = timing.onnxruntime_session(model, threads)
        calls["onnxruntime"] = lambda: ort.run(None, feeds)[0]
    for name in names:
        if name == "onnxruntime":
            continue
        strategy = name if name in ("elements", "stacked", "packed") else "auto"
        options = onnxseq.SessionOptions(threads=1 if name == "single" else threads, sequence_map=strategy)
        session = onnxseq.InferenceSession(model, options)
        calls[name] = lambda session=session: session.run(None, feeds)[0]
    return calls


WHO = os.environ.get("WHO", "onnxruntime,onnxseq").split(",")
# What others do on this core does not show at one thread.
CLOCK = time.process_time if THREADS == 1 else time.perf_counter
timing.compare(__file__, list(CASES), make, WHO, THREADS, SECONDS, clock=CLOCK)
