# SPDX-License-Identifier: Apache-2.0
"""Inferred shapes of whole models: as exact as can be on tests/data/shapes, and never contradicted by a run."""

import json

import numpy as np
import onnx
import onnxseq
import pytest
from onnx.helper import tensor_dtype_to_np_dtype
from shape_truth import Checker, evaluate

from cases import REPOSITORY

SHAPES = REPOSITORY / "tests" / "data" / "shapes"
TRUTH = json.loads((SHAPES / "truth.json").read_text())
CONTRADICTIONS = json.loads((SHAPES / "contradictions.json").read_text())
# What is less exact than it could be, and why.
INEXACT = {}
SIZES = [0, 1, 2, 3, 5, 8, 13]


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


def random_size(dim, sizes, random):
    if dim.WhichOneof("value") == "dim_value":
        return dim.dim_value
    known = evaluate(dim.dim_param, sizes) if dim.dim_param else None
    return sizes.setdefault(dim.dim_param or object(), int(random.choice(SIZES))) if known is None else known


def random_feed(value_type, sizes, random):
    """A value of the type, small integers for integers; names of dims get a size when they are met first."""
    if value_type.HasField("sequence_type"):
        return [random_feed(value_type.sequence_type.elem_type, sizes, random) for _ in range(random.integers(1, 4))]
    if value_type.HasField("optional_type"):
        return random_feed(value_type.optional_type.elem_type, sizes, random)
    if not value_type.tensor_type.HasField("shape"):
        pytest.skip("an input of unknown rank")
    shape = [random_size(dim, sizes, random) for dim in value_type.tensor_type.shape.dim]
    if value_type.tensor_type.elem_type == onnx.TensorProto.STRING:
        return random.integers(0, 9, shape).astype(str).astype(object)
    return random.integers(0, 4, shape).astype(tensor_dtype_to_np_dtype(value_type.tensor_type.elem_type))


@pytest.mark.parametrize("name", TRUTH)
def test_no_run_contradicts_what_is_inferred(name):
    """On sizes of its own, 0 and 1 among them: the truth has those of other engines."""
    model = onnx.load(SHAPES / "models" / f"{name}.onnx")
    session = onnxseq.InferenceSession(model)
    for seed in range(20):
        random = np.random.default_rng(seed)
        sizes = dict(TRUTH[name]["runs"][seed]["env"]) if seed < len(TRUTH[name]["runs"]) else {}
        feeds = {value.name: random_feed(value.type, sizes, random) for value in model.graph.input}
        try:
            found = session.check_shapes(feeds)
        except onnxseq.Error:
            continue  # not every size is one the model takes
        assert found == [], sizes
