#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes inputs and expected outputs for the OpenVINO IR files of tests/data/ir.

    python3 tools/make_ir_golden.py DIR_OF_RNN_REFERENCE tests/data/ir

DIR holds rnn_reference.py, the numpy oracle. For each NAME.xml (and NAME.bin) the directory NAME gets input_0.pb, ... and
output_0.pb, ..., TensorProtos named after the model's inputs and outputs. The graph is evaluated here, in numpy and float64, layer
by layer from the XML: nothing of the library takes part. Dynamic dims become sizes, lengths given as inputs are drawn from
[0, T]. Needs numpy and onnx.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
from onnx import numpy_helper

DTYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i32": np.int32, "i64": np.int64}
SIZES = {
    "X": (4, 6),
    "H0": (4,),
    "C0": (4,),
    "lens": (4,),
    "h0": (4,),
    "c0": (4,),
}  # of the dynamic dims of an input, in order


def ints(text):
    return [int(part) for part in text.split(",") if part.strip()]


def words(text):
    return [part.strip() for part in text.split(",") if part.strip()]


def draw_input(rng, name, data):
    dynamic = iter(SIZES.get(name, ()))
    texts = data.get("shape").split(",")
    shape = [next(dynamic) if text.strip() == "?" else int(text) for text in texts]
    dtype = DTYPES[data.get("element_type")]
    if np.issubdtype(dtype, np.integer):
        return None, shape, dtype  # lengths: drawn once T is known
    return (rng.integers(-64, 65, size=shape) / 32.0).astype(dtype), shape, dtype


def lstm_sequence(oracle, attrs, args):
    legacy_p = args[7] if len(args) > 7 else None
    x, h0, c0, lens, w, r, b = args[:7]
    return oracle.lstm_sequence(
        x,
        h0,
        c0,
        lens,
        w,
        r,
        b,
        attrs.get("direction", "forward"),
        activations(attrs, "sigmoid, tanh, tanh"),
        clip=float(attrs.get("clip", 0)),
        P=legacy_p,
        input_forget="i=1-f" if attrs.get("input_forget") == "true" else None,
        weights_format=attrs.get("weights_format", "fico"),
        zero_len="zeros",
    )


def activations(attrs, default):
    return words(attrs.get("activations", default))


def gru_sequence(oracle, attrs, args):
    return oracle.gru_sequence(
        *args,
        attrs.get("direction", "forward"),
        activations(attrs, "sigmoid, tanh"),
        clip=float(attrs.get("clip", 0)),
        linear_before_reset=attrs.get("linear_before_reset") == "true",
    )


def rnn_sequence(oracle, attrs, args):
    return oracle.rnn_sequence(
        *args, attrs.get("direction", "forward"), activations(attrs, "tanh"), clip=float(attrs.get("clip", 0))
    )


def lstm_cell(oracle, attrs, args):
    functions = [oracle.activation(name) for name in activations(attrs, "sigmoid, tanh, tanh")]
    return oracle.lstm_cell(*args, functions, clip=float(attrs.get("clip", 0)))


RECURRENT = {
    "LSTMSequence": lstm_sequence,
    "GRUSequence": gru_sequence,
    "RNNSequence": rnn_sequence,
    "LSTMCell": lstm_cell,
}


def reshape(value, pattern):
    return value.reshape([value.shape[i] if d == 0 else d for i, d in enumerate(pattern)])


def evaluate(oracle, layer, attrs, args):
    kind = layer.get("type")
    if kind in RECURRENT:
        return RECURRENT[kind](oracle, attrs, args)
    if kind == "Squeeze":
        return [np.squeeze(args[0], tuple(int(axis) for axis in args[1]))]
    if kind == "Unsqueeze":
        return [np.expand_dims(args[0], tuple(int(axis) for axis in args[1]))]
    if kind == "Convert":
        return [args[0].astype(np.float64)]
    if kind == "Transpose":
        return [args[0].transpose(args[1])]
    if kind == "Reshape":
        assert attrs["special_zero"] == "true"
        return [reshape(args[0], args[1])]
    if kind == "ShapeOf":
        return [np.array(args[0].shape, np.int64)]
    if kind == "Gather":
        return [np.take(args[0], args[1], axis=int(args[2].item()))]
    if kind == "Broadcast":
        return [np.broadcast_to(args[0], args[1])]
    if kind == "Concat":
        return [np.concatenate(args, axis=int(attrs["axis"]))]
    raise NotImplementedError(kind)


def edges_of(graph):
    """For each layer the sources of its inputs, (layer, port) by port."""
    edges = {}
    for edge in graph.find("edges"):
        edges.setdefault(int(edge.get("to-layer")), {})[int(edge.get("to-port"))] = (
            int(edge.get("from-layer")),
            int(edge.get("from-port")),
        )
    return edges


def run_layers(oracle, graph, blob, parameter):
    """The values of the Results by layer id, in file order; `parameter(layer)` gives those of Parameters."""
    edges, values, results = edges_of(graph), {}, {}
    for layer in graph.find("layers"):
        number = int(layer.get("id"))
        attrs = {} if layer.find("data") is None else dict(layer.find("data").attrib)
        if layer.get("type") == "Parameter":
            value = parameter(layer)
            result = [value.astype(np.float64) if value.dtype.kind == "f" else value]
        elif layer.get("type") == "Const":
            offset, size = int(attrs["offset"]), int(attrs["size"])
            dtype = DTYPES[attrs["element_type"]]
            value = np.frombuffer(blob[offset : offset + size], dtype).reshape(ints(attrs["shape"]))
            result = [value.astype(np.float64) if value.dtype.kind == "f" else value]
        else:
            args = [values[source] for _, source in sorted(edges[number].items())]
            if layer.get("type") == "Result":
                results[number] = args[0]
                continue
            if layer.get("type") == "TensorIterator":
                result = tensor_iterator(oracle, layer, blob, args)
            else:
                result = evaluate(oracle, layer, attrs, args)
        first_port = 0 if layer.find("input") is None else len(layer.find("input"))
        for i, value in enumerate(result):
            values[(number, first_port + i)] = value
    return results


def tensor_iterator(oracle, layer, blob, args):
    """Slices of size 1 along whole axes."""
    ports = [int(port.get("id")) for port in layer.find("input")]
    inputs = {int(m.get("internal_layer_id")): m for m in layer.find("port_map").findall("input")}
    outputs = layer.find("port_map").findall("output")
    back = {int(edge.get("to-layer")): int(edge.get("from-layer")) for edge in layer.find("back_edges")}
    fed = {number: args[ports.index(int(m.get("external_port_id")))] for number, m in inputs.items()}
    steps = next(fed[n].shape[int(m.get("axis"))] for n, m in inputs.items() if m.get("axis"))
    parts = {int(m.get("external_port_id")): [] for m in outputs}

    def index(mapping, step):
        return steps - 1 - step if int(mapping.get("stride")) < 0 else step

    for step in range(steps):

        def parameter(body_layer, step=step):
            number = int(body_layer.get("id"))
            mapping = inputs[number]
            if mapping.get("axis") is None:
                return fed[number]
            return np.take(fed[number], [index(mapping, step)], axis=int(mapping.get("axis")))

        results = run_layers(oracle, layer.find("body"), blob, parameter)
        for mapping in outputs:
            parts[int(mapping.get("external_port_id"))].append(results[int(mapping.get("internal_layer_id"))])
        for to, source in back.items():
            fed[to] = results[source]
    whole = []
    for port in layer.find("output"):
        mapping = next(m for m in outputs if m.get("external_port_id") == port.get("id"))
        of_port = parts[int(port.get("id"))]
        if mapping.get("axis") is None:
            whole.append(of_port[-1])
        else:
            ordered = of_port[::-1] if int(mapping.get("stride")) < 0 else of_port
            whole.append(np.concatenate(ordered, axis=int(mapping.get("axis"))))
    return whole


def write_case(oracle, path):
    rng = np.random.default_rng(sum(path.name.encode()))
    net = ElementTree.parse(path).getroot()
    inputs = []

    def parameter(layer):
        value, shape, dtype = draw_input(rng, layer.get("name"), dict(layer.find("data").attrib))
        if value is None:
            first = inputs[0][1]
            steps = first.shape[0] if net.get("name") == "onnx_Frontend_IR" else first.shape[1]
            value = rng.integers(0, steps + 1, size=shape).astype(dtype)
        inputs.append((layer.get("name"), value))
        return value

    outputs = list(run_layers(oracle, net, path.with_suffix(".bin").read_bytes(), parameter).values())
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    for i, (name, value) in enumerate(inputs):
        (folder / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    for i, value in enumerate(outputs):
        (folder / f"output_{i}.pb").write_bytes(
            numpy_helper.from_array(value.astype(np.float32), f"output_{i}").SerializeToString()
        )
    print(path.stem, [list(v.shape) for _, v in inputs], [list(v.shape) for v in outputs])


def main():
    sys.path.insert(0, sys.argv[1])
    import rnn_reference as oracle

    for path in sorted(pathlib.Path(sys.argv[2]).glob("*.xml")):
        write_case(oracle, path)


if __name__ == "__main__":
    main()
