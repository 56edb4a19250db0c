# SPDX-License-Identifier: Apache-2.0
"""The Python interface: what goes in, what comes out, and what is raised."""

import concurrent.futures
import errno
import gc
import sys

import ml_dtypes
import numpy as np
import onnxseq
import pytest
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING


def tensor(name, elem_type=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, elem_type, shape)


def sequence(name, elem_type=FLOAT, shape=None):
    return helper.make_tensor_sequence_value_info(name, elem_type, shape)


def make_model(nodes, inputs, outputs, opset=21):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def identity(value):
    """A model that gives back its input `x` as `y`."""
    out = type(value)()
    out.CopyFrom(value)
    out.name = "y"
    return make_model([helper.make_node("Identity", ["x"], ["y"])], [value], [out])


def nothing(value):
    """A model whose output is its input `x`: no operator limits the types."""
    return make_model([], [value], [value])


def through(value_info, value):
    """What comes back of `value` through an Identity."""
    return onnxseq.InferenceSession(identity(value_info)).run(None, {"x": value})[0]


def test_models_come_as_path_bytes_and_proto(tmp_path):
    model = identity(tensor("x", FLOAT, ["N"]))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    data = model.SerializeToString()
    for source in (model, data, bytearray(data), memoryview(data), path, str(path)):
        (y,) = onnxseq.InferenceSession(source).run(None, {"x": np.ones(2, np.float32)})
        assert y.tolist() == [1, 1]
    with pytest.raises(TypeError, match="a model is a path, bytes, or an onnx.ModelProto"):
        onnxseq.InferenceSession(7)


def test_inputs_and_outputs_are_described():
    model = make_model(
        [helper.make_node("Add", ["a", "b"], ["c"])],
        [tensor("a", FLOAT, ["N", 3, None]), tensor("b", FLOAT)],
        [tensor("c", FLOAT)],
    )
    a, b = onnxseq.InferenceSession(model).get_inputs()
    assert (a.name, a.type, a.shape) == ("a", "tensor(float)", ["N", 3, "unk__0"])
    assert b.shape is None
    assert repr(a) == "ValueInfo(name='a', type='tensor(float)', shape=['N', 3, 'unk__0'])"
    (s,) = onnxseq.InferenceSession(identity(sequence("x"))).get_outputs()
    assert (s.name, s.type, s.shape) == ("y", "seq(tensor(float))", None)


NUMPY_TYPES = ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16"]
ML_TYPES = [
    getattr(ml_dtypes, name)
    for name in [
        "bfloat16",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float4_e2m1fn",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "int4",
        "uint4",
        "int2",
        "uint2",
    ]
]


@pytest.mark.parametrize("dtype", [np.dtype(name) for name in NUMPY_TYPES + ML_TYPES], ids=str)
def test_every_element_type(dtype):
    value = np.array([[0.5, 1, 1], [1, 0.5, 1], [1, 1, 0.5]]).astype(dtype)
    model = nothing(tensor("x", helper.np_dtype_to_tensor_dtype(dtype)))
    (got,) = onnxseq.InferenceSession(model).run(None, {"x": value})
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, value)


def test_narrow_integers_keep_their_sign():
    value = np.array([-8, 7, -1], ml_dtypes.int4)
    (got,) = onnxseq.InferenceSession(nothing(tensor("x", TensorProto.INT4))).run(None, {"x": value})
    assert got.tolist() == [-8, 7, -1]


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("dtype", [np.dtype(name) for name in ML_TYPES], ids=str)
def test_initialisers_of_every_element_type(dtype, raw):
    value = np.array([0.5, 1, 0.5, 1, 1]).astype(dtype)
    if raw:
        initialiser = numpy_helper.from_array(value, "w")
    else:
        initialiser = helper.make_tensor("w", helper.np_dtype_to_tensor_dtype(dtype), [5], value)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])], "g", [], [tensor("y", initialiser.data_type)], [initialiser]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])
    (got,) = onnxseq.InferenceSession(model).run(None, {})
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1),
        np.arange(12, dtype=np.float32)[::-2],
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.arange(5, dtype=">f4"),
        np.frombuffer(b"\0" + np.arange(3, dtype=np.float32).tobytes(), np.uint8)[1:].view(np.float32),
        np.zeros((0, 3), np.float32),
        np.array(2.5, np.float32),
        np.broadcast_to(np.float32(1), (4, 4)),
    ],
    ids=["transposed", "reversed", "fortran", "swapped", "misaligned", "empty", "scalar", "broadcast"],
)
def test_any_layout(value):
    got = through(tensor("x"), value)
    assert got.shape == value.shape
    assert got.flags.c_contiguous and got.flags.writeable
    np.testing.assert_array_equal(got, value)


def test_strings():
    for value in (
        np.array([["a", "bc"]], dtype=object),
        np.array([["a", "bc"]]),
        [["a", "bc"]],
        np.array([[b"a", b"bc"]]),
    ):
        got = through(tensor("x", STRING), value)
        assert got.dtype == object
        assert got.tolist() == [["a", "bc"]]
    assert through(tensor("x", STRING), "\u00e4\U0001f600").item() == "\u00e4\U0001f600"
    assert through(tensor("x", STRING), np.array([b"\xff"], dtype=object)).tolist() == ["\udcff"]
    with pytest.raises(onnxseq.InvalidArgument, match="a string tensor needs str or bytes, got int"):
        through(tensor("x", STRING), np.array([1], dtype=object))


def test_scalars_and_lists_take_the_declared_type():
    for value, expected in ((1.5, 1.5), (2, 2.0), ([1, 2.5], [1, 2.5]), ([[1], [2]], [[1], [2]]), ((1, 2), [1, 2])):
        got = through(tensor("x"), value)
        assert got.dtype == np.float32
        assert got.tolist() == expected
    assert through(tensor("x", INT64), [1, 2]).dtype == np.int64
    assert through(tensor("x", TensorProto.BOOL), True).dtype == np.bool_
    with pytest.raises(onnxseq.InvalidArgument, match=r"a value of type float64 cannot become tensor\(int64\)"):
        through(tensor("x", INT64), 1.5)
    with pytest.raises(onnxseq.InvalidArgument, match="in what is fed to input 'x'"):
        through(tensor("x"), {"a": 1})


def test_an_array_keeps_its_type():
    with pytest.raises(onnxseq.InvalidArgument, match="double"):
        through(tensor("x"), np.zeros(2))
    with pytest.raises(onnxseq.InvalidArgument, match="arrays of datetime64"):
        through(tensor("x"), np.zeros(2, "datetime64[s]"))


class Exported:
    """An object that gives its memory through DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack():
    assert through(tensor("x"), Exported(np.arange(3, dtype=np.float32))).tolist() == [0, 1, 2]


def test_sequences():
    ragged = [np.arange(n, dtype=np.float32) for n in (3, 0, 2000)]
    for given in (ragged, tuple(ragged)):
        got = through(sequence("x"), given)
        assert isinstance(got, list)
        for a, b in zip(got, ragged, strict=True):
            np.testing.assert_array_equal(a, b)
    assert through(sequence("x"), []) == []
    assert through(sequence("x"), [1.5, [2, 3]])[1].tolist() == [2, 3]
    assert [v.tolist() for v in through(sequence("x", STRING), [np.array(["a"]), ["b", "c"]])] == [["a"], ["b", "c"]]
    with pytest.raises(onnxseq.InvalidArgument, match="in what is fed to input 'x'"):
        through(sequence("x"), [np.zeros(1, np.float32), np.zeros(1, np.int64)])
    with pytest.raises(onnxseq.InvalidArgument, match="in element 1 in what is fed to input 'x'"):
        through(sequence("x"), [np.zeros(1, np.float32), {}])


def test_outputs_never_share_memory_with_inputs():
    for size in (4, 100_000):
        x = np.zeros(size, np.float32)
        y = through(tensor("x"), x)
        assert not np.shares_memory(x, y)
        y[:] = 1
        assert not x.any()


def test_large_outputs_outlive_the_session_and_are_aligned():
    model = make_model([helper.make_node("Add", ["x", "x"], ["y"])], [tensor("x")], [tensor("y")])
    session = onnxseq.InferenceSession(model)
    (y,) = session.run(None, {"x": np.ones((100, 1000), np.float32)})
    (z,) = session.run(None, {"x": np.zeros((100, 1000), np.float32)})
    del session
    gc.collect()
    assert y.ctypes.data % 64 == 0
    assert (y == 2).all() and not z.any()


def test_inputs_are_released():
    x = np.zeros(100_000, np.float32)
    before = sys.getrefcount(x)
    session = onnxseq.InferenceSession(identity(tensor("x")))
    for _ in range(3):
        session.run(None, {"x": x})
        session.run(None, {"x": x.reshape(-1)})
    with pytest.raises(onnxseq.Error):
        session.run(None, {"x": x, "q": x})
    assert sys.getrefcount(x) == before


def test_named_outputs():
    nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Identity", ["x"], ["z"])]
    session = onnxseq.InferenceSession(make_model(nodes, [tensor("x")], [tensor("y"), tensor("z")]))
    feeds = {"x": np.ones(1, np.float32)}
    assert [v.tolist() for v in session.run(None, feeds)] == [[2], [1]]
    assert [v.tolist() for v in session.run(["z", "y", "z"], feeds)] == [[1], [2], [1]]
    assert session.run([], feeds) == []
    with pytest.raises(onnxseq.Error, match="nope"):
        session.run(["nope"], feeds)
    with pytest.raises(TypeError, match="a list of names"):
        session.run("y", feeds)


def test_names_need_not_be_utf8():
    model = make_model([helper.make_node("Add", ["in", "in"], ["out"], name="node")], [tensor("in")], [tensor("out")])
    data = model.SerializeToString().replace(b"in", b"\xffn").replace(b"out", b"\xfeut").replace(b"node", b"\xfdode")
    session = onnxseq.InferenceSession(data)
    assert [v.name for v in session.get_inputs()] == ["\udcffn"]
    assert [v.name for v in session.get_outputs()] == ["\udcfeut"]
    assert "\\udcffn" in repr(session.get_inputs()[0])
    feeds = {session.get_inputs()[0].name: np.ones(2, np.float32)}
    assert session.run(["\udcfeut"], feeds)[0].tolist() == [2, 2]
    assert [entry["name"] for entry in session.profile(feeds)] == ["\udcfdode"]
    with pytest.raises(onnxseq.InvalidArgument, match=r"\\xffn"):
        session.run(None, {})
    with pytest.raises(onnxseq.InvalidArgument, match="q"):
        session.run(None, {"q": feeds["\udcffn"]})


def test_errors_are_built_in_ones_too():
    assert issubclass(onnxseq.InvalidArgument, (onnxseq.Error, ValueError))
    for error, builtin in {
        onnxseq.InvalidArgument: ValueError,
        onnxseq.ModelParseError: ValueError,
        onnxseq.OutOfRange: IndexError,
        onnxseq.Unsupported: NotImplementedError,
        onnxseq.IoError: OSError,
        onnxseq.FileNotFoundError: FileNotFoundError,
        onnxseq.TimeoutError: TimeoutError,
        onnxseq.MemoryError: MemoryError,
    }.items():
        assert issubclass(error, onnxseq.Error) and issubclass(error, builtin)


def test_errors_say_what_and_where():
    for name in ("no/such.onnx", "no/such.onnxtxt", "no/such.xml"):
        for use in (onnxseq.InferenceSession, onnxseq.infer_shapes, onnxseq.check_model):
            with pytest.raises(FileNotFoundError, match=name) as raised:
                use(name)
            assert raised.type is onnxseq.FileNotFoundError and raised.value.errno == errno.ENOENT
            assert str(raised.value) == f'cannot open "{name}": No such file or directory'
    with pytest.raises(onnxseq.IoError, match="it is a directory") as raised:
        onnxseq.InferenceSession(".")
    assert raised.type is onnxseq.IoError
    with pytest.raises(onnxseq.ModelParseError):
        onnxseq.InferenceSession(b"\xff\xff\xff")
    unknown = make_model([helper.make_node("NoSuchOp", ["x"], ["y"], name="n")], [tensor("x")], [tensor("y")])
    with pytest.raises(onnxseq.Unsupported, match="NoSuchOp"):
        onnxseq.InferenceSession(unknown)
    model = make_model(
        [helper.make_node("Add", ["a", "b"], ["c"], name="n")], [tensor("a"), tensor("b")], [tensor("c")]
    )
    session = onnxseq.InferenceSession(model)
    with pytest.raises(ValueError, match='Add node "n"') as caught:
        session.run(None, {"a": np.zeros(2, np.float32), "b": np.zeros(3, np.float32)})
    assert (caught.value.op_type, caught.value.node_name, caught.value.path) == ("Add", "n", ())
    with pytest.raises(onnxseq.InvalidArgument, match="b"):
        session.run(None, {"a": np.zeros(2, np.float32)})


def test_options():
    options = onnxseq.SessionOptions(threads=1, optimize=False, denormals=True, seed=3, memory_limit=1 << 20)
    assert (options.threads, options.denormals, options.seed, options.memory_limit) == (1, True, 3, 1 << 20)
    assert not options.optimize
    assert options.weights == "f32" and onnxseq.SessionOptions(weights="int8").weights == "int8"
    assert onnxseq.SessionOptions().optimize
    with pytest.raises(onnxseq.InvalidArgument, match="threads is -1"):
        onnxseq.SessionOptions(threads=-1)
    with pytest.raises(TypeError):
        onnxseq.SessionOptions(no_such_option=1)
    model = make_model([helper.make_node("Add", ["x", "x"], ["y"])], [tensor("x")], [tensor("y")])
    session = onnxseq.InferenceSession(model, options)
    with pytest.raises(onnxseq.MemoryError):
        session.run(None, {"x": np.zeros(1 << 20, np.float32)})
    assert session.run(None, {"x": np.zeros(4, np.float32)})[0].shape == (4,)


@pytest.mark.parametrize("op, gates", [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_narrow_weights(op, gates):
    random = np.random.default_rng(3)
    weights = [
        helper.make_tensor(
            name, FLOAT, (1, gates * 24, 24), random.uniform(-0.3, 0.3, gates * 24 * 24).astype(np.float32)
        )
        for name in "WR"
    ]
    model = make_model([helper.make_node(op, ["x", "W", "R"], ["y"], hidden_size=24)], [tensor("x")], [tensor("y")])
    model.graph.initializer.extend(weights)
    x = random.uniform(-1, 1, (9, 2, 24)).astype(np.float32)
    exact, bf16, int8 = (
        onnxseq.InferenceSession(model, onnxseq.SessionOptions(weights=name)).run(None, {"x": x})[0]
        for name in ("f32", "bf16", "int8")
    )
    assert 0 < np.abs(bf16 - exact).max() < 1e-2
    assert 0 < np.abs(int8 - exact).max() < 2e-2
    with pytest.raises(ValueError, match='weights is "int4", not one of f32, bf16, int8'):
        onnxseq.SessionOptions(weights="int4")


def test_int8_weights_have_a_largest_size():
    model = make_model([helper.make_node("RNN", ["x", "W", "R"], ["y"], hidden_size=1)], [tensor("x")], [tensor("y")])
    for name, size in (("W", 32769), ("R", 1)):
        model.graph.initializer.append(numpy_helper.from_array(np.ones((1, 1, size), np.float32), name))
    with pytest.raises(
        onnxseq.InvalidArgument,
        match=r"""RNN, input 1 'W' \("W"\): weights as int8 may have at most 32768 inputs, got 32769""",
    ):
        onnxseq.InferenceSession(model, onnxseq.SessionOptions(weights="int8"))
    onnxseq.InferenceSession(model, onnxseq.SessionOptions(weights="bf16"))


def test_explain(monkeypatch):
    monkeypatch.setenv("ONNXSEQ_FUSE_FROM", "1")
    nodes = [
        helper.make_node(op, [i], [o]) for op, i, o in (("Neg", "x", "a"), ("Identity", "a", "b"), ("Abs", "b", "y"))
    ]
    model = make_model(nodes, [tensor("x", shape=["N"])], [tensor("y")])
    lines = "3 nodes, 1 after the passes\nremove no-ops: 1\nfuse elementwise: 1\n"
    assert onnxseq.InferenceSession(model).explain() == lines
    plain = onnxseq.InferenceSession(model, onnxseq.SessionOptions(optimize=False))
    assert plain.explain() == "the nodes run as they are\n"


def test_denormals():
    tiny = np.full(4, 1e-40, np.float32)
    model = make_model([helper.make_node("Add", ["x", "x"], ["y"])], [tensor("x")], [tensor("y")])
    assert not onnxseq.InferenceSession(model).run(None, {"x": tiny})[0].any()
    kept = onnxseq.InferenceSession(model, onnxseq.SessionOptions(denormals=True))
    assert kept.run(None, {"x": tiny})[0].all()


def slow_model():
    body = helper.make_graph([helper.make_node("Add", ["a", "a"], ["b"])], "body", [tensor("a")], [tensor("b")])
    return make_model([helper.make_node("SequenceMap", ["x"], ["y"], body=body)], [sequence("x")], [sequence("y")])


def test_timeout():
    session = onnxseq.InferenceSession(slow_model(), onnxseq.SessionOptions(threads=1))
    feeds = {"x": [np.zeros(100_000, np.float32)] * 500}
    with pytest.raises(TimeoutError):
        session.run(None, feeds, timeout=1e-4)
    assert len(session.run(None, feeds, timeout=60)[0]) == 500
    with pytest.raises(onnxseq.InvalidArgument, match="timeout is 0"):
        session.run(None, feeds, timeout=0)


def test_many_threads_share_a_session():
    session = onnxseq.InferenceSession(slow_model())
    wrong = []

    def work(number):
        elements = [np.full(n + 1, number, np.float32) for n in range(20)]
        for _ in range(20):
            (got,) = session.run(None, {"x": elements})
            if not all((a == 2 * number).all() for a in got):
                wrong.append(number)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))  # raises what a thread raised
    assert not wrong


def test_infer_shapes():
    model = make_model(
        [
            helper.make_node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=0),
            helper.make_node("SequenceLength", ["s"], ["n"]),
        ],
        [tensor("x", FLOAT, ["N", 3])],
        [sequence("s"), tensor("n", INT64, [])],
        opset=18,
    )
    values = onnxseq.infer_shapes(model)["values"]
    elem = {"kind": "tensor", "dtype": "float32", "shape": [3]}
    assert values["x"] == {"kind": "tensor", "dtype": "float32", "shape": ["N", 3]}
    assert values["s"]["length"] == "N" and values["s"]["elem"] == elem
    assert values["n"] == {"kind": "tensor", "dtype": "int64", "shape": [], "value": ["N"]}
    result = onnxseq.infer_shapes(model, dims={"N": 2})
    assert result["values"]["s"] == {"kind": "sequence", "length": 2, "elem": elem, "elements": [elem, elem]}
    assert (result["subgraphs"], result["problems"]) == ([], [])
    assert onnxseq.infer_shapes(model, shapes={"x": ("M+1", 5)})["values"]["n"]["value"] == ["M+1"]


def test_infer_shapes_model_and_check_model():
    model = make_model([helper.make_node("Add", ["x", "x"], ["y"])], [tensor("x", FLOAT, ["N", 3])], [tensor("y")])
    out = onnxseq.infer_shapes_model(model)
    assert [dim.dim_param or dim.dim_value for dim in out.graph.output[0].type.tensor_type.shape.dim] == ["N", 3]
    assert type(model).FromString(onnxseq.infer_shapes_model(model.SerializeToString())) == out
    assert onnxseq.check_model(model) == []
    wrong = make_model(
        [helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x", FLOAT, [2]), tensor("w", FLOAT, [3])], [tensor("y")]
    )
    assert onnxseq.infer_shapes(wrong)["problems"][0]["level"] == "error"
    with pytest.raises(onnxseq.InvalidArgument, match="Add"):
        onnxseq.check_model(wrong)


def test_backend():
    from onnxseq import backend

    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    model = make_model([helper.make_node("Add", ["a", "b"], ["c"])], [tensor("a"), tensor("b")], [tensor("c")])
    ones = np.ones(2, np.float32)
    assert backend.run_model(model, [ones, ones]).c.tolist() == [2, 2]
    assert backend.run_node(model.graph.node[0], [ones, ones], opset_version=21)[0].tolist() == [2, 2]
