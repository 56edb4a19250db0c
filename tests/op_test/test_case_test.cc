// SPDX-License-Identifier: Apache-2.0
// The parser of .test files and the comparison of values: a runner that accepts everything would prove nothing.
#include "test_case.h"

#include <gtest/gtest.h>

#include "compare_values.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string ErrorOf(std::string_view text) {
  try {
    ParseTestCases(text);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(TestCase, AllLines) {
  const std::vector<TestCase> cases = ParseTestCases(R"(# a comment
test one
  opset 17
  domain my.ops 2
  input a : float[N,1] = float[2,1] {1,   # continued
    2}
  input s = seq(int64) [int64[1] {3}, int64[] {4}]
  input h = float16[2] {0.5, -inf}
  input o : optional(float[N]) = none
  const c = int64[1] {0}
  node y = Add(a, a)
  node z = Identity(s)
  output y = float[2,1] {2, 4}
  output z
  shape y = tensor(float)[N,1]  
  tolerance 1e-3 0.5
test two
  opset 18
  node y = Constant<value_int = 3>()
  output y
  error a [b "c
  shape_error d # e
)");
  ASSERT_EQ(cases.size(), 2u);
  const TestCase& one = cases[0];
  EXPECT_EQ(one.line, 2);
  EXPECT_EQ(one.model.opset_import_size(), 2);
  EXPECT_EQ(one.model.opset_import(1).domain(), "my.ops");
  EXPECT_EQ(one.model.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "N");
  EXPECT_EQ(Difference(one.inputs.at("a"), Tensor::Of<float>({2, 1}, {1, 2}), 0, 0), "");
  ASSERT_EQ(one.inputs.at("s").sequence().size(), 2);
  EXPECT_EQ(one.inputs.at("s").sequence()[1].rank(), 0);
  EXPECT_EQ(static_cast<float>(one.inputs.at("h").tensor().View<Float16>()[0]), 0.5f);
  EXPECT_TRUE(one.inputs.at("o").IsNone());
  EXPECT_EQ(one.model.graph().initializer_size(), 1);
  EXPECT_EQ(one.model.graph().node_size(), 2);
  EXPECT_TRUE(one.outputs[0].second.has_value());
  EXPECT_FALSE(one.outputs[1].second.has_value());
  EXPECT_EQ(one.shapes[0].second, "tensor(float)[N,1]");
  EXPECT_EQ(one.rtol, 1e-3);
  EXPECT_EQ(one.atol, 0.5);
  EXPECT_EQ(cases[1].error, "a [b \"c");
  EXPECT_EQ(cases[1].shape_error, "d # e");
}

TEST(TestCase, Errors) {
  EXPECT_EQ(ErrorOf("opset 3"), "line 1: the first line must be `test NAME`");
  EXPECT_EQ(ErrorOf("test a\n\n  what 3\n"), "line 3: 'what' begins no line of a test");
  EXPECT_EQ(ErrorOf("test a\n opset x"), "line 2: 'x' is no number");
  EXPECT_EQ(ErrorOf("test a\n opset 17\n output y"), "line 1: test a has no node");
  EXPECT_EQ(ErrorOf("test a\n node y = Add(a, b)"), "line 1: test a has no output");
}

TEST(TestCase, Counts) { EXPECT_EQ(CountTests("test a\n  test b\ntest c"), 2); }

TEST(Difference, Tells) {
  const auto tensor = [](std::initializer_list<float> v) {
    return Tensor::Of<float>({static_cast<int64_t>(v.size())}, v);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Difference(tensor({1, nan, inf}), tensor({1.000001f, nan, inf}), 1e-5, 0), "");
  EXPECT_EQ(Difference(tensor({1}), tensor({1.1f}), 1e-5, 0), "element 0 is 1, expected 1.100000023841858");
  EXPECT_EQ(Difference(tensor({nan}), tensor({0}), 1, 1), "element 0 is nan, expected 0");
  EXPECT_EQ(Difference(tensor({inf}), tensor({-inf}), 1, 1), "element 0 is inf, expected -inf");
  EXPECT_EQ(Difference(tensor({1, 2}), tensor({1}), 1, 1), "is tensor(float)[2], expected tensor(float)[1]");
  EXPECT_EQ(Difference(Tensor::Of<int64_t>({2}, {1, 10}), Tensor::Of<int64_t>({2}, {1, 11}), 1, 1),
            "element 1 has the bits a, expected b");
  EXPECT_EQ(Difference(Value(), tensor({1}), 1, 1), "is nothing, expected tensor(float)[1]");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
