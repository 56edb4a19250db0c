# SPDX-License-Identifier: Apache-2.0
"""What onnxseq writes as OpenVINO IR, loaded and run by OpenVINO: the models of ir_cases.py, with and without what nodes
keep of their layers, and random recurrent nodes of ONNX on static shapes and full lengths. What nodes alone do not say
in IR is refused: ir_writes.txt names those cases with the reason.

ir_writes.py [COUNT]: so many recurrent nodes, 60 unless given. Needs numpy, onnx and openvino beside onnxseq.
"""

import collections
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxseq
import openvino as ov
from expected import reasons
from ir_cases import CASES
from ir_values import build
from onnx import helper, numpy_helper

CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}


def openvino_runs(path, inputs):
    compiled = ov.Core().compile_model(str(path), "CPU", CONFIG)
    results = compiled(inputs)
    return [np.asarray(results[i]) for i in range(len(compiled.outputs))]


def same(got, expected):
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)


def without_metadata(path, folder):
    """As an .onnx whose nodes say nothing of layers."""
    plain = pathlib.Path(folder) / "plain.onnx"
    onnxseq.convert(path, plain)
    model = onnx.load(plain)
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        for node in graph.node:
            del node.metadata_props[:]
            graphs += [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    onnx.save(model, plain)
    return plain


def check_case(name, folder):
    path, feeds, expected = build(name, folder)
    inputs = list(feeds.values())
    plugin = openvino_runs(path, inputs)[0]
    for source in (path, without_metadata(path, folder)):
        written = pathlib.Path(folder) / "written.xml"
        onnxseq.convert(source, written)
        # Layer for layer it is the same; node by node it is what the page of the operation says.
        same(openvino_runs(written, inputs)[0], plugin if source == path else expected)


def recurrent_model(random):
    """(model, feeds) of one node whose lengths are all of the time, or left out."""
    kind = random.choice(["LSTM", "GRU", "RNN"])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    direction = random.choice(["forward", "reverse", "bidirectional"])
    n, t, i, h = (int(random.integers(1, 6)) for _ in range(4))
    d = 2 if direction == "bidirectional" else 1
    layout = int(random.integers(2))
    numbers = lambda *shape: (random.standard_normal(shape) * 0.5).astype(np.float32)  # noqa: E731
    attributes = {"hidden_size": h, "direction": direction, "layout": layout}
    if random.random() < 0.3:
        attributes["clip"] = 0.5
    if kind == "GRU":
        attributes["linear_before_reset"] = int(random.integers(2))
    state = (n, d, h) if layout else (d, n, h)
    values = {"W": numbers(d, gates * h, i), "R": numbers(d, gates * h, h)}
    if random.random() < 0.7:
        values["B"] = numbers(d, 2 * gates * h)
    feeds = {"X": numbers(n, t, i) if layout else numbers(t, n, i)}
    if random.random() < 0.5:
        feeds["lens"] = np.full(n, t, np.int32)
    for name in ("H0", "C0")[: 2 if kind == "LSTM" else 1]:
        if random.random() < 0.5:
            feeds[name] = numbers(*state)
    names = ["X", "W", "R", "B", "lens", "H0", "C0"]
    inputs = [name if name in feeds or name in values else "" for name in names[: 7 if kind == "LSTM" else 6]]
    outputs = ["Y", "Y_h", "Y_c"][: 3 if kind == "LSTM" else 2]
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, outputs, "node", **attributes)],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in feeds.items()
        ],
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), feeds


def check_recurrent(seed, folder):
    model, feeds = recurrent_model(np.random.default_rng(seed))
    written = pathlib.Path(folder) / "recurrent.xml"
    onnxseq.convert(model, written)
    expected = onnxseq.InferenceSession(model).run(None, feeds)
    for got, value in zip(openvino_runs(written, list(feeds.values())), expected, strict=True):
        same(got, value)


def check_loop(_, folder):
    """States that stay as they are, before one that does not, and the iteration."""
    text = """<ir_version: 8, opset_import: ["": 15]>
    g (float[2,3] x, float[3] w, float[3] v) => (float[2,3] y, float[T,2,3] z) {
      n = Constant<value_int = 4>()
      a, b, y, z = Loop<body = body (int64 i, bool go, float[3] p, float[3] q, float[2,3] s)
        => (bool on, float[3] p2, float[3] q2, float[2,3] t, float[2,3] o) {
          on = Identity(go)
          p2 = Identity(p)
          q2 = Identity(q)
          k = Cast<to = 1>(i)
          r = Mul(p, k)
          m = Add(s, r)
          t = Mul(m, q)
          o = Neg(t)
        }>(n, "", w, v, x)
    }"""
    source, written = pathlib.Path(folder) / "loop.onnxtxt", pathlib.Path(folder) / "loop.xml"
    source.write_text(text)
    onnxseq.convert(source, written)
    random = np.random.default_rng(1)
    feeds = {
        name: random.standard_normal(shape).astype(np.float32) for name, shape in (("x", (2, 3)), ("w", 3), ("v", 3))
    }
    expected = onnxseq.InferenceSession(source).run(None, feeds)
    for got, value in zip(openvino_runs(written, list(feeds.values())), expected, strict=True):
        same(got, value)


def main(words):
    tasks = [("loop", check_loop, None)]
    tasks += [(name, check_case, name) for name in CASES]
    tasks += [(f"recurrent {seed}", check_recurrent, seed) for seed in range(int(words[0]) if words else 60)]
    refused, counts = reasons(__file__), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, check, argument in tasks:
            try:
                check(argument, folder)
                kind = "agree"
                if name in refused:
                    kind = "failed"
                    print(f"{name} agrees, though ir_writes.txt says: {refused[name]}")
            except Exception as error:  # noqa: BLE001 - each case tells what went wrong
                kind = "refused" if name in refused and isinstance(error, onnxseq.Unsupported) else "failed"
                if kind == "failed":
                    print(f"{name}: {type(error).__name__}: {str(error).strip()[:400]}")
            counts[kind] += 1
    print(f"{counts['agree']} of {len(tasks)} agree, {counts['refused']} are refused as expected")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
