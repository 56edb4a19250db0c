// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

constexpr const char* kGraph =
    "g (float[N] a, float[N] b) => (float[N] sum, float[N] difference) "
    "{ sum = Add(a, b) difference = Sub(a, b) }";

TEST(RunnerTest, NamesFixTheOrder) {
  const Session session = FromText(kGraph);
  Runner runner(session, {"b", "a"}, {"difference"});
  EXPECT_EQ(runner.input_size(), 2);
  EXPECT_EQ(runner.output_size(), 1);
  EXPECT_TRUE(runner.output(0).IsNone());
  runner.SetInput(0, Vec({1, 2}));
  runner.SetInput(1, Vec({10, 10}));
  runner.Run();
  EXPECT_THAT(Floats(runner.output(0)), ElementsAre(9, 8));
  runner.SetInput(0, Vec({3, 3}));
  runner.Run();
  EXPECT_THAT(Floats(runner.output(0)), ElementsAre(7, 7)) << "the other input stays";
  const Value taken = runner.TakeOutput(0);
  EXPECT_TRUE(taken.tensor().IsUnique());
  EXPECT_TRUE(runner.output(0).IsNone());
  Runner all(session);
  all.SetInput(0, Vec({1}));
  all.SetInput(1, Vec({2}));
  all.Run();
  EXPECT_THAT(Floats(all.output(0)), ElementsAre(3));
  EXPECT_THAT(Floats(all.output(1)), ElementsAre(-1));
}

TEST(RunnerTest, WrongNamesAndPositions) {
  const Session session = FromText(kGraph);
  const auto thrown = [](auto fn) { return ThrownBy<InvalidArgument>(fn); };
  EXPECT_EQ(thrown([&] { Runner(session, {"q"}, {}); }),
            "input \"q\": the model has no such input; its inputs are \"a\", \"b\"");
  EXPECT_EQ(thrown([&] { Runner(session, {}, {"q"}); }),
            "output \"q\": the model has no such output; its outputs are \"sum\", \"difference\"");
  EXPECT_EQ(thrown([&] { Runner(session, {"a", "a"}, {}); }), "input \"a\": is named twice");
  Runner runner(session, {"a"}, {"sum"});
  EXPECT_EQ(thrown([&] { runner.SetInput(1, Value()); }), "there is no input 1: the runner has 1");
  EXPECT_EQ(thrown([&] { runner.BindOutput(-1, Tensor()); }), "there is no output -1: the runner has 1");
  EXPECT_EQ(thrown([&] { static_cast<void>(runner.output(2)); }), "there is no output 2: the runner has 1");
  runner.SetInput(0, Vec({1}));
  EXPECT_EQ(thrown([&] { runner.Run(); }), "input \"b\": is missing, expected tensor(float)[N]");
}

TEST(RunnerTest, BoundOutputsAreWrittenInPlace) {
  const Session session = FromText(kGraph);
  Runner runner(session, {"a", "b"}, {"sum"});
  const Tensor mine(TensorType::kFloat, Shape{2});
  runner.BindOutput(0, mine);
  runner.SetInput(0, Vec({1, 2}));
  runner.SetInput(1, Vec({10, 20}));
  runner.Run();
  EXPECT_THAT(mine.View<float>(), ElementsAre(11, 22));
  EXPECT_EQ(runner.output(0).tensor().data(), mine.data());
  runner.SetInput(0, Vec({1, 2, 3}));
  runner.SetInput(1, Vec({1, 2, 3}));
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { runner.Run(); }),
            "output \"sum\": the tensor given for it is tensor(float)[2], the result tensor(float)[3]");
  EXPECT_TRUE(runner.output(0).IsNone());
  runner.BindOutput(0, Tensor());
  runner.Run();
  EXPECT_THAT(Floats(runner.output(0)), ElementsAre(2, 4, 6));
  static const float lent[2] = {};
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] {
              runner.BindOutput(0, Tensor::Borrow(lent, TensorType::kFloat, Shape{2}, std::shared_ptr<const void>()));
            }),
            "output \"sum\": the tensor given for it, tensor(float)[2], is in borrowed memory");
}

TEST(RunnerTest, BoundStrings) {
  const Session session = FromText("g (string[N] x) => (string[N] y) { y = Identity(x) }");
  Runner runner(session);
  const Tensor mine(TensorType::kString, Shape{2});
  runner.BindOutput(0, mine);
  runner.SetInput(0, Tensor::Of<std::string>(Shape{2}, {"a", std::string(50, 'b')}));
  runner.Run();
  EXPECT_THAT(mine.View<std::string>(), ElementsAre("a", std::string(50, 'b')));
}

TEST(RunnerTest, OptionalAndDefaultInputs) {
  const Session session = FromText("g (float[N] x, float[1] w = {1}) => (float[N] y) { y = Add(x, w) }");
  Runner runner(session, {"x", "w"}, {"y"});
  runner.SetInput(0, Vec({5}));
  runner.Run();
  EXPECT_THAT(Floats(runner.output(0)), ElementsAre(6));
  runner.SetInput(1, Vec({100}));
  runner.Run();
  EXPECT_THAT(Floats(runner.output(0)), ElementsAre(105));
  runner.SetInput(1, Value());
  runner.Run();
  EXPECT_THAT(Floats(runner.output(0)), ElementsAre(6));
}

TEST(RunnerTest, ManyRunnersOfOneSession) {
  const Session session = FromText(kGraph);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Runner runner(session);
      for (int i = 0; i < 200; ++i) {
        runner.SetInput(0, Vec({static_cast<float>(t)}));
        runner.SetInput(1, Vec({static_cast<float>(i)}));
        runner.Run();
        wrong += Floats(runner.output(0))[0] != static_cast<float>(t + i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
