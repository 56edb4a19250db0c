// SPDX-License-Identifier: Apache-2.0
// The run of SequenceMap over a body made of C++: what needs several threads or many elements. The rest is in
// sequence_map.test.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/infer_node.h"
#include "ops/run_context.h"
#include "ops/test_support.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class FakeBody final : public BodyRunner {
 public:
  struct Steps final : BodySteps {
    explicit Steps(const FakeBody& body_in) : body(body_in) {}
    void Run(std::span<Value> in, std::span<Value> out, int64_t element) override { body.run(in, out, element); }
    const FakeBody& body;
  };

  int input_size() const override { return inputs; }
  int output_size() const override { return outputs; }
  TensorType OutputType(int) const override { return TensorType::kInt64; }
  std::optional<std::vector<int64_t>> OutputDims(int) const override { return std::nullopt; }
  double EstimatedNanoseconds() const override { return nanoseconds; }
  void Run(std::span<Value> in, std::span<Value> out) const override { run(in, out, -1); }
  std::unique_ptr<BodySteps> Start(std::string_view) const override { return std::make_unique<Steps>(*this); }

  int inputs = 1;
  int outputs = 1;
  double nanoseconds = 10;
  std::function<void(std::span<Value>, std::span<Value>, int64_t)> run;
};

class FakeContext final : public RunContext {
 public:
  FakeContext(int threads, std::vector<Value> inputs, const FakeBody& body)
      : team_(threads), inputs_(std::move(inputs)), body_(body) {
    node_ = ParseNodeText("[map0] y = SequenceMap<body = b (e) => (r) { r = Identity(e) }>(x)");
    for (size_t i = 1; i < inputs_.size(); ++i) node_.add_input("x" + std::to_string(i));
    outputs.resize(static_cast<size_t>(body.outputs));
  }

  const NodeProto& node() const override { return node_; }
  const OpDef& op() const override { return *FindOp("", "SequenceMap", 17); }
  int input_size() const override { return static_cast<int>(inputs_.size()); }
  const Value& input(int i) const override { return inputs_[static_cast<size_t>(i)]; }
  Value TakeInput(int i) override { return std::move(inputs_[static_cast<size_t>(i)]); }
  int output_size() const override { return static_cast<int>(outputs.size()); }
  bool HasOutput(int) const override { return true; }
  void SetOutput(int i, Value value) override { outputs[static_cast<size_t>(i)] = std::move(value); }
  Tensor& AllocateOutput(int i, TensorType dtype, Shape shape) override {
    SetOutput(i, Tensor(dtype, std::move(shape)));
    return outputs[static_cast<size_t>(i)].mutable_tensor();
  }
  ThreadTeam& team() override { return team_; }
  int threads() const override { return team_.threads(); }
  const BodyRunner& Body(std::string_view) override { return body_; }
  void CheckCancelled() const override {
    ++checks;
    if (cancelled) throw TimeoutError("the run was cancelled");
  }
  uint64_t NextSeed() override { return 0; }

  std::vector<Value> outputs;
  mutable std::atomic<int> checks{0};
  bool cancelled = false;

 private:
  const OpState* RawState() const override { return nullptr; }
  ThreadTeam team_;
  NodeProto node_;
  std::vector<Value> inputs_;
  const FakeBody& body_;
};

Sequence Numbers(int64_t count) {
  std::vector<Tensor> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back(Tensor::Scalar<int64_t>(i));
  return Sequence(TensorType::kInt64, std::move(elements));
}

void RunOp(FakeContext& ctx) { ctx.op().run(ctx); }

FakeBody Doubling() {
  FakeBody body;
  body.run = [](std::span<Value> in, std::span<Value> out, int64_t) {
    out[0] = Tensor::Scalar<int64_t>(2 * in[0].tensor().View<int64_t>()[0]);
  };
  return body;
}

TEST(SequenceMapRun, KeepsTheOrderWithAnyNumberOfThreads) {
  FakeBody body = Doubling();
  for (const double nanoseconds : {0.0, 10.0, 1e6}) {
    body.nanoseconds = nanoseconds;
    for (const int threads : {1, 2, 4}) {
      for (const int64_t count : {0, 1, 2, 7, 1000}) {
        FakeContext ctx(threads, {Numbers(count)}, body);
        RunOp(ctx);
        const Sequence& y = ctx.outputs[0].sequence();
        ASSERT_EQ(y.size(), count);
        EXPECT_EQ(y.dtype(), TensorType::kInt64);
        for (int64_t i = 0; i < count; ++i) EXPECT_EQ(y[i].View<int64_t>()[0], 2 * i);
        EXPECT_GE(ctx.checks, count) << "before each element";
      }
    }
  }
}

TEST(SequenceMapRun, ReportsTheLowestFailingElement) {
  FakeBody body;
  body.nanoseconds = 1e6;
  const std::set<int64_t> bad{3, 4, 17, 90};
  body.run = [&](std::span<Value> in, std::span<Value> out, int64_t element) {
    EXPECT_EQ(in[0].tensor().View<int64_t>()[0], element);
    if (bad.contains(element)) throw InvalidArgument("is bad, element " + std::to_string(element));
    out[0] = std::move(in[0]);
  };
  for (int repeat = 0; repeat < 50; ++repeat) {
    FakeContext ctx(4, {Numbers(100)}, body);
    EXPECT_EQ(TextOf<std::invalid_argument>([&] { RunOp(ctx); }), "is bad, element 3");
    EXPECT_TRUE(ctx.outputs[0].IsNone());
  }
}

TEST(SequenceMapRun, RefusesUnevenLengths) {
  FakeBody body = Doubling();
  body.inputs = 2;
  FakeContext ctx(1, {Numbers(3), Numbers(2)}, body);
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { RunOp(ctx); }),
            "input 1 'additional_inputs' (\"x1\"): has 2 elements, input 0 has 3");
}

TEST(SequenceMapRun, RefusesABodyOfAnotherArity) {
  FakeBody body = Doubling();
  body.inputs = 2;
  FakeContext inputs(1, {Numbers(3)}, body);
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { RunOp(inputs); }), "attribute 'body': takes 2 inputs, the node has 1");
  body.inputs = 1;
  FakeContext outputs(1, {Numbers(3)}, body);
  body.outputs = 2;
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { RunOp(outputs); }),
            "attribute 'body': gives 2 outputs, the node has 1");
}

TEST(SequenceMapRun, RefusesOutputsThatAreNoTensorsOrOfTwoTypes) {
  FakeBody body;
  body.run = [](std::span<Value>, std::span<Value> out, int64_t element) {
    if (element == 1) out[0] = Sequence(TensorType::kFloat);
    if (element == 0) out[0] = Tensor::Scalar<float>(0);
  };
  FakeContext ctx(1, {Numbers(2)}, body);
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { RunOp(ctx); }),
            "body output 0 (\"r\"): must be a tensor, got seq(tensor(float)), 0 elements for element 1");
  body.run = [](std::span<Value>, std::span<Value> out, int64_t element) {
    if (element == 0) out[0] = Tensor::Scalar<float>(0);
    if (element == 1) out[0] = Tensor::Scalar<int64_t>(0);
  };
  FakeContext types(1, {Numbers(2)}, body);
  EXPECT_EQ(TextOf<std::invalid_argument>([&] { RunOp(types); }),
            "body output 0 (\"r\"): is tensor(int64)[] for element 1, tensor(float)[] for element 0");
}

TEST(SequenceMapRun, StopsWhenCancelled) {
  const FakeBody body = Doubling();
  FakeContext ctx(1, {Numbers(3)}, body);
  ctx.cancelled = true;
  EXPECT_EQ(TextOf<TimeoutError>([&] { RunOp(ctx); }), "the run was cancelled");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
