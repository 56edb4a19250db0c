// SPDX-License-Identifier: Apache-2.0
#include "runtime/sequence_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/stop_token.h"
#include "graph/captures.h"
#include "model/domain.h"
#include "onnxseq/errors.h"
#include "passes/batch/batch_body.h"
#include "passes/optimize.h"
#include "runtime/executor.h"
#include "runtime/inferred_types.h"
#include "runtime/joined_elements.h"
#include "runtime/plan.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr size_t kMaxBatches = 16;
constexpr size_t kMaxGroups = kMaxBatches / 2;

// Elements go through the body in chunks whose widest values fit into a second-level cache; recurrent ones in larger
// ones, since each step of all of them is one product of matrices.
constexpr double kChunkBytes = 1 << 19;
constexpr double kRecurrentChunkBytes = 1 << 25;
// An element that fills the cache by itself gains nothing from company.
constexpr double kLargeElement = 1 << 17;
// A plan for all of them together costs more than running these few.
constexpr int64_t kFewElements = 4;

}  // namespace

struct SequenceMapPlans::Batch {
  std::optional<BatchedBody> body;  // none: `why`
  std::string why;
  std::unique_ptr<InferredTypes> types;
  std::unique_ptr<GraphPlan> plan;
  std::vector<BatchInput> inputs;
  std::string form;  // "stacked", "packed along axis 0", ..
  mutable std::atomic<int64_t> runs{0}, elements{0}, failures{0};
};

SequenceMapPlans::SequenceMapPlans(const ModelProto& model, const GraphProto& body, std::string path,
                                   MapCaptures captures, const TypeKnowledge& types, const PlanOptions& options)
    : model_(model), body_(body), path_(std::move(path)), captures_(std::move(captures)), options_(options) {
  for (const ValueInfoProto& input : body.input()) {
    const OptimShape shape = types.ShapeOf(body, input.name());
    const auto form = FormOf(shape);
    open_axes_.push_back(form && form->first == BatchForm::kPacked ? form->second : -1);
  }
  for (const NodeProto& node : body.node())
    is_recurrent_ = is_recurrent_ || node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN";
  can_batch_ = options.custom_ops != nullptr;
  for (const auto& [name, tensor] : captures_.constants) can_batch_ = can_batch_ && tensor != nullptr;
  for (const NodeProto& node : body.node())
    if (can_batch_ && options.custom_ops->Find(Domain(node.domain()), node.op_type()) != nullptr) can_batch_ = false;
}
SequenceMapPlans::~SequenceMapPlans() = default;

std::shared_ptr<const SequenceMapPlans::Batch> SequenceMapPlans::Find(const std::string& signature,
                                                                      FunctionRef<std::unique_ptr<Batch>()> make) {
  const std::lock_guard lock(mutex_);
  auto it = batches_.find(signature);
  if (it == batches_.end()) {
    if (batches_.size() >= kMaxBatches)
      batches_.erase(std::ranges::min_element(batches_, {}, [](const auto& entry) { return entry.second.second; }));
    it = batches_.emplace(signature, std::pair(std::shared_ptr<const Batch>(make()), int64_t{0})).first;
  }
  it->second.second = ++uses_;
  return it->second.first;
}

// One run of the node.
class SequenceMapPlans::Call {
 public:
  Call(SequenceMapPlans& plans, RunContext& ctx, const RunState& run, const uint64_t& outer_run,
       FunctionRef<const Value&(size_t)> capture)
      : plans_(plans), ctx_(ctx), run_(run), outer_run_(outer_run) {
    for (const auto& [name, i] : plans.captures_.values) captured_.push_back(&capture(i));
  }

  bool Run() {
    if (!Look() || !Group()) return false;
    for (const Elements& group : groups_)
      if (!Pays(group)) return false;
    results_.resize(static_cast<size_t>(plans_.body_.output_size()));
    for (auto& result : results_) result.resize(static_cast<size_t>(count_));
    try {
      for (const Elements& group : groups_) RunGroup(group);
      SetOutputs();
    } catch (const TimeoutError&) {
      throw;
    } catch (const std::exception&) {
      groups_.front().batch->failures.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    for (const Elements& group : groups_) {
      group.batch->runs.fetch_add(1, std::memory_order_relaxed);
      group.batch->elements.fetch_add(static_cast<int64_t>(group.numbers.size()), std::memory_order_relaxed);
    }
    return true;
  }

 private:
  // Elements that go through one batched body.
  struct Elements {
    std::vector<int64_t> numbers;
    std::shared_ptr<const Batch> batch;
    double length = 0;  // the mean of the dim in which they differ
  };

  SequenceMapStrategy strategy() const { return plans_.options_.sequence_map; }
  bool IsAuto() const { return strategy() == SequenceMapStrategy::kAuto; }

  // What the node is given, as far as it must be for this.
  bool Look() {
    if (ctx_.input_size() != plans_.body_.input_size() || ctx_.output_size() != plans_.body_.output_size())
      return false;
    if (!ctx_.HasInput(0) || !ctx_.input(0).IsSequence()) return false;
    count_ = ctx_.sequence(0).size();
    if (count_ < (IsAuto() ? 2 : 1)) return false;
    for (int i = 0; i < ctx_.input_size(); ++i) {
      if (!ctx_.HasInput(i)) return false;
      const Value& value = ctx_.input(i);
      walked_.push_back(value.IsSequence() ? &value.sequence() : nullptr);
      if (value.IsSequence()) {
        const Sequence& sequence = value.sequence();
        if (sequence.size() != count_ || !sequence.HoldsTensors() || sequence.dtype() == TensorType::kUndefined ||
            sequence.dtype() == TensorType::kString)
          return false;
      } else if (!value.IsTensor()) {
        return false;
      }
    }
    return std::ranges::all_of(captured_, [](const Value* value) { return value->IsTensor(); });
  }

  // The dims in which elements of an input differ, as bits; nothing when their ranks do, or there are too many.
  static std::optional<uint64_t> Differing(const Sequence& sequence) {
    const Shape& first = sequence[0].shape();
    uint64_t differing = 0;
    for (const Tensor& element : sequence.elements()) {
      const Shape& shape = element.shape();
      if (shape.rank() != first.rank() || shape.rank() > 63) return std::nullopt;
      for (int i = 0; i < shape.rank(); ++i)
        if (shape[i] != first[i]) differing |= uint64_t{1} << i;
    }
    return differing;
  }

  // All elements in one group, or those of the same shapes in one each.
  bool Group() {
    Elements all;
    all.numbers.resize(static_cast<size_t>(count_));
    std::iota(all.numbers.begin(), all.numbers.end(), 0);
    bool ragged = false, mixed = false;
    std::vector<int> axes(walked_.size(), -1);  // along which they are packed
    for (size_t i = 0; i < walked_.size(); ++i) {
      if (walked_[i] == nullptr) continue;
      const std::optional<uint64_t> differing = Differing(*walked_[i]);
      if (!differing || (*differing & (*differing - 1)) != 0) {
        mixed = true;
      } else if (*differing != 0) {
        ragged = true;
        axes[i] = std::countr_zero(*differing);
      }
    }
    if (!mixed && !(ragged && strategy() == SequenceMapStrategy::kStacked)) {
      for (const std::vector<int>& way : WaysToPack(axes)) {
        if (!Prepare(all, way)) continue;
        groups_.push_back(std::move(all));
        return true;
      }
    }
    if ((mixed || ragged) && strategy() != SequenceMapStrategy::kPacked && GroupByShape()) return true;
    if (mixed) {
      const std::lock_guard lock(plans_.mutex_);
      plans_.differed_ = true;
    }
    return false;
  }

  // First those whose plan serves elements of other sizes too: a dim that is not known before elements are is packed
  // even when it happens to be the same in all of them. What is chosen depends on nothing but the model and these
  // elements, so that the same elements always give the same to the bit.
  std::vector<std::vector<int>> WaysToPack(const std::vector<int>& axes) const {
    std::vector<std::vector<int>> ways;
    if (IsAuto()) {
      std::vector<int> open = axes;
      for (size_t i = 0; i < walked_.size(); ++i)
        if (walked_[i] != nullptr && open[i] < 0 && plans_.open_axes_[i] < (*walked_[i])[0].rank())
          open[i] = plans_.open_axes_[i];
      if (open != axes) ways.push_back(std::move(open));
      // Weights of recurrent nodes are packed once for each plan.
      const bool one_input = std::ranges::count(walked_, nullptr) + 1 == static_cast<int64_t>(walked_.size());
      if (plans_.is_recurrent_ && one_input && axes[0] < 0 && ways.empty()) {
        for (int axis = 0; axis < (*walked_[0])[0].rank(); ++axis) {
          ways.push_back(axes);
          ways.back()[0] = axis;
        }
      }
    }
    ways.push_back(axes);
    return ways;
  }

  bool GroupByShape() {
    std::map<std::vector<int64_t>, std::vector<int64_t>> by_shape;
    std::vector<int64_t> key;
    for (int64_t e = 0; e < count_; ++e) {
      key.clear();
      for (const Sequence* sequence : walked_) {
        if (sequence == nullptr) continue;
        const Shape& shape = (*sequence)[e].shape();
        key.push_back(shape.rank());
        for (int i = 0; i < shape.rank(); ++i) key.push_back(shape[i]);
      }
      by_shape[key].push_back(e);
      if (IsAuto() && (by_shape.size() > kMaxGroups || static_cast<int64_t>(by_shape.size()) * kFewElements > count_))
        return false;
    }
    const std::vector<int> stacked(walked_.size(), -1);
    for (auto& [shape, numbers] : by_shape) {
      Elements& group = groups_.emplace_back();
      group.numbers = std::move(numbers);
      if (!Prepare(group, stacked)) return false;
    }
    return true;
  }

  // Finds the group's plan; false when its body cannot be batched this way.
  bool Prepare(Elements& group, const std::vector<int>& axes) const {
    group.length = 0;
    BatchRequest request;
    std::vector<std::vector<int64_t>> lengths;
    std::string signature;
    for (size_t i = 0; i < walked_.size(); ++i) {
      const Sequence* sequence = walked_[i];
      request.inputs.push_back(
          Uniform(sequence == nullptr ? ctx_.tensor(static_cast<int>(i)) : (*sequence)[group.numbers[0]]));
      BatchInput& input = request.inputs.back();
      if (sequence != nullptr) input.form = axes[i] < 0 ? BatchForm::kStacked : BatchForm::kPacked;
      if (axes[i] >= 0) {
        input.axis = axes[i];
        std::vector<int64_t> sizes;
        for (const int64_t e : group.numbers) sizes.push_back((*sequence)[e].dim(input.axis));
        const auto same = std::ranges::find(lengths, sizes);
        input.lengths = static_cast<int>(same - lengths.begin());
        if (same == lengths.end()) lengths.push_back(std::move(sizes));
      }
      Describe(signature, input);
    }
    for (size_t i = 0; i < captured_.size(); ++i) {
      request.captures.emplace_back(plans_.captures_.values[i].first, Uniform(captured_[i]->tensor()));
      Describe(signature, request.captures.back().second);
    }
    bool has_empty = false;
    for (const std::vector<int64_t>& sizes : lengths) {
      has_empty = has_empty || std::ranges::find(sizes, 0) != sizes.end();
      double sum = 0;
      for (const int64_t size : sizes) sum += static_cast<double>(size);
      group.length = std::max(group.length, sum / static_cast<double>(sizes.size()));
    }
    group.batch = plans_.Find(signature, [&] { return plans_.Make(request); });
    return group.batch->body && (group.batch->body->takes_empty || !has_empty);
  }

  static BatchInput Uniform(const Tensor& tensor) {
    BatchInput input;
    input.dtype = tensor.dtype();
    for (int i = 0; i < tensor.rank(); ++i) input.dims.push_back(tensor.dim(i));
    return input;
  }

  static void Describe(std::string& text, const BatchInput& input) {
    text += fmt::format("{}:{}", static_cast<int>(input.form), static_cast<int>(input.dtype));
    for (size_t i = 0; i < input.dims.size(); ++i) {
      if (input.form == BatchForm::kPacked && static_cast<int>(i) == input.axis) {
        text += fmt::format(",L{}", input.lengths);
      } else {
        text += fmt::format(",{}", input.dims[i]);
      }
    }
    text += ';';
  }

  // Bytes that the widest values of an element take.
  static double ElementBytes(const Elements& group) {
    return std::max({group.batch->body->fixed_bytes, group.batch->body->bytes_per_unit * group.length, 1.0});
  }

  bool Pays(const Elements& group) const {
    if (!IsAuto() || group.batch->body->recurrent) return true;
    return static_cast<int64_t>(group.numbers.size()) >= kFewElements && ElementBytes(group) <= kLargeElement;
  }

  void RunGroup(const Elements& group) {
    const double target = group.batch->body->recurrent ? kRecurrentChunkBytes : kChunkBytes;
    const auto chunk = std::max<int64_t>(1, static_cast<int64_t>(std::min(target / ElementBytes(group), 1e9)));
    const auto size = static_cast<int64_t>(group.numbers.size());
    const int64_t pieces = (size + chunk - 1) / chunk;
    const auto piece = [&](int64_t p) {
      // As even as they can be.
      const int64_t begin = size * p / pieces, end = size * (p + 1) / pieces;
      ctx_.CheckCancelled();
      RunChunk(*group.batch,
               std::span(group.numbers).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    };
    if (pieces == 1) return piece(0);  // its kernels may use all threads
    ctx_.ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      const RunThreadScope thread(run_);
      for (int64_t p = begin; p < end; ++p) piece(p);
    });
  }

  void RunChunk(const Batch& batch, std::span<const int64_t> elements) {
    const auto n = static_cast<int64_t>(elements.size());
    std::vector<Value> inputs;
    std::vector<Tensor> lengths(static_cast<size_t>(batch.body->lengths));
    for (size_t i = 0; i < walked_.size(); ++i) {
      const BatchInput& form = batch.inputs[i];
      if (walked_[i] == nullptr) {
        inputs.emplace_back(ctx_.input(static_cast<int>(i)));
        continue;
      }
      const Sequence& sequence = *walked_[i];
      const Shape& first = sequence[elements[0]].shape();
      const bool is_read = batch.plan->inputs[i] >= 0;
      if (form.form == BatchForm::kStacked) {
        inputs.emplace_back(is_read ? Value(Join(sequence, elements, WithFirst(n, first), 0)) : Value());
        continue;
      }
      Tensor sizes(TensorType::kInt64, Shape{n});
      int64_t sum = 0;
      for (size_t k = 0; k < elements.size(); ++k)
        sum += sizes.MutableView<int64_t>()[k] = sequence[elements[k]].dim(form.axis);
      inputs.emplace_back(is_read ? Value(Join(sequence, elements, WithDim(first, form.axis, sum), form.axis))
                                  : Value());
      lengths[static_cast<size_t>(form.lengths)] = std::move(sizes);
    }
    for (Tensor& sizes : lengths) inputs.emplace_back(std::move(sizes));
    inputs.emplace_back(Tensor::Of<int64_t>(Shape{1}, {n}));
    for (const Value* value : captured_) inputs.push_back(*value);

    std::vector<Value> outputs(batch.plan->outputs.size());
    RunGraph(*batch.plan, run_, inputs, {}, outputs, &outer_run_);
    for (size_t o = 0; o < results_.size(); ++o)
      if (ctx_.HasOutput(static_cast<int>(o))) Distribute(batch.body->outputs[o], outputs, o, elements);
  }

  void Distribute(const BatchOutput& form, std::vector<Value>& outputs, size_t o, std::span<const int64_t> elements) {
    std::vector<Tensor>& results = results_[o];
    const auto place = [&](size_t k) -> Tensor& { return results[static_cast<size_t>(elements[k])]; };
    if (form.form == BatchForm::kElements) {
      const Sequence& sequence = outputs[o].sequence();
      for (size_t k = 0; k < elements.size(); ++k) place(k) = sequence[static_cast<int64_t>(k)];
      return;
    }
    Tensor& all = outputs[o].mutable_tensor();
    if (form.form == BatchForm::kUniform) {
      if (all.IsBorrowed()) all.Unshare();  // of the model's memory, which no result keeps: one copy for all elements
      for (size_t k = 0; k < elements.size(); ++k) place(k) = all;
      return;
    }
    if (form.form == BatchForm::kStacked) {
      std::vector<int64_t> dims;
      int64_t size = 1;
      for (int i = 1; i < all.rank(); ++i) {
        dims.push_back(all.dim(i));
        size *= all.dim(i);
      }
      const Shape shape{std::span<const int64_t>(dims)};
      for (size_t k = 0; k < elements.size(); ++k) place(k) = all.Part(static_cast<int64_t>(k) * size, shape);
      return;
    }
    const std::span<const int64_t> lengths = outputs[static_cast<size_t>(form.lengths)].tensor().View<int64_t>();
    int64_t first = 0;
    for (size_t k = 0; k < elements.size(); ++k) {
      place(k) = PartAlong(all, form.axis, first, lengths[k]);
      first += lengths[k];
    }
  }

  void SetOutputs() {
    for (size_t o = 0; o < results_.size(); ++o) {
      if (!ctx_.HasOutput(static_cast<int>(o))) continue;
      const TensorType dtype = results_[o].front().dtype();
      ctx_.SetOutput(static_cast<int>(o), Sequence(dtype, std::move(results_[o])));
    }
  }

  SequenceMapPlans& plans_;
  RunContext& ctx_;
  const RunState& run_;
  const uint64_t& outer_run_;
  std::vector<const Value*> captured_;
  int64_t count_ = 0;
  std::vector<const Sequence*> walked_;  // by input; null for what all elements see
  std::vector<Elements> groups_;
  std::vector<std::vector<Tensor>> results_;  // by output, then element
};

std::unique_ptr<SequenceMapPlans::Batch> SequenceMapPlans::Make(BatchRequest& request) const {
  // Limits of the run that needs it first are not the plan's.
  const RunState nobody;
  const RunThreadScope thread(nobody);
  const StopScope unstopped(nullptr);
  auto batch = std::make_unique<Batch>();
  request.body = &body_;
  request.model = &model_;
  request.constants = captures_.constants;
  batch->inputs = request.inputs;
  for (const BatchInput& input : request.inputs) {
    if (input.form == BatchForm::kPacked) batch->form = fmt::format("packed along axis {}", input.axis);
    if (input.form == BatchForm::kStacked && batch->form.empty()) batch->form = "stacked";
  }
  batch->body = BatchBody(request, batch->why);
  if (!batch->body) return batch;
  try {
    ModelProto& model = batch->body->model;
    const InferredTypes types(model, *options_.custom_ops);
    static_cast<void>(OptimizeGraphs(model, types, {.flush_denormals = options_.flush_denormals}));
    batch->types = std::make_unique<InferredTypes>(model, *options_.custom_ops);
    PlanOptions options = options_;
    options.sequence_map = SequenceMapStrategy::kElements;  // what is left of it could not be batched
    batch->plan = MakePlan(model, *batch->types, options);
    batch->plan->path = path_;
  } catch (const std::exception& e) {
    batch->why = e.what();
    batch->body.reset();
  }
  return batch;
}

bool SequenceMapPlans::Run(RunContext& ctx, const RunState& run, const uint64_t& outer_run,
                           FunctionRef<const Value&(size_t)> capture) {
  return can_batch_ && Call(*this, ctx, run, outer_run, capture).Run();
}

std::string SequenceMapPlans::Explain() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [signature, entry] : batches_) {
    const Batch& batch = *entry.first;
    if (!batch.body) {
      text += fmt::format("  not {}: {}\n", batch.form, batch.why);
      continue;
    }
    const int64_t runs = batch.runs.load(), failures = batch.failures.load();
    if (runs == 0 && failures == 0) {
      text += fmt::format("  not {}: with elements so few, or so large, nothing is gained\n", batch.form);
      continue;
    }
    text += fmt::format("  {}: {} element{} in {} group{}, {} node{} for all of a group\n", batch.form,
                        batch.elements.load(), batch.elements.load() == 1 ? "" : "s", runs, runs == 1 ? "" : "s",
                        batch.body->batched_nodes, batch.body->batched_nodes == 1 ? "" : "s");
    if (failures > 0) {
      const std::string times = failures == 1 ? "once" : fmt::format("{} times", failures);
      text += fmt::format("    then element by element, {}, for an error\n", times);
    }
    for (const std::string& node : batch.body->per_element) text += fmt::format("    element by element: {}\n", node);
  }
  if (differed_) text += "  element by element: elements differ in more than one dim, or in rank, in too many ways\n";
  return text;
}

}  // namespace ONNX_LIGHT_NAMESPACE
