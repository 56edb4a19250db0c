# SPDX-License-Identifier: Apache-2.0
"""Runs every model of examples/, prints what is inferred and what comes out, and compares. Exit 1 when anything differs.

python tools/run_examples.py [FOLDER]
"""

import pathlib
import sys

import numpy as np
import onnxseq

from example_text import describe, unflatten


def type_text(value):
    """An inferred value as one line: tensor(float32)[2,N], or seq(...) with the length and what every element is."""
    if value["kind"] == "sequence":
        shapes = [type_text(element) for element in value.get("elements") or []]
        elements = f", elements {'; '.join(shapes)}" if shapes else ""
        return f"seq({type_text(value['elem'])}), length {value['length']}{elements}"
    if value["kind"] != "tensor":
        return value["kind"]
    dims = "" if value["shape"] is None else "[" + ",".join(str(dim) for dim in value["shape"]) + "]"
    return f"tensor({value['dtype']}){dims}"


def is_close(got, expected, tolerance):
    if isinstance(expected, list):
        return len(got) == len(expected) and all(is_close(a, b, tolerance) for a, b in zip(got, expected))
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    return np.allclose(got, expected, rtol=0, atol=tolerance) if tolerance else np.array_equal(got, expected)


def run(folder):
    """Whether the example gives what it should."""
    model = next(path for path in (folder / "model.onnx", folder / "model.xml") if path.exists())
    exact = folder.name.startswith("test_cc_")
    session = onnxseq.InferenceSession(model)
    feeds = unflatten(np.load(folder / "inputs.npz"))
    expected = unflatten(np.load(folder / "expected.npz"))
    names = [value.name for value in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, feeds)))
    inferred = onnxseq.infer_shapes(model)

    print(folder.name)
    for name in names:
        print(f"  inferred {name}: {type_text(inferred['values'][name])}")
    text = "".join(describe(name, outputs[name]) for name in names)
    print(text, end="")
    good = not inferred["problems"] and set(names) == set(expected) and not session.check_shapes(feeds)
    good = good and all(is_close(outputs[name], expected[name], 0 if exact else 1e-5) for name in expected)
    if exact:
        good = good and text == (folder / "expected.txt").read_text()
    reference = "the operator's documentation" if exact else "the reference within 1e-5"
    print(f"  {'matches' if good else 'DIFFERS from'} {reference}\n")
    return good


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "examples")
    folders = sorted(path for path in target.iterdir() if (path / "inputs.npz").exists())
    wrong = [folder.name for folder in folders if not run(folder)]
    print(f"{len(folders) - len(wrong)} of {len(folders)} examples match")
    return 1 if wrong or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
