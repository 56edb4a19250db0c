// SPDX-License-Identifier: Apache-2.0
// What operators of the domain com.microsoft share: those onnxruntime's optimizers and quantizers write into models.
// The domain has one version, in which operators have grown formals; the definitions hold all of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/node_attributes.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr TypeSet kFloatOrHalf{TensorType::kFloat, TensorType::kFloat16};
inline constexpr TypeSet kFloat32{TensorType::kFloat};
inline constexpr TypeSet kInt32{TensorType::kInt32};

inline Formal Optional(std::string_view name, TypeSet types, std::string_view type_var = {}) {
  return {.name = name, .types = types, .type_var = type_var, .count = FormalCount::kOptional};
}
inline bool HasInput(const NodeProto& node, int i) { return i < node.input_size() && !node.input(i).empty(); }
inline bool HasOutput(const NodeProto& node, int i) { return i < node.output_size() && !node.output(i).empty(); }

// Unsupported about a part of the node at hand.
[[noreturn]] void FailUnsupported(std::string subject, std::string fact);
// The same, "is not supported", where the node has the attribute with another value than 0, the input or the output.
void RefuseAttribute(const NodeAttributes& attrs, std::string_view name);
void RefuseInput(const NodeProto& node, int i, std::string_view name);
void RefuseOutput(const NodeProto& node, int i, std::string_view name);

// The definition of ai.onnx's operator that is in `ops` with this version, for com.microsoft's of the same meaning.
OpDef MicrosoftVersion(std::span<const OpDef> ops, int since_version, std::string_view type);

// For bodies
// ----------------------------------------------------------------------------------------------------------------------

// `to` = the quantised tensor `x` with x_scale and x_zero_point (which may be an absent input) as floats.
std::string DequantizeText(std::string_view to, std::string_view x);
// `y` = `from` with y_scale and y_zero_point, input `zero_point` of the node; in the element type of `like` where that
// is absent. Throws Unsupported for an absent one before operator set 15, which cannot say that.
std::string QuantizeText(const NodeProto& node, int zero_point, int64_t opset, std::string_view from,
                         std::string_view y, std::string_view like);
// Definition of a quantised operator of one operand.
OpDef QuantizedUnaryOp(std::string_view type, std::vector<AttrDef> attributes,
                       std::string (*body)(const NodeProto&, int64_t));
// Its body. A body of (X, its scale and zero point, those of Y) => Y: `nodes` make floats y of floats x.
std::string QuantizedUnaryText(const NodeProto& node, int64_t opset, std::string_view nodes);
// `to` = `from` with its channels moved from the end of `rank` axes to the second place, or back; of any rank for 0.
std::string ChannelsFirstText(std::string_view to, std::string_view from, size_t rank);
std::string ChannelsLastText(std::string_view to, std::string_view from, size_t rank);
// A number that is read back as the same float.
std::string FloatText(float value);
// Three equal parts, or those of the given sizes, of the last axis.
std::string SplitInThreeText(int64_t opset, std::string_view from, std::string_view to, std::string_view sizes);
// The activation named by a fused operator: " y = Relu (from)". InvalidArgument about attribute 'activation' for a name
// there is no rule for. `alpha` and `beta` are written into it where the function has them, its own when nan.
std::string ActivationText(const NodeProto& node, int64_t opset, std::string_view from, std::string_view y, float alpha,
                           float beta);

}  // namespace ONNX_LIGHT_NAMESPACE
