// SPDX-License-Identifier: Apache-2.0
// ops: everything that knows operators: one file per operator, the table of them, and inference over graphs.
// Before it: shapes (how to say a rule), kernels (how to compute), graph (what a node holds). After it: runtime.
//
// OpDef: all that is known of one version of one operator, as a plain value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onnx_optim/tensor_type.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

class InferScope;
class PrepareContext;
class RunContext;

// A set of element types, one bit each by number.
struct TypeSet {
  uint32_t bits = 0;
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<TensorType> types) {
    for (const TensorType t : types) bits |= 1u << static_cast<int>(t);
  }
  constexpr bool Has(TensorType t) const { return (bits >> static_cast<int>(t)) & 1u; }
  constexpr TypeSet operator|(TypeSet other) const {
    TypeSet r;
    r.bits = bits | other.bits;
    return r;
  }
};
inline constexpr TypeSet kFloatTypes{TensorType::kFloat, TensorType::kDouble, TensorType::kFloat16,
                                     TensorType::kBfloat16};
inline constexpr TypeSet kSignedIntTypes{TensorType::kInt8, TensorType::kInt16, TensorType::kInt32, TensorType::kInt64};
inline constexpr TypeSet kUnsignedIntTypes{TensorType::kUint8, TensorType::kUint16, TensorType::kUint32,
                                           TensorType::kUint64};
inline constexpr TypeSet kIntTypes = kSignedIntTypes | kUnsignedIntTypes;
inline constexpr TypeSet kNumericTypes = kFloatTypes | kIntTypes;
inline constexpr TypeSet kBoolType{TensorType::kBool};
inline constexpr TypeSet kIndexTypes{TensorType::kInt32, TensorType::kInt64};
// Every type with a C++ type of its own: kNumericTypes, bool, string, complex.
inline constexpr TypeSet kAllTypes =
    kNumericTypes | TypeSet{TensorType::kBool, TensorType::kString, TensorType::kComplex64, TensorType::kComplex128};

// Every type, those without a C++ type of their own included.
inline constexpr TypeSet kEveryType = [] {
  TypeSet all;
  all.bits = ~0u;
  return all;
}();

// Which kinds of value a formal takes. kSequence is of tensors. kAny: whatever there is, absent optionals too.
enum class FormalKind : uint8_t { kTensor, kSequence, kTensorOrSequence, kMap, kSequenceOfMaps, kAny };
enum class FormalCount : uint8_t { kOne, kOptional, kVariadic };

struct Formal {
  std::string_view name;           // the spec's own
  TypeSet types = kAllTypes;       // of the tensor, of the sequence's elements, or of the map's values
  std::string_view type_var = {};  // formals with the same variable have the same element type ("T"); "" = free
  FormalKind kind = FormalKind::kTensor;
  FormalCount count = FormalCount::kOne;  // kVariadic only last
  int min_count = 1;                      // of a variadic formal
};

enum class AttrKind : uint8_t {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kTensor,
  kGraph,
  kType,
  kSparseTensor
};
struct AttrDef {
  std::string_view name;
  AttrKind kind;
  bool required = false;
};

// What prepare made of attributes and constant inputs; immutable, shared by all runs of a plan.
struct OpState {
  virtual ~OpState() = default;
};

struct OpDef {
  std::string_view domain;  // "" for ai.onnx
  std::string_view type;
  int since_version;
  std::vector<Formal> inputs;
  std::vector<Formal> outputs;
  std::vector<AttrDef> attributes;
  // Infers the outputs from the inputs, known small integer values included. Formals and attributes were checked before
  // it in a model walk; in a direct call of one of the nine documented functions they were not. Null only with a body.
  void (*shape)(InferScope&) = nullptr;
  // Attributes to state, weight packing; may be null. Checks here whatever does not depend on shapes.
  std::unique_ptr<OpState> (*prepare)(const PrepareContext&) = nullptr;
  // Computes the outputs. Formals, element types and attributes were checked; shapes are this function's to check.
  // Null only with a body.
  void (*run)(RunContext&) = nullptr;
  // Results differ from run to run: never folded, never merged.
  bool random = false;
  // Bit i: of input i, each element of output 0 sees the one at its own place, broadcast, and nothing else. Then `run`
  // gives its one output through a single call of RunRows (math/elementwise_op.h), its last; before that it reads of
  // these inputs, when they are floating-point or bool, type and shape only. So the operator can be one step of several
  // that go over the elements together (internal/fused_elementwise.cc).
  uint32_t elementwise = 0;
  // Runs its bodies several times: nodes in them that depend on outer values alone are computed once.
  bool repeats_bodies = false;
  // Reads its graphs itself, in prepare: they are no bodies to plan.
  bool reads_graphs = false;
  // What the operator is as nodes of other operators, where no kernel is worth it: the call is inferred and run as one
  // of a function of the model, by op_body.h. Then shape, prepare and run are null. The text is an ONNX function's from
  // its attributes on, `<epsilon: float = 1e-5> (X, scale) => (Y) { .. }`, for this node and in operators of this
  // opset.
  std::string (*body)(const NodeProto& node, int64_t opset) = nullptr;
};

// The operator's version in force at `opset` of `domain` ("ai.onnx" means ""): the newest since_version <= opset. Null
// when there is none.
[[nodiscard]] const OpDef* FindOp(std::string_view domain, std::string_view type, int64_t opset);
// All versions of all operators, by domain, type, version.
std::span<const OpDef* const> AllOps();
// Some version of the operator is in the table.
bool KnowsOp(std::string_view domain, std::string_view type);

}  // namespace ONNX_LIGHT_NAMESPACE
