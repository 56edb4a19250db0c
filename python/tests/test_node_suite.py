# SPDX-License-Identifier: Apache-2.0
"""The official ONNX node tests as tests/node_manifest.txt lists them, run as the onnx package generates them."""

import functools

import onnx
import onnxseq
import pytest
from onnx import numpy_helper

from cases import REPOSITORY, difference


def read_manifest():
    """{name: reason}; the reason is empty for a test that must pass."""
    entries = {}
    for line in (REPOSITORY / "tests" / "node_manifest.txt").read_text().splitlines():
        kind, _, rest = line.partition(" ")
        name, _, reason = rest.partition(": ")
        if kind in ("pass", "skip"):
            assert (kind == "skip") == bool(reason), line
            entries[name] = reason
    return entries


@functools.cache
def suite():
    from onnx.backend.test.case.node import collect_testcases

    return {case.name: case for case in collect_testcases(None)}


def as_array(value):
    """Some of the cases hold messages."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


MANIFEST = read_manifest()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MANIFEST)
def test_node(name, request):
    if MANIFEST[name]:
        request.applymarker(pytest.mark.xfail(reason=MANIFEST[name], strict=True))
    run_case(suite()[name])


def run_case(case):
    session = onnxseq.InferenceSession(case.model)
    names = [value.name for value in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        got = session.run(None, dict(zip(names, map(as_array, inputs))))
        assert len(got) == len(outputs)
        for pair in zip(got, map(as_array, outputs)):
            assert difference(*pair, max(case.rtol, 1e-3), max(case.atol, 1e-5)) is None
