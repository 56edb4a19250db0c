# SPDX-License-Identifier: Apache-2.0
"""Writes examples/: the worked examples of the ONNX operator SequenceMap, an LSTM over ragged elements, an OpenVINO LSTMSequence.

    python tools/make_examples.py [FOLDER]

Each example is a folder with a model, inputs.npz, expected.npz and expected.txt (what `make run` prints). Needs onnx and numpy.
The same bytes come out every time.
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from example_text import describe, flatten

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def f32(*values):
    return np.array(values, dtype=np.float32)


def tensor(name, elem_type=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, elem_type, shape)


def sequence(name, elem_type=FLOAT, shape=None):
    return helper.make_tensor_sequence_value_info(name, elem_type, shape)


def sequence_map_model(name, body, inputs, outputs, initializers=()):
    """A model of one SequenceMap node over all inputs."""
    node = helper.make_node(
        "SequenceMap", [value.name for value in inputs], [value.name for value in outputs], name="map", body=body
    )
    graph = helper.make_graph([node], name, inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="onnxseq")


def add_body():
    nodes = [helper.make_node("Add", ["a", "b"], ["c"])]
    return helper.make_graph(nodes, "body", [tensor("a"), tensor("b")], [tensor("c")])


def identity_body(count, elem_type=FLOAT):
    nodes = [helper.make_node("Identity", [f"in{i}"], [f"out{i}"]) for i in range(count)]
    ins = [tensor(f"in{i}", elem_type) for i in range(count)]
    outs = [tensor(f"out{i}", elem_type) for i in range(count)]
    return helper.make_graph(nodes, "body", ins, outs)


def shape_body():
    nodes = [helper.make_node("Shape", ["x"], ["shape"])]
    return helper.make_graph(nodes, "body", [tensor("x")], [tensor("shape", INT64)])


def worked_examples():
    """(name, model, inputs, outputs) of the examples the operator's documentation gives."""
    elements = [f32(0, 1, 2, 3), f32(-1, -2, -3, -4), f32(0.5, 1.5, 2.5, 3.5)]
    extra = f32(100, 200, 300, 400)
    yield (
        "add_1_sequence_1_tensor",
        (add_body(), [sequence("x0_seq"), tensor("x1")], [sequence("y0")]),
        {"x0_seq": elements, "x1": extra},
        {"y0": [f32(100, 201, 302, 403), f32(99, 198, 297, 396), f32(100.5, 201.5, 302.5, 403.5)]},
    )
    others = [f32(10, 10, 10, 10), f32(0.25, 0.5, 0.75, 1), f32(-0.5, -1.5, -2.5, -3.5)]
    yield (
        "add_2_sequences",
        (add_body(), [sequence("x0_seq"), sequence("x1_seq")], [sequence("y0")]),
        {"x0_seq": elements, "x1_seq": others},
        {"y0": [f32(10, 11, 12, 13), f32(-0.75, -1.5, -2.25, -3), f32(0, 0, 0, 0)]},
    )
    shapes = [(4, 3, 2), (2, 5, 1), (1, 1, 7)]
    yield (
        "extract_shapes",
        (shape_body(), [sequence("in_seq")], [sequence("shapes", INT64)]),
        {"in_seq": [np.zeros(shape, np.float32) for shape in shapes]},
        {"shapes": [np.array(shape, np.int64) for shape in shapes]},
    )
    tens = [
        np.arange(10, dtype=np.float32),
        -0.5 * np.arange(1, 11, dtype=np.float32),
        np.arange(1, 11, dtype=np.float32) / np.float32(10),
    ]
    yield (
        "identity_1_sequence",
        (identity_body(1), [sequence("input_seq")], [sequence("output_sequence")]),
        {"input_seq": tens},
        {"output_sequence": tens},
    )
    fives = [f32(0, 1, 2, 3, 4), f32(-0.5, -1, -1.5, -2, -2.5), f32(5, 6, 7, 8, 9)]
    alone = f32(10, 20, 30, 40)
    yield (
        "identity_1_sequence_1_tensor",
        (identity_body(2), [sequence("x0_seq"), tensor("x1")], [sequence("y0"), sequence("y1")]),
        {"x0_seq": fives, "x1": alone},
        {"y0": fives, "y1": [alone] * 3},
    )
    threes = [f32(0, 1, 2), f32(-0.5, 1.5, 2.5), f32(10, 20, 30)]
    fours = [f32(0, 1, 2, 3), f32(0.25, 0.5, 0.75, 1), f32(-1, -2, -3, -4)]
    yield (
        "identity_2_sequences",
        (identity_body(2), [sequence("x0_seq"), sequence("x1_seq")], [sequence("y0"), sequence("y1")]),
        {"x0_seq": threes, "x1_seq": fours},
        {"y0": threes, "y1": fours},
    )
    matrices = [
        np.array([[-1, 0, 1.5], [-2.25, 3.5, -4.75]], np.float32),
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(6, 12, dtype=np.float32).reshape(2, 3),
    ]
    yield (
        "identity_float",
        (identity_body(1), [sequence("input_seq")], [sequence("output_sequence")]),
        {"input_seq": matrices},
        {"output_sequence": matrices},
    )
    integers = [np.array([-1, 0, 1, 2], np.int64), np.array([3, 4, 5, 6], np.int64)]
    yield (
        "identity_int64",
        (identity_body(1, INT64), [sequence("input_seq", INT64)], [sequence("output_sequence", INT64)]),
        {"input_seq": integers},
        {"output_sequence": integers},
    )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_direction(x, h, c, length, w, r, b, order, backwards):
    """One direction over one batch row in float64: x [T,I], h and c [H], w [4H,I], r [4H,H], b [4H], gates in `order`."""
    hidden = h.shape[0]
    y = np.zeros((x.shape[0], hidden))
    for t in reversed(range(length)) if backwards else range(length):
        gates = dict(zip(order, np.split(w @ x[t] + r @ h + b, 4)))
        c = sigmoid(gates["f"]) * c + sigmoid(gates["i"]) * np.tanh(gates["c"])
        h = sigmoid(gates["o"]) * np.tanh(c)
        y[t] = h
    return y, h, c


def ragged_lstm():
    """A SequenceMap whose body is an LSTM over elements of different lengths; the weights stand in the outer graph."""
    rng = np.random.default_rng(17)
    size, hidden = 3, 4
    w = rng.uniform(-0.5, 0.5, (1, 4 * hidden, size)).astype(np.float32)
    r = rng.uniform(-0.5, 0.5, (1, 4 * hidden, hidden)).astype(np.float32)
    b = rng.uniform(-0.5, 0.5, (1, 8 * hidden)).astype(np.float32)
    nodes = [
        helper.make_node("Unsqueeze", ["x", "batch_axis"], ["x3"]),
        helper.make_node("LSTM", ["x3", "W", "R", "B"], ["y4", "", ""], name="lstm", hidden_size=hidden),
        helper.make_node("Squeeze", ["y4", "inner_axes"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(np.array([1], np.int64), "batch_axis"),
        numpy_helper.from_array(np.array([1, 2], np.int64), "inner_axes"),
    ]
    body = helper.make_graph(nodes, "body", [tensor("x", FLOAT, ["T", size])], [tensor("y")], constants)
    weights = [numpy_helper.from_array(array, name) for name, array in (("W", w), ("R", r), ("B", b))]
    model = sequence_map_model("ragged_lstm", body, [sequence("xs", FLOAT, [None, size])], [sequence("ys")], weights)
    xs = [rng.standard_normal((length, size)).astype(np.float32) for length in (5, 1, 3)]
    ys = []
    for x in xs:
        zero = np.zeros(hidden)
        bias = b[0, : 4 * hidden].astype(np.float64) + b[0, 4 * hidden :]
        y, _, _ = lstm_direction(
            x.astype(np.float64), zero, zero, len(x), w[0].astype(np.float64), r[0], bias, "iofc", False
        )
        ys.append(y.astype(np.float32))
    return model, {"xs": xs}, {"ys": ys}


def port(number, precision, dims, names=None):
    names = f' names="{names}"' if names else ""
    inner = "".join(f"<dim>{-1 if dim is None else dim}</dim>" for dim in dims)
    return f'<port id="{number}" precision="{precision}"{names}>{inner}</port>'


def layer(number, name, kind, data, inputs, outputs, opset="opset1"):
    parts = [f'    <layer id="{number}" name="{name}" type="{kind}" version="{opset}">']
    parts += [f"      <data {data} />"] if data else []
    parts += [f"      <input>{''.join(inputs)}</input>"] if inputs else []
    parts += [f"      <output>{''.join(outputs)}</output>"] if outputs else []
    return "\n".join([*parts, "    </layer>"])


def lstm_sequence_ir():
    """(xml, weights, inputs, outputs) of a bidirectional LSTMSequence-1 with lengths as an input."""
    rng = np.random.default_rng(1)
    size, hidden, batch, steps = 3, 4, 2, 5
    shapes = [(2, 4 * hidden, size), (2, 4 * hidden, hidden), (2, 4 * hidden)]
    w, r, b = (rng.uniform(-0.5, 0.5, shape).astype(np.float32) for shape in shapes)
    parameters = [
        ("X", "FP32", "f32", (None, None, size)),
        ("H0", "FP32", "f32", (None, 2, hidden)),
        ("C0", "FP32", "f32", (None, 2, hidden)),
        ("lens", "I64", "i64", (None,)),
    ]
    layers, inputs = [], []
    for i, (name, precision, elem_type, dims) in enumerate(parameters):
        text = ",".join("?" if dim is None else str(dim) for dim in dims)
        data = f'shape="{text}" element_type="{elem_type}"'
        layers.append(layer(i, name, "Parameter", data, [], [port(0, precision, dims, name)]))
        inputs.append(port(i, precision, dims))
    offset = 0
    for i, (name, array) in enumerate((("W", w), ("R", r), ("B", b)), 4):
        text = ", ".join(map(str, array.shape))
        data = f'element_type="f32" shape="{text}" offset="{offset}" size="{array.nbytes}"'
        layers.append(layer(i, name, "Const", data, [], [port(0, "FP32", array.shape)]))
        inputs.append(port(i, "FP32", array.shape))
        offset += array.nbytes
    results = [("Y", (None, 2, None, hidden)), ("Ho", (None, 2, hidden)), ("Co", (None, 2, hidden))]
    data = (
        f'direction="bidirectional" hidden_size="{hidden}" activations="sigmoid, tanh, tanh" '
        'activations_alpha="" activations_beta="" clip="0"'
    )
    outputs = [port(7 + i, "FP32", dims, name) for i, (name, dims) in enumerate(results)]
    layers.append(layer(7, "lstm", "LSTMSequence", data, inputs, outputs, "opset5"))
    layers += [layer(8 + i, f"{n}_result", "Result", "", [port(0, "FP32", d)], []) for i, (n, d) in enumerate(results)]
    edges = [(i, 0, 7, i) for i in range(7)] + [(7, 7 + i, 8 + i, 0) for i in range(3)]
    edges = [f'    <edge from-layer="{a}" from-port="{p}" to-layer="{c}" to-port="{q}" />' for a, p, c, q in edges]
    body = ["  <layers>", *layers, "  </layers>", "  <edges>", *edges, "  </edges>"]
    xml = "\n".join(['<?xml version="1.0"?>', '<net name="lstm_sequence" version="11">', *body, "</net>", ""])

    x = rng.standard_normal((batch, steps, size)).astype(np.float32)
    h0, c0 = (rng.standard_normal((batch, 2, hidden)).astype(np.float32) for _ in range(2))
    lens = np.array([steps, 2], np.int64)
    y, ho, co = np.zeros((batch, 2, steps, hidden)), np.zeros((batch, 2, hidden)), np.zeros((batch, 2, hidden))
    wide = [array.astype(np.float64) for array in (x, h0, c0, w, r, b)]
    for n in range(batch):
        for d in range(2):
            row = (
                wide[0][n],
                wide[1][n, d],
                wide[2][n, d],
                int(lens[n]),
                wide[3][d],
                wide[4][d],
                wide[5][d],
                "fico",
                d == 1,
            )
            y[n, d], ho[n, d], co[n, d] = lstm_direction(*row)
    feeds = {"X": x, "H0": h0, "C0": c0, "lens": lens}
    expected = {name: array.astype(np.float32) for name, array in (("Y", y), ("Ho", ho), ("Co", co))}
    return xml, b"".join(array.tobytes() for array in (w, r, b)), feeds, expected


def write(folder, inputs, expected):
    np.savez(folder / "inputs.npz", **flatten(inputs))
    np.savez(folder / "expected.npz", **flatten(expected))
    (folder / "expected.txt").write_text("".join(describe(name, value) for name, value in expected.items()))


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "examples")
    for name, parts, inputs, expected in worked_examples():
        folder = target / f"test_cc_sequence_map_{name}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(
            sequence_map_model(folder.name, *parts).SerializeToString(deterministic=True)
        )
        write(folder, inputs, expected)
    model, inputs, expected = ragged_lstm()
    folder = target / "sequence_map_lstm_ragged"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    write(folder, inputs, expected)
    xml, weights, inputs, expected = lstm_sequence_ir()
    folder = target / "lstm_sequence_ir"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.xml").write_text(xml)
    (folder / "model.bin").write_bytes(weights)
    write(folder, inputs, expected)


if __name__ == "__main__":
    main()
