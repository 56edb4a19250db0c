// SPDX-License-Identifier: Apache-2.0
// The wire format against files protobuf wrote (tests/data/wire, by tools/make_wire_samples.py) and against damaged
// bytes.
#include "model/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}
std::string Sample(const std::string& name) { return ReadFile(ONNXSEQ_TEST_DATA "/wire/" + name); }

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string LengthDelimited(uint32_t field, const std::string& bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

template <class M = ModelProto>
std::string Error(const std::string& bytes) {
  try {
    ParseWire<M>(bytes, nullptr);
  } catch (const ModelParseError& e) {
    return e.what();
  }
  return "no error";
}

// A message with every field set comes back byte for byte, and equal to itself read again.
template <class M>
void RoundTrip(const std::string& name) {
  const std::string bytes = Sample("all." + name + ".pb");
  ASSERT_FALSE(bytes.empty()) << name;
  const M message = ParseWire<M>(bytes, nullptr);
  EXPECT_EQ(message.unknown_fields(), "") << name;
  EXPECT_EQ(SerializeWire(message), bytes) << name;
  M again;
  again.ParseFromString(message.SerializeAsString());
  EXPECT_EQ(again, message) << name;
  EXPECT_NE(again, M()) << name;
  // Each prefix is read or refused, and what is read can be written.
  for (size_t size = 0; size < bytes.size(); ++size) {
    try {
      const M part = ParseWire<M>(std::string_view(bytes).substr(0, size), nullptr);
      EXPECT_EQ(SerializeWire(part), bytes.substr(0, size));
    } catch (const ModelParseError& e) {
      EXPECT_LE(e.offset(), static_cast<int64_t>(size));
    }
  }
}

TEST(Wire, EveryFieldOfEveryMessage) {
#define ONNXSEQ_MESSAGE_BEGIN(M) RoundTrip<M>(#M);
#include "onnx_proto/model/fields.inc"
}

TEST(Wire, ValuesAsProtobufWroteThem) {
  TensorProto tensor;
  tensor.ParseFromString(Sample("all.TensorProto.pb"));
  EXPECT_THAT(tensor.dims(), ElementsAre(-1, INT64_MAX, INT64_MIN, 0, 300));
  EXPECT_EQ(tensor.data_type(), -2);
  ASSERT_EQ(tensor.string_data_size(), 3);
  EXPECT_EQ(tensor.string_data(0).substr(0, 2), "\x00\xff"s);
  EXPECT_EQ(tensor.int32_data(2), INT32_MIN);
  EXPECT_TRUE(std::signbit(tensor.float_data(1)));
  EXPECT_EQ(tensor.uint64_data(1), 0u);
}

TEST(Wire, ModelsComeBackByteForByte) {
  for (const char* name : {"sequence_map.onnx", "nested_20.onnx"}) {
    const std::string bytes = Sample(name);
    const ModelProto model = ParseWire<ModelProto>(bytes, nullptr);
    EXPECT_GT(model.graph().node_size(), 0);
    EXPECT_EQ(SerializeWire(model), bytes);
  }
}

TEST(Wire, PackedAndUnpackedAreBothRead) {
  AttributeProto attribute;  // written unpacked by the schema
  attribute.ParseFromString(LengthDelimited(8, "\x01\x02\xac\x02"s) + "\x40\x05"s);
  EXPECT_THAT(attribute.ints(), ElementsAre(1, 2, 300, 5));
  EXPECT_EQ(attribute.SerializeAsString(), "\x40\x01\x40\x02\x40\xac\x02\x40\x05"s);
  TensorProto tensor;  // written packed
  tensor.ParseFromString("\x25\x00\x00\x80\x3f"s + LengthDelimited(4, "\x00\x00\x00\x40"s));
  EXPECT_THAT(tensor.float_data(), ElementsAre(1.f, 2.f));
  EXPECT_EQ(tensor.SerializeAsString(), LengthDelimited(4, "\x00\x00\x80\x3f\x00\x00\x00\x40"s));
  EXPECT_THAT(Error<TensorProto>(LengthDelimited(4, "\x00\x00\x80"s)), HasSubstr("4 bytes needed, 3 left"));
}

TEST(Wire, UnknownFieldsAreKept) {
  const std::string unknown = Varint(500 << 3) + "\x07"s + Varint(501 << 3 | 1) + "12345678"s +
                              LengthDelimited(502, "abc") + Varint(503 << 3 | 5) + "1234"s + Varint(504 << 3 | 3) +
                              "\x08\x01\x13\x14"s + Varint(504 << 3 | 4);
  NodeProto node;
  node.ParseFromString(unknown + LengthDelimited(4, "Add"));
  EXPECT_EQ(node.op_type(), "Add");
  EXPECT_EQ(node.unknown_fields(), unknown);
  EXPECT_EQ(node.SerializeAsString(), LengthDelimited(4, "Add") + unknown);
  NodeProto plain;
  plain.set_op_type("Add");
  EXPECT_NE(node, plain);
  // A known field of a foreign wire type is one, too.
  node.ParseFromString("\x20\x01"s);
  EXPECT_FALSE(node.has_op_type());
  EXPECT_EQ(node.SerializeAsString(), "\x20\x01"s);
  // An enum keeps a number it does not know.
  AttributeProto attribute;
  attribute.ParseFromString("\xa0\x01\x63"s);
  EXPECT_EQ(static_cast<int>(attribute.type()), 99);
  EXPECT_EQ(attribute.SerializeAsString(), "\xa0\x01\x63"s);
}

TEST(Wire, SingularMessagesMergeAndOneofsReplace) {
  ModelProto model;
  model.ParseFromString(LengthDelimited(7, LengthDelimited(2, "a") + LengthDelimited(10, "doc")) +
                        LengthDelimited(7, LengthDelimited(2, "b")));
  EXPECT_EQ(model.graph().name(), "b");
  EXPECT_EQ(model.graph().doc_string(), "doc");
  TensorShapeProto::Dimension dim;
  dim.ParseFromString("\x08\x05"s + LengthDelimited(2, "N"));
  EXPECT_FALSE(dim.has_dim_value());
  EXPECT_EQ(dim.dim_param(), "N");
}

TEST(Wire, BytesAreViewsWhenThereIsAnOwner) {
  const auto storage = std::make_shared<const std::string>(Sample("sequence_map.onnx"));
  ModelProto model = ParseWire<ModelProto>(*storage, storage);
  const Bytes& raw = model.graph().initializer(0).raw_data();
  EXPECT_GE(raw.data(), storage->data());
  EXPECT_LT(raw.data(), storage->data() + storage->size());
  EXPECT_EQ(raw.size(), 24u);
  const TensorProto kept = model.graph().initializer(0);
  model.Clear();
  EXPECT_EQ(storage.use_count(), 2);
  EXPECT_EQ(kept.raw_data().owner(), storage);
}

TEST(Wire, ErrorsNameByteAndField) {
  EXPECT_EQ(Error("\x3a\x7f"s),
            "byte 2, graph: the data is truncated: 127 bytes needed, 0 left before the end at byte 2");
  const std::string node = LengthDelimited(5, "\x0a\x09x"s);
  EXPECT_EQ(Error(LengthDelimited(7, LengthDelimited(1, "") + LengthDelimited(1, node)) + "\x08\x01"s),
            "byte 10, graph.node[1].attribute[0].name: 9 bytes needed, 1 left in the message that holds them");
  EXPECT_EQ(Error("\x08"s),
            "byte 1, ir_version: the data is truncated: 1 bytes needed, 0 left before the end at byte 1");
  EXPECT_EQ(Error("\x00\x01"s), "byte 0: 0 is no field number");
  EXPECT_EQ(Error("\x0e"s), "byte 0: field 1 has wire type 6, which does not exist");
  EXPECT_EQ(Error("\x0c"s), "byte 0: field 1 ends a group that never began");
  EXPECT_EQ(Error("\x0b\x14"s), "byte 1: group 1 is ended by field 2");
  EXPECT_EQ(Error("\xff\xff\xff\xff\x7f"s), "byte 0: 4294967295 is no field number");
  EXPECT_THAT(Error<OperatorSetProto>(LengthDelimited(8, "\x0a\x01"s)), StartsWith("byte 4, operator[0].op_type: "));
}

TEST(Wire, VarintsOfMoreThan64BitsAreRefused) {
  ModelProto model;
  model.ParseFromString("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  EXPECT_EQ(model.ir_version(), -1);
  model.ParseFromString("\x08\x88\x80\x80\x00"s);  // longer than needed, but a number
  EXPECT_EQ(model.ir_version(), 8);
  EXPECT_EQ(Error("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s),
            "byte 1, ir_version: a varint has more than 64 bits");
  EXPECT_EQ(Error("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s),
            "byte 1, ir_version: a varint has more than 64 bits");
}

TEST(Wire, LyingLengthsAllocateNothing) {
  for (const uint64_t length : {uint64_t{1} << 31, uint64_t{1} << 40, UINT64_MAX}) {
    EXPECT_THAT(Error<TensorProto>(Varint(9 << 3 | 2) + Varint(length) + "x"), HasSubstr("bytes needed, 1 left"));
    EXPECT_THAT(Error<TensorProto>(Varint(4 << 3 | 2) + Varint(length) + "x"), HasSubstr("bytes needed, 1 left"));
  }
}

TEST(Wire, DepthIsBounded) {
  // 20000 types inside each other, each length true: the headers are made from the inside out.
  std::vector<std::string> headers;
  size_t size = 0;
  for (int i = 0; i < 20000; ++i) {
    headers.push_back("\x0a" + Varint(size));  // elem_type
    size += headers.back().size();
    headers.push_back("\x4a" + Varint(size));  // optional_type
    size += headers.back().size();
  }
  std::string type;
  for (auto header = headers.rbegin(); header != headers.rend(); ++header) type += *header;
  EXPECT_THAT(Error<TypeProto>(type), HasSubstr("messages are nested more than 300 deep"));
  EXPECT_THAT(Error<TypeProto>(type), HasSubstr("optional_type.elem_type.<277 more>.elem_type.optional_type"));
  std::string groups;
  for (int i = 0; i < 20000; ++i) groups += "\x0b";
  EXPECT_THAT(Error(groups), HasSubstr("messages are nested more than 300 deep"));
  // 64 subgraphs inside each other are no bomb.
  GraphProto graph;
  for (int i = 0; i < 64; ++i) {
    GraphProto outer;
    *outer.add_node()->add_attribute()->mutable_g() = std::move(graph);
    graph = std::move(outer);
  }
  ModelProto model;
  *model.mutable_graph() = graph;
  EXPECT_EQ(ParseWire<ModelProto>(SerializeWire(model), nullptr), model);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
