// SPDX-License-Identifier: Apache-2.0
// Attention as the products it is made of: heads become an axis, scores are float or double, and keys that a query does
// not see get a score of -infinity.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

const IrData kNumpy{{"auto_broadcast", "numpy"}};
constexpr int64_t kHeadsInside[] = {0, 2, 1, 3};  // [batch, length, heads, dim] and [batch, heads, length, dim]

IrType Scores(TensorType element) { return IrType::Tensor(element, {-1, -1, -1, -1}); }

class AttentionWriter {
 public:
  explicit AttentionWriter(IrNodeWriter& w)
      : w_(w),
        computed_(w.Element(0) == TensorType::kDouble || w.Element(2) == TensorType::kDouble ? TensorType::kDouble
                                                                                             : TensorType::kFloat),
        stage_(w.Int("qk_matmul_output_mode", 0)) {}

  void Write() {
    w_.Ignore("softmax_precision");
    const Heads q = ReadHeads(0, w_.Int("q_num_heads", 0)), k = ReadHeads(1, w_.Int("kv_num_heads", 0)),
                v = ReadHeads(2, w_.Int("kv_num_heads", 0));
    const IrRef keys = Appended(4, 1, k.value), values = Appended(5, 2, v.value);
    IrRef scores = Product(q, Repeated(q, k, keys));
    Show(0, scores);
    if (const float cap = w_.Float("softcap", 0); cap != 0) {
      const IrRef most = w_.Scalar("softcap", computed_, static_cast<double>(cap));
      const IrRef bent =
          w_.Step("bent", "Tanh", "opset1", {w_.Binary("Divide", scores, most, *scores.type)}, {}, *scores.type);
      scores = w_.Binary("Multiply", bent, most, *scores.type);
    }
    Show(1, scores);
    scores = Hidden(q, keys, Biased(scores, keys));
    Show(2, scores);
    const IrRef weights = Weights(scores);
    Show(3, weights);
    Finish(weights, Repeated(q, v, values));
  }

 private:
  struct Heads {
    IrRef value;  // [batch, heads, length, dim]
    int64_t count = -1, dim = -1;
    bool side_by_side = false;  // in the input's last axis
  };

  Heads ReadHeads(int i, int64_t count) {
    const IrRef x = w_.In(i);
    const int rank = w_.Rank(i);
    if (rank == 4) return {.value = x, .count = x.type->dims[1], .dim = x.type->dims[3]};
    const std::string input = fmt::format("input {} '{}'", i, "QKV"[i]);
    if (rank != 3) w_.Refuse(input, fmt::format("must have rank 3 or 4, has {}", rank));
    if (count < 1) w_.Refuse(input, "has rank 3, and its number of heads is not given");
    const int64_t width = x.type->dims[2], dim = width < 0 ? -1 : width / count;
    const IrRef split =
        w_.Step("heads", "Reshape", "opset1", {x, w_.Int64s("split", {0, 0, count, -1})}, {{"special_zero", "true"}},
                IrType::Tensor(x.type->element, {x.type->dims[0], x.type->dims[1], count, dim}));
    return {.value = w_.Transposed(split, kHeadsInside), .count = count, .dim = dim, .side_by_side = true};
  }

  // What was there, input `past`, and what came; it is output `present`.
  IrRef Appended(int past, int present, const IrRef& now) {
    IrRef all = now;
    if (w_.Has(past)) {
      IrType type = *now.type;
      type.dims[2] = -1;
      all = w_.Step("appended", "Concat", "opset1", {w_.In(past), now}, {{"axis", "2"}}, type);
    }
    if (w_.Gives(present)) w_.Alias(present, all);
    return all;
  }

  // Each head as often as there are heads of queries for it.
  IrRef Repeated(const Heads& q, const Heads& of, const IrRef& value) {
    if (q.count < 0 || of.count < 1) w_.Refuse("", "the numbers of heads must be known");
    const IrRef computed = w_.Converted(value, computed_);
    const int64_t times = q.count / of.count;
    if (times == 1) return computed;
    std::vector<int64_t> heads;
    for (int64_t head = 0; head < q.count; ++head) heads.push_back(head / times);
    IrType type = *computed.type;
    type.dims[1] = q.count;
    return w_.Step("repeated", "Gather", "opset8", {computed, w_.Int64s("heads", heads), w_.Int64("axis", 1)},
                   {{"batch_dims", "0"}}, type);
  }

  IrRef Product(const Heads& q, const IrRef& keys) {
    double scale = 0;
    if (w_.Attribute("scale") != nullptr) {
      scale = static_cast<double>(w_.Float("scale", 1));
    } else {
      if (q.dim < 1) w_.Refuse("input 0 'Q'", "the size of its heads must be known where there is no scale");
      scale = 1 / std::sqrt(static_cast<double>(q.dim));
    }
    const IrRef queries = w_.Converted(q.value, computed_);
    const IrRef scaled = w_.Binary("Multiply", queries, w_.Scalar("scale", computed_, scale), *queries.type);
    return w_.Step("scores", "MatMul", "opset1", {scaled, keys}, {{"transpose_a", "false"}, {"transpose_b", "true"}},
                   Scores(computed_));
  }

  void Show(int64_t stage, const IrRef& scores) {
    if (stage == stage_ && w_.Gives(3)) w_.Alias(3, w_.Converted(scores, w_.OutputType(3).element));
  }

  IrRef AxisSize(const IrRef& value, int64_t axis) { return w_.SizeAt(w_.ShapeOf(value), axis, true); }

  // With what the mask adds. Keys behind a shorter mask are not seen.
  IrRef Biased(const IrRef& scores, const IrRef& keys) {
    if (!w_.Has(3)) return scores;
    hides_ = true;
    const int rank = w_.Rank(3);
    if (rank < 1) w_.Refuse("input 3 'attn_mask'", "has no axes");
    IrType type = w_.Type(3);
    type.element = computed_;
    IrRef bias =
        w_.Element(3) == TensorType::kBool
            ? w_.Step("bias", "Select", "opset1", {w_.In(3), w_.Scalar("zero", computed_, 0), Lowest()}, kNumpy, type)
            : w_.Converted(w_.In(3), computed_);
    if (type.dims.back() < 0 || type.dims.back() != keys.type->dims[2]) {
      const std::vector<int64_t> none(static_cast<size_t>(rank), 0);
      const IrRef missing =
          w_.Binary("Subtract", AxisSize(keys, 2), AxisSize(bias, rank - 1), IrType::Tensor(TensorType::kInt64, {1}));
      const IrRef end = w_.Step("behind", "Concat", "opset1", {w_.Int64s("none", std::span(none).subspan(1)), missing},
                                {{"axis", "0"}}, IrType::Tensor(TensorType::kInt64, {rank}));
      type.dims.back() = keys.type->dims[2];
      bias = w_.Step("padded", "Pad", "opset1", {bias, w_.Int64s("before", none), end, Lowest()},
                     {{"pad_mode", "constant"}}, type);
    }
    return w_.Binary("Add", scores, bias, Scores(computed_));
  }

  // 0, 1, ... along `axis` of four; as many as `size`, a vector of one, says.
  IrRef Positions(const IrRef& size, size_t axis) {
    const IrRef all =
        w_.Step("positions", "Range", "opset4", {w_.Int64("from", 0), w_.AsScalar(size), w_.Int64("step", 1)},
                {{"output_type", "i64"}}, IrType::Tensor(TensorType::kInt64, {-1}));
    std::vector<int64_t> shape(4, 1);
    shape[axis] = -1;
    return w_.Reshaped(all, shape);
  }

  // With -infinity for keys too far before or behind a query's own position, and beyond the valid ones.
  IrRef Hidden(const Heads& q, const IrRef& keys, IrRef scores) {
    const int64_t left = w_.Int("left_window_size", -1), right = w_.Int("right_window_size", -1);
    const bool causal = w_.Int("is_causal", 0) != 0, has_valid = w_.Has(6);
    if (left < 0 && right < 0 && !causal && !has_valid) return scores;
    hides_ = true;
    const IrType wide = Scores(TensorType::kInt64);
    const IrRef length = AxisSize(q.value, 2), at = Positions(AxisSize(keys, 2), 3);
    const auto where = [&](std::string_view test, const IrRef& a, const IrRef& b) {
      const IrRef seen = w_.Binary(test, a, b, Scores(TensorType::kBool));
      scores = w_.Step("seen", "Select", "opset1", {seen, scores, Lowest()}, kNumpy, Scores(computed_));
    };
    IrRef own = Positions(length, 2), valid;
    if (w_.Has(4)) own = w_.Binary("Add", own, AxisSize(w_.In(4), 2), wide);
    if (has_valid) {
      valid = w_.Reshaped(w_.In(6), {-1, 1, 1, 1});
      own = w_.Binary("Add", own, w_.Binary("Subtract", valid, length, wide), wide);
      where("Less", at, valid);
    }
    const auto moved = [&](int64_t by) { return w_.Binary("Add", own, w_.Int64("window", by), wide); };
    if (causal || right >= 0) where("LessEqual", at, moved(causal ? 0 : right));
    if (left >= 0) where("GreaterEqual", at, moved(-left));
    return scores;
  }

  // A query that sees no key gets zeros: its powers are all 0, which the sum is not taken to be. Other sums are 1 or
  // more, the greatest power being 1.
  IrRef Weights(const IrRef& scores) {
    if (!hides_) return w_.Step("weights", "SoftMax", "opset8", {scores}, {{"axis", "-1"}}, Scores(computed_));
    const IrData keeps{{"keep_dims", "true"}};
    const IrRef axis = w_.Int64s("last", {-1});
    const IrRef greatest = w_.Step("greatest", "ReduceMax", "opset1", {scores, axis}, keeps, Scores(computed_));
    const double least = computed_ == TensorType::kDouble ? std::numeric_limits<double>::lowest()
                                                          : double{std::numeric_limits<float>::lowest()};
    const IrRef shift = w_.Binary("Maximum", greatest, w_.Scalar("least", computed_, least), Scores(computed_));
    const IrRef power = w_.Step("power", "Exp", "opset1", {w_.Binary("Subtract", scores, shift, Scores(computed_))}, {},
                                Scores(computed_));
    const IrRef sum = w_.Step("sum", "ReduceSum", "opset1", {power, axis}, keeps, Scores(computed_));
    return w_.Binary("Divide", power, w_.Binary("Maximum", sum, w_.Scalar("one", computed_, 1), Scores(computed_)),
                     Scores(computed_));
  }

  void Finish(const IrRef& weights, const IrRef& values) {
    const IrData plain{{"transpose_a", "false"}, {"transpose_b", "false"}};
    const TensorType type = w_.OutputType(0).element;
    const bool joins = w_.Rank(0) == 3;
    if (!joins && type == computed_) return w_.Finish("MatMul", "opset1", {weights, values}, plain);
    const IrRef product = w_.Step("product", "MatMul", "opset1", {weights, values}, plain, Scores(computed_));
    if (!joins)
      return w_.Finish("Convert", "opset1", {product}, {{"destination_type", std::string(IrElementName(type))}});
    w_.Finish("Reshape", "opset1",
              {w_.Transposed(w_.Converted(product, type), kHeadsInside), w_.Int64s("joined", {0, 0, -1})},
              {{"special_zero", "true"}});
  }

  IrRef Lowest() { return w_.Scalar("hidden", computed_, -std::numeric_limits<double>::infinity()); }

  IrNodeWriter& w_;
  const TensorType computed_;
  const int64_t stage_;  // which scores are output 3
  bool hides_ = false;
};

}  // namespace

void WriteAttention(IrNodeWriter& w) { AttentionWriter(w).Write(); }

}  // namespace ONNX_LIGHT_NAMESPACE
