// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "onnxseq/errors.h"
#include "ops/infer_node.h"
#include "runtime/joined_elements.h"
#include "runtime/sequence_map_call.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Elements go through the body in chunks whose widest values fit into a second-level cache; recurrent ones in larger
// ones, since each step of all of them is one product of matrices.
constexpr double kChunkBytes = 1 << 19;
constexpr double kRecurrentChunkBytes = 1 << 25;
// An element that fills the cache by itself gains nothing from company.
constexpr double kLargeElement = 1 << 17;

// Bytes that the widest values of an element take.
double ElementBytes(const BatchedBody& body, double length) {
  return std::max({body.fixed_bytes, body.bytes_per_unit * length, 1.0});
}

}  // namespace

SequenceMapPlans::Call::Call(SequenceMapPlans& plans, RunContext& ctx, const RunState& run, const uint64_t& outer_run,
                             FunctionRef<const Value&(size_t)> capture)
    : plans_(plans), ctx_(ctx), run_(run), outer_run_(outer_run) {
  for (const auto& [name, i] : plans.captures_.values) captured_.push_back(&capture(i));
}

bool SequenceMapPlans::Call::Run() {
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
    if (run_.observer_threw) throw;
    groups_.front().batch->failures.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  for (const Elements& group : groups_) {
    group.batch->runs.fetch_add(1, std::memory_order_relaxed);
    group.batch->elements.fetch_add(static_cast<int64_t>(group.numbers.size()), std::memory_order_relaxed);
  }
  return true;
}

bool SequenceMapPlans::Call::Pays(const Elements& group) const {
  if (!IsAuto() || group.batch->body->recurrent) return true;
  return static_cast<int64_t>(group.numbers.size()) >= kFewElements &&
         ElementBytes(*group.batch->body, group.length) <= kLargeElement;
}

void SequenceMapPlans::Call::RunGroup(const Elements& group) {
  const double target = group.batch->body->recurrent ? kRecurrentChunkBytes : kChunkBytes;
  const auto chunk = std::max<int64_t>(
      1, static_cast<int64_t>(std::min(target / ElementBytes(*group.batch->body, group.length), 1e9)));
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

void SequenceMapPlans::Call::RunChunk(const Batch& batch, std::span<const int64_t> elements) {
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
    inputs.emplace_back(is_read ? Value(Join(sequence, elements, WithDim(first, form.axis, sum), form.axis)) : Value());
    lengths[static_cast<size_t>(form.lengths)] = std::move(sizes);
  }
  for (Tensor& sizes : lengths) inputs.emplace_back(std::move(sizes));
  inputs.emplace_back(Tensor::Of<int64_t>(Shape{1}, {n}));
  for (const Value* value : captured_) inputs.push_back(*value);

  std::vector<Value> outputs(batch.plan->outputs.size());
  try {
    RunGraph(*batch.plan, run_, inputs, {}, outputs, &outer_run_);
  } catch (TimeoutError& e) {
    e.AddPath(BodyPlace(ctx_.node(), plans_.body_));
    throw;
  }
  for (size_t o = 0; o < results_.size(); ++o)
    if (ctx_.HasOutput(static_cast<int>(o))) Distribute(batch.body->outputs[o], outputs, o, elements);
}

void SequenceMapPlans::Call::Distribute(const BatchOutput& form, std::vector<Value>& outputs, size_t o,
                                        std::span<const int64_t> elements) {
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

void SequenceMapPlans::Call::SetOutputs() {
  for (size_t o = 0; o < results_.size(); ++o) {
    if (!ctx_.HasOutput(static_cast<int>(o))) continue;
    const TensorType dtype = results_[o].front().dtype();
    ctx_.SetOutput(static_cast<int>(o), Sequence(dtype, std::move(results_[o])));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
