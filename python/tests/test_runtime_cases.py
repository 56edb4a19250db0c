# SPDX-License-Identifier: Apache-2.0
"""Models of tests/data/runtime: each in a child process, within its limits of time and memory."""

import json

import onnxseq
import pytest

from cases import REPOSITORY, difference, in_child, load_values

CASES = sorted(path.parent for path in (REPOSITORY / "tests" / "data" / "runtime").glob("*/expected.json"))


def run_case(folder):
    expected = json.loads((folder / "expected.json").read_text())
    feeds = load_values(folder, json.loads((folder / "inputs.json").read_text()), "inputs.npz")
    session = onnxseq.InferenceSession(folder / "model.onnx")
    outputs = dict(zip([value.name for value in session.get_outputs()], session.run(None, feeds)))
    if "property" in expected:
        # A random body: each element draws numbers of its own.
        array = outputs["o" if "o" in outputs else "s"]
        rows = {row.tobytes() for row in array}
        return {"difference": None if len(rows) == len(array) else "elements share their random numbers"}
    accepted = [("expected.npz", expected["outputs"])] if expected.get("outputs") else []
    accepted += [(other["npz"], other["outputs"]) for other in expected.get("alternatives", [])]
    found = []
    for npz, described in accepted:
        values = load_values(folder, described, npz)
        pairs = ((name, difference(outputs[name], values[name], expected["rtol"], expected["atol"])) for name in values)
        found.append(next((f"{name}: {text}" for name, text in pairs if text), None))
    return {"difference": None if None in found or not found else found[0]}


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_runtime_case(folder):
    expected = json.loads((folder / "expected.json").read_text())
    limits = expected.get("limits", {})
    result = in_child(lambda: run_case(folder), limits.get("timeout_s", 20))
    assert "ended" not in result
    assert result["rss_mb"] < limits.get("max_rss_mb", 1500)
    if expected["expect"] == "error":
        assert result.get("error"), "an invalid model was accepted"
        assert result["type"] != "MemoryError"
    elif expected["expect"] == "outputs":
        assert "error" not in result, result["error"]
        assert result["difference"] is None
    else:
        assert "error" in result or result["difference"] is None
