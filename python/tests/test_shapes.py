# SPDX-License-Identifier: Apache-2.0
"""Inferred shapes of whole models: as exact as can be on tests/data/shapes, and never contradicted by a run."""

import json

import numpy as np
import onnx
import onnxseq
import pytest
from onnx.helper import tensor_dtype_to_np_dtype
from shape_truth import Checker, check_value

from cases import REPOSITORY, load_values

SHAPES = REPOSITORY / "tests" / "data" / "shapes"
TRUTH = json.loads((SHAPES / "truth.json").read_text())
CONTRADICTIONS = json.loads((SHAPES / "contradictions.json").read_text())
RUNTIME = sorted(
    path.parent
    for path in (REPOSITORY / "tests" / "data" / "runtime").glob("*/expected.json")
    if json.loads(path.read_text())["expect"] == "outputs"
)
EXAMPLES = sorted(path.parent for path in (REPOSITORY / "examples").glob("*/inputs.npz"))
# What is less exact than it could be, and why.
INEXACT = {}


def dtype_name(number):
    return "string" if number == onnx.TensorProto.STRING else np.dtype(tensor_dtype_to_np_dtype(number)).name


def check_described(checker, where, inferred, actual, wanted):
    """`actual`: {"k": "t", "d": type, "s": dims}, {"k": "seq", "e": elements}, {"k": "none"}."""
    kind = "unknown" if inferred is None else inferred["kind"]
    if kind == "optional":
        return check_described(checker, where, inferred["elem"], actual, wanted)
    if actual["k"] == "none":
        return
    if kind == "unknown":
        checker.open.append(f"{where}: nothing is known")
    elif (kind == "sequence") != (actual["k"] == "seq"):
        checker.wrong.append(f"{where} is a {kind}")
    elif kind == "sequence":
        of_element = wanted[1] if isinstance(wanted, list) and wanted[:1] == ["seq"] else "?"
        for i, element in enumerate(actual["e"]):
            elem = inferred["elem"]
            if elem["kind"] != "tensor":
                checker.open.append(f"element {i} of {where}: {elem['kind']}")
                continue
            name = dtype_name(element["d"])
            checker.shape(f"element {i} of {where}", elem["shape"], elem["dtype"], name, element["s"], of_element, True)
    else:
        checker.shape(where, inferred["shape"], inferred["dtype"], dtype_name(actual["d"]), actual["s"], wanted)


@pytest.mark.parametrize("name", TRUTH)
def test_shapes_are_exact(name):
    case = TRUTH[name]
    values = onnxseq.infer_shapes(SHAPES / "models" / f"{name}.onnx")["values"]
    left_open = []
    assert case["runs"]
    for run in case["runs"]:
        checker = Checker(run["env"])
        for value, actual in run["values"].items():
            tracked = value in case["ideal"]
            mark = len(checker.open)
            check_described(checker, value, values.get(value), actual, case["ideal"][value] if tracked else "?")
            if not tracked:
                del checker.open[mark:]
        checker.finish()
        assert not checker.wrong, run["env"]
        left_open += checker.open
    assert bool(left_open) == (name in INEXACT), left_open


def test_share_of_exact_models():
    assert len(TRUTH) == 182
    assert len(INEXACT) == 0


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_name_both_sides(name):
    problems = onnxseq.infer_shapes(SHAPES / "contradictions" / f"{name}.onnx")["problems"]
    assert [f"{problem['level']}: {problem['message']}" for problem in problems] == CONTRADICTIONS[name]


def test_every_contradiction_is_listed():
    assert sorted(path.stem for path in (SHAPES / "contradictions").glob("*.onnx")) == sorted(CONTRADICTIONS)


def check_run(model, feeds):
    """Runs a model for all values of its main graph and checks each."""
    session = onnxseq.InferenceSession(model)
    inferred = onnxseq.infer_shapes(model)["values"]
    names = list(inferred)
    outputs = dict(zip(names, session.run(names, feeds)))
    checker = Checker({})
    for name in names:
        check_value(checker, name, inferred[name], outputs[name])
    assert not checker.finish().wrong


@pytest.mark.parametrize("folder", RUNTIME, ids=lambda folder: folder.name)
def test_no_run_contradicts_what_is_inferred(folder):
    check_run(
        folder / "model.onnx", load_values(folder, json.loads((folder / "inputs.json").read_text()), "inputs.npz")
    )


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_no_example_contradicts_what_is_inferred(folder):
    model = next(path for path in (folder / "model.onnx", folder / "model.xml") if path.exists())
    feeds = {}
    for name, array in np.load(folder / "inputs.npz").items():
        if "/" in name:
            feeds.setdefault(name.split("/")[0], []).append(array)
        else:
            feeds[name] = array
    check_run(model, feeds)


def test_what_is_wrong_is_found():
    checker = Checker({"N": 3})
    matrix = {"kind": "tensor", "dtype": "float32", "shape": ["N", "M"]}
    check_value(checker, "x", matrix, np.zeros((3, 2), np.float32))
    check_value(checker, "y", matrix, np.zeros((4, 5), np.float64))
    check_value(checker, "z", {"kind": "sequence", "length": "M+1", "elem": matrix}, [np.zeros((3, 2), np.float32)])
    assert checker.finish().wrong == [
        "y is float64, inferred float32",
        "axis 0 of y is 4, inferred N = 3",
        "axis 1 of y is 5, its name M is 2 elsewhere",
        "the length of z is 1, inferred M+1 = 3",
    ]
