# SPDX-License-Identifier: Apache-2.0
"""Operators on texts with letters beyond ASCII."""

import numpy as np
import onnxseq
import pytest
from onnx import TensorProto, helper


def run(op_type, texts, output_type=TensorProto.STRING, **attributes):
    graph = helper.make_graph(
        [helper.make_node(op_type, ["x"], ["y"], name="n", **attributes)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.STRING, ["N"])],
        [helper.make_tensor_value_info("y", output_type, ["M"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    session = onnxseq.InferenceSession(model.SerializeToString())
    return session.run(None, {"x": np.array(texts, dtype=object)})[0].tolist()


def test_case_of_letters_beyond_ascii():
    texts = ["\u00c9t\u00e9", "\u0416\u0436", "stra\u00dfe", "\U00010400", "\u4e2d"]
    lower = ["\u00e9t\u00e9", "\u0436\u0436", "stra\u00dfe", "\U00010428", "\u4e2d"]
    upper = ["\u00c9T\u00c9", "\u0416\u0416", "STRA\u00dfE", "\U00010400", "\u4e2d"]
    assert run("StringNormalizer", texts, case_change_action="LOWER") == lower
    assert run("StringNormalizer", texts, case_change_action="UPPER") == upper


def test_stopwords_in_any_case():
    assert run("StringNormalizer", ["\u00c9T\u00c9", "x"], stopwords=["\u00e9t\u00e9"]) == ["x"]
    assert run("StringNormalizer", ["\u00c9T\u00c9"], stopwords=["\u00e9t\u00e9"], is_case_sensitive=1) == [
        "\u00c9T\u00c9"
    ]


@pytest.mark.parametrize("locale", ["tr", "tr_TR", "az_AZ.UTF-8"])
def test_dotted_letters(locale):
    attributes = {"case_change_action": "LOWER", "locale": locale}
    assert run("StringNormalizer", ["I\u0130"], **attributes) == ["\u0131i"]
    attributes["case_change_action"] = "UPPER"
    assert run("StringNormalizer", ["i\u0131"], **attributes) == ["\u0130I"]


@pytest.mark.parametrize(
    "subject, texts, stopwords",
    [("attribute 'stopwords'", ["a"], [b"x", b"\xff"]), ("input 0 'X' (\"x\")", ["x", b"\xff"], ["a"])],
)
def test_what_is_not_utf8(subject, texts, stopwords):
    with pytest.raises(ValueError) as error:
        run("StringNormalizer", texts, stopwords=stopwords)
    assert str(error.value) == f'StringNormalizer node "n", {subject}: element 1 is not UTF-8'


def test_a_letter_is_one_character_of_a_pattern():
    assert run("RegexFullMatch", ["\u00e9", "ee"], TensorProto.BOOL, pattern=".") == [True, False]
