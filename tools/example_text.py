# SPDX-License-Identifier: Apache-2.0
"""How the examples are kept and shown: values in .npz files, and as the text of expected.txt."""

import numpy as np


def flatten(values):
    """Values by name to arrays by name: NAME a tensor, NAME/0, NAME/1, ... a sequence."""
    arrays = {}
    for name, value in values.items():
        if isinstance(value, list):
            arrays.update({f"{name}/{i}": element for i, element in enumerate(value)})
        else:
            arrays[name] = value
    return arrays


def unflatten(arrays):
    """The reverse."""
    values = {}
    for name in arrays:
        stem, _, index = name.rpartition("/")
        if stem:
            values.setdefault(stem, []).append((int(index), arrays[name]))
        else:
            values[name] = arrays[name]
    return {k: [e for _, e in sorted(v, key=lambda p: p[0])] if isinstance(v, list) else v for k, v in values.items()}


def view(array, indent):
    return np.array2string(array, separator=", ", prefix=" " * indent)


def describe(name, value):
    """An output in the layout of the operator's documentation."""
    if not isinstance(value, (list, tuple)):
        return f"  {name}: shape={value.shape}, dtype={value.dtype}\n    {view(value, 4)}\n"
    shapes = {element.shape for element in value}
    shape = shapes.pop() if len(shapes) == 1 else "differs"
    dtype = value[0].dtype if value else "unknown"
    lines = [f"  {name}: sequence(len={len(value)}), element_shape={shape}, element_dtype={dtype}", "    ["]
    lines += [f"      [{i}] {view(element, 10)}" for i, element in enumerate(value)]
    return "\n".join([*lines, "    ]", ""])
