// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "commands.h"
#include "json_text.h"
#include "onnx_optim/tensor_type.h"
#include "onnxseq/versions.h"
#include "ops/internal/internal_domain.h"
#include "ops/op_def.h"
#include "passes/batch/batch_rules.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string DomainName(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

std::string_view KindName(FormalKind kind) {
  switch (kind) {
    case FormalKind::kTensor:
      return "tensor";
    case FormalKind::kSequence:
      return "sequence";
    case FormalKind::kTensorOrSequence:
      return "tensor or sequence";
    case FormalKind::kMap:
      return "map";
    case FormalKind::kSequenceOfMaps:
      return "sequence of maps";
    case FormalKind::kAny:
      break;
  }
  return "any value";
}

std::string_view KindName(AttrKind kind) {
  constexpr std::string_view kNames[] = {"int",     "float",  "string", "ints", "floats",
                                         "strings", "tensor", "graph",  "type", "sparse tensor"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<std::string> TypeNames(TypeSet types) {
  std::vector<std::string> names;
  for (int i = 1; i < onnx_optim::kTensorTypeCount; ++i) {
    const auto type = static_cast<TensorType>(i);
    if (types.Has(type)) names.emplace_back(onnx_optim::TensorTypeName(type));
  }
  return names;
}

// Sets that have a name, largest first, then what is left one by one.
std::string TypesText(TypeSet types) {
  struct Named {
    std::string_view name;
    TypeSet types;
  };
  static const Named kNamed[] = {{"all", kAllTypes},          {"native", kNativeTypes},       {"float8", kFloat8Types},
                                 {"numeric", kNumericTypes},  {"floating", kFloatTypes},      {"integer", kIntTypes},
                                 {"signed", kSignedIntTypes}, {"unsigned", kUnsignedIntTypes}};
  std::string text;
  const auto add = [&](std::string_view name) { text += (text.empty() ? "" : ", ") + std::string(name); };
  for (const Named& named : kNamed) {
    if ((types.bits & named.types.bits) != named.types.bits) continue;
    add(named.name);
    types.bits &= ~named.types.bits;
  }
  for (const std::string& name : TypeNames(types)) add(name);
  return text;
}

// "X: floating; min?: numeric"
std::string FormalsText(const std::vector<Formal>& formals) {
  std::string out;
  for (const Formal& formal : formals) {
    const char* mark = formal.count == FormalCount::kOptional   ? "?"
                       : formal.count == FormalCount::kVariadic ? "..."
                                                                : "";
    out += fmt::format("{}`{}{}` ", out.empty() ? "" : "; ", formal.name, mark);
    if (formal.kind == FormalKind::kAny) {
      out += KindName(formal.kind);
    } else {
      if (formal.kind != FormalKind::kTensor) out += fmt::format("{} of ", KindName(formal.kind));
      out += TypesText(formal.types);
    }
  }
  return out;
}

// How an operator is computed, and how its shapes are inferred.
std::string_view KernelText(const OpDef& op) {
  if (op.body != nullptr) return "nodes of others";
  return op.elementwise != 0 ? "elementwise" : "own";
}
// By which rule a SequenceMap batches it.
std::string_view BatchingText(const OpDef& op) {
  if (op.body != nullptr) return "of those nodes";
  const std::string_view rule = FindBatchRule(op).name;
  return rule.empty() ? "by element" : rule;
}
std::string_view ShapeText(const OpDef& op) { return op.body != nullptr ? "of those nodes" : "own"; }

void EmitFormals(JsonText& json, std::string_view key, const std::vector<Formal>& formals) {
  json.Key(key);
  json.Array();
  for (const Formal& formal : formals) {
    json.Object();
    json.Key("name");
    json.String(formal.name);
    json.Key("kind");
    json.String(KindName(formal.kind));
    json.Key("optional");
    json.Bool(formal.count == FormalCount::kOptional);
    json.Key("variadic");
    json.Bool(formal.count == FormalCount::kVariadic);
    json.Key("types");
    json.Array();
    for (const std::string& name : TypeNames(formal.types)) json.String(name);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

using Versions = std::vector<const OpDef*>;
using ByName = std::map<std::pair<std::string, std::string>, Versions>;

void PrintJson(const ByName& by_name) {
  JsonText json;
  json.Array();
  for (const auto& [name, versions] : by_name) {
    json.Object();
    json.Key("domain");
    json.String(name.first);
    json.Key("op_type");
    json.String(name.second);
    json.Key("since_versions");
    json.Array();
    for (const OpDef* op : versions) json.Int(op->since_version);
    json.EndArray();
    json.Key("versions");
    json.Array();
    for (const OpDef* op : versions) {
      json.Object();
      json.Key("since_version");
      json.Int(op->since_version);
      EmitFormals(json, "inputs", op->inputs);
      EmitFormals(json, "outputs", op->outputs);
      json.Key("attributes");
      json.Array();
      for (const AttrDef& attribute : op->attributes) {
        json.Object();
        json.Key("name");
        json.String(attribute.name);
        json.Key("kind");
        json.String(KindName(attribute.kind));
        json.Key("required");
        json.Bool(attribute.required);
        json.EndObject();
      }
      json.EndArray();
      json.Key("shape");
      json.String(ShapeText(*op));
      json.Key("kernel");
      json.String(KernelText(*op));
      json.Key("batching");
      json.String(BatchingText(*op));
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  fmt::print("{}\n", json.text());
}

void PrintMarkdown(const ByName& by_name) {
  fmt::print(
      "# Operators\n\n"
      "Made in the build from the operator table (`make docs`). {} operators, opsets of ai.onnx up to {}.\n\n"
      "* **types**: of each input, then of each output; `?` marks an optional one, `...` any number. all: native and "
      "those "
      "narrower than a byte or float8; native: numbers, bool, string, complex; float8: the four float8 types; numeric: "
      "floating and integer; floating: float, double, float16, bfloat16; integer: signed and "
      "unsigned, of 8 to 64 bits.\n"
      "* **shape**: where the shapes are inferred: by a rule of its own, or by those of the nodes it stands for. Every "
      "operator has one.\n"
      "* **kernel**: *elementwise*: one loop over the elements, which passes fuse with those of its neighbours; *own*; "
      "*nodes of others*: the operator is written out as nodes of other operators when a model is loaded.\n"
      "* **batching**: the rule by which a SequenceMap runs the node in its body for all elements at once "
      "([sequence-map.md](sequence-map.md)); *by element*: for one element after the other.\n",
      by_name.size(), kMaxOpset);
  std::string domain;
  for (const auto& [name, versions] : by_name) {
    if (name.first != domain) {
      domain = name.first;
      fmt::print("\n## {}\n\n| operator | since | types | shape | kernel | batching |\n|---|---|---|---|---|---|\n",
                 domain);
    }
    for (const OpDef* op : versions) {
      const std::string inputs = FormalsText(op->inputs);
      fmt::print("| {} | {} | {}{}to {} | {} | {} | {} |\n", name.second, op->since_version, inputs,
                 inputs.empty() ? "" : ", ", FormalsText(op->outputs), ShapeText(*op), KernelText(*op),
                 BatchingText(*op));
    }
  }
}

}  // namespace

int OpsCommand(OpsFormat format) {
  ByName by_name;
  for (const OpDef* op : AllOps())
    if (op->domain != kInternalDomain) by_name[{DomainName(op->domain), std::string(op->type)}].push_back(op);
  if (format == OpsFormat::kJson) {
    PrintJson(by_name);
  } else if (format == OpsFormat::kMarkdown) {
    PrintMarkdown(by_name);
  } else {
    for (const auto& [name, versions] : by_name) {
      std::string since;
      for (const OpDef* op : versions) since += fmt::format("{}{}", since.empty() ? "" : ", ", op->since_version);
      fmt::print("{:<26} {:<28} {}\n", name.first, name.second, since);
    }
  }
  return 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
