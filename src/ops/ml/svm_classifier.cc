// SPDX-License-Identifier: Apache-2.0
// SVMClassifier: with support vectors one decision for each pair of classes, (0,1), (0,2), .., (1,2), ..: above 0 it is
// a vote for the first of them, and the class of most votes wins. The scores are the decisions (-s and s for the one s
// of two classes), or with prob_a and prob_b the probabilities of the classes that fit the pairs best. Without support
// vectors, a linear function for each class, all with the one rho, and the greatest wins. The scores are transformed.
// One class alone is not supported. https://onnx.ai/onnx/operators/onnx_aionnxml_SVMClassifier.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnxseq/errors.h"
#include "ops/ml/svm.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kInts = "classlabels_ints", kStrings = "classlabels_strings";

struct Machine : OpState {
  SvmKernel kernel;
  SvmVectors vectors;                      // none: linear
  std::vector<int64_t> first;              // of each class's vectors, and their number
  std::vector<float> coefficients;         // [classes - 1, vectors], or linear [classes, features]
  std::vector<float> rho, prob_a, prob_b;  // for each pair
  Tensor labels;
  PostTransform transform;
  int64_t classes() const { return labels.NumElements(); }
  int64_t pairs() const { return classes() * (classes() - 1) / 2; }
};

// How many scores a row has.
int64_t CountScores(int64_t classes, bool linear, bool probabilities) {
  return linear || probabilities || classes == 2 ? classes : classes * (classes - 1) / 2;
}

void CheckPairs(std::string_view name, size_t size, int64_t pairs) {
  if (static_cast<int64_t>(size) != pairs)
    FailAttribute(name, fmt::format("has {} elements for {} pairs of classes", size, pairs));
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto machine = std::make_unique<Machine>();
  machine->labels = ReadLabels(attrs, kInts, kStrings);
  machine->transform = ReadPostTransform(attrs);
  machine->coefficients = attrs.Floats("coefficients");
  machine->rho = attrs.Floats("rho");
  machine->prob_a = attrs.Floats("prob_a");
  machine->prob_b = attrs.Floats("prob_b");
  const int64_t classes = machine->classes();
  if (classes < 2) throw Unsupported("one class alone is not supported");
  const std::vector<int64_t> per_class = attrs.Ints("vectors_per_class");
  const auto coefficients = static_cast<int64_t>(machine->coefficients.size());
  int64_t total = 0;
  machine->first.push_back(0);
  for (const int64_t count : per_class) {
    if (count < 0 || count > coefficients)
      FailAttribute("vectors_per_class", fmt::format("has {}, expected 0 to {}", count, coefficients));
    machine->first.push_back(total += count);
  }
  if (total == 0) {
    if (coefficients % classes != 0)
      FailAttribute("coefficients", fmt::format("has {} elements for {} classes", coefficients, classes));
    if (machine->rho.size() != 1) FailAttribute("rho", fmt::format("has {} elements, expected 1", machine->rho.size()));
    return machine;
  }
  CheckSameSize("vectors_per_class", per_class.size(), attrs.Has(kStrings) ? kStrings : kInts,
                static_cast<size_t>(classes));
  machine->kernel = SvmKernel(attrs);
  machine->vectors = ReadSvmVectors(attrs, total);
  if (coefficients != total * (classes - 1))
    FailAttribute("coefficients",
                  fmt::format("has {} elements for {} vectors and {} classes", coefficients, total, classes));
  CheckPairs("rho", machine->rho.size(), machine->pairs());
  CheckSameSize("prob_b", machine->prob_b.size(), "prob_a", machine->prob_a.size());
  if (!machine->prob_a.empty()) CheckPairs("prob_a", machine->prob_a.size(), machine->pairs());
  return machine;
}

// The probabilities p of the classes from those r[i][j] that it is i when it is i or j: they minimise the sum over all
// pairs of (r[j][i] p[i] - r[i][j] p[j])^2, found by fixing all but one at a time (Wu, Lin, Weng: Probability estimates
// for multi-class classification by pairwise coupling, 2004, second approach).
std::vector<double> Couple(const std::vector<double>& r, size_t k) {
  constexpr int kMinSteps = 100;
  const double enough = 0.005 / static_cast<double>(k);
  std::vector<double> q(k * k), p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < k; ++j) {
      if (i == j) continue;
      q[i * k + i] += r[j * k + i] * r[j * k + i];
      q[i * k + j] = -r[j * k + i] * r[i * k + j];
    }
  for (int step = 0; step < std::max(kMinSteps, static_cast<int>(k)); ++step) {
    double pqp = 0, worst = 0;
    for (size_t i = 0; i < k; ++i) {
      qp[i] = 0;
      for (size_t j = 0; j < k; ++j) qp[i] += q[i * k + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (size_t i = 0; i < k; ++i) worst = std::max(worst, std::abs(qp[i] - pqp));
    if (worst < enough) break;
    for (size_t i = 0; i < k; ++i) {
      const double diff = (pqp - qp[i]) / q[i * k + i];
      p[i] += diff;
      pqp = (pqp + diff * (diff * q[i * k + i] + 2 * qp[i])) / ((1 + diff) * (1 + diff));
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + diff * q[i * k + j]) / (1 + diff);
        p[j] /= 1 + diff;
      }
    }
  }
  return p;
}

// One decision for each pair.
std::vector<double> Decide(const Machine& machine, std::span<const float> row) {
  const int64_t vectors = machine.vectors.count, classes = machine.classes();
  std::vector<double> kernels, decisions;
  for (int64_t v = 0; v < vectors; ++v) kernels.push_back(machine.kernel(row, machine.vectors[v]));
  const auto part = [&](int64_t of, int64_t against) {
    double sum = 0;
    for (int64_t v = machine.first[static_cast<size_t>(of)]; v < machine.first[static_cast<size_t>(of) + 1]; ++v)
      sum += static_cast<double>(machine.coefficients[static_cast<size_t>(against * vectors + v)]) *
             kernels[static_cast<size_t>(v)];
    return sum;
  };
  // Class `of` has a row of coefficients against each other class, those after it one row earlier.
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j)
      decisions.push_back(static_cast<double>(machine.rho[decisions.size()]) + part(i, j - 1) + part(j, i));
  return decisions;
}

std::vector<double> Probabilities(const Machine& machine, const std::vector<double>& decisions) {
  constexpr double kLeast = 1e-7;
  const auto k = static_cast<size_t>(machine.classes());
  std::vector<double> r(k * k);
  size_t pair = 0;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = i + 1; j < k; ++j, ++pair) {
      const double x =
          decisions[pair] * static_cast<double>(machine.prob_a[pair]) + static_cast<double>(machine.prob_b[pair]);
      const double p = std::clamp(1 / (1 + std::exp(x)), kLeast, 1 - kLeast);
      r[i * k + j] = p;
      r[j * k + i] = 1 - p;
    }
  return Couple(r, k);
}

// The scores of a row, and the place of the winner.
int64_t ScoreRow(const Machine& machine, std::span<const float> row, std::vector<double>& scores) {
  const int64_t classes = machine.classes();
  if (machine.vectors.count == 0) {
    for (int64_t c = 0; c < classes; ++c) {
      const std::span<const float> line(machine.coefficients.data() + c * static_cast<int64_t>(row.size()), row.size());
      scores.push_back(static_cast<double>(machine.rho[0]) + machine.kernel(row, line));
    }
    return std::ranges::max_element(scores) - scores.begin();
  }
  const std::vector<double> decisions = Decide(machine, row);
  std::vector<int64_t> votes(static_cast<size_t>(classes));
  size_t pair = 0;
  for (size_t i = 0; i < votes.size(); ++i)
    for (size_t j = i + 1; j < votes.size(); ++j) ++votes[decisions[pair++] > 0 ? i : j];
  if (!machine.prob_a.empty()) {
    scores = Probabilities(machine, decisions);
  } else if (classes == 2) {
    scores = {-decisions[0], decisions[0]};
  } else {
    scores = decisions;
  }
  return std::ranges::max_element(votes) - votes.begin();
}

void Run(RunContext& ctx) {
  const Machine& machine = ctx.state<Machine>();
  const MlRows rows = ReadRows(ctx, TensorType::kFloat);
  const bool linear = machine.vectors.count == 0;
  const int64_t features =
      linear ? static_cast<int64_t>(machine.coefficients.size()) / machine.classes() : machine.vectors.features;
  if (rows.features != features)
    ctx.FailInput(0, fmt::format("must be rows of {}, got {}", features, ctx.tensor(0).TypeString()));
  const int64_t count = CountScores(machine.classes(), linear, !machine.prob_a.empty());
  Tensor z(TensorType::kFloat, Shape{rows.count, count});
  float* out = z.MutableView<float>().data();
  std::vector<int64_t> best;
  for (int64_t r = 0; r < rows.count; ++r) {
    std::vector<double> scores;
    const float* row = rows.x.View<float>().data() + r * features;
    best.push_back(ScoreRow(machine, {row, static_cast<size_t>(features)}, scores));
    Transform(machine.transform, scores);
    for (const double score : scores) *out++ = static_cast<float>(score);
  }
  SetLabels(ctx, 0, machine.labels, best);
  ctx.SetOutput(1, std::move(z));
}

void ShapeRule(InferScope& scope) {
  const NodeAttributes attrs = scope.attrs();
  const std::vector<int64_t> vectors = attrs.Ints("vectors_per_class");
  const bool linear = std::ranges::all_of(vectors, [](int64_t count) { return count == 0; });
  const bool probabilities = !linear && !attrs.Floats("prob_a").empty();
  const int64_t count = CountScores(CountLabels(attrs, kInts, kStrings), linear, probabilities);
  const OptimDim rows = RowsDim(scope);
  scope.SetTensor(0, LabelType(attrs, kStrings), OptimShape{rows});
  scope.SetTensor(1, TensorType::kFloat, OptimShape{rows, OptimDim(count)});
}

}  // namespace

std::span<const OpDef> svm_classifier_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "SVMClassifier",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes}},
       .outputs = {{"Y", kMlLabelTypes}, {"Z", {TensorType::kFloat}}},
       .attributes = {{kInts, AttrKind::kInts},
                      {kStrings, AttrKind::kStrings},
                      {"coefficients", AttrKind::kFloats},
                      {"kernel_params", AttrKind::kFloats},
                      {"kernel_type", AttrKind::kString},
                      {"post_transform", AttrKind::kString},
                      {"prob_a", AttrKind::kFloats},
                      {"prob_b", AttrKind::kFloats},
                      {"rho", AttrKind::kFloats},
                      {"support_vectors", AttrKind::kFloats},
                      {"vectors_per_class", AttrKind::kInts}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
