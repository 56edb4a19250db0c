# SPDX-License-Identifier: Apache-2.0
"""Prints which element types the operators of the `onnx` package take; a test holds the operator table against it.

    python tools/dump_op_types.py > tests/data/op_types.txt

Lines: `DOMAIN OPERATOR SINCE_VERSION FORMAL...`, sorted; `-` is the domain of ai.onnx. A FORMAL is `in:NAME:TENSORS:SEQUENCES`
or `out:...`, in their order: sets of element types, of tensors and of tensors in sequences, as hexadecimal numbers with
one bit for each TensorProto.DataType. Optionals and maps are left out.
"""

import re

import onnx


def bits_of(types, pattern):
    bits = 0
    for text in types:
        if match := re.fullmatch(pattern, text):
            bits |= 1 << onnx.TensorProto.DataType.Value(match[1].upper())
    return bits


def main():
    print(f"# Written by tools/dump_op_types.py from onnx {onnx.__version__}.")
    lines = []
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.deprecated or schema.domain not in ("", "ai.onnx.ml"):
            continue
        words = [schema.domain or "-", schema.name, schema.since_version]
        for side, formals in (("in", schema.inputs), ("out", schema.outputs)):
            for formal in formals:
                tensors = bits_of(formal.types, r"tensor\((\w+)\)")
                sequences = bits_of(formal.types, r"seq\(tensor\((\w+)\)\)")
                words.append(f"{side}:{formal.name}:{tensors:x}:{sequences:x}")
        lines.append(words)
    for words in sorted(lines, key=lambda words: words[:3]):
        print(*words)


main()
