// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "onnxseq/errors.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

template <class E, class Fn>
std::string MessageOf(Fn fn) {
  try {
    fn();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing thrown";
}

TEST(TensorTest, OwnStorageIsAlignedAndWritable) {
  for (const int64_t n : {0, 1, 15, 16, 17, 1000, 300000}) {
    Tensor tensor(TensorType::kFloat, Shape{n});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u) << n;
    EXPECT_EQ(tensor.ByteSize(), static_cast<size_t>(4 * n));
    std::ranges::fill(tensor.MutableView<float>(), 2.5f);
    if (n > 0) {
      EXPECT_EQ(tensor.View<float>().back(), 2.5f);
    }
  }
}

TEST(TensorTest, EveryTypeHasItsSize) {
  const auto bytes = [](TensorType type) { return Tensor(type, Shape{5}).ByteSize(); };
  EXPECT_EQ(bytes(TensorType::kUint8), 5u);
  EXPECT_EQ(bytes(TensorType::kBool), 5u);
  EXPECT_EQ(bytes(TensorType::kFloat16), 10u);
  EXPECT_EQ(bytes(TensorType::kComplex128), 80u);
  EXPECT_EQ(bytes(TensorType::kInt4), 5u);
  EXPECT_EQ(bytes(TensorType::kUint2), 5u);
  EXPECT_EQ(bytes(TensorType::kFloat6e2m3), 5u);
  EXPECT_EQ(bytes(TensorType::kString), 5 * sizeof(std::string));
  EXPECT_EQ(Tensor().ByteSize(), 0u);
}

TEST(TensorTest, StringsAreReal) {
  Tensor tensor = Tensor::Of<std::string>(Shape{2}, {"a", std::string(100, 'x')});
  Tensor copy = tensor;
  copy.Unshare();
  copy.MutableView<std::string>()[0] = "changed";
  EXPECT_EQ(tensor.View<std::string>()[0], "a");
  EXPECT_EQ(copy.View<std::string>()[1], std::string(100, 'x'));
}

TEST(TensorTest, SharingAndUnsharing) {
  Tensor a = Tensor::Of<int64_t>(Shape{3}, {1, 2, 3});
  EXPECT_TRUE(a.IsUnique());
  Tensor b = a;
  EXPECT_FALSE(a.IsUnique());
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { b.mutable_data(); }), "tensor(int64)[3] is shared and may not be written");
  b.Unshare();
  b.MutableView<int64_t>()[0] = 9;
  EXPECT_THAT(a.View<int64_t>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(b.View<int64_t>(), ElementsAre(9, 2, 3));
  EXPECT_TRUE(a.IsUnique());
}

TEST(TensorTest, WhatWasMovedFromIsUndefined) {
  Tensor a = Tensor::Of<int32_t>({2}, {1, 2});
  Tensor b = std::move(a);
  EXPECT_FALSE(a.defined());  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(a.NumElements(), 0);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.rank(), 0);
  a = std::move(b);
  EXPECT_FALSE(b.defined());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a.View<int32_t>()[1], 2);
}

// Half way between two values of 16 bits lie floats that a double is near, but not on.
TEST(Float16Test, DoublesAreRoundedOnce) {
  EXPECT_EQ(Float16(1.0 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(Float16(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(Float16(1.0 + 3 * 0x1p-11 - 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(Float16(-1.0 - 0x1p-11 - 0x1p-40).bits, 0xbc01);
  EXPECT_EQ(Float16(65519.99999999999).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0).bits, 0x7c00);
  EXPECT_EQ(Float16(1e300).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-25 + 0x1p-60).bits, 1);
  EXPECT_EQ(Float16(-0.0).bits, 0x8000);
  EXPECT_TRUE(std::isnan(float(Float16(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_EQ(BFloat16(1.0 + 0x1p-8).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(BFloat16(-1.0 - 3 * 0x1p-8 + 0x1p-40).bits, 0xbf81);
  EXPECT_EQ(BFloat16(-1e300).bits, 0xff80);
}

TEST(TensorTest, BorrowedDataIsNeverWrittenAndKeptAlive) {
  const auto data = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  {
    Tensor tensor = Tensor::Borrow(data->data(), TensorType::kFloat, Shape{2, 2}, data);
    EXPECT_EQ(data.use_count(), 2);
    EXPECT_FALSE(tensor.IsUnique());
    EXPECT_THROW(tensor.mutable_data(), InvalidArgument);
    tensor.Unshare();
    tensor.MutableView<float>()[0] = 7;
    EXPECT_EQ((*data)[0], 1);
    EXPECT_EQ(data.use_count(), 1);
  }
  int released = 0;
  {
    const Tensor tensor = Tensor::Borrow(data->data(), TensorType::kFloat, Shape{4}, [&] { ++released; });
    const Tensor copy = tensor;
    EXPECT_THAT(copy.View<float>(), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(TensorTest, BorrowRefusesWhatCannotBe) {
  const std::shared_ptr<const void> owner;
  alignas(8) static const char bytes[16] = {};
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { Tensor::Borrow(bytes + 1, TensorType::kFloat, Shape{1}, owner); }),
            "borrowed data is not aligned for float");
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { Tensor::Borrow(nullptr, TensorType::kFloat, Shape{1}, owner); }),
            "borrowed data is null");
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { Tensor::Borrow(bytes, TensorType::kString, Shape{1}, owner); }),
            "strings cannot be borrowed");
  EXPECT_EQ(Tensor::Borrow(nullptr, TensorType::kFloat, Shape{0}, owner).NumElements(), 0);
}

TEST(TensorTest, ImpossibleSizesAreErrors) {
  EXPECT_EQ(MessageOf<InvalidArgument>([] { Tensor(TensorType::kUndefined, Shape{1}); }),
            "a tensor needs an element type");
  EXPECT_EQ(MessageOf<InvalidArgument>([] { Tensor(TensorType::kFloat, Shape{2, -1}); }),
            "tensor(float)[2,-1] has a negative dim");
  EXPECT_EQ(MessageOf<InvalidArgument>([] { Tensor(TensorType::kFloat, Shape{int64_t{1} << 32, int64_t{1} << 32}); }),
            "tensor(float)[4294967296,4294967296] is too large: its element count does not fit in 64 bits");
  EXPECT_EQ(MessageOf<InvalidArgument>([] { Tensor(TensorType::kFloat, Shape{int64_t{1} << 62}); }),
            "tensor(float)[4611686018427387904] is too large: its size does not fit in 64 bits");
  EXPECT_EQ(MessageOf<MemoryError>([] { Tensor(TensorType::kFloat, Shape{int64_t{1} << 60}); }),
            "not enough memory for tensor(float)[1152921504606846976] of 4611686018427387904 bytes");
  EXPECT_EQ(MessageOf<MemoryError>([] { Tensor(TensorType::kUint8, Shape{std::numeric_limits<int64_t>::max()}); }),
            "not enough memory for tensor(uint8)[9223372036854775807] of 9223372036854775807 bytes");
}

TEST(TensorTest, ViewsCheckTheType) {
  const Tensor tensor = Tensor::Scalar<float>(1);
  EXPECT_EQ(tensor.rank(), 0);
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { (void)tensor.View<double>(); }), "tensor(float)[] is read as double");
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { Tensor::Of<float>(Shape{3}, {1, 2}); }),
            "tensor(float)[3] needs 3 elements, got 2");
}

TEST(TensorTest, ReshapeAndPartsShareElements) {
  const Tensor tensor = Tensor::Of<int32_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor flat = tensor.WithShape(Shape{6});
  EXPECT_EQ(flat.data(), tensor.data());
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { (void)tensor.WithShape(Shape{5}); }),
            "tensor(int32)[2,3] cannot take shape [5]: the element counts differ");
  const Tensor row = tensor.Part(3, Shape{1, 3});
  EXPECT_THAT(row.View<int32_t>(), ElementsAre(4, 5, 6));
  EXPECT_EQ(tensor.Part(6, Shape{0}).NumElements(), 0);
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { (void)tensor.Part(4, Shape{3}); }),
            "tensor(int32)[2,3] has no part [3] from element 4 on");
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { (void)tensor.Part(-1, Shape{1}); }),
            "tensor(int32)[2,3] has no part [1] from element -1 on");
  const Tensor narrow(TensorType::kInt4, Shape{4});
  EXPECT_EQ(narrow.Part(3, Shape{1}).data(), static_cast<const char*>(narrow.data()) + 3);
}

TEST(TensorTest, ValueSaysWhatItIs) {
  const Value nothing;
  EXPECT_TRUE(nothing.IsNone());
  EXPECT_EQ(nothing.TypeString(), "nothing");
  const Value tensor = Tensor::Of<float>(Shape{2}, {1, 2});
  EXPECT_EQ(tensor.TypeString(), "tensor(float)[2]");
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { (void)tensor.sequence(); }), "expected a sequence, got tensor(float)[2]");
  Value sequence = Sequence(TensorType::kFloat);
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { sequence.mutable_tensor(); }),
            "expected a tensor, got seq(tensor(float)), 0 elements");
  EXPECT_EQ(MessageOf<InvalidArgument>([&] { (void)nothing.tensor(); }), "expected a tensor, got nothing");
  sequence.mutable_sequence().Append(tensor.tensor());
  EXPECT_EQ(sequence.TypeString(), "seq(tensor(float)), 1 element");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
