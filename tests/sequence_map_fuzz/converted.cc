// SPDX-License-Identifier: Apache-2.0
#include "converted.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compare.h"
#include "elements.h"
#include "model/set_attribute.h"
#include "onnx_io/text_printer.h"
#include "onnxseq/model_io.h"
#include "ops/internal/internal_domain.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Declare(TypeProto::Tensor& type, TensorType dtype, const Shape& shape, int open, const std::string& symbol) {
  type.set_elem_type(onnx_optim::TensorTypeToDataType(dtype));
  TensorShapeProto& dims = *type.mutable_shape();
  dims.clear_dim();
  for (int i = 0; i < shape.rank(); ++i) {
    auto& dim = *dims.add_dim();
    if (i == open) {
      dim.set_dim_param(String(symbol));
    } else {
      dim.set_dim_value(shape[i]);
    }
  }
}

// The model that knows more, and what it is fed.
struct Told {
  ModelProto model;
  ValueMap feeds;
};

// Nothing when elements differ in more than one dim, or there are none.
std::optional<Told> Tell(const ModelProto& model, const ValueMap& feeds, int cut) {
  Told told{model, {}};
  GraphProto& graph = *told.model.mutable_graph();
  std::vector<std::vector<int64_t>> all_sizes;
  std::vector<NodeProto> cuts;
  for (ValueInfoProto& input : graph.input()) {
    const std::string name(input.name());
    const Value& value = feeds.at(name);
    if (value.IsTensor()) {
      told.feeds.emplace(name, value);
      continue;
    }
    const Sequence& sequence = value.sequence();
    std::optional<int> axis = sequence.empty() ? std::nullopt : DifferingAxis(sequence);
    if (!axis) return std::nullopt;
    if (*axis < 0 && cut < sequence[0].rank()) axis = cut;
    if (*axis < 0) {
      auto& element = *input.mutable_type()->mutable_sequence_type()->mutable_elem_type();
      Declare(*element.mutable_tensor_type(), sequence.dtype(), sequence[0].shape(), -1, "");
      told.feeds.emplace(name, value);
      continue;
    }
    std::vector<int64_t> sizes;
    for (const Tensor& element : sequence.elements()) sizes.push_back(element.dim(*axis));
    const auto same = std::ranges::find(all_sizes, sizes);
    NodeProto& split = cuts.emplace_back();
    split.set_op_type("SplitToSequence");
    split.add_input(String("all_" + name));
    split.add_input(String(fmt::format("sizes_{}", same - all_sizes.begin())));
    split.add_output(String(name));
    SetInt(split, "axis", *axis);
    if (same == all_sizes.end()) all_sizes.push_back(sizes);
    const Tensor joined = Joined(sequence.elements(), *axis);
    input.set_name(String("all_" + name));
    input.clear_type();
    Declare(*input.mutable_type()->mutable_tensor_type(), joined.dtype(), joined.shape(), *axis, "N_" + name);
    told.feeds.emplace("all_" + name, joined);
  }
  for (size_t k = 0; k < all_sizes.size(); ++k) {
    ValueInfoProto& input = *graph.add_input();
    const auto count = static_cast<int64_t>(all_sizes[k].size());
    input.set_name(String(fmt::format("sizes_{}", k)));
    Declare(*input.mutable_type()->mutable_tensor_type(), TensorType::kInt64, Shape{count}, 0, "K");
    told.feeds.emplace(input.name(), Tensor::Of<int64_t>(Shape{count}, std::span<const int64_t>(all_sizes[k])));
  }
  for (NodeProto& split : cuts) graph.node().insert(graph.node().begin(), std::move(split));
  return told;
}

std::vector<std::string> Run(const Told& told, const ModelProto& converted, const ValueMap& plain) {
  std::vector<std::string> wrong;
  for (const OperatorSetIdProto& import : converted.opset_import())
    if (import.domain() == kInternalDomain) wrong.emplace_back("operators that are not standard");
  SessionOptions options;
  options.threads = 1;
  try {
    const ValueMap outputs = Session::FromModel(converted, options).Run(told.feeds);
    for (const auto& [name, value] : plain)
      if (std::string text = Difference(outputs.at(name), value); !text.empty()) wrong.push_back(name + ": " + text);
  } catch (const std::exception& e) {
    wrong.push_back(fmt::format("the converted model ends with {}", e.what()));
  }
  return wrong;
}

}  // namespace

std::vector<std::string> CheckConverted(const ModelProto& model, const ValueMap& feeds, const ValueMap& plain, int cut,
                                        ConvertCounts& counts) {
  const std::optional<Told> told = Tell(model, feeds, cut);
  if (!told) return {};
  std::vector<std::string> notes;
  const ModelProto converted = BatchSequenceMaps(told->model, &notes);
  if (notes.empty()) return {"no note on a SequenceMap"};  // the first is on the outermost one, others on those in it
  constexpr std::string_view kLeft = "left as it is: ";
  if (const size_t at = notes[0].find(kLeft); at != std::string::npos) {
    ++counts.left;
    std::string reason = notes[0].substr(at + kLeft.size());
    if (const size_t node = reason.find(" node \""); node != std::string::npos)
      reason = reason.substr(0, node) + reason.substr(reason.find("\": ", node) + 1);
    ++counts.reasons[reason];
    return {};
  }
  ++counts.converted;
  std::vector<std::string> wrong = Run(*told, converted, plain);
  if (!wrong.empty()) wrong.push_back("of this graph:\n" + PrintGraphText(converted.graph()));
  return wrong;
}

}  // namespace ONNX_LIGHT_NAMESPACE
