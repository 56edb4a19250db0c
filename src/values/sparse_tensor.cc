// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/checked.h"
#include "onnxseq/errors.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The dense form is the one place where a message of a few bytes could ask for any amount of memory.
constexpr int64_t kMaxDenseBytes = int64_t{1} << 30;

}  // namespace

Tensor TensorFromSparse(const SparseTensorProto& proto) {
  const ErrorWhere where{.op_type = {},
                         .node_name = {},
                         .subject = fmt::format("sparse tensor \"{}\"", proto.values().name().as_string()),
                         .path = {}};
  const auto fail = [&](std::string fact) { throw InvalidArgument(std::move(fact), where); };

  const Tensor values = TensorFromProto(proto.values());
  const Tensor indices = TensorFromProto(proto.indices());
  const Shape shape(std::span<const int64_t>(proto.dims().data(), proto.dims().size()));
  const int rank = shape.rank();
  const auto elements = CheckedProduct(shape.dims());
  if (!elements) fail(fmt::format("has dims {} that are negative or too large", shape.ToString()));
  if (rank == 0) fail("has no dims");
  if (values.rank() != 1) fail(fmt::format("has values {}, expected one dim", values.TypeString()));
  const int64_t count = values.dim(0);
  const bool linear = indices.rank() == 1;
  if (indices.dtype() != TensorType::kInt64 || indices.rank() < 1 || indices.rank() > 2 || indices.dim(0) != count ||
      (!linear && indices.dim(1) != rank))
    fail(fmt::format("has indices {}, expected tensor(int64)[{}] or tensor(int64)[{},{}]", indices.TypeString(), count,
                     count, rank));
  const size_t width = onnx_optim::BytesOf(values.dtype());
  if (*elements > kMaxDenseBytes / static_cast<int64_t>(width))
    throw Unsupported(
        fmt::format("{} is over 1 GiB in dense form", onnx_optim::ToTypeString(values.dtype()) + shape.ToString()),
        where);

  Tensor dense(values.dtype(), shape);
  if (values.dtype() != TensorType::kString) std::memset(dense.mutable_data(), 0, dense.ByteSize());
  const std::span<const int64_t> index = indices.View<int64_t>();
  int64_t last = -1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    if (linear) {
      at = index[static_cast<size_t>(i)];
      if (at < 0 || at >= *elements) fail(fmt::format("has index {}, expected 0 to {}", at, *elements - 1));
    } else {
      for (int axis = 0; axis < rank; ++axis) {
        const int64_t along = index[static_cast<size_t>(i * rank + axis)];
        if (along < 0 || along >= shape[axis])
          fail(fmt::format("has index {} along axis {}, expected 0 to {}", along, axis, shape[axis] - 1));
        at = at * shape[axis] + along;
      }
    }
    if (at <= last) fail(fmt::format("has index {} after index {}: indices must ascend", at, last));
    last = at;
    if (values.dtype() == TensorType::kString) {
      dense.MutableView<std::string>()[static_cast<size_t>(at)] = values.View<std::string>()[static_cast<size_t>(i)];
    } else {
      std::memcpy(static_cast<char*>(dense.mutable_data()) + static_cast<size_t>(at) * width,
                  static_cast<const char*>(values.data()) + static_cast<size_t>(i) * width, width);
    }
  }
  return dense;
}

}  // namespace ONNX_LIGHT_NAMESPACE
