// SPDX-License-Identifier: Apache-2.0
// Random models, inferred, run with random sizes and held against each other. ONNXSEQ_SHAPE_SEEDS=FIRST:COUNT in the
// environment runs other seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "onnxseq/session.h"
#include "random_graph.h"
#include "runtime/shape_check.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kRunsEach = 8;

// Sizes that the model does not take end a run with an error; then inference has promised nothing.
bool Runs(const Session& session, const ValueMap& feeds, RunObserver* observer) {
  RunOptions options;
  options.observer = observer;
  options.memory_limit = 64 << 20;
  try {
    static_cast<void>(session.Run(feeds, {}, options));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// How many of the runs ended well.
int CheckModel(uint64_t seed) {
  const std::string text = RandomModelText(seed, 3 + static_cast<int>(seed % 13));
  const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                     "ONNXSEQ_SHAPE_SEEDS=" + std::to_string(seed) + ":1 runs this model:\n" + text);
  int ran = 0;
  try {
    SessionOptions options;
    options.threads = 1;
    const Session session = Session::FromModel(ParseModelText(text), options);
    const InferredShapes inferred = InferShapes(session.model());
    for (int i = 0; i < kRunsEach; ++i) {
      const ValueMap feeds = RandomFeeds(session.model(), seed * kRunsEach + static_cast<uint64_t>(i));
      ShapeCheck check(session.model(), inferred);
      if (!Runs(session, feeds, &check)) continue;
      ++ran;
      EXPECT_THAT(check.contradictions(), ::testing::IsEmpty());
      // What is wrong in a body ends no run that leaves the body out.
      for (const ShapeProblem& problem : inferred.problems)
        EXPECT_TRUE(!problem.is_error || problem.message.find(" in body ") != std::string::npos)
            << "it runs, though inference finds: " << problem.message;
      if (::testing::Test::HasFailure()) break;
    }
  } catch (const std::exception& e) {
    ADD_FAILURE() << "ended with " << e.what();
  }
  return ran;
}

TEST(ShapeFuzz, RandomModels) {
  unsigned long first = 1, count = 400;
  if (const char* text = std::getenv("ONNXSEQ_SHAPE_SEEDS"); text != nullptr) {
    ASSERT_EQ(std::sscanf(text, "%lu:%lu", &first, &count), 2) << text;
  }
  unsigned long ran = 0, models = 0;
  for (unsigned long seed = first; seed < first + count && !HasFailure(); ++seed) {
    const int runs = CheckModel(seed);
    ran += static_cast<unsigned long>(runs);
    models += runs > 0 ? 1 : 0;
  }
  std::printf("%lu of %lu models ran, %lu runs\n", models, count, ran);
  if (count > 100) {
    EXPECT_GT(2 * models, count) << "too few models run to prove anything";
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
