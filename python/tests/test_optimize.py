# SPDX-License-Identifier: Apache-2.0
"""Models of tests/data/runtime with passes, saved after them, and without: the same results."""

import json

import numpy as np
import onnxseq
import pytest

from cases import REPOSITORY, difference, in_child, load_values


def folders():
    for path in sorted((REPOSITORY / "tests" / "data" / "runtime").glob("*/expected.json")):
        expected = json.loads(path.read_text())
        if expected["expect"] == "outputs" and "property" not in expected:
            yield path.parent


def bound(value, expected):
    """As much as sums in another order may differ, or one unit of what a quantised model rounds to."""
    arrays = value if isinstance(value, list) else [value]
    floats = [np.asarray(a) for a in arrays if a is not None and np.asarray(a).dtype.kind == "f"]
    largest = max([np.abs(a[np.isfinite(a)]).max(initial=1) for a in floats], default=1)
    return max(1e-5 * largest, expected["atol"])


def run_three(folder, saved):
    expected = json.loads((folder / "expected.json").read_text())
    feeds = load_values(folder, json.loads((folder / "inputs.json").read_text()), "inputs.npz")
    model = folder / "model.onnx"
    onnxseq.convert(model, saved, optimize=True)
    plain = onnxseq.InferenceSession(model, onnxseq.SessionOptions(optimize=False)).run(None, feeds)
    for session in (onnxseq.InferenceSession(model), onnxseq.InferenceSession(saved)):
        for value, other in zip(plain, session.run(None, feeds), strict=True):
            found = difference(other, value, 1e-5, bound(value, expected))
            if found:
                return {"difference": found}
    return {"difference": None}


@pytest.mark.parametrize("folder", list(folders()), ids=lambda folder: folder.name)
def test_passes_change_nothing(folder, tmp_path):
    result = in_child(lambda: run_three(folder, tmp_path / "saved.onnx"), 30)
    assert "error" not in result, result["error"]
    assert result["difference"] is None
