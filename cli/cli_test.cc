// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "deviation.h"
#include "feeds.h"
#include "json_text.h"
#include "npy.h"
#include "npz.h"
#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "print_value.h"
#include "random_feeds.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::ThrowsMessage;

std::string Npy(const std::string& header, const std::string& data) {
  std::string out("\x93NUMPY\x01\0", 8);
  out += static_cast<char>(header.size());
  out += '\0';
  return out + header + data;
}

TEST(VisibleText, ControlCharactersAreSpelled) {
  const std::string name("a\0b\x1b[2J\x7f\n\xc3\xa4", 11);
  EXPECT_EQ(DescribeValue(name, Value()), "a\\x00b\\x1b[2J\\x7f\n\xc3\xa4: nothing\n");
  EXPECT_STREQ(InvalidArgument(name).what(), "a\\x00b\\x1b[2J\\x7f\n\xc3\xa4");
}

TEST(Deviation, IsTheLargestOfAllElements) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const auto of = [](const Tensor& got, const Tensor& exact) {
    const Deviation error = DeviationOf(got, exact);
    return std::pair(error.largest, error.relative);
  };
  const auto floats = [](std::initializer_list<float> elements) {
    return Tensor::Of<float>({static_cast<int64_t>(elements.size())}, elements);
  };
  const std::pair<double, double> none(0, 0);
  EXPECT_EQ(of(floats({1, -4.5f}), floats({1.25f, -4})), std::pair(0.5, 0.125));
  EXPECT_EQ(of(floats({kInf, kNan, 2}), floats({kInf, kNan, 2})), none);
  EXPECT_EQ(of(floats({kNan, 2}), floats({1, 2})).first, kInf);
  EXPECT_EQ(of(floats({1, 2}), floats({kNan, 2})).first, kInf);
  EXPECT_EQ(of(floats({kNan, 3}), floats({1, 2})).first, kInf) << "a later difference does not hide it";
  EXPECT_EQ(of(floats({1}), floats({1, 2})).first, kInf);
  EXPECT_EQ(of(Tensor::Of<int64_t>({1}, {1}), Tensor::Of<int64_t>({1}, {2})), none) << "not float";
  const Sequence one({floats({1})}), other({floats({1.5f})}), two({floats({1}), floats({1})});
  EXPECT_EQ(DeviationOf(other, one).largest, 0.5);
  EXPECT_EQ(DeviationOf(two, one).largest, kInf);
}

TEST(Npy, RoundTripsEveryTypeNumpyNames) {
  const Tensor tensors[] = {Tensor::Of<float>({2, 2}, {1.5f, -2, 0, 3}),
                            Tensor::Of<double>({1}, {1e300}),
                            Tensor::Of<Float16>({2}, {Float16(0.5f), Float16(-1.f)}),
                            Tensor::Of<BFloat16>({2}, {BFloat16(0.5f), BFloat16(-1.f)}),
                            Tensor::Of<int8_t>({3}, {-128, 0, 127}),
                            Tensor::Of<int64_t>({0, 3}, {}),
                            Tensor::Of<uint16_t>({1, 1, 1}, {65535}),
                            Tensor::Of<bool>({2}, {true, false}),
                            Tensor::Of<std::complex<float>>({1}, {{1, -2}}),
                            Tensor::Scalar<int32_t>(-7),
                            Tensor::Of<std::string>({3}, {"", "abc", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"})};
  for (const Tensor& tensor : tensors) {
    EXPECT_EQ(Difference(ReadNpy(WriteNpy(tensor), "a.npy"), tensor), "") << tensor.TypeString();
  }
}

TEST(Npy, HeaderIsAlignedAndEndsInANewline) {
  const std::string bytes = WriteNpy(Tensor::Of<float>({1}, {1}));
  ASSERT_EQ(bytes.size() % 64, 4u);
  EXPECT_EQ(bytes[bytes.size() - 5], '\n');
}

Tensor Codes(TensorType type, std::initializer_list<uint8_t> codes) {
  Tensor tensor(type, {static_cast<int64_t>(codes.size())});
  std::ranges::copy(codes, static_cast<uint8_t*>(tensor.mutable_data()));
  return tensor;
}

TEST(Npy, NarrowIntegersAreWidened) {
  const auto written = [](TensorType type, std::initializer_list<uint8_t> codes) {
    return ReadNpy(WriteNpy(Codes(type, codes)), "a.npy");
  };
  EXPECT_EQ(Difference(written(TensorType::kInt4, {1, 15, 7}), Tensor::Of<int8_t>({3}, {1, -1, 7})), "");
  EXPECT_EQ(Difference(written(TensorType::kUint2, {1, 3}), Tensor::Of<uint8_t>({2}, {1, 3})), "");
  EXPECT_EQ(Difference(written(TensorType::kFloat8e5m2, {1, 200}), Tensor::Of<uint8_t>({2}, {1, 200})), "");
}

TEST(Feeds, BytesAreWhatTheInputDeclares) {
  const ValueDescription described[] = {{.name = "i", .type = "tensor(int4)", .shape = {}},
                                        {.name = "f", .type = "seq(tensor(float8e5m2))", .shape = {}},
                                        {.name = "b", .type = "tensor(uint8)", .shape = {}}};
  const ValueMap got = ValuesFromArrays({{"i", Tensor::Of<int8_t>({2}, {-1, 7})},
                                         {"f/0", Tensor::Of<uint8_t>({1}, {0x3c})},
                                         {"b", Tensor::Of<uint8_t>({1}, {3})}},
                                        described);
  EXPECT_EQ(Difference(got.at("i"), Codes(TensorType::kInt4, {15, 7})), "");
  EXPECT_EQ(ShortView(got.at("i").tensor()), "[-1, 7]");
  EXPECT_EQ(ShortView(got.at("f").sequence()[0]), "[1]");
  EXPECT_EQ(got.at("b").tensor().dtype(), TensorType::kUint8);
}

TEST(Npy, ReadsFortranOrderAndBigEndian) {
  const std::string data("\0\1\0\4\0\2\0\5\0\3\0\6", 12);
  const Tensor got = ReadNpy(Npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", data), "a.npy");
  EXPECT_EQ(Difference(got, Tensor::Of<int16_t>({2, 3}, {1, 2, 3, 4, 5, 6})), "");
}

TEST(Npy, ReadsByteStrings) {
  const Tensor got =
      ReadNpy(Npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", std::string("ab\0cde", 6)), "a.npy");
  EXPECT_EQ(Difference(got, Tensor::Of<std::string>({2}, {"ab", "cde"})), "");
}

TEST(Npy, RefusesWhatItCannotRead) {
  const auto read = [](const std::string& bytes) { return [bytes] { ReadNpy(bytes, "a.npy"); }; };
  EXPECT_THAT(read("not an array"), ThrowsMessage<InvalidArgument>("a.npy: this is no .npy array"));
  EXPECT_THAT(read(Npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "")),
              ThrowsMessage<InvalidArgument>("a.npy: element type '|O' cannot be read"));
  EXPECT_THAT(read(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "")),
              ThrowsMessage<InvalidArgument>("a.npy: structured element types cannot be read"));
  EXPECT_THAT(read(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678")),
              ThrowsMessage<InvalidArgument>("a.npy: shape [3] of 4-byte elements does not fit the 8 bytes of data"));
  EXPECT_THAT(read(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "")),
              ThrowsMessage<InvalidArgument>("a.npy: a dim of the .npy header does not fit 64 bits"));
  EXPECT_THAT(read(Npy("{'descr': '<U0', 'fortran_order': False, 'shape': (1099511627776,), }", "")),
              ThrowsMessage<InvalidArgument>(HasSubstr("does not fit")));
  EXPECT_THAT(read(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': 3, }", "")),
              ThrowsMessage<InvalidArgument>("a.npy: the .npy header's shape is no tuple"));
  EXPECT_THAT(read(Npy("{'descr': '<f4', 'shape': (1,), }", "1234")),
              ThrowsMessage<InvalidArgument>("a.npy: the .npy header has no 'fortran_order'"));
  EXPECT_THAT(read(std::string("\x93NUMPY\x09\0\0\0\0\0", 12)),
              ThrowsMessage<InvalidArgument>("a.npy: .npy version 9 cannot be read"));
  EXPECT_THAT(read(std::string("\x93NUMPY\x01\0\xff\xff{}", 12)),
              ThrowsMessage<InvalidArgument>("a.npy: the .npy header is cut short"));
}

class NpzFile : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  std::string path_ = ::testing::TempDir() + "onnxseq_cli_test_" + std::to_string(getpid()) + ".npz";
};

TEST_F(NpzFile, RoundTripsValues) {
  ValueMap values;
  values["x"] = Tensor::Of<float>({2}, {1, 2});
  values["s"] = Sequence({Tensor::Of<int64_t>({1}, {1}), Tensor::Of<int64_t>({2}, {2, 3})});
  values["empty"] = Sequence(TensorType::kDouble);
  values["none"] = Value();
  WriteNpz(path_, ArraysFromValues(values));
  const ValueMap got = ValuesFromArrays(ReadNpz(path_), {});
  ASSERT_EQ(got.size(), 4u);
  for (const auto& [name, value] : values) EXPECT_EQ(Difference(got.at(name), value), "") << name;
  EXPECT_EQ(got.at("empty").sequence().dtype(), TensorType::kDouble);
}

Map TwoEntries(float second) {
  return Map(Tensor::Of<std::string>({2}, {"a", "b"}),
             Sequence({Tensor::Scalar<float>(1), Tensor::Scalar<float>(second)}));
}

TEST_F(NpzFile, MapsAreRefusedByName) {
  EXPECT_THAT([] { ArraysFromValues({{"m", TwoEntries(2)}}); },
              ThrowsMessage<Unsupported>(
                  "\"m\": is map(string,tensor(float)): .npz files hold tensors and sequences of tensors"));
  EXPECT_THAT([] { ArraysFromValues({{"s", Sequence::OfValues({TwoEntries(2)})}}); },
              ThrowsMessage<Unsupported>(
                  "\"s\": is seq(map(string,tensor(float))): .npz files hold tensors and sequences of tensors"));
}

TEST(PrintValue, Maps) {
  EXPECT_EQ(DescribeValue("z", Sequence::OfValues({TwoEntries(2)})),
            "z: seq(map(string,tensor(float))), 1 element\n"
            "  [0] map(string,tensor(float)), 2 entries\n"
            "    [\"a\"] tensor(float)[] = 1\n"
            "    [\"b\"] tensor(float)[] = 2\n");
  JsonText json;
  EmitValue(json, TwoEntries(2));
  EXPECT_THAT(json.text(), HasSubstr("\"keys\""));
  EXPECT_EQ(Difference(TwoEntries(2), TwoEntries(2)), "");
  EXPECT_EQ(Difference(TwoEntries(2), TwoEntries(3)), "[\"b\"] element 0: expected 3, got 2");
}

TEST_F(NpzFile, DamageIsFound) {
  WriteNpz(path_, {{"x", Tensor::Of<float>({2}, {1, 2})}});
  const std::string good = ReadFileBytes(path_);
  std::string bad = good;
  bad[bad.find("\n", 0) + 1] ^= 1;
  WriteFileBytes(path_, bad);
  EXPECT_THAT([&] { ReadNpz(path_); },
              ThrowsMessage<InvalidArgument>(path_ + ", entry 'x.npy': the checksum does not fit the data"));
  for (size_t size = 0; size < good.size(); size += 7) {
    WriteFileBytes(path_, good.substr(0, size));
    EXPECT_THROW(ReadNpz(path_), InvalidArgument) << size;
  }
  EXPECT_THAT([] { ReadNpz("no/such.npz"); }, ThrowsMessage<IoError>(HasSubstr("no/such.npz: cannot be opened")));
}

TEST(Feeds, SequencesNeedAllTheirElements) {
  const Tensor one = Tensor::Scalar(1.f);
  EXPECT_THAT([&] { ValuesFromArrays({{"s/0", one}, {"s/2", one}}, {}); },
              ThrowsMessage<InvalidArgument>("s: element 1 of the sequence is missing"));
  EXPECT_THAT([&] { ValuesFromArrays({{"s/0", one}, {"s/1", Tensor::Of<double>({1}, {1})}}, {}); },
              ThrowsMessage<InvalidArgument>("s: element 1 is tensor(double), element 0 tensor(float)"));
  const ValueDescription known{.name = "s/0", .type = "tensor(float)", .shape = {}};
  EXPECT_TRUE(ValuesFromArrays({{"s/0", one}}, {&known, 1}).at("s/0").IsTensor());
}

TEST(Feeds, RandomChoices) {
  const RandomChoices choices = ParseRandomChoices("N=4,ids=0..99,T=100,q=-3..-3");
  EXPECT_EQ(choices.sizes, (std::map<std::string, int64_t>{{"N", 4}, {"T", 100}}));
  EXPECT_EQ(choices.ranges, (std::map<std::string, std::pair<int64_t, int64_t>>{{"ids", {0, 99}}, {"q", {-3, -3}}}));
  EXPECT_TRUE(ParseRandomChoices("").sizes.empty());
  for (const char* bad : {"N", "N=", "N=x", "N=-1", "=4", "N=4,,", "x=1..", "x=..1", "x=2..1", "=1..2", "x=1..2..3"})
    EXPECT_THROW(ParseRandomChoices(bad), InvalidArgument) << bad;
  EXPECT_THAT([] { ParseRandomChoices("N=2,T"); },
              ThrowsMessage<InvalidArgument>("'T': is not of the form NAME=SIZE or INPUT=LEAST..MOST"));
}

TEST(Feeds, RandomSizesFollowFromOthersAndFromWhatIsGiven) {
  const ModelProto model = ParseModelText(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,K] a, float[L,M] b, float[N,2] c, int64[N] i, int8[3] j) "
      "=> (float[N,M] y) { y = MatMul(a, b) }");
  ValueMap feeds;
  AddRandomFeeds(model, ParseRandomChoices("N=4,K=5,M=6"), 1, feeds);
  EXPECT_EQ(feeds.at("b").TypeString(), "tensor(float)[5,6]") << "L is K";
  for (const int64_t i : feeds.at("i").tensor().View<int64_t>()) EXPECT_TRUE(i == 0 || i == 1) << "c has a dim of 2";
  ValueMap some{{"a", Tensor(TensorType::kFloat, {7, 3})}};
  AddRandomFeeds(model, ParseRandomChoices("M=6,i=-1000..-900,j=5..5"), 1, some);
  EXPECT_EQ(some.at("b").TypeString(), "tensor(float)[3,6]");
  EXPECT_EQ(some.at("c").TypeString(), "tensor(float)[7,2]");
  for (const int64_t i : some.at("i").tensor().View<int64_t>()) EXPECT_TRUE(i >= -1000 && i <= -900) << i;
  EXPECT_THAT(some.at("j").tensor().View<int8_t>(), testing::ElementsAre(5, 5, 5));
  const auto random = [&](const char* text) {
    ValueMap none;
    AddRandomFeeds(model, ParseRandomChoices(text), 1, none);
  };
  EXPECT_THAT([&] { random("N=2,M=2"); },
              ThrowsMessage<InvalidArgument>("input 'a': dim 'K' has no size: add K=... to --random"));
  EXPECT_THAT([&] { random("N=2,M=2,K=2,Q=2"); },
              ThrowsMessage<InvalidArgument>("--random: no input has a dim 'Q', there are: K, L, M, N"));
  EXPECT_THAT([&] { random("N=2,M=2,K=2,a=0..1"); },
              ThrowsMessage<InvalidArgument>("--random: 'a' is no input of whole numbers that needs a value"));
  EXPECT_THAT([&] { random("N=2,M=2,K=2,j=0..128"); },
              ThrowsMessage<InvalidArgument>("input 'j': 0..128 is more than tensor(int8) can hold"));
}

TEST(Feeds, RandomValuesFollowTheSeedAndTheSizes) {
  ModelProto model;
  auto add = [&](const char* name, TypeProto& type, const char* dim) {
    type.mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    shape->add_dim()->set_dim_param(dim);
    shape->add_dim()->set_dim_value(3);
    auto* input = model.mutable_graph()->add_input();
    input->set_name(name);
    return input;
  };
  TypeProto x;
  *add("x", x, "N")->mutable_type() = x;
  TypeProto elem, s;
  auto* input = add("s", elem, "T");
  *s.mutable_sequence_type()->mutable_elem_type() = elem;
  *input->mutable_type() = s;
  ValueMap a, b, c;
  const RandomChoices sizes{.sizes = {{"N", 2}, {"T", 5}}, .ranges = {}};
  AddRandomFeeds(model, sizes, 1, a);
  AddRandomFeeds(model, sizes, 1, b);
  AddRandomFeeds(model, sizes, 2, c);
  EXPECT_EQ(a.at("x").TypeString(), "tensor(float)[2,3]");
  EXPECT_EQ(a.at("s").TypeString(), "seq(tensor(float)), 3 elements");
  EXPECT_EQ(Difference(a.at("x"), b.at("x")), "");
  EXPECT_NE(Difference(a.at("x"), c.at("x")), "");
  EXPECT_THAT([&] { AddRandomFeeds(model, {.sizes = {{"N", 2}}, .ranges = {}}, 1, *std::make_unique<ValueMap>()); },
              ThrowsMessage<InvalidArgument>("input 's': dim 'T' has no size: add T=... to --random"));
}

TEST(Feeds, DifferenceSaysWhatDiffers) {
  const Tensor a = Tensor::Of<float>({2}, {1, 2});
  EXPECT_EQ(Difference(Tensor::Of<float>({2}, {1, 3}), a), "element 1: expected 2, got 3");
  EXPECT_EQ(Difference(Tensor::Of<int32_t>({2}, {1, 2}), a), "expected tensor(float)[2], got tensor(int32)[2]");
  EXPECT_EQ(Difference(Sequence({a}), a), "expected tensor(float)[2], got seq(tensor(float)), 1 element");
  EXPECT_EQ(Difference(Sequence({a}), Sequence({Tensor::Of<float>({1}, {1})})),
            "[0] expected tensor(float)[1], got tensor(float)[2]");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Difference(Tensor::Scalar(nan), Tensor::Scalar(nan)), "");
  EXPECT_NE(Difference(Tensor::Scalar(nan), Tensor::Scalar(1.f)), "");
}

TEST(PrintValue, Views) {
  EXPECT_EQ(ShortView(Tensor::Of<float>({2, 2}, {1, 0.1f, -2.5f, 1e-7f})), "[[1, 0.1], [-2.5, 1e-07]]");
  EXPECT_EQ(ShortView(Tensor::Scalar(true)), "true");
  EXPECT_EQ(ShortView(Tensor::Of<std::string>({1}, {"a\"b"})), "[\"a\\\"b\"]");
  EXPECT_EQ(ShortView(Tensor::Of<std::complex<float>>({1}, {{1, -2}})), "[1-2j]");
  EXPECT_EQ(ShortView(Tensor(TensorType::kFloat, {2, 0})), "[[], []]");
  std::vector<int64_t> many(100);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int64_t>(i);
  EXPECT_EQ(ShortView(Tensor::Of<int64_t>({100}, std::span<const int64_t>(many))), "[0, 1, 2, 3, ..., 96, 97, 98, 99]");
}

TEST(PrintValue, Descriptions) {
  EXPECT_EQ(DescribeValue("y", Value()), "y: nothing\n");
  EXPECT_EQ(DescribeValue("y", Tensor::Of<int64_t>({2}, {1, 2})), "y: tensor(int64)[2] = [1, 2]\n");
  EXPECT_EQ(DescribeValue("s", Sequence({Tensor::Scalar(1.f)})),
            "s: seq(tensor(float)), 1 element\n  [0] tensor(float)[] = 1\n");
}

TEST(JsonText, IsValidWhateverTheText) {
  JsonText json;
  json.Object();
  json.Key("a\"\\\n\x01");
  json.Array();
  json.Int(-1);
  json.Float(std::numeric_limits<float>::infinity());
  json.Float(0.5f);
  json.Null();
  json.Bool(true);
  json.String("\xc3\xa4 \xff \xed\xa0\x80");
  json.EndArray();
  json.Key("b");
  json.Object();
  json.EndObject();
  json.EndObject();
  EXPECT_EQ(json.text(),
            "{\"a\\\"\\\\\\n\\u0001\":[-1,\"inf\",0.5,null,true,\"\xc3\xa4 \\ufffd \\ufffd\\ufffd\\ufffd\"],\"b\":{}}");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
