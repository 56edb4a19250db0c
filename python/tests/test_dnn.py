# SPDX-License-Identifier: Apache-2.0
"""The module with oneDNN: with it and without it, and in a forked child."""

import os
import subprocess
import sys
import time
import warnings

import numpy as np
import onnxseq
from onnx import TensorProto, helper, numpy_helper


def grouped_conv():
    rng = np.random.default_rng(0)
    w = rng.standard_normal((32, 4, 3, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=4, pads=[1, 1, 1, 1])
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "g",
        [value("x", TensorProto.FLOAT, [1, 16, "H", "W"])],
        [value("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString(), rng.standard_normal((1, 16, 40, 40)).astype(np.float32)


RUN = """
import sys, warnings, numpy as np, onnxseq
warnings.simplefilter("error")
model, x, y = sys.argv[1:]
np.save(y, onnxseq.InferenceSession(model).run(None, {"x": np.load(x)})[0])
print(any("libonnxseq_dnn" in line for line in open("/proc/self/maps").readlines()))
"""


def test_own_kernels_agree_with_it(tmp_path):
    model, x = grouped_conv()
    (tmp_path / "m.onnx").write_bytes(model)
    np.save(tmp_path / "x.npy", x)
    results = []
    for setting in ("", "off"):
        arguments = [str(tmp_path / name) for name in ("m.onnx", "x.npy", "y.npy")]
        run = subprocess.run(
            [sys.executable, "-c", RUN, *arguments],
            env=os.environ | {"ONNXSEQ_DNN": setting},
            check=True,
            capture_output=True,
            text=True,
        )
        assert run.stdout.strip() == str(setting == "")
        results.append(np.load(tmp_path / "y.npy"))
    np.testing.assert_allclose(results[0], results[1], 1e-5, 1e-5)
    assert not np.array_equal(results[0], np.zeros_like(results[0]))


def test_a_missing_module_is_a_warning(monkeypatch):
    monkeypatch.setenv("ONNXSEQ_DNN", "/nowhere/libonnxseq_dnn.so")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        onnxseq.InferenceSession(grouped_conv()[0])
    assert [str(warning.message) for warning in caught] == [
        "cannot find /nowhere/libonnxseq_dnn.so, the module with oneDNN: slower kernels do its work"
    ]


def test_a_forked_child_runs():
    model, x = grouped_conv()
    session = onnxseq.InferenceSession(model)
    expected = session.run(None, {"x": x})[0]
    child = os.fork()
    if child == 0:
        same = np.array_equal(session.run(None, {"x": x})[0], expected)
        os._exit(0 if same else 1)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    raise AssertionError("the child hangs")
