// SPDX-License-Identifier: Apache-2.0
// Trees: an ensemble of decision trees as arrays, built once from the attributes of either form (TreeEnsembleRegressor
// and -Classifier, or TreeEnsemble) and checked then, so that walking it can neither leave the arrays nor go on
// forever.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {

// The numbers are TreeEnsemble's own.
enum class TreeMode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };
enum class TreeAggregate : uint8_t { kAverage, kSum, kMin, kMax };

struct Trees {
  // A place in `nodes`, or -1 - a place in `leaves`.
  using Branch = int32_t;
  struct Node {
    double value = 0;
    int64_t feature = 0;
    Branch yes = 0;
    Branch no = 0;
    int32_t set = 0;  // kMember: which of `sets`
    TreeMode mode = TreeMode::kLeq;
    bool missing_is_yes = false;  // where NaN goes, whatever the mode
  };
  struct Vote {
    int32_t target;
    double weight;
  };
  struct Leaf {  // votes [begin, end)
    int32_t begin = 0;
    int32_t end = 0;
  };
  std::vector<Node> nodes;
  std::vector<Leaf> leaves;
  std::vector<Vote> votes;
  std::vector<Branch> roots;
  std::vector<std::vector<double>> sets;  // each in ascending order
  int64_t targets = 0;
  int64_t features = 0;  // rows must have at least this many

  const Leaf& Walk(Branch root, const double* row) const;
  // Fills `scores` [targets] with the votes of all trees; 0 where there is none.
  void Score(TreeAggregate aggregate, const double* row, std::span<double> scores) const;
};

// Where the attributes of the older form differ between the two operators: "target_ids" and "class_ids".
struct TreeVoteNames {
  std::string_view ids, node_ids, tree_ids, weights;
};

// From attributes 'nodes_*' that name nodes by tree and number, a leaf being a node. InvalidArgument naming the
// attributes and both values where lists differ in length, a branch or vote names a node there is not, a target is out
// of range, a mode is none, or a walk could come back to where it was.
Trees ReadNamedTrees(const NodeAttributes& attrs, int64_t targets, const TreeVoteNames& names);
// From those of TreeEnsemble. The same errors.
Trees ReadIndexedTrees(const NodeAttributes& attrs, int64_t targets);

// The attributes that TreeEnsembleClassifier and -Regressor share, and `own`, by name; `tensors`: also the forms in
// double that version 3 adds.
std::vector<AttrDef> NamedTreeAttributes(bool tensors, std::vector<AttrDef> own);

// Attribute `name`, a list of floats, or `name`_as_tensor, a vector of doubles. Empty when there is neither.
std::vector<double> ReadWeights(const NodeAttributes& attrs, std::string_view name);

// Scores each row of input 0 and hands it, [targets], to fn(row, scores), many rows at once.
void ScoreRows(RunContext& ctx, const Trees& trees, TreeAggregate aggregate,
               FunctionRef<void(int64_t, std::span<double>)> fn);

}  // namespace ONNX_LIGHT_NAMESPACE
