// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

std::vector<std::string> WarningsOf(const char* graph) {
  std::vector<std::string> warnings;
  SessionOptions options;
  options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  FromText(graph, options);
  return warnings;
}

TEST(MissingModule, IsToldWhereItWouldHaveWork) {
  const char* const conv = "g (float[1,1,4] x, float[1,1,2] w) => (float[1,1,N] y) { y = Conv(x, w) }";
  const char* const inside = R"(g (bool c, float[1,1,4] x, float[1,1,2] w) => (float[1,1,N] y) {
    y = If <then_branch = t () => (float[1,1,N] a) { a = Conv(x, w) },
            else_branch = e () => (float[1,1,N] b) { b = Identity(x) }> (c)
  })";
  EXPECT_THAT(WarningsOf(conv), ElementsAre()) << "it is there";
  ASSERT_EQ(setenv("ONNXSEQ_DNN", "/nowhere/libonnxseq_dnn.so", 1), 0);
  const std::string text = "cannot find /nowhere/libonnxseq_dnn.so, the module with oneDNN: slower kernels do its work";
  EXPECT_THAT(WarningsOf(conv), ElementsAre(text));
  EXPECT_THAT(WarningsOf(inside), ElementsAre(text));
  EXPECT_THAT(WarningsOf("g (float[N] x) => (float[N] y) { y = Neg(x) }"), ElementsAre());
  ASSERT_EQ(setenv("ONNXSEQ_DNN", "off", 1), 0);
  EXPECT_THAT(WarningsOf(conv), ElementsAre()) << "as was asked for";
  ASSERT_EQ(unsetenv("ONNXSEQ_DNN"), 0);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
