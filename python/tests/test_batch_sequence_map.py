# SPDX-License-Identifier: Apache-2.0
"""convert(batch_sequence_map=True): the written model gives what the model gives, elements or none, ragged or not."""

import itertools

import numpy as np
import onnx
import onnxseq
import pytest

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
random = np.random.default_rng(7)


def floats(*dims):
    return random.standard_normal(dims).astype(np.float32)


def close(got, expected):
    if isinstance(expected, list):
        return len(got) == len(expected) and all(map(close, got, expected))
    return (
        got.dtype == expected.dtype
        and got.shape == expected.shape
        and np.allclose(got, expected, rtol=1e-5, atol=1e-5, equal_nan=True)
    )


def outcome(session, feeds):
    try:
        return session.run(None, feeds)
    except onnxseq.Error:
        return None


def compare(tmp_path, text, runs):
    """Runs both models on all feeds; returns the notes, how many runs went well, and the written model."""
    plain, batched = tmp_path / "plain.onnxtxt", tmp_path / "batched.onnx"
    plain.write_text(HEADER + text)
    notes = onnxseq.convert(plain, batched, batch_sequence_map=True)
    model = onnx.load(batched)
    onnx.checker.check_model(model)
    assert {opset.domain for opset in model.opset_import} == {""}
    options = onnxseq.SessionOptions(sequence_map="elements", optimize=False)
    before, after = onnxseq.InferenceSession(plain, options), onnxseq.InferenceSession(batched)
    good = 0
    for feeds in runs:
        expected = outcome(before, feeds)
        if expected is None:
            continue
        good += 1
        got = outcome(after, feeds)
        assert got is not None and all(map(close, got, expected)), (text, feeds, got, expected)
    return notes, good, model


# Bodies of one element e of the dims that stand for D, and whether they batch when e is stacked and when it is packed.
BODIES = {
    "r = Relu(e)": (True, True),
    "t = Tanh(e) r = Mul(t, e)": (True, True),
    "r = MatMul(e, w)": (True, True),
    "h = MatMul(e, w) r = Add(h, b)": (True, True),
    "r = Softmax <axis = 1> (e)": (True, True),
    "r = ReduceSum <keepdims = 1> (e, one)": (True, True),
    "r = Transpose(e)": (True, True),
    "s = Shape(w) r = Reshape(e, s)": (True, False),
    "r = Softmax <axis = 0> (e)": (True, False),
    "r = CumSum(e, zero)": (True, False),
    "r = Concat <axis = 1> (e, e)": (True, True),
    "r = NonZero(e)": (False, False),
}
NUMBERS = ", ".join(str(i % 5 - 2) for i in range(16))
WEIGHTS = f"<float[4,4] w = {{{NUMBERS}}}, float[4] b = {{1, 2, 3, 4}}, int64[1] one = {{1}}, int64 zero = {{0}}>"


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("joined", [False, True])
def test_sequences_of_one_shape(tmp_path, body, joined):
    output = "float[A,B,C] y" if joined else "seq(int64) ys" if "NonZero" in body else "seq(float) ys"
    join = "y = ConcatFromSequence <axis = 0, new_axis = 1> (ys)" if joined else ""
    if joined and "NonZero" in body:
        return
    runs = [{"xs": [floats(4, 4) for _ in range(n)]} for n in (0, 1, 2, 9)]
    notes, good, model = compare(
        tmp_path,
        f"g (seq(float[4,4]) xs) => ({output}) {WEIGHTS} {{\n"
        f"ys = SequenceMap <body = s (float[4,4] e) => (float[] r) {{ {body} }}> (xs)\n{join} }}",
        runs,
    )
    assert good == len(runs) - joined
    assert ("left as it is" not in notes[0]) == BODIES[body][0], notes
    if BODIES[body][0]:
        assert "SequenceMap" not in {node.op_type for node in model.graph.node}


SIZES = [[6], [1, 5], [2, 2, 2], [0, 6], [1, 2, 3], [3, 0, 0, 3], [1] * 6]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("joined", [False, True])
def test_pieces_of_a_tensor(tmp_path, body, joined):
    if "NonZero" in body or "Transpose" in body:
        return
    output = "float[A,B] y" if joined else "seq(float) ys"
    join = "y = ConcatFromSequence <axis = 0> (ys)" if joined else ""
    runs = [{"x": floats(6, 4), "sizes": np.array(sizes, np.int64)} for sizes in SIZES]
    runs.append({"x": floats(0, 4), "sizes": np.zeros(0, np.int64)})
    notes, good, model = compare(
        tmp_path,
        f"g (float[N,4] x, int64[K] sizes) => ({output}) {WEIGHTS} {{\nxs = SplitToSequence <axis = 0> (x, sizes)\n"
        f"ys = SequenceMap <body = s (float[L,4] e) => (float[] r) {{ {body} }}> (xs)\n{join} }}",
        runs,
    )
    assert good > 0 or "Shape(w)" in body  # no list of sizes suits it
    assert ("left as it is" not in notes[0]) == BODIES[body][1], notes
    if BODIES[body][1] and joined:
        assert not {"SplitToSequence", "ConcatFromSequence"} & {node.op_type for node in model.graph.node}


def test_every_way_to_split_and_join(tmp_path):
    batched = 0
    ways = ["(x)", "(x, chunk)", "(x, list)", "(x, even)"]
    for way, axis, keep, join in itertools.product(ways, (0, 1, -1), (0, 1), (None, (0, 0), (1, 0), (0, 1), (-1, 1))):
        tail = "" if join is None else f"y = ConcatFromSequence <axis = {join[0]}, new_axis = {join[1]}> (ys)"
        rank = 2 + (keep or way != "(x)") + (join[1] if join else 0)
        output = "seq(float) ys" if join is None else f"float[{','.join('ABCD'[:rank])}] y"
        text = (
            f"g (float[6,6,6] x) => ({output}) <int64 chunk = {{4}}, int64[3] list = {{1, 0, 5}}, int64[3] even = "
            f"{{2, 2, 2}}> {{\nxs = SplitToSequence <axis = {axis}, keepdims = {keep}> {way}\n"
            f"ys = SequenceMap <body = s (float[] e) => (float[] r) {{ t = Sigmoid(e) r = Add(t, e) }}> (xs)\n{tail} }}"
        )
        notes, good, _ = compare(tmp_path, text, [{"x": floats(6, 6, 6)}])
        batched += good and "left as it is" not in notes[0]
    assert batched > 60


def test_sequences_that_are_not_equally_long_are_refused_still(tmp_path):
    path, out = tmp_path / "m.onnxtxt", tmp_path / "m.onnx"
    path.write_text(
        HEADER + "g (seq(float[3]) xs, seq(float[3]) zs) => (seq(float) ys) {\n"
        "ys = SequenceMap <body = s (float[3] e, float[3] f) => (float[3] r) { r = Add(e, f) }> (xs, zs) }"
    )
    (note,) = onnxseq.convert(path, out, batch_sequence_map=True)
    assert note == 'SequenceMap node of "ys": stacked, 1 node for all elements, in an If for when there are none'
    session = onnxseq.InferenceSession(out)
    for lengths in [(1, 4), (4, 1), (0, 2), (2, 0)]:
        with pytest.raises(onnxseq.Error):
            session.run(None, {"xs": [floats(3)] * lengths[0], "zs": [floats(3)] * lengths[1]})
    for n in (0, 1, 4):
        (ys,) = session.run(None, {"xs": [np.ones(3, np.float32)] * n, "zs": [np.ones(3, np.float32)] * n})
        assert len(ys) == n and all((y == 2).all() for y in ys)
