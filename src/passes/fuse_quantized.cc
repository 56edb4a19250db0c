// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/node_attributes.h"
#include "model/set_attribute.h"
#include "ops/infer_node.h"
#include "ops/microsoft/microsoft_op.h"
#include "passes/constants.h"
#include "passes/passes.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kAbsent = GraphEdit::kAbsent;

// A tensor of whole numbers that stand for floats.
struct Quantized {
  int data, scale, zero;
  TensorType type;
  int node;
};

// One node of floats between DequantizeLinear and QuantizeLinear.
class Fusing {
 public:
  // `quantize`: a QuantizeLinear.
  Fusing(GraphEdit& edit, int quantize) : edit_(edit), quantize_(quantize) {}

  bool Run() {
    const std::optional<Quantized> y = Target();
    if (!y || edit_.outputs(quantize_)[0] == kAbsent) return false;
    y_ = *y;
    op_ = Before(edit_.input(quantize_, 0));
    if (op_ == kAbsent) return false;
    if (edit_.Is(op_, "Relu") && IsLeast(y_)) {
      relu_ = op_;  // what is below zero is held there anyway
      op_ = Before(edit_.input(op_, 0));
      if (op_ == kAbsent) return false;
    }
    if (edit_.op(op_) == nullptr) return false;
    CheckNode(*edit_.op(op_), edit_.node(op_));
    if (!UnknownAttributes(*edit_.op(op_), edit_.node(op_)).empty()) return false;
    if (edit_.Is(op_, "MatMul")) return MatMul();
    if (edit_.Is(op_, "Conv")) return Conv();
    if (edit_.Is(op_, "Gemm")) return Gemm();
    if (edit_.Is(op_, "Add")) return edit_.op(op_)->since_version >= 7 && Binary("QLinearAdd");
    if (edit_.Is(op_, "Mul")) return edit_.op(op_)->since_version >= 7 && Binary("QLinearMul");
    return relu_ == kAbsent && Moves();
  }

 private:
  // Looking
  // -----------------------------------------------------------------------------------------------------------------

  // The node that makes v for this one use.
  int Before(int v) const {
    const int n = v == kAbsent ? kAbsent : edit_.producer(v);
    return n != kAbsent && edit_.outputs(n).size() == 1 && !edit_.IsPinned(v) && edit_.users(v).size() == 1 ? n
                                                                                                            : kAbsent;
  }

  bool IsPlain(int n) const {
    const NodeAttributes attributes(edit_.node(n));
    return attributes.Int("block_size", 0) == 0 && attributes.Int("output_dtype", 0) == 0 &&
           attributes.Int("precision", 0) == 0 && edit_.TypeOf(edit_.input(n, 1)) == TensorType::kFloat;
  }

  std::optional<Quantized> Target() const {
    if (!IsPlain(quantize_)) return std::nullopt;
    const int zero = edit_.input(quantize_, 2);
    const Quantized y{edit_.outputs(quantize_)[0], edit_.input(quantize_, 1), zero,
                      zero == kAbsent ? TensorType::kUint8 : edit_.TypeOf(zero), quantize_};
    return IsByte(y.type) && edit_.TypeOf(edit_.input(quantize_, 0)) == TensorType::kFloat && OneScale(y)
               ? std::optional(y)
               : std::nullopt;
  }

  std::optional<Quantized> Source(int v) const {
    const int n = v == kAbsent ? kAbsent : edit_.producer(v);
    if (n == kAbsent || !edit_.Is(n, "DequantizeLinear") || !IsPlain(n)) return std::nullopt;
    return Quantized{edit_.input(n, 0), edit_.input(n, 1), edit_.input(n, 2), edit_.TypeOf(edit_.input(n, 0)), n};
  }

  static bool IsByte(TensorType type) { return type == TensorType::kInt8 || type == TensorType::kUint8; }

  // Dims, where all are known.
  std::optional<std::vector<int64_t>> DimsOf(int v) const {
    if (const TensorProto* constant = edit_.Constant(v))
      return std::vector<int64_t>(constant->dims().begin(), constant->dims().end());
    const onnx_optim::OptimShape shape = edit_.ShapeOf(v);
    if (shape.IsUnknown()) return std::nullopt;
    std::vector<int64_t> dims;
    for (size_t d = 0; d < shape.Rank(); ++d) {
      if (!shape[d].IsInt()) return std::nullopt;
      dims.push_back(shape[d].AsInt());
    }
    return dims;
  }

  bool OneScale(const Quantized& q) const {
    const auto dims = DimsOf(q.scale);
    return dims && (dims->empty() || *dims == std::vector<int64_t>{1});
  }

  // A byte with one scale.
  std::optional<Quantized> PlainSource(int v) const {
    const std::optional<Quantized> q = Source(v);
    return q && IsByte(q->type) && OneScale(*q) ? q : std::nullopt;
  }

  // Bytes that are constant, or will be, of these many axes (0: any), one scale, or one for each place along `axis`.
  std::optional<Quantized> Weights(int v, size_t rank, size_t axis) const {
    const std::optional<Quantized> w = Source(v);
    if (!w || !IsByte(w->type)) return std::nullopt;
    const int maker = edit_.producer(w->data);
    const bool made =
        maker != kAbsent && edit_.Is(maker, "QuantizeLinear") && edit_.Constant(edit_.input(maker, 0)) != nullptr;
    const auto weights = DimsOf(w->data), scales = DimsOf(w->scale);
    if ((edit_.Constant(w->data) == nullptr && !made) || !weights || (rank != 0 && weights->size() != rank))
      return std::nullopt;
    if (OneScale(*w)) return w;
    int64_t given = NodeAttributes(edit_.node(w->node)).Int("axis", 1);
    if (given < 0) given += static_cast<int64_t>(weights->size());
    if (given != static_cast<int64_t>(axis) || axis >= weights->size() || !scales ||
        *scales != std::vector<int64_t>{(*weights)[axis]})
      return std::nullopt;
    return w;
  }

  // An int32 that counts in steps of the product of the scales: constants, all of them.
  bool CountsIn(const Quantized& bias, const Quantized& x, const Quantized& w) const {
    if (bias.type != TensorType::kInt32) return false;
    const Tensor steps = ReadConstant(edit_, bias.scale, TensorType::kFloat),
                 of_x = ReadConstant(edit_, x.scale, TensorType::kFloat),
                 of_w = ReadConstant(edit_, w.scale, TensorType::kFloat);
    if (!steps.defined() || !of_x.defined() || !of_w.defined()) return false;
    const std::span<const float> a = steps.View<float>(), b = of_w.View<float>();
    const auto count = static_cast<size_t>(std::max(steps.NumElements(), of_w.NumElements()));
    if ((a.size() != 1 && a.size() != count) || (b.size() != 1 && b.size() != count)) return false;
    for (size_t i = 0; i < count; ++i) {
      // Quantisers multiply in float or in double.
      const float product = of_x.View<float>()[0] * b[b.size() == 1 ? 0 : i];
      if (!(std::abs(a[a.size() == 1 ? 0 : i] - product) <= 1e-6f * product)) return false;
    }
    if (bias.zero == kAbsent) return true;
    const Tensor zeros = ReadConstant(edit_, bias.zero, TensorType::kInt32);
    return zeros.defined() && std::ranges::all_of(zeros.View<int32_t>(), [](int32_t zero) { return zero == 0; });
  }

  // The zero point is the least number of the type, and the scale positive.
  bool IsLeast(const Quantized& q) const {
    const Tensor scale = ReadConstant(edit_, q.scale, TensorType::kFloat);
    if (!scale.defined() || scale.NumElements() != 1 || !(scale.View<float>()[0] > 0)) return false;
    if (q.zero == kAbsent) return q.type == TensorType::kUint8;
    const Tensor zero = ReadConstant(edit_, q.zero, q.type);
    if (!zero.defined() || zero.NumElements() != 1) return false;
    return q.type == TensorType::kUint8 ? zero.View<uint8_t>()[0] == 0 : zero.View<int8_t>()[0] == -128;
  }

  bool SameConstant(int a, int b, TensorType type) const {
    if (a == b) return true;
    const Tensor left = ReadConstant(edit_, a, type), right = ReadConstant(edit_, b, type);
    return left.defined() && right.defined() && left.NumElements() == 1 && right.NumElements() == 1 &&
           std::ranges::equal(std::span(static_cast<const std::byte*>(left.data()), left.ByteSize()),
                              std::span(static_cast<const std::byte*>(right.data()), right.ByteSize()));
  }

  // Changing
  // ----------------------------------------------------------------------------------------------------------------

  // The zero point, 0 where there is none.
  int Zero(const Quantized& q) {
    if (q.zero != kAbsent) return q.zero;
    Tensor zero(q.type, Shape{});
    *static_cast<uint8_t*>(zero.mutable_data()) = 0;
    return edit_.AddConstant(TensorToProto(zero), edit_.name(q.data) + "_zero_point");
  }

  // The QuantizeLinear becomes this node, with the attributes and the name of the one in between. Nothing is made of
  // floats that nobody uses any more.
  bool Become(std::string_view domain, std::string_view type, const std::vector<int>& inputs, bool attributes) {
    const NodeProto op = edit_.node(op_);
    const std::vector<int> floats = edit_.inputs(op_);
    edit_.Remove(op_);
    for (const int v : floats)
      if (Source(v) && edit_.users(v).empty() && !edit_.IsPinned(v)) edit_.Remove(edit_.producer(v));
    if (relu_ != kAbsent) edit_.Remove(relu_);
    NodeProto& node = edit_.Rewrite(edit_.outputs(quantize_)[0], domain, type, inputs);
    if (op.name().empty())
      node.clear_name();
    else
      node.set_name(op.name());
    if (attributes)
      for (const AttributeProto& attribute : op.attribute()) *node.add_attribute() = attribute;
    return true;
  }

  bool HasMicrosoft(std::string_view type) const {
    return edit_.Opset(kMicrosoft) >= 1 &&
           !edit_.context().functions.contains({std::string(kMicrosoft), std::string(type)});
  }

  bool MatMul() {
    const std::optional<Quantized> x = PlainSource(edit_.input(op_, 0)), w = Weights(edit_.input(op_, 1), 2, 1);
    if (!x || !w) return false;
    return Become("", "QLinearMatMul", {x->data, x->scale, Zero(*x), w->data, w->scale, Zero(*w), y_.scale, Zero(y_)},
                  false);
  }

  bool Conv() {
    const std::optional<Quantized> x = PlainSource(edit_.input(op_, 0)), w = Weights(edit_.input(op_, 1), 0, 0);
    const int b = edit_.input(op_, 2);
    const std::optional<Quantized> bias = Source(b);
    if (!x || !w || (b != kAbsent && (!bias || !CountsIn(*bias, *x, *w)))) return false;
    std::vector<int> inputs = {x->data, x->scale, Zero(*x), w->data, w->scale, Zero(*w), y_.scale, Zero(y_)};
    if (b != kAbsent) inputs.push_back(bias->data);
    return Become("", "QLinearConv", inputs, true);
  }

  bool Gemm() {
    const NodeAttributes attributes(edit_.node(op_));
    const bool turned = attributes.Int("transB", 0) != 0;
    const std::optional<Quantized> a = PlainSource(edit_.input(op_, 0)),
                                   b = Weights(edit_.input(op_, 1), 2, turned ? 0 : 1);
    const int c = edit_.input(op_, 2);
    const std::optional<Quantized> addend = Source(c);
    if (addend) {  // scales of C are those of its columns, as the weights' are
      const Tensor scales = ReadConstant(edit_, addend->scale, TensorType::kFloat);
      const auto rank = static_cast<int64_t>(edit_.ShapeOf(addend->data).Rank());
      int64_t axis = NodeAttributes(edit_.node(addend->node)).Int("axis", 1);
      if (axis < 0) axis += rank;
      if (!scales.defined() || (scales.NumElements() > 1 && rank > 1 && axis != rank - 1)) return false;
    }
    if (!HasMicrosoft("QGemm") || !a || !b || (c != kAbsent && (!addend || !CountsIn(*addend, *a, *b))) ||
        attributes.Float("alpha", 1) != 1 || attributes.Float("beta", 1) != 1 || edit_.op(op_)->since_version < 7)
      return false;
    const int64_t turn_a = attributes.Int("transA", 0);
    Become(kMicrosoft, "QGemm",
           {a->data, a->scale, Zero(*a), b->data, b->scale, Zero(*b), c == kAbsent ? kAbsent : addend->data, y_.scale,
            Zero(y_)},
           false);
    NodeProto& node = edit_.mutable_node(quantize_);
    for (const auto& [name, value] : {std::pair<const char*, int64_t>{"transA", turn_a}, {"transB", turned ? 1 : 0}}) {
      if (value != 0) SetInt(node, name, value);
    }
    return true;
  }

  bool Binary(std::string_view type) {
    const std::optional<Quantized> a = PlainSource(edit_.input(op_, 0)), b = PlainSource(edit_.input(op_, 1));
    if (!HasMicrosoft(type) || !a || !b || a->type != y_.type || b->type != y_.type) return false;
    return Become(kMicrosoft, type, {a->data, a->scale, Zero(*a), b->data, b->scale, Zero(*b), y_.scale, Zero(y_)},
                  false);
  }

  // Nodes that give elements of theirs, of the same scale before and after: to the bit the same on bytes.
  bool Moves() {
    constexpr std::string_view kFirstMoved[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze",    "Transpose",   "Slice",
                                                "Gather",  "Expand",  "Tile",    "DepthToSpace", "SpaceToDepth"};
    const bool all = edit_.Is(op_, "Concat");
    const bool pool = edit_.Is(op_, "MaxPool") && edit_.op(op_)->since_version >= 12;
    if (!all && !pool && std::ranges::none_of(kFirstMoved, [&](std::string_view type) { return edit_.Is(op_, type); }))
      return false;
    std::vector<int> inputs = edit_.inputs(op_);
    for (size_t i = 0; i < (all ? inputs.size() : 1); ++i) {
      const std::optional<Quantized> x = PlainSource(inputs[i]);
      if (!x || x->type != y_.type || !SameScale(*x) || !SameZero(*x)) return false;
      inputs[i] = x->data;
    }
    const std::string type = edit_.node(op_).op_type().as_string();
    return Become("", type, inputs, true);
  }

  // Where 255 steps and one step are usual numbers, floats give the bytes they came from.
  bool SameScale(const Quantized& x) const {
    const Tensor scale = ReadConstant(edit_, y_.scale, TensorType::kFloat);
    return scale.defined() && scale.View<float>()[0] > 1e-30f && scale.View<float>()[0] < 1e30f &&
           SameConstant(x.scale, y_.scale, TensorType::kFloat);
  }
  bool SameZero(const Quantized& x) const {
    return (x.zero == kAbsent) == (y_.zero == kAbsent) && SameConstant(x.zero, y_.zero, x.type);
  }

  GraphEdit& edit_;
  int quantize_;
  int op_ = kAbsent, relu_ = kAbsent;
  Quantized y_{};
};

}  // namespace

int64_t FuseQuantized(GraphEdit& edit) {
  int64_t fused = 0;
  for (int n = 0; n < edit.node_size(); ++n) {
    if (!edit.Is(n, "QuantizeLinear") || edit.outputs(n).size() != 1) continue;
    try {
      fused += Fusing(edit, n).Run() ? 1 : 0;
    } catch (const std::exception&) {
      // An attribute of the wrong type: planning says so.
    }
  }
  return fused;
}

}  // namespace ONNX_LIGHT_NAMESPACE
