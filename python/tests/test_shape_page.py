# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/shape-inference.md."""

import re

import onnxseq
import pytest

from cases import REPOSITORY

PAGE = (REPOSITORY / "docs" / "shape-inference.md").read_text()
EXAMPLES = [
    (graph, expected)
    for block in re.findall(r"^```\n(.*?)^```", PAGE, re.M | re.S)
    for graph, expected in re.findall(r"^(g .*?\})\n  (\[\S*\])$", block, re.M | re.S)
]


@pytest.mark.parametrize(("graph", "expected"), EXAMPLES)
def test_example(tmp_path, graph, expected):
    model = tmp_path / "example.onnxtxt"
    model.write_text('<ir_version: 10, opset_import: ["" : 21]>\n' + graph)
    inferred = onnxseq.infer_shapes(model)
    assert not inferred["problems"]
    assert "[" + ",".join(map(str, inferred["values"]["o"]["shape"])) + "]" == expected


def test_every_example_is_read():
    assert len(EXAMPLES) == PAGE.count("=> (o)") == 9
