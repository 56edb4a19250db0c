// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "onnxseq/errors.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Tensor Number(float value) { return Tensor::Scalar<float>(value); }
std::string Numbers(const Sequence& sequence) {
  std::string text;
  for (const Tensor& element : sequence.elements())
    text += std::to_string(static_cast<int>(element.View<float>()[0])) + " ";
  return text;
}

TEST(SequenceTest, InsertAndEraseAtEveryPosition) {
  Sequence sequence;
  EXPECT_EQ(sequence.dtype(), TensorType::kUndefined);
  sequence.Append(Number(2));
  EXPECT_EQ(sequence.dtype(), TensorType::kFloat);
  sequence.Insert(0, Number(1));
  sequence.Insert(2, Number(4));
  sequence.Insert(2, Number(3));
  EXPECT_EQ(Numbers(sequence), "1 2 3 4 ");
  sequence.Erase(0);
  sequence.Erase(2);
  sequence.Erase(1);
  EXPECT_EQ(Numbers(sequence), "2 ");
  sequence.Erase(0);
  EXPECT_TRUE(sequence.empty());
  EXPECT_EQ(sequence.dtype(), TensorType::kFloat);
}

TEST(SequenceTest, ChangingACopyLeavesTheOther) {
  Sequence a(TensorType::kFloat, {Number(1), Number(2)});
  Sequence b = a;
  b.Append(Number(3));
  a.Erase(0);
  EXPECT_EQ(Numbers(a), "2 ");
  EXPECT_EQ(Numbers(b), "1 2 3 ");
  EXPECT_EQ(b[1].View<float>()[0], 2);
}

TEST(SequenceTest, ElementTypesMustAgree) {
  Sequence sequence(TensorType::kFloat, {Number(1)});
  try {
    sequence.Append(Tensor::Scalar<int64_t>(1));
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "element 1 is tensor(int64), expected tensor(float)");
  }
  EXPECT_EQ(sequence.size(), 1);
  try {
    const Sequence mixed({Number(1), Number(2), Tensor::Scalar<double>(1)});
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "element 2 is tensor(double), expected tensor(float)");
  }
  try {
    sequence.Append(Tensor());
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "element 1 of a sequence is undefined");
  }
}

TEST(SequenceTest, TypeString) {
  EXPECT_EQ(Sequence().TypeString(), "seq(tensor(undefined)), 0 elements");
  EXPECT_EQ(Sequence({Number(1), Number(2)}).TypeString(), "seq(tensor(float)), 2 elements");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
