// SPDX-License-Identifier: Apache-2.0
#include "runtime/sequence_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/stop_token.h"
#include "graph/captures.h"
#include "onnxseq/errors.h"
#include "passes/batch/batch_body.h"
#include "passes/optimize.h"
#include "runtime/executor.h"
#include "runtime/inferred_types.h"
#include "runtime/plan.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr size_t kMaxBatches = 16;

// Elements go through the body in chunks whose widest values fit into a second-level cache; recurrent ones in larger
// ones, since each step of all of them is one product of matrices.
constexpr double kChunkBytes = 1 << 19;
constexpr double kRecurrentChunkBytes = 1 << 25;
// An element that fills the cache by itself gains nothing from company.
constexpr double kLargeElement = 1 << 17;
// A plan for all of them together costs more than running these few.
constexpr int64_t kFewElements = 4;

// Dims of a tensor but one, before and behind it.
struct AroundAxis {
  AroundAxis(const Shape& shape, int axis) {
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? before : i > axis ? behind : size) *= shape[i];
  }
  int64_t before = 1, size = 1, behind = 1;
};

// Elements that lie behind each other in memory, as parts of one tensor do, need no copy to be one.
Tensor JoinInPlace(const Sequence& sequence, std::span<const int64_t> elements, const Shape& shape) {
  const auto* next = static_cast<const std::byte*>(sequence[elements[0]].data());
  for (const int64_t e : elements) {
    const Tensor& element = sequence[e];
    if (element.data() != next) return {};
    next += element.ByteSize();
  }
  return Tensor::Borrow(sequence[elements[0]].data(), sequence.dtype(), shape, Owner([kept = sequence] {}));
}

// The elements concatenated along an axis. Strings are not moved this way.
Tensor Join(const Sequence& sequence, std::span<const int64_t> elements, const Shape& shape, int axis) {
  const AroundAxis whole(shape, axis);
  if (whole.before == 1 && elements.size() > 1) {
    if (Tensor joined = JoinInPlace(sequence, elements, shape); joined.defined()) return joined;
  }
  Tensor joined(sequence.dtype(), shape);
  if (joined.NumElements() == 0) return joined;
  auto* to = static_cast<std::byte*>(joined.mutable_data());
  const size_t row = joined.ByteSize() / static_cast<size_t>(whole.before);
  size_t offset = 0;
  for (const int64_t e : elements) {
    const Tensor& element = sequence[e];
    const size_t bytes = element.ByteSize() / static_cast<size_t>(whole.before);
    if (bytes == 0) continue;
    for (int64_t r = 0; r < whole.before; ++r)
      std::memcpy(to + static_cast<size_t>(r) * row + offset,
                  static_cast<const std::byte*>(element.data()) + static_cast<size_t>(r) * bytes, bytes);
    offset += bytes;
  }
  return joined;
}

Shape WithFirst(int64_t first, const Shape& dims) {
  std::vector<int64_t> all = {first};
  for (int i = 0; i < dims.rank(); ++i) all.push_back(dims[i]);
  return Shape(std::span<const int64_t>(all));
}
Shape WithDim(Shape shape, int axis, int64_t size) {
  shape[axis] = size;
  return shape;
}

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

SequenceMapPlans::SequenceMapPlans(const ModelProto& model, const GraphProto& body, MapCaptures captures,
                                   const PlanOptions& options)
    : model_(model), body_(body), captures_(std::move(captures)), options_(options) {
  can_batch_ = options.custom_ops != nullptr;
  for (const auto& [name, tensor] : captures_.constants) can_batch_ = can_batch_ && tensor != nullptr;
  for (const NodeProto& node : body.node())
    if (can_batch_ && options.custom_ops->Find(node.domain(), node.op_type()) != nullptr) can_batch_ = false;
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
  Call(SequenceMapPlans& plans, RunContext& ctx, const RunState& run, FunctionRef<const Value&(size_t)> capture)
      : plans_(plans), ctx_(ctx), run_(run) {
    for (const auto& [name, i] : plans.captures_.values) captured_.push_back(&capture(i));
  }

  bool Run() {
    if (!Look() || !Group()) return false;
    std::vector<std::shared_ptr<const Batch>> batches;
    for (const std::vector<int64_t>& group : groups_) {
      std::shared_ptr<const Batch> batch = BatchFor(group);
      if (!batch->body || !Pays(*batch, group)) return false;
      batches.push_back(std::move(batch));
    }
    results_.resize(static_cast<size_t>(plans_.body_.output_size()));
    for (auto& result : results_) result.resize(static_cast<size_t>(count_));
    try {
      for (size_t g = 0; g < groups_.size(); ++g) RunGroup(*batches[g], groups_[g]);
      SetOutputs();
    } catch (const TimeoutError&) {
      throw;
    } catch (const std::exception&) {
      batches.front()->failures.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    for (size_t g = 0; g < groups_.size(); ++g) {
      batches[g]->runs.fetch_add(1, std::memory_order_relaxed);
      batches[g]->elements.fetch_add(static_cast<int64_t>(groups_[g].size()), std::memory_order_relaxed);
    }
    return true;
  }

 private:
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
    bool ragged = false, mixed = false;
    for (const Sequence* sequence : walked_) {
      if (sequence == nullptr) continue;
      const std::optional<uint64_t> differing = Differing(*sequence);
      ragged = ragged || !differing || *differing != 0;
      mixed = mixed || !differing || (*differing & (*differing - 1)) != 0;
    }
    std::vector<int64_t> all(static_cast<size_t>(count_));
    for (int64_t e = 0; e < count_; ++e) all[static_cast<size_t>(e)] = e;
    if (!ragged || (!mixed && strategy() != SequenceMapStrategy::kStacked)) {
      groups_.push_back(std::move(all));
      if (!ragged || strategy() == SequenceMapStrategy::kPacked || BatchFor(groups_[0])->body) return true;
      groups_.clear();
    } else if (strategy() == SequenceMapStrategy::kPacked) {
      return false;
    }
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
      if (IsAuto() && by_shape.size() > kMaxBatches / 2) return false;
    }
    if (IsAuto() && static_cast<int64_t>(by_shape.size()) * kFewElements > count_) return false;
    for (auto& [shape, elements] : by_shape) groups_.push_back(std::move(elements));
    return true;
  }

  // What elements of a group look like.
  std::vector<BatchInput> Describe(const std::vector<int64_t>& group,
                                   std::vector<std::vector<int64_t>>& lengths) const {
    std::vector<BatchInput> inputs;
    for (size_t i = 0; i < walked_.size(); ++i) {
      if (walked_[i] == nullptr) {
        inputs.push_back(Uniform(ctx_.tensor(static_cast<int>(i))));
        continue;
      }
      const Sequence& sequence = *walked_[i];
      BatchInput& input = inputs.emplace_back();
      const Tensor& first = sequence[group[0]];
      input = Uniform(first);
      input.form = BatchForm::kStacked;
      for (int axis = 0; axis < first.rank() && groups_.size() <= 1; ++axis) {
        if (std::ranges::all_of(group, [&](int64_t e) { return sequence[e].dim(axis) == first.dim(axis); })) continue;
        input.form = BatchForm::kPacked;
        input.axis = axis;
        std::vector<int64_t> sizes;
        for (const int64_t e : group) sizes.push_back(sequence[e].dim(axis));
        const auto same = std::ranges::find(lengths, sizes);
        input.lengths = static_cast<int>(same - lengths.begin());
        if (same == lengths.end()) lengths.push_back(std::move(sizes));
        break;
      }
    }
    return inputs;
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

  std::shared_ptr<const Batch> BatchFor(const std::vector<int64_t>& group) const {
    std::vector<std::vector<int64_t>> lengths;
    BatchRequest request;
    request.inputs = Describe(group, lengths);
    std::string signature;
    for (const BatchInput& input : request.inputs) Describe(signature, input);
    for (size_t i = 0; i < captured_.size(); ++i) {
      request.captures.emplace_back(plans_.captures_.values[i].first, Uniform(captured_[i]->tensor()));
      Describe(signature, request.captures.back().second);
    }
    return plans_.Find(signature, [&] { return plans_.Make(request); });
  }

  // Bytes that the widest values of an element take.
  static double ElementBytes(const Batch& batch, double length) {
    return std::max(batch.body->fixed_bytes, batch.body->bytes_per_unit * length);
  }

  double MeanLength(const std::vector<int64_t>& group) const {
    std::vector<std::vector<int64_t>> lengths;
    static_cast<void>(Describe(group, lengths));
    double longest = 0;
    for (const std::vector<int64_t>& sizes : lengths) {
      double sum = 0;
      for (const int64_t size : sizes) sum += static_cast<double>(size);
      longest = std::max(longest, sum / static_cast<double>(sizes.size()));
    }
    return longest;
  }

  bool Pays(const Batch& batch, const std::vector<int64_t>& group) const {
    if (!IsAuto() || batch.body->recurrent) return true;
    return static_cast<int64_t>(group.size()) >= kFewElements &&
           ElementBytes(batch, MeanLength(group)) <= kLargeElement;
  }

  void RunGroup(const Batch& batch, const std::vector<int64_t>& group) {
    const double target = batch.body->recurrent ? kRecurrentChunkBytes : kChunkBytes;
    const double bytes = std::max(ElementBytes(batch, MeanLength(group)), 1.0);
    const auto chunk = std::max<int64_t>(1, static_cast<int64_t>(std::min(target / bytes, 1e9)));
    const auto size = static_cast<int64_t>(group.size());
    const int64_t pieces = (size + chunk - 1) / chunk;
    const auto piece = [&](int64_t p) {
      // As even as they can be.
      const int64_t begin = size * p / pieces, end = size * (p + 1) / pieces;
      ctx_.CheckCancelled();
      RunChunk(batch, std::span(group).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
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
      if (form.form == BatchForm::kStacked) {
        inputs.emplace_back(Join(sequence, elements, WithFirst(n, first), 0));
        continue;
      }
      Tensor sizes(TensorType::kInt64, Shape{n});
      int64_t sum = 0;
      for (size_t k = 0; k < elements.size(); ++k)
        sum += sizes.MutableView<int64_t>()[k] = sequence[elements[k]].dim(form.axis);
      inputs.emplace_back(Join(sequence, elements, WithDim(first, form.axis, sum), form.axis));
      lengths[static_cast<size_t>(form.lengths)] = std::move(sizes);
    }
    for (Tensor& sizes : lengths) inputs.emplace_back(std::move(sizes));
    inputs.emplace_back(Tensor::Of<int64_t>(Shape{1}, {n}));
    for (const Value* value : captured_) inputs.push_back(*value);

    std::vector<Value> outputs(batch.plan->outputs.size());
    RunGraph(*batch.plan, run_, inputs, {}, outputs);
    for (size_t o = 0; o < results_.size(); ++o)
      if (ctx_.HasOutput(static_cast<int>(o))) Distribute(batch.body->outputs[o], outputs, o, elements);
  }

  void Distribute(const BatchOutput& form, const std::vector<Value>& outputs, size_t o,
                  std::span<const int64_t> elements) {
    std::vector<Tensor>& results = results_[o];
    const auto place = [&](size_t k) -> Tensor& { return results[static_cast<size_t>(elements[k])]; };
    if (form.form == BatchForm::kElements) {
      const Sequence& sequence = outputs[o].sequence();
      for (size_t k = 0; k < elements.size(); ++k) place(k) = sequence[static_cast<int64_t>(k)];
      return;
    }
    const Tensor& all = outputs[o].tensor();
    if (form.form == BatchForm::kUniform) {
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
    const AroundAxis whole(all.shape(), form.axis);
    int64_t first = 0;
    for (size_t k = 0; k < elements.size(); ++k) {
      const Shape shape = WithDim(all.shape(), form.axis, lengths[k]);
      place(k) = whole.before == 1 ? all.Part(first * whole.behind, shape) : CutOut(all, whole, first, shape);
      first += lengths[k];
    }
  }

  static Tensor CutOut(const Tensor& all, const AroundAxis& whole, int64_t first, const Shape& shape) {
    Tensor part(all.dtype(), shape);
    if (part.NumElements() == 0) return part;
    const size_t bytes = part.ByteSize() / static_cast<size_t>(whole.before);
    const size_t row = all.ByteSize() / static_cast<size_t>(whole.before);
    const size_t offset = row / static_cast<size_t>(whole.size) * static_cast<size_t>(first);
    auto* to = static_cast<std::byte*>(part.mutable_data());
    for (size_t r = 0; r < static_cast<size_t>(whole.before); ++r)
      std::memcpy(to + r * bytes, static_cast<const std::byte*>(all.data()) + r * row + offset, bytes);
    return part;
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
  std::vector<const Value*> captured_;
  int64_t count_ = 0;
  std::vector<const Sequence*> walked_;  // by input; null for what all elements see
  std::vector<std::vector<int64_t>> groups_;
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
  } catch (const std::exception& e) {
    batch->why = e.what();
    batch->body.reset();
  }
  return batch;
}

bool SequenceMapPlans::Run(RunContext& ctx, const RunState& run, FunctionRef<const Value&(size_t)> capture) {
  return can_batch_ && Call(*this, ctx, run, capture).Run();
}

std::string SequenceMapPlans::Explain() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [signature, entry] : batches_) {
    const Batch& batch = *entry.first;
    if (!batch.body) {
      text += fmt::format("  {}: element by element: {}\n", batch.form, batch.why);
      continue;
    }
    const int64_t runs = batch.runs.load(), failures = batch.failures.load();
    text += fmt::format("  {}: {} elements at once, in {} groups: {} nodes for all of them\n", batch.form,
                        batch.elements.load(), runs, batch.body->batched_nodes);
    if (failures > 0) text += fmt::format("    element by element {} times, after an error\n", failures);
    for (const std::string& node : batch.body->per_element) text += fmt::format("    element by element: {}\n", node);
  }
  return text;
}

}  // namespace ONNX_LIGHT_NAMESPACE
