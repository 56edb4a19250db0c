// SPDX-License-Identifier: Apache-2.0
// What the operators of ai.onnx.ml share: rows of features, labels of classes, transforms of scores.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kMlNumberTypes{TensorType::kFloat, TensorType::kDouble, TensorType::kInt64,
                                        TensorType::kInt32};
inline constexpr TypeSet kMlLabelTypes{TensorType::kString, TensorType::kInt64};

// A vector of these elements.
template <class T>
Tensor VectorOf(const std::vector<T>& values) {
  return Tensor::Of<T>(Shape{static_cast<int64_t>(values.size())}, std::span<const T>(values));
}

// The labels in exactly one of two attributes (InvalidArgument otherwise): a vector of int64 or strings.
Tensor ReadLabels(const NodeAttributes& attrs, std::string_view ints, std::string_view strings);
// The same as a map from each label to its place.
struct LabelPlaces : OpState {
  explicit LabelPlaces(const Tensor& labels);
  Map places;
};
// How many there are, and of which type, without reading them.
int64_t CountLabels(const NodeAttributes& attrs, std::string_view ints, std::string_view strings);
TensorType LabelType(const NodeAttributes& attrs, std::string_view strings);
// Output `i`: labels[best[r]] for each row.
void SetLabels(RunContext& ctx, int i, const Tensor& labels, std::span<const int64_t> best);

// Input 0, a vector being one row, as `type`. InvalidArgument for another rank.
struct MlRows {
  Tensor x;  // [count, features]
  int64_t count = 0;
  int64_t features = 0;
};
MlRows ReadRows(const RunContext& ctx, TensorType type);
// The rows of input 0 as a shape rule sees them.
OptimDim RowsDim(InferScope& scope);

enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
// Attribute 'post_transform', by name or (TreeEnsemble) by number.
PostTransform ReadPostTransform(const NodeAttributes& attrs);
PostTransform ReadPostTransformNumber(const NodeAttributes& attrs);
// In place, on one row of scores. Softmax over the row; SOFTMAX_ZERO the same for the scores that are not about 0,
// which stay, and 0.5 each when all are; PROBIT the quantile of the normal distribution, infinite at 0 and 1, NaN
// outside.
void Transform(PostTransform transform, std::span<float> row);
void Transform(PostTransform transform, std::span<double> row);

// attribute 'a' must have as many elements as attribute 'b': InvalidArgument naming both and their sizes.
void CheckSameSize(std::string_view name, size_t size, std::string_view other, size_t other_size);

}  // namespace ONNX_LIGHT_NAMESPACE
