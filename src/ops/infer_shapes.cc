// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/errors.h"
#include "onnxseq/shapes.h"
#include "ops/declared_types.h"
#include "ops/infer_graph.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::Precision;
using onnx_optim::shapes::Problem;

namespace {

// A dim as a user writes it: a number, "?" or nothing for an unknown one, a name or an expression.
OptimDim ReadDim(const std::string& text, ShapesContext& ctx) {
  if (text.empty() || text == "?") return ctx.FreshDim();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (number < 0) throw InvalidArgument(fmt::format("has a negative dim, {}", number));
    return OptimDim(number);
  }
  OptimDim dim(text);
  for (const std::string& symbol : onnx_optim::Symbols(dim)) ctx.DeclareSymbol(symbol);
  return dim;
}

std::string NoTensorInput(const std::string& name, const ValueInfoProto* input) {
  return fmt::format("shape of \"{}\": {}", name,
                     input == nullptr ? "the model has no such input" : "the input is no tensor");
}

// The given dims say otherwise than a number that is declared: then other declared numbers need not hold either.
bool Replaces(const OptimDim& dim, const TensorShapeProto::Dimension& declared) {
  return declared.has_dim_value() && dim != OptimDim(declared.dim_value());
}

// Puts in what the options set; true when declared numbers were replaced.
bool Override(ShapesContext& ctx, const GraphProto& graph, const ShapeOptions& options) {
  bool replaced = false;
  for (const ValueInfoProto& input : graph.input()) DeclareSymbols(input.type(), ctx);
  for (const auto& [symbol, value] : options.dims) {
    if (value < 0) {
      ctx.AddProblem(Problem::Level::kError, fmt::format("dim '{}': has a negative size, {}", symbol, value));
    } else if (!ctx.IsKnownSymbol(symbol)) {
      ctx.AddProblem(Problem::Level::kWarning, fmt::format("dim '{}': no input of the model has it", symbol));
    } else {
      ctx.AddConstraint(OptimDim::Symbol(symbol), value, "the given dims");
    }
  }
  for (const auto& [name, dims] : options.shapes) {
    const ValueInfoProto* input = nullptr;
    for (const ValueInfoProto& candidate : graph.input()) {
      if (candidate.name() == name) input = &candidate;
    }
    if (input == nullptr || !input->type().has_tensor_type()) {
      ctx.AddProblem(Problem::Level::kError, NoTensorInput(name, input));
      continue;
    }
    try {
      std::vector<OptimDim> shape;
      for (const std::string& dim : dims) shape.push_back(ReadDim(dim, ctx));
      ShapeValue value = ShapeValue::Tensor(onnx_optim::DataTypeToTensorType(input->type().tensor_type().elem_type()),
                                            OptimShape(std::move(shape)));
      const auto& declared = input->type().tensor_type();
      if (declared.has_shape() && declared.shape().dim().size() != dims.size()) {
        ctx.AddProblem(Problem::Level::kError, fmt::format("shape of \"{}\": has {} dims, declared {}", name,
                                                           dims.size(), DescribeType(input->type())));
        continue;
      }
      // What a dim was named holds wherever else the name stands.
      for (size_t i = 0; declared.has_shape() && i < value.Shape().Rank(); ++i) {
        const auto& before = declared.shape().dim(i);
        replaced = replaced || Replaces(value.Shape()[i], before);
        if (before.has_dim_param() && ctx.IsKnownSymbol(before.dim_param()))
          ctx.AddConstraint(value.Shape()[i], OptimDim::Symbol(before.dim_param()), "the given shapes");
      }
      ctx.SetValue(name, std::move(value));
    } catch (const Error& e) {
      ctx.AddProblem(Problem::Level::kError, fmt::format("shape of \"{}\": {}", name, e.what()));
    }
  }
  return replaced;
}

void ForgetShape(TypeProto& type) {
  if (type.has_sequence_type()) return ForgetShape(type.ref_sequence_type().ref_elem_type());
  if (type.has_optional_type()) return ForgetShape(type.ref_optional_type().ref_elem_type());
  if (type.has_tensor_type()) type.ref_tensor_type().clear_shape();
}

void ForgetShapesOfBodies(RepeatedMessages<NodeProto>& nodes);

// Leaves kinds and element types of what the graph and its bodies declare of values inside and outputs.
void ForgetShapes(GraphProto& graph, bool inputs) {
  for (auto* infos : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (ValueInfoProto& info : *infos)
      if (info.has_type() && (inputs || infos != &graph.input())) ForgetShape(info.ref_type());
  }
  ForgetShapesOfBodies(graph.node());
}

void ForgetShapesOfBodies(RepeatedMessages<NodeProto>& nodes) {
  for (NodeProto& node : nodes) {
    for (AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) ForgetShapes(attribute.ref_g(), true);
      for (GraphProto& body : attribute.graphs()) ForgetShapes(body, true);
    }
  }
}

using Replacements = std::map<std::string, OptimDim>;

void SetDim(const OptimDim& dim, TensorShapeProto::Dimension& to) {
  if (dim.IsInt()) {
    to.set_dim_value(dim.AsInt());
  } else {
    to.set_dim_param(dim.AsExpr());
  }
}

// Gives the input its dims; the symbols it declared them by get the same ones. True when it replaces a declared number.
bool SetShape(ValueInfoProto& input, const std::vector<std::string>& dims, ShapesContext& ctx, Replacements& symbols) {
  auto& tensor = input.ref_type().ref_tensor_type();
  if (tensor.has_shape() && tensor.shape().dim().size() != dims.size()) {
    throw InvalidArgument(fmt::format("shape of \"{}\": has {} dims, declared {}", input.name().as_string(),
                                      dims.size(), DescribeType(input.type())));
  }
  auto& shape = tensor.ref_shape();
  while (shape.dim().size() < dims.size()) shape.add_dim();
  bool replaced = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    auto& declared = shape.dim()[i];
    if (dims[i].empty() || dims[i] == "?") {
      replaced = replaced || declared.has_dim_value();
      declared.clear_value();
      continue;
    }
    const OptimDim dim = ReadDim(dims[i], ctx);
    if (declared.has_dim_param() && ctx.IsKnownSymbol(declared.dim_param())) symbols.emplace(declared.dim_param(), dim);
    replaced = replaced || Replaces(dim, declared);
    SetDim(dim, declared);
  }
  return replaced;
}

void ReplaceSymbols(TypeProto& type, const ShapesContext& ctx, const Replacements& symbols) {
  if (type.has_sequence_type()) return ReplaceSymbols(type.ref_sequence_type().ref_elem_type(), ctx, symbols);
  if (type.has_optional_type()) return ReplaceSymbols(type.ref_optional_type().ref_elem_type(), ctx, symbols);
  if (!type.has_tensor_type() || !std::as_const(type).tensor_type().has_shape()) return;
  for (auto& dim : type.ref_tensor_type().ref_shape().dim()) {
    if (!dim.has_dim_param()) continue;
    const OptimDim before =
        onnx_optim::DimFromParam(dim.dim_param(), [&](std::string_view name) { return ctx.IsKnownSymbol(name); });
    const OptimDim after = onnx_optim::Substitute(before, [&](const std::string& symbol) {
      const auto it = symbols.find(symbol);
      return it == symbols.end() ? std::nullopt : std::optional(it->second);
    });
    if (!(after == before)) SetDim(after, dim);
  }
}

}  // namespace

void WriteShapes(ModelProto& model, const ShapeOptions& options) {
  if (!std::as_const(model).has_graph()) throw InvalidArgument("the model has no graph");
  GraphProto& graph = model.ref_graph();
  ShapesContext ctx;
  for (const ValueInfoProto& input : graph.input()) DeclareSymbols(input.type(), ctx);
  Replacements symbols;
  bool replaced = false;
  for (const auto& [symbol, value] : options.dims) {
    if (value < 0) throw InvalidArgument(fmt::format("dim '{}': has a negative size, {}", symbol, value));
    symbols.emplace(symbol, OptimDim(value));
  }
  for (const auto& [name, dims] : options.shapes) {
    ValueInfoProto* input = nullptr;
    for (ValueInfoProto& candidate : graph.input())
      if (candidate.name() == name) input = &candidate;
    if (input == nullptr || !input->type().has_tensor_type()) throw InvalidArgument(NoTensorInput(name, input));
    replaced = SetShape(*input, dims, ctx, symbols) || replaced;
  }
  if (replaced) {
    ForgetShapes(graph, false);
    for (FunctionProto& function : model.functions()) {
      for (ValueInfoProto& info : function.value_info())
        if (info.has_type()) ForgetShape(info.ref_type());
      ForgetShapesOfBodies(function.node());
    }
  }
  if (!symbols.empty()) {
    for (auto* infos : {&graph.input(), &graph.output(), &graph.value_info()})
      for (ValueInfoProto& info : *infos)
        if (info.has_type()) ReplaceSymbols(info.ref_type(), ctx, symbols);
  }
  onnx_optim::shapes::InferShapesModel(model);
}

InferredShapes InferShapes(const ModelProto& model, const ShapeOptions& options) {
  InferredShapes result;
  ShapesContext ctx;
  ctx.SetPrecision(Precision::kExact);
  InferenceRecord record;
  InferredGraph& main = result.graphs.emplace_back();
  if (!model.has_graph()) {
    result.problems.push_back({true, "the model has no graph"});
    return result;
  }
  const bool replaced = Override(ctx, model.graph(), options);
  InferModel(ctx, model, &record, !replaced);
  for (const std::string& name : ctx.Names())
    main.values.emplace(name, InferScope::Simplified(ctx, ctx.GetValue(name)));
  for (BodyRecord& body : record.bodies) {
    InferredGraph& graph = result.graphs.emplace_back();
    graph.path = std::move(body.path);
    for (auto& [name, value] : body.values) graph.values.emplace(name, InferScope::Simplified(ctx, value));
  }
  for (const Problem& problem : ctx.Problems()) {
    result.problems.push_back({problem.level == Problem::Level::kError, problem.message});
  }
  return result;
}

}  // namespace ONNX_LIGHT_NAMESPACE
