# SPDX-License-Identifier: Apache-2.0
"""Reads the #include lines of the sources and fails when a layer includes one that does not stand before it.

check_layers.py REPOSITORY | --self-test
"""

import pathlib
import re
import sys
import tempfile

# What a layer may include; what those may include comes with them. `values` are the public Value classes and their messages.
ALLOWED = {
    "base": [],
    "model": ["base"],
    "kernels": ["base"],
    "values": ["model"],
    "onnx_io": ["model", "values"],
    "openvino_io": ["model", "values"],
    "graph": ["model", "values"],
    "shapes": ["graph"],
    "ops": ["shapes", "kernels", "graph", "onnx_io", "values"],
    "passes": ["ops"],
    "runtime": ["passes", "onnx_io", "openvino_io"],
    "cli": ["runtime"],
    "python": ["runtime", "cli"],
}
# Which layer a public header belongs to.
PUBLIC = [
    ("onnx_proto/config.h", "base"),
    ("onnx_proto/", "model"),
    ("onnx_optim/tensor_type.h", "base"),
    ("onnx_optim/shapes/shape_inference.h", "ops"),
    ("onnx_optim/shapes/sequence/", "ops"),
    ("onnx_optim/", "shapes"),
    ("onnx_core/shapes/shape_inference.h", "ops"),
    ("onnx_core/compat.h", "ops"),
    ("onnx_core/", "ops"),
    ("onnx_extensions/", "ops"),
    ("onnxseq/errors.h", "base"),
    ("onnxseq/float16.h", "base"),
    ("onnxseq/value.h", "values"),
    ("onnxseq/versions.h", "base"),
    ("onnxseq/weight_storage.h", "base"),
    ("onnxseq/shapes.h", "ops"),
    ("onnxseq/session.h", "runtime"),
    ("onnxseq/", "runtime"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def reach(layer):
    """The layer and all it may include."""
    found, waiting = set(), [layer]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += ALLOWED[name]
    return found


def layer_of(include):
    for prefix, layer in PUBLIC:
        if include.startswith(prefix):
            return layer
    first = include.partition("/")[0]
    return first if "/" in include and first in ALLOWED else None


def wrong_includes(root):
    """Lines that say what is wrong."""
    lines = []
    for top in (*sorted((root / "src").glob("*")), root / "cli", root / "python"):
        if top.name not in ALLOWED:
            lines += [f"{top.relative_to(root)}: no such layer"] if top.is_dir() else []
            continue
        allowed = reach(top.name)
        for path in sorted(p for p in top.rglob("*") if p.suffix in (".h", ".cc", ".inc")):
            if path.stem.endswith(("_test", "_bench", "_test_util")):
                continue
            for include in INCLUDE.findall(path.read_text()):
                layer = layer_of(include)
                if layer and layer not in allowed:
                    lines.append(f"{path.relative_to(root)}: {top.name} must not include {include} ({layer})")
    return lines


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {
            "src/kernels/bad.cc": '#include "model/wire.h"\n#include "onnxseq/value.h"\n#include "base/checked.h"\n',
            "src/ops/good.cc": '#include "shapes/expr.h"\n#include "onnx_proto/onnx.h"\n#include <vector>\n',
            "src/ops/bad.h": '  # include "runtime/plan.h"\n',
            "src/ops/fine_test.cc": '#include "runtime/plan.h"\n',
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        assert wrong_includes(root) == [
            "src/kernels/bad.cc: kernels must not include model/wire.h (model)",
            "src/kernels/bad.cc: kernels must not include onnxseq/value.h (values)",
            "src/ops/bad.h: ops must not include runtime/plan.h (runtime)",
        ], wrong_includes(root)


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test()
        sys.exit(0)
    problems = wrong_includes(pathlib.Path(sys.argv[1]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
