// SPDX-License-Identifier: Apache-2.0
// ShapesContext: what shape inference knows of every named value, and the facts about the symbols in their shapes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx_optim/optim_sequence.h"
#include "onnx_optim/optim_tensor.h"
#include "onnx_optim/shapes/shape_value.h"
#include "onnx_proto/config.h"
#include "onnx_proto/onnx.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

class ShapesContext;

// kDocumented: exactly what the documented functions say. kExact: may know more, never less, and is sound.
enum class Precision : uint8_t { kDocumented, kExact };

// What a walk over a graph found wrong.
struct Problem {
  enum class Level : uint8_t { kError, kWarning };
  Level level = Level::kError;
  std::string message;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// The user's rule for an operator: reads the inputs of `node` from the context and sets its outputs there.
using CustomShapeInferenceFunction = std::function<void(ShapesContext&, const NodeProto&)>;

// A fact: a == b or a <= b, and who says so ("Add node \"n3\"").
struct Constraint {
  enum class Kind : uint8_t { kEqual, kLessEqual };
  Kind kind = Kind::kEqual;
  OptimDim a;
  OptimDim b;
  std::string origin;
};

// Hashes names without making strings of them.
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>()(name); }
};
template <class T>
using NameMap = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;
using NameSet = std::unordered_set<std::string, NameHash, std::equal_to<>>;

// Copyable: a copy shares nothing that changes but the counter of fresh names. One context belongs to one thread at a
// time.
//
// A child scope (ChildScope) serves the walk over one body: it sees its parent's names and facts, and what is set in it
// stays in it. A name bound in a child, as any kind, hides the parent's value of that name, of either kind.
class ONNXSEQ_API ShapesContext {
 public:
  ShapesContext();
  ShapesContext(const ShapesContext&);
  ShapesContext(ShapesContext&&) noexcept;
  ShapesContext& operator=(const ShapesContext&);
  ShapesContext& operator=(ShapesContext&&) noexcept;
  ~ShapesContext();

  // Tensors and sequences, in separate maps: one name may be in both. Get: std::out_of_range for a missing name; a name
  // known only as the other kind is missing.
  void Set(const std::string& name, OptimTensor tensor);
  const OptimTensor& Get(const std::string& name) const;
  bool Has(const std::string& name) const;
  // Of this scope alone.
  size_t Size() const noexcept { return tensors_.size(); }
  void SetSequence(const std::string& name, OptimSequence sequence);
  const OptimSequence& GetSequence(const std::string& name) const;
  bool HasSequence(const std::string& name) const;
  size_t SequencesSize() const noexcept { return sequences_.size(); }
  // Of this scope alone.
  const NameMap<OptimTensor>& Tensors() const noexcept { return tensors_; }
  const NameMap<OptimSequence>& Sequences() const noexcept { return sequences_; }

  // Values of any kind. Setting a tensor or a sequence this way makes it the name's only value in this scope; Get and
  // GetSequence then see what their types can hold. GetValue: a name that is both gives the tensor; std::out_of_range
  // for a missing name.
  void SetValue(const std::string& name, ShapeValue value);
  const ShapeValue& GetValue(const std::string& name) const;
  bool HasValue(const std::string& name) const { return Find(name) != nullptr; }
  // As GetValue, null for a missing name. Valid until the name is set again or removed.
  [[nodiscard]] const ShapeValue* Find(std::string_view name) const noexcept;
  // The value of that name that is no sequence, and the one that is; null when there is none.
  [[nodiscard]] const ShapeValue* FindTensor(std::string_view name) const noexcept;
  [[nodiscard]] const ShapeValue* FindSequence(std::string_view name) const noexcept;
  // Forgets the name in this scope, all kinds; the parent's value shows again.
  void Remove(const std::string& name);
  // Names of this scope alone, sorted.
  std::vector<std::string> Names() const;

  // Forgets everything: names, facts, symbols, functions, opsets, problems; precision becomes kDocumented. The parent
  // stays.
  void Clear();

  // The opset version of a domain ("" and "ai.onnx" are one); 0 when not set.
  void SetOpsetVersion(int64_t version) { SetOpsetVersion("", version); }
  void SetOpsetVersion(const std::string& domain, int64_t version);
  int64_t OpsetVersion(std::string_view domain = {}) const noexcept;

  // Functions of the model, by domain and name (and overload). Get: null when there is none. The pointer form makes no
  // copy.
  void SetLocalFunction(const FunctionProto& function);
  void SetLocalFunction(const std::string& domain, const std::string& name, const FunctionProto& function);
  void SetLocalFunction(std::shared_ptr<const FunctionProto> function);
  const FunctionProto* GetLocalFunction(std::string_view domain, std::string_view name,
                                        std::string_view overload = {}) const;
  // Rules of the user, asked before the built-in ones. Get: null when there is none.
  void SetCustomShapeInferenceFunction(const std::string& domain, const std::string& op_type,
                                       CustomShapeInferenceFunction fn);
  const CustomShapeInferenceFunction* GetCustomShapeInferenceFunction(std::string_view domain,
                                                                      std::string_view op_type) const;

  void SetPrecision(Precision precision) noexcept { precision_ = precision; }
  Precision GetPrecision() const noexcept { return precision_; }
  bool IsExact() const noexcept { return precision_ == Precision::kExact; }

  // A scope for the walk of a body, which must not outlive this one: knows what this one knows, inherits precision,
  // opsets, functions and the counter of fresh names; its own names, facts and problems start empty. Costs no copy.
  ShapesContext ChildScope() const;
  const ShapesContext* Parent() const noexcept { return parent_; }

  // A symbol no one has used, named "unk__3", or "unk__nnz_3" for the hint "nnz" (other characters than letters, digits
  // and _ are left out of it). Optionally with bounds.
  OptimDim FreshDim(std::string_view hint = {});
  OptimDim FreshDim(std::string_view hint, const OptimDim& lower, const OptimDim& upper);
  OptimDim FreshDim(std::string_view hint, const Interval& bounds);
  // Author's symbols: FreshDim avoids them, and DimFromParam reads expressions over them.
  void DeclareSymbol(std::string_view name);
  bool IsKnownSymbol(std::string_view name) const noexcept;
  // A dim_param as spelled in a file, read with the symbols known here.
  OptimDim DimFromParam(std::string_view text) const;

  // Facts. A contradiction (two integers, an integer below a bound) is an error in Problems() that names both sides
  // and, where known, who says each; then the fact is not taken. False for a contradiction. Equal sides are
  // substituted: an integer for a symbol, an author's name for a fresh one, else the first for the second.
  bool AddConstraint(const OptimDim& a, const OptimDim& b, std::string_view origin = {});
  bool AddLessEqualConstraint(const OptimDim& a, const OptimDim& b, std::string_view origin = {});
  // All facts taken, in order; of this scope alone.
  const std::vector<Constraint>& Constraints() const noexcept { return constraints_; }
  // `dim` with everything known to be equal to its symbols put in.
  OptimDim Simplify(const OptimDim& dim) const;
  OptimShape Simplify(const OptimShape& shape) const;
  ShapeValue Simplify(const ShapeValue& value) const;
  // Equal in every run that the facts allow.
  bool Equal(const OptimDim& a, const OptimDim& b) const;
  // As SameShape, by Equal.
  bool Equal(const OptimShape& a, const OptimShape& b) const;
  // Never equal in any run: two integers, or their difference is provably not 0.
  bool ProvablyDifferent(const OptimDim& a, const OptimDim& b) const;
  bool ProvablyGreaterEqual(const OptimDim& a, const OptimDim& b) const;
  Interval Bounds(const OptimDim& dim) const;

  // In the order found.
  const std::vector<Problem>& Problems() const noexcept { return problems_; }
  void AddProblem(Problem::Level level, std::string message) { problems_.push_back({level, std::move(message)}); }
  std::vector<Problem> TakeProblems() { return std::exchange(problems_, {}); }

  // As the functions of the same names in shape_inference.h, which defines the template.
  void ComputeShapeNode(const NodeProto& node);
  template <class Nodes>
  void ComputeShapes(const Nodes& nodes);
  void ComputeShapeGraph(const GraphProto& graph);
  void ComputeShapeModel(const ModelProto& model);
  void ApplyInferredShapesToGraph(GraphProto& graph) const;
  void ApplyInferredShapesToModel(ModelProto& model) const;

 private:
  struct Shared;  // functions and user's rules: copied when one of several holders changes it
  struct SymbolFact {
    std::optional<OptimDim> equal_to;
    Interval bounds{0, std::numeric_limits<int64_t>::max()};
    std::string origin;
    std::string bound_origin;
  };
  bool HasFacts() const noexcept { return !facts_.empty() || (parent_ != nullptr && parent_->HasFacts()); }
  const SymbolFact* FindFact(std::string_view symbol) const noexcept;
  Interval SymbolInterval(std::string_view symbol) const noexcept;
  SymbolFact& FactOf(const std::string& symbol);
  bool Tighten(const std::string& symbol, const Interval& bounds, const Constraint& constraint);
  bool Contradict(const Constraint& constraint);
  Shared& MutableShared();

  const ShapesContext* parent_ = nullptr;
  Precision precision_ = Precision::kDocumented;
  NameMap<OptimTensor> tensors_;
  NameMap<OptimSequence> sequences_;
  NameMap<ShapeValue> values_;  // every kind but sequences
  NameMap<ShapeValue> sequence_values_;
  NameMap<int64_t> opsets_;
  NameMap<SymbolFact> facts_;
  NameSet symbols_;
  std::vector<Constraint> constraints_;
  std::vector<Constraint> unresolved_;  // neither side could be substituted, and inequalities
  std::vector<Problem> problems_;
  std::shared_ptr<const Shared> shared_;
  std::shared_ptr<std::atomic<int64_t>> counter_;
};

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
