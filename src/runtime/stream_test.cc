// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

// The state counts up by what is fed; the batch stands at axis 1 of the state and axis 0 of the rest.
constexpr const char* kSum = R"(
  g (float[N,T] x, float by, float[1,N,2] s) => (float[N,T] y, float[1,N,2] t) {
    one = Constant <value_ints = [1]>()
    m = ReduceSum <keepdims = 1> (x, one)
    scaled = Mul(m, by)
    t = Add(s, scaled)
    zero = Constant <value_ints = [0]>()
    row = Squeeze(t, zero)
    most = ReduceMax <axes = [1], keepdims = 1> (row)
    y = Add(x, most)
  })";

ValueMap Piece(std::initializer_list<float> values, float by = 1) {
  return {{"x", Tensor::Of<float>(Shape{1, static_cast<int64_t>(values.size())}, values)},
          {"by", Tensor::Scalar<float>(by)}};
}
StreamOptions SumOptions(std::string batch) { return {.states = {{"s", "t"}}, .batch = std::move(batch)}; }

TEST(StreamTest, KeepsItsState) {
  for (const char* batch : {"", "N"}) {
    StreamOptions options = SumOptions(batch);
    if (options.batch.empty()) options.states[0].initial = Tensor::Of<float>(Shape{1, 1, 2}, {0, 0});
    StreamGroup group(FromText(kSum), options);
    Stream stream = group.Open();
    EXPECT_THAT(Floats(stream.Run(Piece({1, 2})).at("y")), ElementsAre(4, 5));
    EXPECT_THAT(Floats(stream.Run(Piece({10})).at("y")), ElementsAre(23));
    EXPECT_THAT(Floats(stream.State("s")), ElementsAre(13, 13));
    stream.Reset();
    EXPECT_THAT(Floats(stream.Run(Piece({1})).at("y")), ElementsAre(2));
  }
}

TEST(StreamTest, RunsThoseThatAreAlikeTogether) {
  StreamGroup group(FromText(kSum), SumOptions("N"));
  std::vector<Stream> streams;
  for (int i = 0; i < 5; ++i) streams.push_back(group.Open());
  const auto step = [&](size_t i, ValueMap inputs) { return StreamGroup::Step{&streams[i], std::move(inputs)}; };
  auto out = group.Run({step(0, Piece({1, 2})), step(1, Piece({3, 4})), step(2, Piece({5})), step(3, Piece({6}, 2))});
  EXPECT_EQ(group.last_batches(), 3u) << "lengths 2, 1, and 1 with another `by`";
  EXPECT_THAT(Floats(out[0].at("y")), ElementsAre(4, 5));
  EXPECT_THAT(Floats(out[1].at("y")), ElementsAre(10, 11));
  EXPECT_THAT(Floats(out[2].at("y")), ElementsAre(10));
  EXPECT_THAT(Floats(out[3].at("y")), ElementsAre(18));
  EXPECT_THAT(out[0], testing::SizeIs(1)) << "states are no outputs";
  out = group.Run({step(3, Piece({1})), step(0, Piece({1})), step(4, Piece({1}))});
  EXPECT_EQ(group.last_batches(), 1u);
  EXPECT_THAT(Floats(out[0].at("y")), ElementsAre(14));
  EXPECT_THAT(Floats(out[1].at("y")), ElementsAre(5));
  EXPECT_THAT(Floats(out[2].at("y")), ElementsAre(2));
  EXPECT_THAT(Floats(streams[1].State("s")), ElementsAre(7, 7)) << "idle meanwhile";
  EXPECT_TRUE(group.Run({}).empty());
}

TEST(StreamTest, EqualsRunsOfTheWholeInAnyOrder) {
  // An LSTM over 12 steps at once, and in pieces of any size with others beside it.
  const Session session = FromText(R"(
    g (float[T,N,3] x, float[1,N,5] h, float[1,N,5] c, float[1,20,3] W, float[1,20,5] R)
      => (float[T,1,N,5] y, float[1,N,5] hn, float[1,N,5] cn) {
      y, hn, cn = LSTM <hidden_size = 5> (x, W, R, "", "", h, c)
    })");
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto tensor = [&](Shape shape) {
    Tensor t(TensorType::kFloat, std::move(shape));
    std::ranges::generate(t.MutableView<float>(), [&] { return uniform(random); });
    return t;
  };
  const Tensor w = tensor({1, 20, 3}), r = tensor({1, 20, 5}),
               zeros = Tensor::Of<float>(Shape{1, 1, 5}, {0, 0, 0, 0, 0});
  StreamGroup group(session, {.states = {{"h", "hn"}, {"c", "cn"}}, .batch = "N"});
  constexpr size_t kStreams = 7;
  std::vector<Stream> streams;
  std::vector<Tensor> whole;
  std::vector<std::vector<float>> got(kStreams);
  std::vector<int64_t> done(kStreams);
  for (size_t i = 0; i < kStreams; ++i) {
    streams.push_back(group.Open());
    whole.push_back(tensor({12, 1, 3}));
  }
  while (std::ranges::any_of(done, [](int64_t n) { return n < 12; })) {
    std::vector<StreamGroup::Step> steps;
    std::vector<size_t> who;
    for (size_t i = 0; i < kStreams; ++i) {
      const int64_t take = std::min<int64_t>(static_cast<int64_t>(random() % 4), 12 - done[i]);
      if (take == 0) continue;
      steps.push_back({&streams[i], {{"x", whole[i].Part(done[i] * 3, Shape{take, 1, 3})}, {"W", w}, {"R", r}}});
      done[i] += take;
      who.push_back(i);
    }
    const std::vector<ValueMap> out = group.Run(steps);
    for (size_t i = 0; i < who.size(); ++i) std::ranges::copy(Floats(out[i].at("y")), std::back_inserter(got[who[i]]));
  }
  for (size_t i = 0; i < kStreams; ++i) {
    const ValueMap all = session.Run({{"x", whole[i]}, {"h", zeros}, {"c", zeros}, {"W", w}, {"R", r}});
    EXPECT_THAT(got[i], testing::Pointwise(testing::FloatNear(1e-5f), Floats(all.at("y"))));
    EXPECT_THAT(Floats(streams[i].State("c")), testing::Pointwise(testing::FloatNear(1e-5f), Floats(all.at("cn"))));
  }
}

TEST(StreamTest, ErrorsLeaveAllStatesAsTheyWere) {
  StreamGroup group(FromText(kSum), SumOptions("N")), other(FromText(kSum), SumOptions("N"));
  Stream a = group.Open(), b = group.Open(), c = other.Open();
  group.Run({{&a, Piece({1})}, {&b, Piece({2})}});
  const auto thrown = [&](std::initializer_list<StreamGroup::Step> steps) {
    return ThrownBy<InvalidArgument>([&] { group.Run(steps); });
  };
  const Value two_rows = Tensor::Of<float>(Shape{2, 1}, {1, 2});
  EXPECT_EQ(thrown({{&a, Piece({1})}, {&b, {{"x", two_rows}}}}),
            "input \"x\": expected one row along axis 0, N, got tensor(float)[2,1] in step 1");
  EXPECT_THAT(thrown({{&a, Piece({1})}, {&b, {{"x", Piece({1}).at("x")}}}}), HasSubstr("input \"by\": is missing"));
  EXPECT_EQ(thrown({{&a, {{"s", two_rows}}}}), "input \"s\": is a state, which the stream feeds in step 0");
  EXPECT_EQ(thrown({{&a, {{"q", two_rows}}}}), "input \"q\": the model has no such input in step 0");
  EXPECT_EQ(thrown({{&a, Piece({1})}, {&a, Piece({1})}}), "step 1: the stream is there twice");
  EXPECT_EQ(thrown({{&c, Piece({1})}}), "step 0: the stream is of another group");
  EXPECT_EQ(thrown({{nullptr, {}}}), "step 0: there is no stream");
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { static_cast<void>(a.State("x")); }),
            "input \"x\": is no state of the stream");
  const std::atomic<bool> cancel = true;
  RunOptions stopped;
  stopped.cancel = &cancel;
  EXPECT_THROW(group.Run({{&a, Piece({1})}, {&b, Piece({1, 2})}}, stopped), TimeoutError);
  EXPECT_THAT(Floats(a.State("s")), ElementsAre(1, 1));
  EXPECT_THAT(Floats(b.State("s")), ElementsAre(2, 2));
}

TEST(StreamTest, WrongOptionsAreRefused) {
  const auto thrown = [](const char* graph, StreamOptions options) {
    return ThrownBy<InvalidArgument>([&] { StreamGroup(FromText(graph), std::move(options)); });
  };
  EXPECT_EQ(thrown(kSum, {.states = {{"q", "t"}}, .batch = {}}),
            "input \"q\": is to be a state, but the model has no such input");
  EXPECT_EQ(thrown(kSum, {.states = {{"s", "q"}}, .batch = {}}),
            "output \"q\": is to be a state, but the model has no such output");
  EXPECT_EQ(thrown(kSum, {.states = {{"s", "y"}}, .batch = "N"}),
            "output \"y\": has rank 2, and input \"s\", whose state it is, rank 3");
  EXPECT_EQ(thrown(kSum, {.states = {{"s", "t"}, {"s", "y"}}, .batch = "N"}), "input \"s\": is named in two states");
  EXPECT_EQ(thrown(kSum, SumOptions("")), "input \"s\": is a state without an initial value, and its dim N is open");
  EXPECT_EQ(thrown(kSum, SumOptions("Q")), "no input has a dim Q to batch streams along");
  EXPECT_EQ(thrown(kSum, SumOptions("T")), "input \"s\": is a state without an initial value, and its dim N is open");
  EXPECT_EQ(thrown(kSum, {.states = {{"s", "t", Tensor::Of<float>(Shape{1, 2, 1}, {1, 2})}}, .batch = "N"}),
            "input \"s\": the initial state is tensor(float)[1,2,1], but a stream is one row along axis 1");
  EXPECT_EQ(thrown("g (float[2] s, float[N] x) => (float[2] t, float[N] y) { t = Neg(s) y = Neg(x) }", SumOptions("N")),
            "no state has a dim N to batch streams along");
  EXPECT_EQ(thrown("g (float[N,2] s) => (float[N,2] t, float m) { t = Neg(s) m = ReduceSum <keepdims = 0> (s) }",
                   SumOptions("N")),
            "output \"m\": has no dim N by which to tell streams apart");
  EXPECT_EQ(thrown("g (float[N,N] s) => (float[N,N] t) { t = Neg(s) }", SumOptions("N")),
            "input \"s\": has two dims N");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
