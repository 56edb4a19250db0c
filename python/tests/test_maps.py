# SPDX-License-Identifier: Apache-2.0
"""Maps as dicts, in and out."""

import numpy as np
import onnxseq
import pytest
from onnx import TensorProto, helper
from test_session import make_model, nothing, tensor

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING


def map_type(key=INT64, value=FLOAT):
    return helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))


def declared(kind, name="x"):
    return helper.make_value_info(name, kind)


def ml_model(node, inputs):
    model = make_model([node], inputs, [declared(helper.make_tensor_type_proto(FLOAT, None), name) for name in ()])
    for name in node.output:
        model.graph.output.add().name = name
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return model


def round_trip(kind, value):
    return onnxseq.InferenceSession(nothing(declared(kind))).run(None, {"x": value})[0]


def test_zip_map():
    node = helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml", classlabels_strings=["b", "a"])
    session = onnxseq.InferenceSession(ml_model(node, [tensor("x", FLOAT, ["N", 2])]))
    assert session.get_outputs()[0].type == "seq(map(string,tensor(float)))"
    got = session.run(None, {"x": np.array([[1, 2], [3, 4.5]], np.float32)})[0]
    assert got == [{"a": 2, "b": 1}, {"a": 4.5, "b": 3}]
    assert all(type(value) is np.float32 for row in got for value in row.values())
    assert session.run(None, {"x": np.zeros((0, 2), np.float32)}) == [[]]


def test_dict_vectorizer():
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[3, 1, 2])
    session = onnxseq.InferenceSession(ml_model(node, [declared(map_type())]))
    assert session.get_inputs()[0].type == "map(int64,tensor(float))"
    got = session.run(None, {"x": {1: 0.5, np.int64(3): np.float32(2)}})[0]
    np.testing.assert_array_equal(got, np.array([2, 0.5, 0], np.float32))
    with pytest.raises(ValueError, match="has key 7, which is no word"):
        session.run(None, {"x": {7: 1.0}})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (map_type(), {}),
        (map_type(), {-3: 1.5, 2: 0.25}),
        (map_type(STRING, STRING), {"a": "x", "\u00e4": "y"}),
        (map_type(TensorProto.UINT64, INT64), {2**64 - 1: 7}),
        (map_type(TensorProto.INT8, FLOAT), {-128: 1.0}),
        (helper.make_sequence_type_proto(map_type()), [{1: 2.0}, {}, {3: 4.0, 5: 6.0}]),
        (helper.make_sequence_type_proto(map_type()), []),
        (helper.make_optional_type_proto(map_type()), {1: 2.0}),
        (helper.make_optional_type_proto(map_type()), None),
        (helper.make_map_type_proto(INT64, map_type()), {1: {2: 3.0}}),
        (helper.make_map_type_proto(INT64, helper.make_sequence_type_proto(map_type())), {1: [{2: 3.0}]}),
    ],
)
def test_round_trips(kind, value):
    assert round_trip(kind, value) == value


def test_values_may_be_arrays():
    kind = helper.make_map_type_proto(INT64, helper.make_tensor_type_proto(FLOAT, ["K"]))
    got = round_trip(kind, {1: np.arange(2, dtype=np.float32), 2: np.arange(3, dtype=np.float32)})
    np.testing.assert_array_equal(got[2], np.arange(3, dtype=np.float32))


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (map_type(), {"a": 1.0}, "keys must be int64, got str in what is fed to input 'x'"),
        (map_type(STRING), {1: 1.0}, "keys must be string, got int in what is fed to input 'x'"),
        (map_type(), {1.5: 1.0}, "keys must be int64, got float in what is fed to input 'x'"),
        (map_type(), {2**63: 1.0}, "the key 9223372036854775808 is no int64 in what is fed to input 'x'"),
        (map_type(TensorProto.INT8), {128: 1.0}, "the key 128 is no int8 in what is fed to input 'x'"),
        (map_type(), {1: None}, "None is no value here in the value of key 1 in what is fed to input 'x'"),
        (
            map_type(),
            {1: np.zeros(2, np.float32)},
            'input "x": expected map(int64,tensor(float)[]), got tensor(float)[2] as value 0',
        ),
        (
            map_type(),
            np.zeros(2, np.float32),
            'input "x": expected map(int64,tensor(float)[]), got tensor(float)[2]',
        ),
        (
            helper.make_sequence_type_proto(map_type()),
            [{1: 1.0}, {1: np.float64(1)}],
            "element 1 is map(int64,tensor(double)), expected map(int64,tensor(float)) in what is fed to input 'x'",
        ),
    ],
)
def test_messages(kind, value, message):
    with pytest.raises(ValueError) as caught:
        round_trip(kind, value)
    assert str(caught.value) == message


def test_a_dict_in_itself():
    value = {}
    value[1] = value
    kind = map_type()
    for _ in range(20):
        kind = helper.make_map_type_proto(INT64, kind)
    with pytest.raises((ValueError, NotImplementedError, RecursionError)):
        round_trip(kind, value)
    with pytest.raises(RecursionError):
        onnxseq.InferenceSession(nothing(declared(map_type()))).run(None, {"q": value})


def test_shapes():
    node = helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml", classlabels_int64s=[1, 2])
    got = onnxseq.infer_shapes(ml_model(node, [tensor("x", FLOAT, ["N", 2])]))["values"]["z"]
    value = {"kind": "tensor", "dtype": "float32", "shape": []}
    assert got == {"kind": "sequence", "length": "N", "elem": {"kind": "map", "key": "int64", "value": value}}
