// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kModeNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

// The number of elements fits the 32-bit places.
int32_t Place(size_t i) { return static_cast<int32_t>(i); }
void CheckCount(std::string_view name, size_t count) {
  if (count > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    FailAttribute(name, fmt::format("has {} elements, too many", count));
}

std::vector<double> Numbers(const NodeAttributes& attrs, std::string_view name) {
  const TensorProto* proto = attrs.FindTensor(name);
  if (proto == nullptr) return {};
  const Tensor tensor = TensorFromProto(*proto);
  if (tensor.rank() != 1 || !(kMlNumberTypes | kFloatTypes | TypeSet{TensorType::kUint8}).Has(tensor.dtype()))
    FailAttribute(name, fmt::format("must be a vector of numbers, got {}", tensor.TypeString()));
  const Tensor wide = AsType(tensor, TensorType::kDouble);
  const std::span<const double> view = wide.View<double>();
  return {view.begin(), view.end()};
}

bool Compare(TreeMode mode, double x, double value) {
  switch (mode) {
    case TreeMode::kLeq:
      return x <= value;
    case TreeMode::kLt:
      return x < value;
    case TreeMode::kGte:
      return x >= value;
    case TreeMode::kGt:
      return x > value;
    case TreeMode::kEq:
      return x == value;
    case TreeMode::kNeq:
      return x != value;
    case TreeMode::kMember:
      break;
  }
  return false;
}

// Throws when some walk from a root comes back to a node. `name_of` says which node that is.
template <class NameOf>
void CheckAcyclic(const Trees& trees, std::string_view attribute, const NameOf& name_of) {
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(trees.nodes.size(), State::kNew);
  std::vector<std::pair<Trees::Branch, int>> path;  // open nodes, and which branch of each comes next
  const auto enter = [&](Trees::Branch branch) {
    if (branch < 0 || states[static_cast<size_t>(branch)] == State::kDone) return;
    State& state = states[static_cast<size_t>(branch)];
    if (state == State::kOpen) FailAttribute(attribute, fmt::format("lead from {} back to it", name_of(branch)));
    state = State::kOpen;
    path.emplace_back(branch, 0);
  };
  for (const Trees::Branch root : trees.roots) {
    enter(root);
    while (!path.empty()) {
      auto& [branch, next] = path.back();
      const Trees::Node& node = trees.nodes[static_cast<size_t>(branch)];
      if (next == 2) {
        states[static_cast<size_t>(branch)] = State::kDone;
        path.pop_back();
      } else {
        enter(next++ == 0 ? node.yes : node.no);
      }
    }
  }
}

void CheckTarget(std::string_view name, int64_t target, int64_t targets) {
  if (target < 0 || target >= targets)
    FailAttribute(name, fmt::format("has {}, expected 0 to {}", target, targets - 1));
}

int64_t CheckedFeature(int64_t feature) {
  if (feature < 0) FailAttribute("nodes_featureids", fmt::format("has {}, must not be negative", feature));
  return feature;
}

}  // namespace

const Trees::Leaf& Trees::Walk(Branch root, const double* row) const {
  Branch branch = root;
  while (branch >= 0) {
    const Node& node = nodes[static_cast<size_t>(branch)];
    const double x = row[node.feature];
    const bool yes = std::isnan(x) ? node.missing_is_yes
                     : node.mode == TreeMode::kMember
                         ? std::ranges::binary_search(sets[static_cast<size_t>(node.set)], x)
                         : Compare(node.mode, x, node.value);
    branch = yes ? node.yes : node.no;
  }
  return leaves[static_cast<size_t>(-1 - branch)];
}

void Trees::Score(TreeAggregate aggregate, const double* row, std::span<double> scores) const {
  const bool min = aggregate == TreeAggregate::kMin, max = aggregate == TreeAggregate::kMax;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double none = min ? kInf : max ? -kInf : 0;
  std::ranges::fill(scores, none);
  for (const Branch root : roots) {
    const Leaf& leaf = Walk(root, row);
    for (int32_t i = leaf.begin; i < leaf.end; ++i) {
      const Vote& vote = votes[static_cast<size_t>(i)];
      double& score = scores[static_cast<size_t>(vote.target)];
      score = min ? std::min(score, vote.weight) : max ? std::max(score, vote.weight) : score + vote.weight;
    }
  }
  for (double& score : scores) {
    if (aggregate == TreeAggregate::kAverage) score /= static_cast<double>(roots.size());
    if ((min || max) && score == none) score = 0;
  }
}

std::vector<AttrDef> NamedTreeAttributes(bool tensors, std::vector<AttrDef> own) {
  std::vector<AttrDef> all = {{"base_values", AttrKind::kFloats},
                              {"nodes_falsenodeids", AttrKind::kInts},
                              {"nodes_featureids", AttrKind::kInts},
                              {"nodes_hitrates", AttrKind::kFloats},
                              {"nodes_missing_value_tracks_true", AttrKind::kInts},
                              {"nodes_modes", AttrKind::kStrings},
                              {"nodes_nodeids", AttrKind::kInts},
                              {"nodes_treeids", AttrKind::kInts},
                              {"nodes_truenodeids", AttrKind::kInts},
                              {"nodes_values", AttrKind::kFloats},
                              {"post_transform", AttrKind::kString}};
  if (tensors) {
    for (const std::string_view name : {"base_values_as_tensor", "nodes_hitrates_as_tensor", "nodes_values_as_tensor"})
      all.push_back({name, AttrKind::kTensor});
  }
  all.insert(all.end(), own.begin(), own.end());
  std::ranges::sort(all, {}, &AttrDef::name);
  return all;
}

std::vector<double> ReadWeights(const NodeAttributes& attrs, std::string_view name) {
  const std::string as_tensor = std::string(name) + "_as_tensor";
  if (attrs.Has(as_tensor)) {
    if (attrs.Has(name))
      FailAttribute(as_tensor, fmt::format("is given along with '{}', one of them is allowed", name));
    return Numbers(attrs, as_tensor);
  }
  const std::vector<float> floats = attrs.Floats(name);
  return {floats.begin(), floats.end()};
}

Trees ReadNamedTrees(const NodeAttributes& attrs, int64_t targets, const TreeVoteNames& names) {
  const std::vector<int64_t> node_ids = attrs.Ints("nodes_nodeids"), tree_ids = attrs.Ints("nodes_treeids");
  const std::vector<int64_t> features = attrs.Ints("nodes_featureids"), yes = attrs.Ints("nodes_truenodeids");
  const std::vector<int64_t> no = attrs.Ints("nodes_falsenodeids");
  const std::vector<int64_t> missing = attrs.Ints("nodes_missing_value_tracks_true");
  const std::vector<std::string> modes = attrs.Strings("nodes_modes");
  const std::vector<double> values = ReadWeights(attrs, "nodes_values");
  const size_t n = node_ids.size();
  CheckCount("nodes_nodeids", n);
  CheckSameSize("nodes_treeids", tree_ids.size(), "nodes_nodeids", n);
  CheckSameSize("nodes_featureids", features.size(), "nodes_nodeids", n);
  CheckSameSize("nodes_truenodeids", yes.size(), "nodes_nodeids", n);
  CheckSameSize("nodes_falsenodeids", no.size(), "nodes_nodeids", n);
  CheckSameSize("nodes_modes", modes.size(), "nodes_nodeids", n);
  CheckSameSize("nodes_values", values.size(), "nodes_nodeids", n);
  if (!missing.empty()) CheckSameSize("nodes_missing_value_tracks_true", missing.size(), "nodes_nodeids", n);

  Trees trees;
  trees.targets = targets;
  std::map<std::pair<int64_t, int64_t>, Trees::Branch> by_name;
  std::vector<size_t> row_of;  // of each node that is no leaf
  for (size_t i = 0; i < n; ++i) {
    const bool leaf = modes[i] == "LEAF";
    const Trees::Branch branch = leaf ? -1 - Place(trees.leaves.size()) : Place(trees.nodes.size());
    if (!by_name.emplace(std::pair(tree_ids[i], node_ids[i]), branch).second)
      FailAttribute("nodes_nodeids", fmt::format("has {} twice in tree {}", node_ids[i], tree_ids[i]));
    if (leaf) {
      trees.leaves.emplace_back();
      continue;
    }
    const auto* mode = std::ranges::find(kModeNames, modes[i]);
    if (mode == std::end(kModeNames))
      FailAttribute("nodes_modes", fmt::format("has \"{}\", which is no mode", modes[i]));
    Trees::Node& node = trees.nodes.emplace_back();
    node.mode = static_cast<TreeMode>(mode - std::begin(kModeNames));
    node.value = values[i];
    node.feature = CheckedFeature(features[i]);
    node.missing_is_yes = !missing.empty() && missing[i] != 0;
    trees.features = std::max(trees.features, node.feature + 1);
    row_of.push_back(i);
  }
  // A root is a node that is no branch of another.
  std::vector<bool> node_is_branch(trees.nodes.size()), leaf_is_branch(trees.leaves.size());
  for (size_t k = 0; k < trees.nodes.size(); ++k) {
    const size_t i = row_of[k];
    const auto branch = [&](std::string_view name, int64_t id) {
      const auto found = by_name.find({tree_ids[i], id});
      if (found == by_name.end())
        FailAttribute(name, fmt::format("leads from node {} of tree {} to node {}, which there is not", node_ids[i],
                                        tree_ids[i], id));
      const Trees::Branch to = found->second;
      (to < 0 ? leaf_is_branch[static_cast<size_t>(-1 - to)] : node_is_branch[static_cast<size_t>(to)]) = true;
      return to;
    };
    trees.nodes[k].yes = branch("nodes_truenodeids", yes[i]);
    trees.nodes[k].no = branch("nodes_falsenodeids", no[i]);
  }
  std::map<int64_t, bool> has_root;
  for (size_t i = 0; i < n; ++i) {
    bool& found = has_root.try_emplace(tree_ids[i], false).first->second;
    const Trees::Branch branch = by_name.at({tree_ids[i], node_ids[i]});
    const bool is_branch =
        branch < 0 ? leaf_is_branch[static_cast<size_t>(-1 - branch)] : node_is_branch[static_cast<size_t>(branch)];
    if (is_branch) continue;
    if (found)
      FailAttribute("nodes_nodeids", fmt::format("tree {} has a second root, node {}", tree_ids[i], node_ids[i]));
    found = true;
    trees.roots.push_back(branch);
  }
  for (const auto& [tree, found] : has_root)
    if (!found) FailAttribute("nodes_truenodeids", fmt::format("tree {} has no root: each node is a branch", tree));
  CheckAcyclic(trees, "nodes_truenodeids", [&](Trees::Branch branch) {
    const size_t i = row_of[static_cast<size_t>(branch)];
    return fmt::format("node {} of tree {}", node_ids[i], tree_ids[i]);
  });

  const std::vector<int64_t> vote_nodes = attrs.Ints(names.node_ids), vote_trees = attrs.Ints(names.tree_ids);
  const std::vector<int64_t> ids = attrs.Ints(names.ids);
  const std::vector<double> weights = ReadWeights(attrs, names.weights);
  CheckCount(names.ids, ids.size());
  CheckSameSize(names.node_ids, vote_nodes.size(), names.ids, ids.size());
  CheckSameSize(names.tree_ids, vote_trees.size(), names.ids, ids.size());
  CheckSameSize(names.weights, weights.size(), names.ids, ids.size());
  std::vector<std::vector<Trees::Vote>> by_leaf(trees.leaves.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    CheckTarget(names.ids, ids[i], targets);
    const auto found = by_name.find({vote_trees[i], vote_nodes[i]});
    if (found == by_name.end())
      FailAttribute(names.node_ids,
                    fmt::format("has node {} of tree {}, which there is not", vote_nodes[i], vote_trees[i]));
    // Exporters also list the weights of inner nodes; walks end at none of these.
    if (found->second >= 0) continue;
    by_leaf[static_cast<size_t>(-1 - found->second)].push_back({static_cast<int32_t>(ids[i]), weights[i]});
  }
  for (size_t i = 0; i < by_leaf.size(); ++i) {
    trees.leaves[i].begin = Place(trees.votes.size());
    trees.votes.insert(trees.votes.end(), by_leaf[i].begin(), by_leaf[i].end());
    trees.leaves[i].end = Place(trees.votes.size());
  }
  return trees;
}

Trees ReadIndexedTrees(const NodeAttributes& attrs, int64_t targets) {
  const std::vector<int64_t> features = attrs.Ints("nodes_featureids"), roots = attrs.Ints("tree_roots");
  const std::vector<int64_t> yes = attrs.Ints("nodes_truenodeids"), no = attrs.Ints("nodes_falsenodeids");
  const std::vector<int64_t> yes_leaf = attrs.Ints("nodes_trueleafs"), no_leaf = attrs.Ints("nodes_falseleafs");
  const std::vector<int64_t> missing = attrs.Ints("nodes_missing_value_tracks_true");
  const std::vector<int64_t> ids = attrs.Ints("leaf_targetids");
  const std::vector<double> modes = Numbers(attrs, "nodes_modes"), values = Numbers(attrs, "nodes_splits");
  const std::vector<double> weights = Numbers(attrs, "leaf_weights"), members = Numbers(attrs, "membership_values");
  const size_t n = features.size();
  CheckCount("nodes_featureids", n);
  CheckCount("leaf_targetids", ids.size());
  CheckSameSize("nodes_truenodeids", yes.size(), "nodes_featureids", n);
  CheckSameSize("nodes_falsenodeids", no.size(), "nodes_featureids", n);
  CheckSameSize("nodes_trueleafs", yes_leaf.size(), "nodes_featureids", n);
  CheckSameSize("nodes_falseleafs", no_leaf.size(), "nodes_featureids", n);
  CheckSameSize("nodes_modes", modes.size(), "nodes_featureids", n);
  CheckSameSize("nodes_splits", values.size(), "nodes_featureids", n);
  if (!missing.empty()) CheckSameSize("nodes_missing_value_tracks_true", missing.size(), "nodes_featureids", n);
  CheckSameSize("leaf_weights", weights.size(), "leaf_targetids", ids.size());

  Trees trees;
  trees.targets = targets;
  for (size_t i = 0; i < ids.size(); ++i) {
    CheckTarget("leaf_targetids", ids[i], targets);
    trees.leaves.push_back({Place(i), Place(i + 1)});
    trees.votes.push_back({static_cast<int32_t>(ids[i]), weights[i]});
  }
  // The sets, each closed by NaN, belong to the nodes of that mode in order.
  std::vector<double> set;
  for (const double member : members) {
    if (!std::isnan(member)) {
      set.push_back(member);
      continue;
    }
    std::ranges::sort(set);
    trees.sets.push_back(std::exchange(set, {}));
  }
  if (!set.empty()) FailAttribute("membership_values", "does not end in NaN");
  const auto inside = [](std::string_view name, int64_t at, size_t count) {
    if (at < 0 || static_cast<size_t>(at) >= count)
      FailAttribute(name, fmt::format("has {}, expected 0 to {}", at, static_cast<int64_t>(count) - 1));
    return static_cast<int32_t>(at);
  };
  const auto branch = [&](std::string_view name, int64_t at, int64_t leaf) {
    return leaf != 0 ? -1 - inside(name, at, trees.leaves.size()) : inside(name, at, n);
  };
  size_t sets = 0;
  for (size_t i = 0; i < n; ++i) {
    Trees::Node node;
    if (!(modes[i] >= 0 && modes[i] <= static_cast<double>(TreeMode::kMember)))
      FailAttribute("nodes_modes",
                    fmt::format("has {}, expected 0 to {}", modes[i], static_cast<int>(TreeMode::kMember)));
    node.mode = static_cast<TreeMode>(static_cast<int>(modes[i]));
    if (node.mode == TreeMode::kMember) node.set = Place(sets++);
    node.value = values[i];
    node.feature = CheckedFeature(features[i]);
    node.missing_is_yes = !missing.empty() && missing[i] != 0;
    node.yes = branch("nodes_truenodeids", yes[i], yes_leaf[i]);
    node.no = branch("nodes_falsenodeids", no[i], no_leaf[i]);
    trees.features = std::max(trees.features, node.feature + 1);
    trees.nodes.push_back(node);
  }
  if (sets != trees.sets.size())
    FailAttribute("membership_values",
                  fmt::format("has {} sets for {} nodes that ask for one", trees.sets.size(), sets));
  for (const int64_t root : roots) trees.roots.push_back(inside("tree_roots", root, n));
  CheckAcyclic(trees, "nodes_truenodeids", [](Trees::Branch at) { return fmt::format("node {}", at); });
  return trees;
}

void ScoreRows(RunContext& ctx, const Trees& trees, TreeAggregate aggregate,
               FunctionRef<void(int64_t, std::span<double>)> fn) {
  const MlRows rows = ReadRows(ctx, TensorType::kDouble);
  if (rows.features < trees.features)
    ctx.FailInput(0, fmt::format("must have at least {} features, got {}", trees.features, ctx.tensor(0).TypeString()));
  constexpr int64_t kStepsPerTree = 16;  // about the depth of usual trees
  const auto count = static_cast<int64_t>(trees.roots.size());
  const int64_t grain = std::max<int64_t>(1, kElementGrain / (kStepsPerTree * std::max<int64_t>(1, count)));
  const double* x = rows.x.View<double>().data();
  ctx.ParallelFor(rows.count, grain, [&](int64_t begin, int64_t end) {
    std::vector<double> scores(static_cast<size_t>(trees.targets));
    for (int64_t r = begin; r < end; ++r) {
      trees.Score(aggregate, x + r * rows.features, scores);
      fn(r, scores);
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
