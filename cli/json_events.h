// SPDX-License-Identifier: Apache-2.0
// Results as JSON events. What is said, and in which form, is written once here; a sink makes text of it (JsonText, for
// the program) or objects (the Python package).
//
// A sink has Object(), Key(text), EndObject(), Array(), EndArray(), String(text), Int(number), Bool(flag), Null().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnxseq/shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

template <class Sink>
void EmitDim(Sink& sink, const OptimDim& dim) {
  dim.IsInt() ? sink.Int(dim.AsInt()) : sink.String(dim.AsExpr());
}

template <class Sink>
void EmitShape(Sink& sink, const OptimShape& shape) {
  if (shape.IsUnknown()) return sink.Null();
  sink.Array();
  for (const OptimDim& dim : shape) EmitDim(sink, dim);
  sink.EndArray();
}

template <class Sink>
void EmitText(Sink& sink, std::string_view key, std::string_view text) {
  sink.Key(key);
  sink.String(text);
}

template <class Sink>
void EmitShapeValue(Sink& sink, const onnx_optim::shapes::ShapeValue& value) {
  using Kind = onnx_optim::shapes::ShapeValue::Kind;
  sink.Object();
  switch (value.kind()) {
    case Kind::kUnknown:
      EmitText(sink, "kind", "unknown");
      break;
    case Kind::kTensor:
    case Kind::kSparse:
      EmitText(sink, "kind", value.IsTensor() ? "tensor" : "sparse");
      EmitText(sink, "dtype", onnx_optim::NumpyTypeName(value.Dtype()));
      sink.Key("shape");
      EmitShape(sink, value.Shape());
      if (value.IsTensor() && value.HasFullValue()) {
        sink.Key("value");
        sink.Array();
        for (const auto& element : *value.Elements()) EmitDim(sink, *element);
        sink.EndArray();
      }
      break;
    case Kind::kSequence: {
      const auto& sequence = value.SequenceOf();
      EmitText(sink, "kind", "sequence");
      sink.Key("length");
      EmitDim(sink, sequence.length);
      sink.Key("elem");
      EmitShapeValue(sink, sequence.elem);
      if (sequence.elements) {
        sink.Key("elements");
        sink.Array();
        for (const auto& element : *sequence.elements) EmitShapeValue(sink, element);
        sink.EndArray();
      }
      break;
    }
    case Kind::kOptional:
      EmitText(sink, "kind", "optional");
      sink.Key("elem");
      EmitShapeValue(sink, value.Elem());
      sink.Key("present");
      value.Present() ? sink.Bool(*value.Present()) : sink.Null();
      break;
    case Kind::kMap:
      EmitText(sink, "kind", "map");
      EmitText(sink, "key", onnx_optim::NumpyTypeName(value.Dtype()));
      sink.Key("value");
      EmitShapeValue(sink, value.Elem());
      break;
  }
  sink.EndObject();
}

template <class Sink>
void EmitProblems(Sink& sink, const std::vector<ShapeProblem>& problems) {
  sink.Key("problems");
  sink.Array();
  for (const ShapeProblem& problem : problems) {
    sink.Object();
    EmitText(sink, "level", problem.is_error ? "error" : "warning");
    EmitText(sink, "message", problem.message);
    sink.EndObject();
  }
  sink.EndArray();
}

// The whole result: {"model", "values", "subgraphs", "problems"}.
template <class Sink>
void EmitInferredShapes(Sink& sink, std::string_view model, const InferredShapes& shapes) {
  const auto values = [&](const InferredGraph& graph) {
    sink.Key("values");
    sink.Object();
    for (const auto& [name, value] : graph.values) {
      sink.Key(name);
      EmitShapeValue(sink, value);
    }
    sink.EndObject();
  };
  sink.Object();
  EmitText(sink, "model", model);
  values(shapes.graphs.empty() ? InferredGraph{} : shapes.graphs.front());
  sink.Key("subgraphs");
  sink.Array();
  for (size_t i = 1; i < shapes.graphs.size(); ++i) {
    sink.Object();
    EmitText(sink, "path", shapes.graphs[i].path);
    values(shapes.graphs[i]);
    sink.EndObject();
  }
  sink.EndArray();
  EmitProblems(sink, shapes.problems);
  sink.EndObject();
}

}  // namespace ONNX_LIGHT_NAMESPACE
