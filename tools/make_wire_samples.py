# SPDX-License-Identifier: Apache-2.0
"""Writes small models and messages, serialised by protobuf, to tests/data/wire/.

Every field of every message set, and models as exporters write them.

python tools/make_wire_samples.py
"""

import pathlib

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor as F
from onnx import TensorProto, helper, numpy_helper, onnx_data_pb2, onnx_ml_pb2, onnx_operators_ml_pb2

FOLDER = pathlib.Path(__file__).parent.parent / "tests/data/wire"


def fill(message, depth, counter):
    """Sets every field of the message, submessages down to `depth`; of a oneof the last one stays."""
    for field in message.DESCRIPTOR.fields:
        counter[0] += 1
        n = counter[0]
        if field.type == F.TYPE_MESSAGE:
            if depth == 0:
                continue
            if field.is_repeated:
                for _ in range(2):
                    fill(getattr(message, field.name).add(), depth - 1, counter)
            else:
                getattr(message, field.name).SetInParent()
                fill(getattr(message, field.name), depth - 1, counter)
            continue
        if field.type in (F.TYPE_FLOAT, F.TYPE_DOUBLE):
            values = [n + 0.5, -0.0, float("inf")]
        elif field.type == F.TYPE_STRING:
            values = [f"{field.name}{n}", "", "h\u00e9"]
        elif field.type == F.TYPE_BYTES:
            values = [b"\x00\xff" + str(n).encode(), b"", b"x"]
        elif field.type == F.TYPE_ENUM:
            values = [field.enum_type.values[n % len(field.enum_type.values)].number]
        elif field.type == F.TYPE_UINT64:
            values = [2**64 - n, 0, 1]
        elif field.type == F.TYPE_INT32:
            values = [-n, 2**31 - 1, -(2**31), 0]
        else:
            values = [-n, 2**63 - 1, -(2**63), 0, 300]
        if field.is_repeated:
            getattr(message, field.name).extend(values)
        else:
            setattr(message, field.name, values[0])


def every_message():
    def visit(descriptor, make):
        message = make()
        fill(message, 2, [0])
        name = descriptor.full_name.removeprefix("onnx.")
        (FOLDER / f"all.{name.replace('.', '_')}.pb").write_bytes(message.SerializeToString())
        for nested in descriptor.nested_types:
            visit(nested, getattr(make, nested.name))

    for module in (onnx_ml_pb2, onnx_data_pb2, onnx_operators_ml_pb2):
        for name, descriptor in module.DESCRIPTOR.message_types_by_name.items():
            visit(descriptor, getattr(module, name))


def sequence_map():
    body = helper.make_graph(
        [helper.make_node("Add", ["a", "b"], ["c"])],
        "body",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N"]) for n in "ab"],
        [helper.make_tensor_value_info("c", TensorProto.FLOAT, ["N"])],
    )
    w = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w")
    graph = helper.make_graph(
        [
            helper.make_node("SequenceMap", ["xs", "w"], ["ys"], name="map0", body=body),
            helper.make_node("ConcatFromSequence", ["ys"], ["y"], axis=0),
        ],
        "g",
        [helper.make_tensor_sequence_value_info("xs", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializer=[w],
        doc_string="a sequence map",
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="onnxseq")
    helper.set_model_props(model, {"key": "value"})
    onnx.save(model, FOLDER / "sequence_map.onnx")


def nested(levels):
    """If bodies inside each other; protobuf itself stops at 33."""
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y0"])], "g0", [], [onnx.ValueInfoProto(name="y0")])
    for i in range(1, levels + 1):
        node = helper.make_node("If", ["c"], [f"y{i}"], then_branch=graph)
        graph = onnx.GraphProto(name=f"g{i}")
        graph.node.append(node)
    (FOLDER / f"nested_{levels}.onnx").write_bytes(helper.make_model(graph, ir_version=8).SerializeToString())


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    every_message()
    sequence_map()
    nested(20)


if __name__ == "__main__":
    main()
