# SPDX-License-Identifier: Apache-2.0
"""Models read and written: against the onnx package, over the models it brings and those of tests/data."""

import pathlib

import numpy as np
import onnx
import onnx.backend.test
import onnx.parser
import onnx.printer
import onnxseq
import pytest
from onnx import TensorProto, helper, numpy_helper

from cases import REPOSITORY, in_child

MODELS = sorted((REPOSITORY / "tests" / "data").rglob("*.onnx")) + sorted((REPOSITORY / "examples").rglob("*.onnx"))
PACKAGE = pathlib.Path(onnx.backend.test.__file__).parent / "data"


def canonical(model):
    """Bytes that equal messages share."""
    return model.SerializeToString(deterministic=True)


def package_models():
    """A spread of the models in the onnx package: every third folder of each kind."""
    return sorted(PACKAGE.rglob("*.onnx"))[::3]


def test_models_round_trip(tmp_path):
    out = tmp_path / "out.onnx"
    count = 0
    for path in MODELS + package_models():
        onnxseq.convert(path, out)
        assert canonical(onnx.load(out)) == canonical(onnx.load(path)), path
        count += 1
    assert count > 100


def values_as_typed(model):
    """The model with what text changes evened out: values of tensors, and no names and words that text leaves out."""

    def graph(g):
        g.ClearField("doc_string")
        g.ClearField("metadata_props")
        for node in g.node:
            one_node(node)
        for tensor in g.initializer:
            one_tensor(tensor)

    def one_node(node):
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
        node.domain = node.domain
        for attribute in node.attribute:
            attribute.ClearField("doc_string")
            for tensor in [attribute.t] * attribute.HasField("t") + list(attribute.tensors):
                one_tensor(tensor)
                tensor.ClearField("name")
            for body in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                graph(body)
                body.name = "body"

    def one_tensor(tensor):
        value = numpy_helper.to_array(tensor)
        named = numpy_helper.from_array(value, tensor.name)
        tensor.CopyFrom(named)

    graph(model.graph)
    for holder in [model, *model.functions]:
        for opset in holder.opset_import:
            opset.domain = opset.domain
    for function in model.functions:
        function.ClearField("metadata_props")
        for node in function.node:
            one_node(node)
    return model


def test_text_means_the_same_to_us_and_to_the_package(tmp_path):
    text, back, theirs = tmp_path / "m.onnxtxt", tmp_path / "back.onnx", tmp_path / "theirs.onnxtxt"
    exact = refused = 0
    for path in MODELS + package_models():
        try:
            onnxseq.convert(path, text)
        except onnxseq.Unsupported as error:
            assert "text syntax" in str(error)
            refused += 1
            continue
        ours = text.read_text()
        onnxseq.convert(text, back)
        assert canonical(onnx.load(back)) == canonical(onnx.parser.parse_model(ours)), path
        expected = values_as_typed(onnx.load(path))
        if not [i for i in [*expected.graph.input, *expected.graph.output, *expected.graph.value_info] if i.doc_string]:
            assert canonical(values_as_typed(onnx.load(back))) == canonical(expected), path
            exact += 1
        # Ours reads what the package prints; what it prints of large or narrow tensors is "...".
        printed = onnx.printer.to_text(onnx.load(back))
        if "..." not in printed:
            theirs.write_text(printed)
            onnxseq.convert(theirs, back)
            assert canonical(onnx.load(back)) == canonical(onnx.parser.parse_model(printed)), path
    assert exact > 100 and refused < 10


def weights_model():
    weights = numpy_helper.from_array(np.arange(300, dtype=np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [300])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [300])],
        [weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_external_data_is_what_the_package_reads_and_writes(tmp_path):
    model = weights_model()
    ours = tmp_path / "ours.onnx"
    onnxseq.convert(model, ours, external_data=0)
    assert onnx.load(ours, load_external_data=False).graph.initializer[0].data_location == TensorProto.EXTERNAL
    loaded = onnx.load(ours)
    loaded.graph.initializer[0].ClearField("data_location")
    assert canonical(loaded) == canonical(model)
    theirs = tmp_path / "theirs.onnx"
    onnx.save(model, theirs, save_as_external_data=True, location="w.bin", size_threshold=0)
    for path in (ours, theirs):
        (y,) = onnxseq.InferenceSession(path).run(None, {"x": np.ones(300, np.float32)})
        assert y[299] == 300
    onnxseq.convert(theirs, tmp_path / "copy.onnx")
    assert len(list(tmp_path.glob("copy.onnx.*.data"))) == 1


def test_data_that_is_missing_is_an_error_of_files(tmp_path):
    onnxseq.convert(weights_model(), tmp_path / "m.onnx", external_data=0)
    for data in tmp_path.glob("*.data"):
        data.unlink()
    for use in (onnxseq.InferenceSession, lambda path: onnxseq.convert(path, tmp_path / "copy.onnx")):
        with pytest.raises(onnxseq.FileNotFoundError, match="cannot be opened"):
            use(tmp_path / "m.onnx")
    assert not (tmp_path / "copy.onnx").exists()


def test_bytes_need_the_folder_of_their_data(tmp_path):
    onnxseq.convert(weights_model(), tmp_path / "m.onnx", external_data=0)
    data = (tmp_path / "m.onnx").read_bytes()
    with pytest.raises(onnxseq.Unsupported, match="a model from memory needs the folder of it .data_folder."):
        onnxseq.InferenceSession(data)
    session = onnxseq.InferenceSession(data, onnxseq.SessionOptions(data_folder=tmp_path))
    assert session.run(None, {"x": np.zeros(300, np.float32)})[0][7] == 7
    onnxseq.convert(data, tmp_path / "whole.onnx", data_folder=tmp_path)
    assert canonical(onnx.load(tmp_path / "whole.onnx")) == canonical(weights_model())


def test_inferred_models_keep_their_references(tmp_path):
    path = tmp_path / "m.onnx"
    onnxseq.convert(weights_model(), path, external_data=0)
    bare = onnx.load(path, load_external_data=False)
    written = onnx.ModelProto.FromString(onnxseq.infer_shapes_model(path))
    assert written.graph.initializer[0] == bare.graph.initializer[0]
    for data in tmp_path.glob("*.data"):
        data.unlink()
    assert onnxseq.infer_shapes_model(path) == onnx.ModelProto.SerializeToString(written)
    (problem,) = onnxseq.infer_shapes(path)["problems"]
    assert problem["level"] == "warning" and "cannot be opened" in problem["message"]


def test_shapes_are_written_as_asked_for():
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Neg", ["x"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N"])],
        )
    )
    written = onnxseq.infer_shapes_model(model, dims={"N": 3})
    assert [v.type.tensor_type.shape.dim[0].dim_value for v in (*written.graph.input, *written.graph.output)] == [3, 3]


@pytest.mark.parametrize("op_type", ["MatMul", "Conv"])
def test_loading_reads_no_weights(tmp_path, op_type):
    # 8 matrices of 15 MB: they are read, and packed, by the first run. Halves become floats only then, too.
    count, rows = 8, 1960
    shape, dtype = {"MatMul": ((rows, rows), np.float32), "Conv": ((2 * rows, rows, 1), np.float16)}[op_type]
    weights = [numpy_helper.from_array(np.zeros(shape, dtype), f"w{i}") for i in range(count)]
    nodes = [helper.make_node(op_type, ["x", f"w{i}"], [f"y{i}"]) for i in range(count)]
    value, element = helper.make_tensor_value_info, helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x = value("x", element, ["N", rows] if op_type == "MatMul" else ["N", rows, "T"])
    outputs = [value(f"y{i}", element, None) for i in range(count)]
    graph = helper.make_graph(nodes, "g", [x], outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnxseq.convert(model, tmp_path / "m.onnx", external_data=0)
    session = []
    loaded = in_child(lambda: session.append(onnxseq.InferenceSession(tmp_path / "m.onnx")), 60)
    assert loaded["grown_mb"] < 30
