# SPDX-License-Identifier: Apache-2.0
"""The official ONNX tests as tests/node_manifest.txt lists them: those of nodes run as the onnx package generates them,
those of models, `KIND/NAME`, from the files in it."""

import functools
from pathlib import Path

import onnx
import onnxseq
import pytest
from onnx import numpy_helper
from onnx.backend.test import loader, runner

from cases import REPOSITORY, difference

BFLOAT16 = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16)
MODEL_KINDS = ("simple", "pytorch-operator", "pytorch-converted", "real")


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

    cases = {case.name: case for case in collect_testcases(None)}
    for kind in MODEL_KINDS:
        cases |= {f"{kind}/{case.name}": case for case in loader.load_model_tests(kind=kind)}
    return cases


def as_array(value):
    """Some of the cases hold messages."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def read_value(path, declared):
    """A value of the declared type from its message."""
    data = path.read_bytes()
    if declared.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if declared.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def read_values(folder, kind, declared):
    return [read_value(folder / f"{kind}_{i}.pb", value.type) for i, value in enumerate(declared)]


def inputs_of(model):
    """Those a caller gives: constants may be listed among them."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def light_model(case):
    """A model without weights worth the name, in the package itself: its inputs are counted, not kept."""
    path = Path(loader.DATA_DIR) / "light" / Path(case.url).name
    model = onnx.load(path)
    inputs = [runner.Runner.generate_dummy_data(value) for value in inputs_of(model)]
    outputs = [
        read_value(path.with_name(f"{path.stem}_output_{i}.pb"), value.type)
        for i, value in enumerate(model.graph.output)
    ]
    return model, [(inputs, outputs)]


def load(case):
    """The model, and pairs of inputs and expected outputs."""
    if case.model is not None:
        return case.model, case.data_sets
    if case.model_dir is None:
        return light_model(case)
    model = onnx.load(Path(case.model_dir) / "model.onnx")
    pairs = []
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        inputs = read_values(folder, "input", inputs_of(model))
        pairs.append((inputs, read_values(folder, "output", model.graph.output)))
    return model, pairs


MANIFEST = read_manifest()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MANIFEST)
def test_node(name, request):
    if MANIFEST[name]:
        request.applymarker(pytest.mark.xfail(reason=MANIFEST[name], strict=True))
    run_case(suite()[name])


def run_case(case):
    model, data_sets = load(case)
    assert data_sets
    session = onnxseq.InferenceSession(model)
    names = [value.name for value in inputs_of(model)]
    for inputs, outputs in data_sets:
        got = session.run(None, dict(zip(names, map(as_array, inputs))))
        assert len(got) == len(outputs)
        for value, expected in zip(got, map(as_array, outputs)):
            # Two units in the last place of a bfloat16, as the package's own runner has it.
            half = getattr(expected, "dtype", None) == BFLOAT16
            rtol = max(case.rtol, 2**-6 if half else 1e-3)
            assert difference(value, expected, rtol, max(case.atol, 1e-5)) is None
