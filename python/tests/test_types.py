# SPDX-License-Identifier: Apache-2.0
"""What the package says of its types: it has a stub for the native module, whose signatures are those it takes."""

import ast
import pathlib

import numpy as np
import onnxseq
from onnx import TensorProto, helper
from onnxseq import _onnxseq

FOLDER = pathlib.Path(onnxseq.__file__).parent
STUB = ast.parse((FOLDER / "_onnxseq.pyi").read_text())


def arguments(function):
    return [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs if a.arg != "self"]


def methods(name):
    (found,) = (node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {node.name: node for node in found.body if isinstance(node, ast.FunctionDef)}


def test_the_stub_has_every_name():
    assert (FOLDER / "py.typed").exists()
    assert {name for name in vars(_onnxseq) if not name.startswith("__")} <= {
        node.target.id if isinstance(node, ast.AnnAssign) else node.name
        for node in STUB.body
        if isinstance(node, (ast.AnnAssign, ast.ClassDef, ast.FunctionDef))
    }
    for name, value in vars(_onnxseq).items():
        if isinstance(value, type):
            assert {n for n in vars(value) if not n.startswith("__")} <= set(methods(name))


def test_signatures_are_those_that_calls_take(tmp_path):
    state = helper.make_tensor_value_info("s", TensorProto.FLOAT, ["N", 1])
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Add", ["x", "s"], ["t"]), helper.make_node("Neg", ["t"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1]), state],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 1]) for name in ("y", "t")],
        )
    )
    one = np.ones((1, 1), np.float32)
    # A value for each argument by name, whatever function has it.
    given = {
        "threads": 1, "optimize": True, "denormals": False, "weights": "f32", "deterministic": False,
        "sequence_map": "auto", "seed": 1, "memory_limit": 0, "custom_ops": {}, "data_folder": tmp_path,
        "model": model, "options": None, "output_names": ["y"], "feeds": {"x": one, "s": one}, "timeout": 9.0,
        "dims": {"N": 1}, "shapes": {"x": [1, "K"]}, "path": tmp_path / "m.onnx", "external_data": 0,
        "batch_sequence_map": False, "lower": False, "ir_version": None, "states": {"s": "t"}, "batch": "N",
        "initial": {"s": one}, "input": "s",
    }  # fmt: skip

    def call(function, stub, **but):
        return function(**{name: {**given, **but}[name] for name in arguments(stub)})

    call(onnxseq.SessionOptions, methods("SessionOptions")["__init__"])
    session = call(onnxseq.InferenceSession, methods("InferenceSession")["__init__"])
    for name, stub in methods("InferenceSession").items():
        if name != "__init__":
            call(getattr(session, name), stub)
    group = call(onnxseq.StreamGroup, methods("StreamGroup")["__init__"], session=session)
    stream = call(group.open, methods("StreamGroup")["open"])
    assert [[v.tolist() for v in run] for run in group.run(steps=[(stream, {"x": one})], timeout=9.0)] == [[[[-2]]]]
    call(stream.run, methods("Stream")["run"], feeds={"x": one})
    assert call(stream.state, methods("Stream")["state"]).tolist() == [[3]]
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            call(getattr(_onnxseq, node.name), node)
