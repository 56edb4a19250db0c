// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "commands.h"
#include "json_text.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string DomainName(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

std::string FormalNames(const std::vector<Formal>& formals) {
  std::string out;
  for (const Formal& formal : formals) {
    const char* mark = formal.count == FormalCount::kOptional   ? "?"
                       : formal.count == FormalCount::kVariadic ? "..."
                                                                : "";
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", formal.name, mark);
  }
  return out;
}

}  // namespace

int OpsCommand(OpsFormat format) {
  std::map<std::pair<std::string, std::string>, std::vector<const OpDef*>> by_name;
  for (const OpDef* op : AllOps()) by_name[{DomainName(op->domain), std::string(op->type)}].push_back(op);
  if (format == OpsFormat::kJson) {
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
      json.EndObject();
    }
    json.EndArray();
    fmt::print("{}\n", json.text());
    return 0;
  }
  if (format == OpsFormat::kMarkdown) {
    fmt::print(
        "# Operators\n\nWritten by `make docs` from the operator table. `?` marks an optional input or output, `...` "
        "any number.\n\n");
    fmt::print("| domain | operator | since versions | inputs | outputs |\n|---|---|---|---|---|\n");
  }
  for (const auto& [name, versions] : by_name) {
    std::string since;
    for (const OpDef* op : versions) since += fmt::format("{}{}", since.empty() ? "" : ", ", op->since_version);
    const OpDef& newest = *versions.back();
    if (format == OpsFormat::kMarkdown) {
      fmt::print("| {} | {} | {} | {} | {} |\n", name.first, name.second, since, FormalNames(newest.inputs),
                 FormalNames(newest.outputs));
    } else {
      fmt::print("{:<26} {:<28} {}\n", name.first, name.second, since);
    }
  }
  return 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
