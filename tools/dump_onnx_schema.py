# SPDX-License-Identifier: Apache-2.0
"""Prints the schema that the `onnx` package carries, one fact a line; a test holds fields.inc against it.

    python tools/dump_onnx_schema.py > tests/data/onnx_schema.txt

Lines: `field MESSAGE NAME NUMBER LABEL TYPE ONEOF DEFAULT PACKED`, sorted by message and number, and
`enum ENUM NAME NUMBER`.
TYPE is the scalar's name, or `message:FULL_NAME`, or `enum:FULL_NAME`; ONEOF and DEFAULT are `-` when there is none.
"""

import onnx
from onnx import onnx_data_pb2, onnx_ml_pb2, onnx_operators_ml_pb2

SCALARS = {
    1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool", 9: "string",
    12: "bytes", 13: "uint32", 15: "sfixed32", 16: "sfixed64", 17: "sint32", 18: "sint64",
}  # fmt: skip


def type_of(field):
    if field.message_type:
        return "message:" + short(field.message_type.full_name)
    if field.enum_type:
        return "enum:" + short(field.enum_type.full_name)
    return SCALARS[field.type]


def short(full_name):
    return full_name.removeprefix("onnx.")


def dump_enum(enum, lines):
    lines += [f"enum {short(enum.full_name)} {v.name} {v.number}" for v in enum.values]


def dump_message(message, lines):
    for field in sorted(message.fields, key=lambda f: f.number):
        label = "repeated" if field.is_repeated else "required" if field.is_required else "optional"
        oneof = field.containing_oneof.name if field.containing_oneof else "-"
        default = field.default_value if field.has_default_value else "-"
        packed = "packed" if field.is_repeated and field.is_packed else "-"
        lines.append(
            f"field {short(message.full_name)} {field.name} {field.number} {label} {type_of(field)} "
            f"{oneof} {default} {packed}"
        )
    for enum in message.enum_types:
        dump_enum(enum, lines)
    for nested in message.nested_types:
        dump_message(nested, lines)


def main():
    blocks = []
    for module in (onnx_ml_pb2, onnx_data_pb2, onnx_operators_ml_pb2):
        for message in module.DESCRIPTOR.message_types_by_name.values():
            lines = []
            dump_message(message, lines)
            blocks.append(lines)
        for enum in module.DESCRIPTOR.enum_types_by_name.values():
            lines = []
            dump_enum(enum, lines)
            blocks.append(lines)
    print(f"# Written by tools/dump_onnx_schema.py from onnx {onnx.__version__}.")
    for lines in sorted(blocks, key=lambda block: block[0].split()[1]):
        print("\n".join(lines))


if __name__ == "__main__":
    main()
