// SPDX-License-Identifier: Apache-2.0
// Whole numbers with a scale, as the arithmetic they stand for: IR has no layer that is exactly this.
#include <fmt/format.h>

#include <limits>

#include "openvino_io/ir_write_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

const IrData kNumpy{{"auto_broadcast", "numpy"}};

struct Bounds {
  double least, greatest;
};
std::optional<Bounds> BoundsOf(TensorType type) {
  const auto of = []<class T>(T) { return Bounds{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}; };
  if (type == TensorType::kInt8) return of(int8_t());
  if (type == TensorType::kUint8) return of(uint8_t());
  if (type == TensorType::kInt16) return of(int16_t());
  if (type == TensorType::kUint16) return of(uint16_t());
  return std::nullopt;
}

// Scales and zero points: one for all, or one for each place along the axis.
class Parameters {
 public:
  explicit Parameters(IrNodeWriter& w) : w_(w), axis_(w.Int("axis", 1)) {
    if (w.Int("block_size", 0) != 0) w.RefuseAttribute("block_size", "blocks are no layer's");
    const IrType scale = w.Type(1);
    if (scale.rank() != 0 && (scale.rank() != 1 || scale.dims[0] < 0))
      w.Refuse("input 1", "must be a scalar or a vector of known size");
    one_ = scale.rank() == 0 || scale.dims[0] == 1;
    if (one_) return;
    shape_.assign(static_cast<size_t>(w.Rank(0)), 1);
    const int64_t at = w.Axis(axis_, w.Type(0));
    if (at >= w.Rank(0)) w.RefuseAttribute("axis", fmt::format("{} is no axis of rank {}", axis_, w.Rank(0)));
    shape_[static_cast<size_t>(at)] = scale.dims[0];
  }
  // Input i of this type, to be broadcast.
  IrRef Get(int i, TensorType type) const {
    const IrRef value = w_.Converted(w_.In(i), type);
    return one_ ? w_.AsScalar(value) : w_.Reshaped(value, shape_);
  }

 private:
  IrNodeWriter& w_;
  int64_t axis_;
  bool one_ = true;
  std::vector<int64_t> shape_;
};

IrType Like(const IrRef& value, TensorType type) {
  return {.element = type, .ranked = value.type->ranked, .dims = value.type->dims};
}

}  // namespace

void WriteQuantizeLinear(IrNodeWriter& w) {
  const TensorType type = w.OutputType(0).element, real = TensorType::kFloat;
  const std::optional<Bounds> bounds = BoundsOf(type);
  if (!bounds) w.Refuse("output 0", fmt::format("{} is not written", onnx_optim::TensorTypeName(type)));
  if (w.Element(0) != real || w.Element(1) != real) w.Refuse("", "x and y_scale must be float");
  if (w.Int("precision", 0) > 1) w.RefuseAttribute("precision", "must be float");
  w.Ignore("output_dtype");
  w.Ignore("saturate");  // of narrow floats
  const Parameters parameters(w);
  const IrRef x = w.In(0);
  const IrRef quotient = w.Binary("Divide", x, parameters.Get(1, real), Like(x, real));
  IrRef whole = w.Step("whole", "Round", "opset5", {quotient}, {{"mode", "half_to_even"}}, Like(x, real));
  if (w.Has(2)) whole = w.Binary("Add", whole, parameters.Get(2, real), Like(x, real));
  const IrRef held = w.Step("held", "Clamp", "opset1", {whole},
                            {{"min", IrText(bounds->least)}, {"max", IrText(bounds->greatest)}}, Like(x, real));
  w.Finish("Convert", "opset1", {held}, {{"destination_type", std::string(IrElementName(type))}});
}

void WriteDequantizeLinear(IrNodeWriter& w) {
  const TensorType type = w.Element(0), real = w.OutputType(0).element;
  if (real != TensorType::kFloat) w.Refuse("output 0", "must be float");
  // Of 32 bits the difference would be rounded.
  if (!BoundsOf(type) && (type != TensorType::kInt32 || w.Has(2)))
    w.Refuse("input 0 'x'", fmt::format("{}{} is not written", onnx_optim::TensorTypeName(type),
                                        w.Has(2) ? " with a zero point" : ""));
  w.Ignore("output_dtype");
  const Parameters parameters(w);
  IrRef x = w.Converted(w.In(0), real);
  if (w.Has(2)) x = w.Binary("Subtract", x, parameters.Get(2, real), Like(x, real));
  w.Finish("Multiply", "opset1", {x, parameters.Get(1, real)}, kNumpy);
}

}  // namespace ONNX_LIGHT_NAMESPACE
