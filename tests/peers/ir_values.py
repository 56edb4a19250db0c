# SPDX-License-Identifier: Apache-2.0
"""One small OpenVINO model for each layer type that is read, run by OpenVINO and by onnxseq: the outputs must agree.

ir_values.py [NAME ...]: all, or those whose name contains one of the words. Needs numpy and openvino beside onnxseq.
"""

import pathlib
import sys
import tempfile

import numpy as np
import openvino as ov
from ir_cases import CASES
from openvino import opset16 as op

# What the operation pages say where the CPU plugin of 2026.4 does something else: integer division truncates there, and
# the float below a half is rounded up.
DOCUMENTED = {
    "divide_int": np.array([3, -4, -4, 3, 2], np.int32),
    "round_away": np.array([-3, 0, 0, 1, 2], np.float32),
}


def build(name, folder):
    """Writes the model; returns its path, the feeds and what OpenVINO says."""
    make, inputs = CASES[name]
    parameters = [op.parameter(list(x.shape), x.dtype, name=f"in{i}") for i, x in enumerate(inputs)]
    result = op.result(make(*parameters))
    path = pathlib.Path(folder) / f"{name}.xml"
    ov.serialize(ov.Model([result], parameters, name), path)
    compiled = ov.Core().compile_model(
        str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}
    )
    return path, {f"in{i}": x for i, x in enumerate(inputs)}, DOCUMENTED.get(name, compiled(inputs)[0])


def run(path, feeds):
    import onnxseq

    session = onnxseq.InferenceSession(str(path))
    return session.run(None, feeds)[0]


def main(words):
    names = [name for name in CASES if not words or any(word in name for word in words)]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                path, feeds, expected = build(name, folder)
                got = run(path, feeds)
                assert got.dtype == expected.dtype, f"dtype {got.dtype}, OpenVINO has {expected.dtype}"
                np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)
            except Exception as error:  # noqa: BLE001 - each case tells what went wrong
                failed.append(name)
                print(f"{name}: {type(error).__name__}: {str(error).strip()[:400]}")
    print(f"{len(names) - len(failed)} of {len(names)} agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
