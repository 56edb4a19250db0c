# SPDX-License-Identifier: Apache-2.0
"""Streams: pieces of many inputs, states kept in between."""

import numpy as np
import onnxseq
import pytest
from onnx import TensorProto, helper, numpy_helper

HIDDEN, INPUT = 5, 3


def lstm_session():
    random = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(random.uniform(-1, 1, shape).astype(np.float32), name)
        for name, shape in {"W": (1, 4 * HIDDEN, INPUT), "R": (1, 4 * HIDDEN, HIDDEN)}.items()
    ]
    value = helper.make_tensor_value_info
    state = [1, "N", HIDDEN]
    graph = helper.make_graph(
        [helper.make_node("LSTM", ["x", "W", "R", "", "", "h", "c"], ["y", "hn", "cn"], hidden_size=HIDDEN)],
        "g",
        [value("x", TensorProto.FLOAT, ["T", "N", INPUT])] + [value(n, TensorProto.FLOAT, state) for n in "hc"],
        [value("y", TensorProto.FLOAT, ["T", 1, "N", HIDDEN])]
        + [value(n, TensorProto.FLOAT, state) for n in ("hn", "cn")],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    return onnxseq.InferenceSession(model)


STATES = {"h": "hn", "c": "cn"}


def test_pieces_equal_the_whole():
    session = lstm_session()
    group = onnxseq.StreamGroup(session, STATES, batch="N")
    random = np.random.default_rng(1)
    xs = [random.uniform(-1, 1, (8, 1, INPUT)).astype(np.float32) for _ in range(4)]
    streams = [group.open() for _ in xs]
    got = [[] for _ in xs]
    for t in range(0, 8, 2):
        results = group.run([(stream, {"x": x[t : t + 2]}) for stream, x in zip(streams, xs)])
        assert group.last_batches == 1
        for pieces, (y,) in zip(got, results):
            pieces.append(y)
    zeros = np.zeros((1, 1, HIDDEN), np.float32)
    for x, pieces, stream in zip(xs, got, streams):
        y, hn, cn = session.run(None, {"x": x, "h": zeros, "c": zeros})
        np.testing.assert_allclose(np.concatenate(pieces), y, atol=1e-6)
        np.testing.assert_allclose(stream.state("h"), hn, atol=1e-6)
    first = streams[0]
    first.reset()
    assert not first.state("c").any()
    np.testing.assert_allclose(first.run({"x": xs[0][:2]})[0], got[0][0], atol=1e-6)


def test_initial_states_and_runs_of_their_own():
    session = lstm_session()
    ones = np.ones((1, 1, HIDDEN), np.float32)
    group = onnxseq.StreamGroup(session, STATES, initial={"h": ones, "c": ones})
    stream = group.open()
    x = np.zeros((1, 1, INPUT), np.float32)
    np.testing.assert_array_equal(stream.run({"x": x})[0], session.run(["y"], {"x": x, "h": ones, "c": ones})[0])


def test_errors():
    session = lstm_session()
    with pytest.raises(onnxseq.InvalidArgument, match='input "h": is a state without an initial value'):
        onnxseq.StreamGroup(session, STATES)
    with pytest.raises(onnxseq.InvalidArgument, match='"x" has an initial value, but is no state'):
        onnxseq.StreamGroup(session, STATES, batch="N", initial={"x": np.zeros((1, 1, INPUT), np.float32)})
    with pytest.raises(TypeError, match="an InferenceSession"):
        onnxseq.StreamGroup(b"", STATES)
    group = onnxseq.StreamGroup(session, STATES, batch="N")
    stream = group.open()
    with pytest.raises(TypeError, match="a pair of a Stream and its feeds"):
        group.run([stream])
    with pytest.raises(onnxseq.InvalidArgument, match="one row along axis 1"):
        stream.run({"x": np.zeros((1, 2, INPUT), np.float32)})
    with pytest.raises(onnxseq.InvalidArgument, match="is missing"):
        stream.run({})
    assert not stream.state("h").any()


def test_streams_that_nothing_else_holds():
    group = onnxseq.StreamGroup(lstm_session(), STATES, batch="N")
    x = np.ones((2, 1, INPUT), np.float32)
    results = group.run((group.open(), {"x": x}) for _ in range(20))
    assert len(results) == 20
    for (y,) in results[1:]:
        np.testing.assert_array_equal(y, results[0][0])


def test_objects_that_were_never_initialised():
    session = onnxseq.InferenceSession.__new__(onnxseq.InferenceSession)
    with pytest.raises(TypeError, match="expected an InferenceSession"):
        onnxseq.StreamGroup(session, STATES)
    with pytest.raises(TypeError, match="expected a StreamGroup"):
        onnxseq.StreamGroup.__new__(onnxseq.StreamGroup).open()
