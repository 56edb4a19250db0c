// SPDX-License-Identifier: Apache-2.0
// SequenceMap (ai.onnx 17): `body` applied to each element of input_sequence. Further sequences are walked along, so
// they must be as long; tensors go whole into every step. The body sees the names around it. Each output is the
// sequence of one body output, which must be a tensor. Steps do not depend on each other: they run in parallel, split
// into pieces by estimated cost; of several that fail the lowest is reported, with its number.
// https://onnx.ai/onnx/operators/onnx__SequenceMap.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/run_context.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

// Shapes ------------------------------------------------------------------------------------------

// Distinct combinations of elements for which the body is walked one by one; beyond, once for what all have in common.
constexpr size_t kMaxWalks = 64;

class MapRule {
 public:
  explicit MapRule(InferScope& scope) : scope_(scope), body_(FindBody(scope)) {}

  void Infer() {
    ReadInputs();
    if (!scope_.exact()) return Documented();
    UnifyLengths();
    if (length_ == OptimDim(0)) return Empty();
    if (const std::optional<size_t> count = ListedCount(); count && Listed(*count)) return;
    Summary();
  }

 private:
  static const GraphProto& FindBody(const InferScope& scope) {
    RequireOutput(scope);
    if (!scope.HasInput(0)) scope.Fail(scope.InputSubject(0), "is required");
    const GraphProto& body = scope.attrs().Graph("body");
    if (body.input_size() != scope.input_size()) {
      scope.Fail("attribute 'body'",
                 fmt::format("takes {} inputs, the node has {}", body.input_size(), scope.input_size()));
    }
    if (body.output_size() != scope.output_size()) {
      scope.Fail("attribute 'body'",
                 fmt::format("gives {} outputs, the node has {}", body.output_size(), scope.output_size()));
    }
    return body;
  }

  void ReadInputs() {
    const size_t count = static_cast<size_t>(scope_.input_size());
    infos_.resize(count);
    bound_.resize(count);
    whole_.resize(count);
    infos_[0] = RequireSequence(scope_, 0);
    length_ = infos_[0]->length;
    for (size_t i = 1; i < count; ++i) {
      const int input = static_cast<int>(i);
      if (!scope_.HasInput(input)) continue;
      if (!scope_.IsDefined(input)) scope_.FailMissing(scope_.InputSubject(input), "is not defined");
      const ShapeValue& value = scope_.Input(input);
      if (value.IsSequence()) {
        infos_[i] = value.SequenceOf();
        whole_[i] = value;  // stays visible under the body's name beside the element
      } else {
        bound_[i] = value;
      }
    }
  }

  // One walk of the body. The values it returns are tensors.
  std::vector<ShapeValue> Walk(bool record) {
    std::vector<ShapeValue> outputs = scope_.InferBody(body_, bound_, {.sequences = whole_, .record = record});
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].IsUnknown()) outputs[i] = ShapeValue::Tensor(TensorType::kUndefined, OptimShape::Unknown());
      if (outputs[i].IsTensor()) continue;
      scope_.Fail(fmt::format("body output {} (\"{}\")", i, std::string_view(body_.output(i).name())),
                  fmt::format("must be a tensor, got {}", InferScope::Describe(outputs[i])));
    }
    return outputs;
  }

  void Documented() {
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (!infos_[i]) continue;
      const std::optional<std::vector<ShapeValue>>& elements = infos_[i]->elements;
      OptimShape shape = OptimShape::Unknown();
      const auto same = [&](const ShapeValue& element) {
        return SameShape(element.Shape(), elements->front().Shape());
      };
      if (elements && !elements->empty() && std::all_of(elements->begin(), elements->end(), same))
        shape = elements->front().Shape();
      bound_[i] = ShapeValue::Tensor(infos_[i]->ElemDtype(), std::move(shape));
    }
    const std::vector<ShapeValue> outputs = Walk(true);
    for (size_t i = 0; i < outputs.size(); ++i) {
      scope_.SetOutput(static_cast<int>(i), PlainSequence(outputs[i].Dtype(), length_));
    }
  }

  void UnifyLengths() {
    for (size_t i = 1; i < infos_.size(); ++i) {
      if (!infos_[i]) continue;
      const OptimDim& length = infos_[i]->length;
      const int input = static_cast<int>(i);
      if (length.IsInt() && length_.IsInt() && length != length_) {
        scope_.Fail(scope_.InputSubject(input),
                    fmt::format("has {} elements, input 0 has {}", length.AsInt(), infos_[0]->length.AsInt()));
      }
      length_ = scope_.Unify(length_, length, fmt::format("the length of {}", scope_.InputSubject(0)),
                             fmt::format("the length of {}", scope_.InputSubject(input)));
    }
  }

  void Empty() {
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (infos_[i]) bound_[i] = ShapeValue::Tensor(infos_[i]->ElemDtype(), OptimShape::Unknown());
    }
    const std::vector<ShapeValue> outputs = Walk(true);
    for (size_t i = 0; i < outputs.size(); ++i) {
      scope_.SetOutput(static_cast<int>(i), ShapeValue::Sequence(SequenceInfo::Empty(outputs[i].Dtype())));
    }
  }

  // How many elements there are when some input lists them.
  std::optional<size_t> ListedCount() const {
    if (!length_.IsInt()) return std::nullopt;
    for (const std::optional<SequenceInfo>& info : infos_) {
      if (info && info->elements && OptimDim(info->elements->size()) == length_) return info->elements->size();
    }
    return std::nullopt;
  }

  ShapeValue Element(const SequenceInfo& info, size_t i, size_t count) {
    return info.elements && info.elements->size() == count ? (*info.elements)[i] : AnyElement(scope_, info);
  }

  // One walk for each distinct combination of elements; false when there are too many.
  bool Listed(size_t count) {
    const int64_t mark = FreshNumber(scope_.Fresh().AsExpr());
    // Of what is not listed the same is known for all; its fresh symbols, later than the mark, are each element's own.
    std::vector<std::optional<ShapeValue>> any(infos_.size());
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (infos_[i] && !(infos_[i]->elements && infos_[i]->elements->size() == count))
        any[i] = AnyElement(scope_, *infos_[i]);
    }
    std::vector<std::vector<ShapeValue>> groups;
    std::vector<size_t> group_of(count);
    for (size_t e = 0; e < count; ++e) {
      std::vector<ShapeValue> combination;
      for (size_t i = 0; i < infos_.size(); ++i) {
        if (infos_[i]) combination.push_back(any[i] ? *any[i] : (*infos_[i]->elements)[e]);
      }
      const auto it = std::find(groups.begin(), groups.end(), combination);
      group_of[e] = static_cast<size_t>(it - groups.begin());
      if (it != groups.end()) continue;
      if (groups.size() == kMaxWalks) return false;
      groups.push_back(std::move(combination));
    }
    std::vector<std::vector<ShapeValue>> outputs(groups.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      size_t next = 0;
      for (size_t i = 0; i < infos_.size(); ++i) {
        if (infos_[i]) bound_[i] = groups[g][next++];
      }
      outputs[g] = Walk(groups.size() == 1);
    }
    if (groups.size() > 1) {
      // What is kept of the body's own values must hold for every step.
      BindAny();
      static_cast<void>(Walk(true));
    }
    for (size_t o = 0; o < static_cast<size_t>(scope_.output_size()); ++o) {
      std::vector<ShapeValue> elements;
      for (size_t e = 0; e < count; ++e)
        elements.push_back(OtherInstance(scope_.context(), mark).Of(outputs[group_of[e]][o]));
      scope_.SetOutput(static_cast<int>(o),
                       ShapeValue::Sequence(SequenceInfo::Of(std::move(elements), scope_.context())));
    }
    return true;
  }

  // Binds what is true of every element, under names of this body's own where elements differ: the same sequence may be
  // mapped again, around this or inside it, at another element.
  void BindAny() {
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (infos_[i]) bound_[i] = AnyElement(scope_, *infos_[i]);
    }
  }

  void Summary() {
    const int64_t mark = FreshNumber(scope_.Fresh().AsExpr());
    BindAny();
    const std::vector<ShapeValue> outputs = Walk(true);
    for (size_t o = 0; o < outputs.size(); ++o) {
      // What was made here is each step's own.
      std::vector<std::string> varying;
      for (const std::string& symbol : SymbolsOf(outputs[o])) {
        if (FreshNumber(symbol) >= mark) varying.push_back(symbol);
      }
      SequenceInfo info = SequenceInfo::Summary(length_, outputs[o], std::move(varying));
      for (size_t axis = 0; outputs[o].HasRank() && axis < outputs[o].Shape().Rank(); ++axis) {
        if (std::optional<OptimDim> sum = SumOver(outputs[o].Shape()[axis], info.varying)) {
          info.axis_sums[static_cast<int64_t>(axis)] = std::move(*sum);
        }
      }
      scope_.SetOutput(static_cast<int>(o), ShapeValue::Sequence(std::move(info)));
    }
  }

  // The sum over all steps of a dim that is c * d + e, where d is a dim of the element whose sum is known, and c and e
  // are the same in every step.
  std::optional<OptimDim> SumOver(const OptimDim& dim, const std::vector<std::string>& varying) const {
    const std::string* symbol = nullptr;
    for (const std::string& name : varying) {
      if (!onnx_optim::Mentions(dim, name)) continue;
      if (symbol != nullptr) return std::nullopt;
      symbol = &name;
    }
    if (symbol == nullptr) return std::nullopt;  // the same in every step: length times dim
    const OptimDim self = OptimDim::Symbol(*symbol);
    const OptimDim e = Substitute(dim, *symbol, OptimDim(0));
    const OptimDim c = Substitute(dim, *symbol, OptimDim(1)) - e;
    if (c * self + e != dim) return std::nullopt;
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (!infos_[i]) continue;
      const OptimShape& shape = bound_[i].Shape();
      for (size_t axis = 0; !shape.IsUnknown() && axis < shape.Rank(); ++axis) {
        if (shape[axis] != self) continue;
        if (const std::optional<OptimDim> sum = infos_[i]->AxisSum(static_cast<int64_t>(axis)))
          return c * *sum + e * length_;
      }
    }
    return std::nullopt;
  }

  InferScope& scope_;
  const GraphProto& body_;
  OptimDim length_;
  std::vector<std::optional<SequenceInfo>> infos_;  // of the inputs that are sequences
  std::vector<ShapeValue> bound_;                   // what the body's inputs are bound to
  std::vector<ShapeValue> whole_;
};

void InferSequenceMap(InferScope& scope) { MapRule(scope).Infer(); }

// Running -----------------------------------------------------------------------------------------

// Work worth waking a thread for.
constexpr double kPieceNanoseconds = 20'000;

// Elements per piece, a function of sizes and estimates only.
int64_t Grain(const BodyRunner& body, int64_t count) {
  const double each = std::max(body.EstimatedNanoseconds(), 1.0);
  if (each * static_cast<double>(count) < 2 * kPieceNanoseconds) return count;
  return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(kPieceNanoseconds / each)), 1, count);
}

class MapRun {
 public:
  explicit MapRun(RunContext& ctx) : ctx_(ctx), body_(ctx.Body("body")), count_(ctx.sequence(0).size()) {
    const auto inputs = static_cast<int>(body_.input_size());
    if (inputs != ctx.input_size()) {
      ctx.Fail("attribute 'body'", fmt::format("takes {} inputs, the node has {}", inputs, ctx.input_size()));
    }
    if (body_.output_size() != ctx.output_size()) {
      ctx.Fail("attribute 'body'",
               fmt::format("gives {} outputs, the node has {}", body_.output_size(), ctx.output_size()));
    }
    for (int i = 0; i < ctx.input_size(); ++i) {
      walked_.push_back(ctx.input(i).IsSequence() ? &ctx.sequence(i) : nullptr);
      if (walked_.back() == nullptr) continue;
      const int64_t length = ctx.sequence(i).size();
      if (length != count_) ctx.FailInput(i, fmt::format("has {} elements, input 0 has {}", length, count_));
    }
    results_.assign(static_cast<size_t>(body_.output_size()), std::vector<Tensor>(static_cast<size_t>(count_)));
  }

  void Run() {
    const int64_t grain = count_ == 0 ? 1 : Grain(body_, count_);
    if (grain >= count_) {
      Piece(0, count_);  // not as one piece of a team, inside which nothing else could be split
    } else {
      ctx_.ParallelFor(count_, grain, [this](int64_t begin, int64_t end) { Piece(begin, end); });
    }
    for (int o = 0; o < body_.output_size(); ++o) {
      if (ctx_.HasOutput(o)) ctx_.SetOutput(o, Collect(o));
    }
  }

 private:
  void Piece(int64_t begin, int64_t end) {
    const std::unique_ptr<BodySteps> body = body_.Start("element");
    std::vector<Value> inputs(static_cast<size_t>(body_.input_size()));
    std::vector<Value> outputs(static_cast<size_t>(body_.output_size()));
    for (int64_t e = begin; e < end; ++e) {
      ctx_.CheckCancelled();
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (walked_[i] != nullptr) {
          inputs[i] = (*walked_[i])[e];
        } else {
          inputs[i] = ctx_.input(static_cast<int>(i));
        }
      }
      body->Run(inputs, outputs, e);
      for (size_t o = 0; o < outputs.size(); ++o) {
        if (!outputs[o].IsTensor()) {
          ctx_.Fail(OutputSubject(o),
                    fmt::format("must be a tensor, got {} for element {}", outputs[o].TypeString(), e));
        }
        results_[o][static_cast<size_t>(e)] = std::move(outputs[o].mutable_tensor());
        outputs[o] = Value();
      }
    }
  }

  Sequence Collect(int o) {
    std::vector<Tensor>& elements = results_[static_cast<size_t>(o)];
    if (elements.empty()) return Sequence(body_.OutputType(o));
    for (size_t e = 1; e < elements.size(); ++e) {
      if (elements[e].dtype() == elements[0].dtype()) continue;
      ctx_.Fail(
          OutputSubject(static_cast<size_t>(o)),
          fmt::format("is {} for element {}, {} for element 0", elements[e].TypeString(), e, elements[0].TypeString()));
    }
    const TensorType dtype = elements[0].dtype();
    return Sequence(dtype, std::move(elements));
  }

  const GraphProto& BodyGraph() const { return ctx_.attrs().Graph("body"); }
  std::string OutputSubject(size_t o) const {
    return fmt::format("body output {} (\"{}\")", o, std::string_view(BodyGraph().output(o).name()));
  }

  RunContext& ctx_;
  const BodyRunner& body_;
  int64_t count_;
  std::vector<const Sequence*> walked_;       // by input; null for what goes whole into every step
  std::vector<std::vector<Tensor>> results_;  // by output, then element
};

void RunSequenceMap(RunContext& ctx) { MapRun(ctx).Run(); }

}  // namespace

std::span<const OpDef> sequence_map_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "SequenceMap",
       .since_version = 17,
       .inputs = {{.name = "input_sequence", .kind = FormalKind::kSequence},
                  {.name = "additional_inputs",
                   .kind = FormalKind::kTensorOrSequence,
                   .count = FormalCount::kVariadic,
                   .min_count = 0}},
       .outputs = {{.name = "out_sequence", .kind = FormalKind::kSequence, .count = FormalCount::kVariadic}},
       .attributes = {{"body", AttrKind::kGraph, true}},
       .shape = InferSequenceMap,
       .run = RunSequenceMap,
       .repeats_bodies = true}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
