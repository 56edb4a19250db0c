# SPDX-License-Identifier: Apache-2.0
"""Nodes that lack an input: an error that names it, wherever the model goes, and not the end of the process."""

import onnxseq
import pytest

HEADER = '<ir_version: 8, opset_import: ["": 17]>\n'
NODES = {
    "y = Mul(x)": "Mul, input 1 'B': is required",
    "y = MatMul(x)": "MatMul, input 1 'B': is required",
    'y = Gemm("", x)': "Gemm, input 0 'A': is required",
    "y = Identity()": "Identity, input 0 'input': is required",
    'y = LSTM <hidden_size = 2> ("", x)': "LSTM, input 0 'X': is required",
    "y = Where(x, x)": "Where, input 2 'Y': is required",
    "n = Constant <value_int = 2> () c = Constant <value = bool {1}> () y = Loop <body = b (int64 i, bool k, float[2,3] a)"
    " => (bool l, float[2,3] o) { l = Identity(k) o = Mul(a) }> (n, c, x)": "Mul, input 1 'B': is required",
    "s = SequenceConstruct(x, x) t = SequenceMap <body = b (float[2,3] a) => (float[2,3] o) { o = MatMul(a) }> (s)"
    " y = ConcatFromSequence <axis = 0> (t)": "MatMul, input 1 'B': is required",
}


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("unused", [False, True])
def test_every_way_names_the_input(tmp_path, nodes, unused):
    path = tmp_path / "model.onnxtxt"
    path.write_text(HEADER + f"g (float[2,3] x) => (float[A,B] {'z' if unused else 'y'}) {{ z = Neg(x) {nodes} }}")
    for optimize in (True, False):
        with pytest.raises(ValueError, match=NODES[nodes]):
            onnxseq.InferenceSession(path, onnxseq.SessionOptions(optimize=optimize))
    # What is written is the same broken model.
    for options in ({"optimize": True}, {"batch_sequence_map": True}):
        onnxseq.convert(path, tmp_path / "out.onnx", **options)
        with pytest.raises(ValueError, match=NODES[nodes]):
            onnxseq.InferenceSession(tmp_path / "out.onnx")
    for lower in (False, True):
        with pytest.raises(ValueError, match=NODES[nodes]):
            onnxseq.convert(path, tmp_path / "out.xml", lower=lower)
