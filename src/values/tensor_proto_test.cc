// SPDX-License-Identifier: Apache-2.0
#include "values/tensor_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

TensorProto Proto(int32_t type, std::initializer_list<int64_t> dims) {
  TensorProto proto;
  proto.set_name("w");
  proto.set_data_type(type);
  for (const int64_t dim : dims) proto.add_dims(dim);
  return proto;
}
template <class T>
void SetRaw(TensorProto& proto, const std::vector<T>& values) {
  proto.set_raw_data(values.data(), values.size() * sizeof(T));
}
std::vector<uint8_t> BytesOf(const Tensor& tensor) {
  const auto* data = static_cast<const uint8_t*>(tensor.data());
  return {data, data + tensor.ByteSize()};
}
std::string ErrorOfProto(const TensorProto& proto) {
  try {
    (void)TensorFromProto(proto);
  } catch (const InvalidArgument& e) {
    return e.what();
  } catch (const Unsupported& e) {
    return std::string("unsupported: ") + e.what();
  }
  return "no error";
}

TEST(TensorProtoTest, TypedFields) {
  TensorProto p = Proto(TensorProto::FLOAT, {3});
  for (const float v : {1.5f, -2.f, 0.f}) p.add_float_data(v);
  EXPECT_THAT(TensorFromProto(p).View<float>(), ElementsAre(1.5f, -2.f, 0.f));

  p = Proto(TensorProto::COMPLEX64, {2});
  for (const float v : {1.f, 2.f, 3.f, 4.f}) p.add_float_data(v);
  EXPECT_THAT(TensorFromProto(p).View<std::complex<float>>(),
              ElementsAre(std::complex<float>(1, 2), std::complex<float>(3, 4)));

  p = Proto(TensorProto::DOUBLE, {1});
  p.add_double_data(1e300);
  EXPECT_THAT(TensorFromProto(p).View<double>(), ElementsAre(1e300));

  p = Proto(TensorProto::COMPLEX128, {});
  p.add_double_data(1);
  p.add_double_data(-1);
  EXPECT_THAT(TensorFromProto(p).View<std::complex<double>>(), ElementsAre(std::complex<double>(1, -1)));

  p = Proto(TensorProto::INT64, {2});
  p.add_int64_data(INT64_MIN);
  p.add_int64_data(INT64_MAX);
  EXPECT_THAT(TensorFromProto(p).View<int64_t>(), ElementsAre(INT64_MIN, INT64_MAX));

  p = Proto(TensorProto::UINT64, {1});
  p.add_uint64_data(UINT64_MAX);
  EXPECT_THAT(TensorFromProto(p).View<uint64_t>(), ElementsAre(UINT64_MAX));

  p = Proto(TensorProto::UINT32, {1});
  p.add_uint64_data(UINT32_MAX);
  EXPECT_THAT(TensorFromProto(p).View<uint32_t>(), ElementsAre(UINT32_MAX));

  p = Proto(TensorProto::STRING, {2});
  p.add_string_data("a");
  p.add_string_data(std::string("b\0c", 3));
  EXPECT_THAT(TensorFromProto(p).View<std::string>(), ElementsAre("a", std::string("b\0c", 3)));
}

TEST(TensorProtoTest, Int32FieldHoldsEveryNarrowType) {
  const auto read = [](int32_t type, std::initializer_list<int64_t> dims, std::initializer_list<int32_t> values) {
    TensorProto p = Proto(type, dims);
    for (const int32_t v : values) p.add_int32_data(v);
    return TensorFromProto(p);
  };
  EXPECT_THAT(read(TensorProto::INT32, {2}, {INT32_MIN, INT32_MAX}).View<int32_t>(), ElementsAre(INT32_MIN, INT32_MAX));
  EXPECT_THAT(read(TensorProto::INT16, {2}, {-32768, 32767}).View<int16_t>(), ElementsAre(-32768, 32767));
  EXPECT_THAT(read(TensorProto::INT8, {2}, {-128, 127}).View<int8_t>(), ElementsAre(-128, 127));
  EXPECT_THAT(read(TensorProto::UINT16, {1}, {65535}).View<uint16_t>(), ElementsAre(65535));
  EXPECT_THAT(read(TensorProto::UINT8, {1}, {255}).View<uint8_t>(), ElementsAre(255));
  EXPECT_THAT(read(TensorProto::BOOL, {3}, {1, 0, 1}).View<bool>(), ElementsAre(true, false, true));
  const Tensor half = read(TensorProto::FLOAT16, {2}, {0x3c00, 0xc000});
  EXPECT_EQ(static_cast<float>(half.View<Float16>()[0]), 1.f);
  EXPECT_EQ(static_cast<float>(half.View<Float16>()[1]), -2.f);
  EXPECT_EQ(static_cast<float>(read(TensorProto::BFLOAT16, {1}, {0x3f80}).View<BFloat16>()[0]), 1.f);
  for (const int32_t type : {TensorProto::FLOAT8E4M3FN, TensorProto::FLOAT8E4M3FNUZ, TensorProto::FLOAT8E5M2,
                             TensorProto::FLOAT8E5M2FNUZ, TensorProto::FLOAT8E8M0})
    EXPECT_THAT(BytesOf(read(type, {2}, {0x38, 0xff})), ElementsAre(0x38, 0xff)) << type;
  for (const int32_t type : {TensorProto::INT4, TensorProto::UINT4, TensorProto::FLOAT4E2M1})
    EXPECT_THAT(BytesOf(read(type, {3}, {0x21, -1})), ElementsAre(1, 2, 15)) << type;
  for (const int32_t type : {TensorProto::INT2, TensorProto::UINT2})
    EXPECT_THAT(BytesOf(read(type, {5}, {0xe4, 1})), ElementsAre(0, 1, 2, 3, 1)) << type;
  for (const int32_t type : {TensorProto::FLOAT6E2M3, TensorProto::FLOAT6E3M2})
    EXPECT_THAT(BytesOf(read(type, {3}, {0x3f, 1, 2})), ElementsAre(0x3f, 1, 2)) << type;
}

TEST(TensorProtoTest, RawDataPacksNarrowElements) {
  const auto packed = [](TensorType type, std::initializer_list<uint8_t> codes) {
    Tensor tensor(type, Shape{static_cast<int64_t>(codes.size())});
    std::ranges::copy(codes, static_cast<uint8_t*>(tensor.mutable_data()));
    const TensorProto proto = TensorToProto(tensor);
    EXPECT_THAT(BytesOf(TensorFromProto(proto)).size(), codes.size());
    const std::string_view raw = proto.raw_data().view();
    return std::vector<uint8_t>(raw.begin(), raw.end());
  };
  EXPECT_THAT(packed(TensorType::kInt4, {1, 15, 7}), ElementsAre(0xf1, 0x07));
  EXPECT_THAT(packed(TensorType::kInt4, {0xff, 0xf1}), ElementsAre(0x1f));  // what is above a code counts for nothing
  EXPECT_THAT(packed(TensorType::kUint2, {0, 1, 2, 3, 1}), ElementsAre(0xe4, 1));
  EXPECT_THAT(packed(TensorType::kFloat6e2m3, {1, 2, 3, 4, 63}), ElementsAre(0x81, 0x30, 0x10, 0x3f));
  EXPECT_EQ(RawBytes(TensorType::kFloat6e3m2, 4), 3);
  EXPECT_EQ(RawBytes(TensorType::kUint2, 0), 0);
  EXPECT_EQ(RawBytes(TensorType::kInt4, INT64_MAX), int64_t{1} << 62);
  EXPECT_EQ(RawBytes(TensorType::kDouble, INT64_MAX), std::nullopt);
}

TEST(TensorProtoTest, RawDataOfEveryTypeRoundTrips) {
  for (int32_t type = 1; type < onnx_optim::kTensorTypeCount; ++type) {
    if (type == TensorProto::STRING) continue;
    const TensorType dtype = onnx_optim::DataTypeToTensorType(type);
    Tensor tensor(dtype, Shape{3});
    auto* bytes = static_cast<uint8_t*>(tensor.mutable_data());
    for (size_t i = 0; i < tensor.ByteSize(); ++i) bytes[i] = static_cast<uint8_t>(i % 2);
    const TensorProto proto = TensorToProto(tensor, "t");
    EXPECT_EQ(proto.name().as_string(), "t");
    const Tensor again = TensorFromProto(proto);
    EXPECT_EQ(again.dtype(), dtype);
    EXPECT_EQ(again.shape(), tensor.shape());
    EXPECT_EQ(BytesOf(again), BytesOf(tensor)) << type;
  }
  const Tensor strings = Tensor::Of<std::string>(Shape{2}, {"x", ""});
  EXPECT_THAT(TensorFromProto(TensorToProto(strings)).View<std::string>(), ElementsAre("x", ""));
  EXPECT_THROW((void)TensorToProto(Tensor()), InvalidArgument);
}

TEST(TensorProtoTest, AlignedRawDataIsBorrowedOtherIsCopied) {
  const auto buffer = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3});
  const auto* bytes = reinterpret_cast<const char*>(buffer->data());
  TensorProto p = Proto(TensorProto::DOUBLE, {2});
  p.set_raw_data(Bytes::Shared({bytes + 8, 16}, buffer));
  const Tensor borrowed = TensorFromProto(p);
  EXPECT_EQ(borrowed.data(), bytes + 8);
  EXPECT_THAT(borrowed.View<double>(), ElementsAre(2, 3));
  p.set_raw_data(Bytes::Shared({bytes + 4, 16}, buffer));
  EXPECT_NE(TensorFromProto(p).data(), bytes + 4);
}

TEST(TensorProtoTest, EmptyTensorsNeedNoData) {
  EXPECT_EQ(TensorFromProto(Proto(TensorProto::FLOAT, {0, 3})).shape(), (Shape{0, 3}));
  TensorProto p = Proto(TensorProto::FLOAT, {0});
  p.set_raw_data("");
  EXPECT_EQ(TensorFromProto(p).NumElements(), 0);
}

TEST(TensorProtoTest, HostileHeaders) {
  EXPECT_EQ(ErrorOfProto(Proto(0, {1})), "tensor \"w\": has no element type");
  EXPECT_EQ(ErrorOfProto(Proto(999, {1})), "tensor \"w\": has unknown element type 999");
  EXPECT_EQ(ErrorOfProto(Proto(-1, {1})), "tensor \"w\": has unknown element type -1");
  EXPECT_EQ(ErrorOfProto(Proto(1, {2, -3})), "tensor \"w\": has negative dim -3 in [2,-3]");
  EXPECT_EQ(ErrorOfProto(Proto(1, {-2, -3})), "tensor \"w\": has negative dim -2 in [-2,-3]");
  EXPECT_EQ(ErrorOfProto(Proto(1, {int64_t{1} << 32, int64_t{1} << 32})),
            "tensor \"w\": has dims [4294967296,4294967296] whose size does not fit in 64 bits");
  EXPECT_EQ(ErrorOfProto(Proto(11, {int64_t{1} << 61})),
            "tensor \"w\": has dims [2305843009213693952] whose size does not fit in 64 bits");
  TensorProto p = Proto(1, {1});
  p.mutable_segment()->set_begin(0);
  EXPECT_EQ(ErrorOfProto(p), "unsupported: tensor \"w\": is stored in segments");
  p = Proto(1, {1});
  p.set_data_location(TensorProto::EXTERNAL);
  EXPECT_EQ(
      ErrorOfProto(p),
      "unsupported: tensor \"w\": has its data in an external file, which was not read: a model from memory needs "
      "the folder of it (data_folder)");
}

TEST(TensorProtoTest, DataThatDoesNotFitTheDims) {
  TensorProto p = Proto(TensorProto::FLOAT, {2, 2});
  SetRaw<float>(p, {1});
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has 4 bytes of raw_data, tensor(float)[2,2] needs 16");
  SetRaw<float>(p, {1, 2, 3, 4, 5});
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has 20 bytes of raw_data, tensor(float)[2,2] needs 16");
  p = Proto(TensorProto::FLOAT, {int64_t{1} << 40});
  SetRaw<float>(p, {1, 2, 3, 4});
  EXPECT_EQ(ErrorOfProto(p),
            "tensor \"w\": has 16 bytes of raw_data, tensor(float)[1099511627776] needs 4398046511104");
  p = Proto(TensorProto::FLOAT, {3});
  p.add_float_data(1);
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has 1 values in float_data, tensor(float)[3] needs 3");
  p = Proto(TensorProto::COMPLEX64, {1});
  p.add_float_data(1);
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has 1 values in float_data, tensor(complex64)[1] needs 2");
  EXPECT_EQ(ErrorOfProto(Proto(TensorProto::FLOAT, {2})),
            "tensor \"w\": holds no data, tensor(float)[2] has 2 elements");
  p = Proto(TensorProto::FLOAT, {0});
  SetRaw<float>(p, {1});
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has 4 bytes of raw_data, tensor(float)[0] needs 0");
}

TEST(TensorProtoTest, DataInTheWrongPlace) {
  TensorProto p = Proto(TensorProto::FLOAT, {1});
  p.add_int64_data(1);
  EXPECT_EQ(ErrorOfProto(p),
            "tensor \"w\": has its data in int64_data, tensor(float) keeps it in float_data or raw_data");
  p = Proto(TensorProto::FLOAT, {1});
  p.add_float_data(1);
  SetRaw<float>(p, {1});
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has data in both float_data and raw_data");
  p = Proto(TensorProto::STRING, {1});
  p.set_raw_data("abc");
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has its data in raw_data, tensor(string) keeps it in string_data");
}

TEST(TensorProtoTest, ValuesThatDoNotFitTheType) {
  const auto error = [](int32_t type, int32_t value) {
    TensorProto p = Proto(type, {1});
    p.add_int32_data(value);
    return ErrorOfProto(p);
  };
  EXPECT_EQ(error(TensorProto::UINT8, 256), "tensor \"w\": has 256 at int32_data[0], which does not fit in uint8");
  EXPECT_EQ(error(TensorProto::INT8, -129), "tensor \"w\": has -129 at int32_data[0], which does not fit in int8");
  EXPECT_EQ(error(TensorProto::FLOAT16, 65536),
            "tensor \"w\": has 65536 at int32_data[0], which does not fit in float16");
  EXPECT_EQ(error(TensorProto::INT4, 256),
            "tensor \"w\": has 256 at int32_data[0], which does not fit in a byte of int4");
  EXPECT_EQ(error(TensorProto::BOOL, 2), "tensor \"w\": has 2 as bool element 0");
  TensorProto p = Proto(TensorProto::BOOL, {2});
  SetRaw<uint8_t>(p, {1, 7});
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has 7 as bool element 1");
  p = Proto(TensorProto::UINT32, {1});
  p.add_uint64_data(uint64_t{1} << 32);
  EXPECT_EQ(ErrorOfProto(p), "tensor \"w\": has 4294967296 at uint64_data[0], which does not fit in uint32");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
