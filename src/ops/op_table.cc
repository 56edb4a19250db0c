// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

#define ONNXSEQ_OP(family, file) std::span<const OpDef> file##_ops();
#include "ops/ops.inc"
#undef ONNXSEQ_OP

namespace {

struct OpKey {
  std::string_view domain;
  std::string_view type;
  bool operator==(const OpKey&) const = default;
};
struct OpKeyHash {
  size_t operator()(const OpKey& key) const {
    const std::hash<std::string_view> hash;
    return hash(key.type) * 31 + hash(key.domain);
  }
};

struct OpTable {
  std::vector<const OpDef*> all;
  // The versions of one operator, oldest first: a part of `all`.
  std::unordered_map<OpKey, std::span<const OpDef* const>, OpKeyHash> by_name;

  OpTable() {
    const auto add = [this](std::span<const OpDef> ops) {
      for (const OpDef& op : ops) all.push_back(&op);
    };
#define ONNXSEQ_OP(family, file) add(file##_ops());
#include "ops/ops.inc"
#undef ONNXSEQ_OP
    const auto key = [](const OpDef* op) { return std::tie(op->domain, op->type, op->since_version); };
    std::sort(all.begin(), all.end(), [&](const OpDef* a, const OpDef* b) { return key(a) < key(b); });
    for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && all[end]->domain == all[begin]->domain && all[end]->type == all[begin]->type) ++end;
      by_name.emplace(OpKey{all[begin]->domain, all[begin]->type}, std::span(all).subspan(begin, end - begin));
    }
  }

  std::span<const OpDef* const> Versions(std::string_view domain, std::string_view type) const {
    const auto it = by_name.find({domain == "ai.onnx" ? std::string_view() : domain, type});
    return it == by_name.end() ? std::span<const OpDef* const>() : it->second;
  }
};

const OpTable& Table() {
  static const OpTable table;
  return table;
}

}  // namespace

const OpDef* FindOp(std::string_view domain, std::string_view type, int64_t opset) {
  const OpDef* found = nullptr;
  for (const OpDef* op : Table().Versions(domain, type)) {
    if (op->since_version > opset) break;
    found = op;
  }
  return found;
}

std::span<const OpDef* const> AllOps() { return Table().all; }

bool KnowsOp(std::string_view domain, std::string_view type) { return !Table().Versions(domain, type).empty(); }

}  // namespace ONNX_LIGHT_NAMESPACE
