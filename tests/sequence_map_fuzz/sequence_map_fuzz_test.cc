// SPDX-License-Identifier: Apache-2.0
// Random bodies of SequenceMap, run over random elements: every strategy on every number of threads gives what one
// thread gives that goes element by element, and fails where that fails, with its words. ONNXSEQ_MAP_SEEDS=FIRST:COUNT
// in the environment runs other seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <set>

#include "compare.h"
#include "converted.h"
#include "graph/captures.h"
#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "onnxseq/session.h"
#include "random_map.h"
#include "rewritten.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kRunsEach = 3;
constexpr SequenceMapStrategy kStrategies[] = {SequenceMapStrategy::kAuto, SequenceMapStrategy::kStacked,
                                               SequenceMapStrategy::kPacked};
const char* NameOf(SequenceMapStrategy strategy) {
  return strategy == SequenceMapStrategy::kAuto      ? "auto"
         : strategy == SequenceMapStrategy::kStacked ? "stacked"
                                                     : "packed";
}

// Of these there are batched nodes in any few hundred bodies.
const std::vector<std::string> kBatched{"Abs",
                                        "Add",
                                        "And",
                                        "ArgMax",
                                        "ArgMin",
                                        "AveragePool",
                                        "BatchNormalization",
                                        "Cast",
                                        "Clip",
                                        "Concat",
                                        "ConstantOfShape",
                                        "Conv",
                                        "ConvTranspose",
                                        "Cos",
                                        "CumProd",
                                        "CumSum",
                                        "DepthToSpace",
                                        "Div",
                                        "Elu",
                                        "Equal",
                                        "Erf",
                                        "Exp",
                                        "Expand",
                                        "Flatten",
                                        "Floor",
                                        "GRU",
                                        "Gather",
                                        "Gemm",
                                        "GlobalAveragePool",
                                        "GlobalLpPool",
                                        "GlobalMaxPool",
                                        "Greater",
                                        "GroupNormalization",
                                        "HardSigmoid",
                                        "Hardmax",
                                        "Identity",
                                        "InstanceNormalization",
                                        "IsNaN",
                                        "LRN",
                                        "LSTM",
                                        "LayerNormalization",
                                        "LeakyRelu",
                                        "Less",
                                        "LogSoftmax",
                                        "LpNormalization",
                                        "LpPool",
                                        "MatMul",
                                        "Max",
                                        "MaxPool",
                                        "Mean",
                                        "Min",
                                        "Mod",
                                        "Mul",
                                        "Neg",
                                        "Not",
                                        "Or",
                                        "PRelu",
                                        "Pad",
                                        "Pow",
                                        "RMSNormalization",
                                        "RNN",
                                        "Reciprocal",
                                        "ReduceL1",
                                        "ReduceL2",
                                        "ReduceLogSum",
                                        "ReduceLogSumExp",
                                        "ReduceMax",
                                        "ReduceMean",
                                        "ReduceMin",
                                        "ReduceProd",
                                        "ReduceSum",
                                        "ReduceSumSquare",
                                        "Relu",
                                        "Reshape",
                                        "Round",
                                        "Selu",
                                        "Shape",
                                        "Sigmoid",
                                        "Sign",
                                        "Sin",
                                        "Size",
                                        "Slice",
                                        "Softmax",
                                        "Softplus",
                                        "Softsign",
                                        "SpaceToDepth",
                                        "Split",
                                        "Sqrt",
                                        "Squeeze",
                                        "Sub",
                                        "Sum",
                                        "Tanh",
                                        "Tile",
                                        "TopK",
                                        "Transpose",
                                        "Unsqueeze",
                                        "Where",
                                        "Xor"};

struct Outcome {
  ValueMap outputs;
  std::string error;
};

Outcome RunOn(const Session& session, const ValueMap& feeds) {
  RunOptions options;
  options.memory_limit = 256 << 20;
  try {
    return {session.Run(feeds, {}, options), ""};
  } catch (const Error& e) {
    return {{}, e.what()};
  }
}

Session Make(const ModelProto& model, SequenceMapStrategy strategy, int threads) {
  SessionOptions options;
  options.threads = threads;
  options.sequence_map = strategy;
  return Session::FromModel(model, options);
}

std::string DifferenceOfAll(const Outcome& got, const Outcome& wanted) {
  if (got.error != wanted.error) return fmt::format("\"{}\"\n  rather than \"{}\"", got.error, wanted.error);
  for (const auto& [name, value] : wanted.outputs)
    if (std::string text = Difference(got.outputs.at(name), value); !text.empty()) return name + ": " + text;
  return {};
}

bool SameBits(const Outcome& a, const Outcome& b) {
  for (const auto& [name, value] : a.outputs) {
    const Sequence &x = value.sequence(), &y = b.outputs.at(name).sequence();
    for (int64_t i = 0; i < x.size(); ++i)
      if (x[i].ByteSize() > 0 && std::memcmp(x[i].data(), y[i].data(), x[i].ByteSize()) != 0) return false;
  }
  return true;
}

class SequenceMapFuzz : public ::testing::Test {
 protected:
  // On one thread and on another number of them, or on all of 1 to 4.
  void CheckModel(uint64_t seed, bool all_threads) {
    const RandomMap map = MakeRandomMap(seed);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                       fmt::format("ONNXSEQ_MAP_SEEDS={}:1 runs this model:\n{}", seed, map.text));
    try {
      ModelProto model = ParseModelText(map.text);
      GraphProto& body = *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
      for (int i = 0; i < body.node_size(); ++i) body.mutable_node(i)->set_name(fmt::format("n{}", i));
      Compare(map, model, seed, all_threads);
    } catch (const std::exception& e) {
      ADD_FAILURE() << "ended with " << e.what();
    }
  }

  static const GraphProto& BodyOf(const ModelProto& model) { return model.graph().node(0).attribute(0).g(); }

  static bool NestsBodies(const ModelProto& model) {
    bool nests = false;
    for (const NodeProto& node : BodyOf(model).node())
      ForEachBody(node, [&](const AttributeProto&, const GraphProto&) { nests = true; });
    return nests;
  }

  // Whether the node that fails is one whose values are needed. Batched bodies compute none of which only the shape is
  // asked for, or which are read in nested bodies by nodes that nobody needs.
  static bool MustFail(const ModelProto& model, const std::string& error) {
    if (error.empty() || NestsBodies(model)) return false;
    const GraphProto& body = BodyOf(model);
    std::set<std::string> needed;
    for (const ValueInfoProto& output : body.output()) needed.emplace(output.name());
    for (int i = body.node_size(); i-- > 0;) {
      const NodeProto& node = body.node(i);
      if (std::ranges::none_of(node.output(), [&](const String& name) { return needed.contains(std::string(name)); }))
        continue;
      if (error.find(" node \"" + std::string(node.name()) + "\"") == error.find(" node \"")) return true;
      if (node.op_type() != "Shape" && node.op_type() != "Size")
        needed.insert(node.input().begin(), node.input().end());
    }
    return false;
  }

  // A stack of no steps, whose further dims a run tells by the types it has inferred, if it has any.
  static bool HasEmpty(const Outcome& outcome) {
    return std::ranges::any_of(outcome.outputs, [](const auto& output) {
      return std::ranges::any_of(output.second.sequence().elements(),
                                 [](const Tensor& element) { return element.NumElements() == 0; });
    });
  }

  void Compare(const RandomMap& map, const ModelProto& model, uint64_t seed, bool all_threads) {
    const Session plain = Make(model, SequenceMapStrategy::kElements, 1);
    struct Contestant {
      SequenceMapStrategy strategy;
      int threads;
      Session session;
    };
    std::vector<Contestant> contestants;
    for (const SequenceMapStrategy strategy : kStrategies) {
      for (int threads = 1; threads <= 4; ++threads)
        if (all_threads || threads == 1 || threads == 2 + static_cast<int>(seed % 3))
          contestants.push_back({strategy, threads, Make(model, strategy, threads)});
    }
    bool ran = false;
    for (int i = 0; i < kRunsEach; ++i) {
      const uint64_t run = seed * kRunsEach + static_cast<uint64_t>(i);
      const ValueMap feeds = RandomElements(map, model, run);
      const Outcome wanted = RunOn(plain, feeds);
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("run {}", i));
      ++(wanted.error.empty() ? good_runs_ : failed_runs_);
      ran = ran || wanted.error.empty();
      Outcome first;
      for (const Contestant& contestant : contestants) {
        const Outcome got = RunOn(contestant.session, feeds);
        if (got.error.empty() && !wanted.error.empty() && !MustFail(model, wanted.error)) continue;
        const std::string who = fmt::format("{} on {} threads", NameOf(contestant.strategy), contestant.threads);
        const std::string difference = DifferenceOfAll(got, wanted);
        if (!difference.empty() && NestsBodies(model) && HasEmpty(wanted)) continue;
        if (!difference.empty() && IsStable(plain, feeds, wanted)) ADD_FAILURE() << who << ": " << difference;
        if (contestant.threads == 1) {
          first = got;
        } else if (difference.empty() && !SameBits(got, first)) {
          ADD_FAILURE() << who << " gives other bits than on one";
        }
      }
      if (wanted.error.empty()) {
        const int pack = static_cast<int>(run % 5);
        const auto wrong = CheckRewritten(model, feeds, wanted.outputs, pack, counts_);
        if (!wrong.empty() && !(NestsBodies(model) && HasEmpty(wanted)) && IsStable(plain, feeds, wanted)) {
          EXPECT_THAT(wrong, ::testing::IsEmpty()) << "packed along " << pack << " where it has one shape";
        }
        const auto different = CheckConverted(model, feeds, wanted.outputs, pack, converted_);
        if (!different.empty() && IsStable(plain, feeds, wanted)) {
          EXPECT_THAT(different, ::testing::IsEmpty()) << "cut along " << pack << " where it has one shape";
        }
      }
      if (HasFailure()) return;
    }
    models_ran_ += ran ? 1 : 0;
    for (const Contestant& contestant : contestants)
      if (contestant.session.Explain().find(" elements in ") != std::string::npos)
        ++models_batched_[NameOf(contestant.strategy)];
  }

  // What is asked for means something: the outputs stay as they are when the values fed move by their last bits. They
  // do not where a difference of large numbers is left, or the largest of near equals is found.
  bool IsStable(const Session& plain, const ValueMap& feeds, const Outcome& wanted) {
    for (uint64_t i = 0; i < 4; ++i) {
      if (DifferenceOfAll(RunOn(plain, Shaken(feeds, i)), wanted).empty()) continue;
      ++unstable_;
      return false;
    }
    return true;
  }

  int64_t models_ran_ = 0, good_runs_ = 0, failed_runs_ = 0, unstable_ = 0;
  std::map<std::string, int64_t> models_batched_;
  RewriteCounts counts_;
  ConvertCounts converted_;
};

TEST_F(SequenceMapFuzz, EveryStrategyGivesWhatElementByElementGives) {
  unsigned long first = 1, count = 600;
  const char* text = std::getenv("ONNXSEQ_MAP_SEEDS");
  if (text != nullptr) {
    ASSERT_EQ(std::sscanf(text, "%lu:%lu", &first, &count), 2) << text;
  }
  for (unsigned long seed = first; seed < first + count && !HasFailure(); ++seed) CheckModel(seed, text != nullptr);

  std::printf("%ld of %lu models ran, %ld runs, %ld more that fail as they should; %ld unstable\n",
              static_cast<long>(models_ran_), count, static_cast<long>(good_runs_), static_cast<long>(failed_runs_),
              static_cast<long>(unstable_));
  for (const auto& [name, models] : models_batched_)
    std::printf("%s: %ld sessions ran a batched body\n", name.c_str(), static_cast<long>(models));
  std::printf("%ld bodies said over all elements, %ld not; %ld values held against their shapes\n",
              static_cast<long>(counts_.made), static_cast<long>(counts_.refused),
              static_cast<long>(counts_.checked_values));
  std::printf("%ld models converted, %ld left as they are\n", static_cast<long>(converted_.converted),
              static_cast<long>(converted_.left));
  if (text != nullptr || count < 600) {
    for (const auto& [op, nodes] : counts_.batched)
      std::printf("  %s: %ld batched, %ld not\n", op.c_str(), static_cast<long>(nodes),
                  static_cast<long>(counts_.per_element[op]));
    for (const auto& [reason, times] : converted_.reasons)
      std::printf("  %ld times not converted: %s\n", static_cast<long>(times), reason.c_str());
    for (const auto& [reason, times] : counts_.reasons)
      std::printf("  %ld times %s\n", static_cast<long>(times), reason.c_str());
  }
  if (count < 600 || HasFailure()) return;
  EXPECT_GT(2 * models_ran_, static_cast<int64_t>(count)) << "too few models run to prove anything";
  EXPECT_LT(50 * unstable_, good_runs_);
  EXPECT_GT(counts_.made, counts_.refused);
  EXPECT_GT(5 * converted_.converted, converted_.left);
  for (const SequenceMapStrategy strategy : kStrategies) EXPECT_GT(models_batched_[NameOf(strategy)], 0);
  EXPECT_GE(kBatched.size(), 40u);
  // A few hundred models do not meet each of them.
  int64_t met = 0;
  for (const std::string& op : kBatched) {
    met += counts_.batched[op] > 0 ? 1 : 0;
    if (count >= 3000) {
      EXPECT_GT(counts_.batched[op], 0) << op << " was never batched";
    }
  }
  EXPECT_GE(met, 40);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
