// SPDX-License-Identifier: Apache-2.0
// FusedElementwise (onnxseq.internal 1): the nodes of graph `steps` one after the other, each elementwise (OpDef), the
// last giving the output. Made by passes/fuse_elementwise.cc, never written to files. The steps go over the elements
// together, a block of them at a time, so that what lies between two steps stays in the cache: every step's own row
// function, as RunRows would call it, so to the bit what the nodes give one by one. The nodes do run one by one where
// all inputs have less than `together_from` elements, which stay in the cache anyway, and where a step's result has not
// the shape of the output, broadcast only later.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/infer_node.h"
#include "ops/input_checks.h"
#include "ops/internal/internal_domain.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Elements of a block: those of three values fit into a first-level cache of 32 KB, and setting up a step's rows costs
// little beside them. Larger ones lose to steps over whole tensors: a block that left the cache is fetched anew for
// every step, and no stream is long enough to be fetched ahead.
constexpr int64_t kBlock = 2048;
// Bytes of an element between two steps: at most a double.
constexpr int64_t kMaxElement = 8;

// What a run keeps of the steps takes no memory from the system.
constexpr size_t kMaxSteps = kMaxFusedSteps;

constexpr std::string_view kSteps = "steps", kTogetherFrom = "together_from";

struct Step {
  const NodeProto* node;
  const OpDef* op;
  std::vector<InputCheck> checks;
  std::vector<int> inputs;  // of the fused node, from its number of inputs on results of steps; -1 for absent
  std::vector<bool> last;   // of each input: nobody after it uses the same
  int tile = -1;            // where its block goes; of the last step, to the output
};

struct Chain : OpState {
  int inputs = 0;
  int tiles = 0;
  int64_t together_from = 0;
  std::vector<Step> steps;
};

// Preparing
// -------------------------------------------------------------------------------------------------------------

// A block is free again after the last step that reads it.
void AssignTiles(Chain& chain) {
  std::vector<size_t> last_use(chain.steps.size(), 0);
  for (size_t k = 0; k < chain.steps.size(); ++k)
    for (const int input : chain.steps[k].inputs)
      if (input >= chain.inputs) last_use[static_cast<size_t>(input - chain.inputs)] = k;
  std::vector<int> free;
  for (size_t k = 0; k + 1 < chain.steps.size(); ++k) {
    if (free.empty()) free.push_back(chain.tiles++);
    chain.steps[k].tile = free.back();
    free.pop_back();
    for (size_t before = 0; before <= k; ++before)
      if (last_use[before] == k) free.push_back(chain.steps[before].tile);
  }
}

void FindLastUses(Chain& chain, const NodeProto& node) {
  std::vector<bool> used(static_cast<size_t>(chain.inputs) + chain.steps.size(), false);
  // A value given twice is never taken.
  for (size_t i = 0; i < node.input().size(); ++i) used[i] = std::ranges::count(node.input(), node.input(i)) > 1;
  for (size_t k = chain.steps.size(); k-- > 0;) {
    Step& step = chain.steps[k];
    step.last.assign(step.inputs.size(), false);
    for (size_t i = step.inputs.size(); i-- > 0;) {
      if (step.inputs[i] < 0) continue;
      const auto input = static_cast<size_t>(step.inputs[i]);
      step.last[i] = !used[input];
      used[input] = true;
    }
  }
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const GraphProto& graph = ctx.attrs().Graph(kSteps);
  const int64_t opset = ctx.attrs().Int("opset");
  auto chain = std::make_unique<Chain>();
  chain->inputs = ctx.node().input_size();
  if (graph.input_size() != chain->inputs)
    FailAttribute(kSteps, fmt::format("has {} inputs for {} of the node", graph.input_size(), chain->inputs));
  std::unordered_map<std::string_view, int> places;
  for (int i = 0; i < chain->inputs; ++i) places.emplace(graph.input(static_cast<size_t>(i)).name(), i);
  for (const NodeProto& node : graph.node()) {
    const OpDef* op = node.domain().empty() ? FindOp("", node.op_type(), opset) : nullptr;
    if (op == nullptr || op->elementwise == 0 || node.output_size() != 1)
      FailAttribute(kSteps, fmt::format("holds {}, which is not elementwise", node.op_type().as_string()));
    CheckNode(*op, node);
    Step step{&node, op, InputChecks(*op, node), {}, {}};
    for (size_t i = 0; i < node.input().size(); ++i) {
      const auto place = places.find(node.input(i));
      if (place == places.end() && !node.input(i).empty())
        FailAttribute(kSteps,
                      fmt::format("has no \"{}\" before {}", node.input(i).as_string(), node.op_type().as_string()));
      step.inputs.push_back(node.input(i).empty() ? -1 : place->second);
      if (step.inputs.back() >= chain->inputs && (op->elementwise >> i & 1u) == 0)
        FailAttribute(kSteps, fmt::format("gives input {} of {}, which is read whole", i, node.op_type().as_string()));
    }
    places[node.output(0)] = chain->inputs + static_cast<int>(chain->steps.size());
    chain->steps.push_back(std::move(step));
  }
  if (chain->steps.size() > kMaxSteps)
    FailAttribute(kSteps, fmt::format("holds {} nodes, at most {} are supported", chain->steps.size(), kMaxSteps));
  if (graph.output_size() != 1 || chain->steps.empty() || graph.output(0).name() != chain->steps.back().node->output(0))
    FailAttribute(kSteps, "must give the result of its last node alone");
  AssignTiles(*chain);
  FindLastUses(*chain, ctx.node());
  chain->together_from = ctx.attrs().Int(kTogetherFrom, 0);
  return chain;
}

// Running
// ---------------------------------------------------------------------------------------------------------------

// One run of the node. The steps' operators are entered each from within the one before, when that calls RunRows: what
// they have to say of their loops, rows and functors on their stacks, is all there once the last one has spoken.
class Fusion {
 public:
  Fusion(RunContext& outer, const Chain& chain) : outer_(outer), chain_(chain), last_(chain.steps.size() - 1) {}

  void Run() {
    if (IsLarge()) Enter(0);
    if (done_) return;
    one_by_one_ = true;
    for (size_t k = 0; k < chain_.steps.size(); ++k) {
      RunStep(k);
      for (size_t i = 0; i < chain_.steps[k].inputs.size(); ++i)
        if (chain_.steps[k].last[i] && chain_.steps[k].inputs[i] >= chain_.inputs) ResultOf(k, i) = Value();
    }
  }

 private:
  class StepContext;

  // What TakeRows was told, with the shape, which only RunRows holds.
  struct Call {
    int count = 0;
    TensorType type = TensorType::kUndefined;
    kernels::RowFn row = nullptr;
    const void* fn = nullptr;
    const Tensor* last = nullptr;
  };

  bool IsLarge() const {
    if (chain_.together_from == 0) return true;
    for (int i = 0; i < chain_.inputs; ++i)
      if (outer_.input(i).IsTensor() && outer_.tensor(i).NumElements() >= chain_.together_from) return true;
    return false;
  }

  void Enter(size_t k) { k < chain_.steps.size() ? RunStep(k) : RunTogether(); }
  void RunStep(size_t k);

  const Value& InputOf(size_t k, int i) const {
    static const Value nothing;
    const int input = chain_.steps[k].inputs[static_cast<size_t>(i)];
    if (input < 0) return nothing;
    return input < chain_.inputs ? outer_.input(input) : results_[static_cast<size_t>(input - chain_.inputs)];
  }

  // The result of a step that is input i of step k.
  Value& ResultOf(size_t k, size_t i) {
    return results_[static_cast<size_t>(chain_.steps[k].inputs[i] - chain_.inputs)];
  }
  Value TakeInput(size_t k, int i) {
    const auto at = static_cast<size_t>(i);
    const int input = chain_.steps[k].inputs[at];
    if (!one_by_one_ || input < 0 || !chain_.steps[k].last[at]) return InputOf(k, i);
    return input < chain_.inputs ? outer_.TakeInput(input) : std::exchange(ResultOf(k, at), Value());
  }

  void Take(size_t k, const RowsCall& call) {
    calls_[k] = {call.count, call.out_type, call.row, call.fn, call.last};
    // Only type and shape of it will be looked at.
    static const double somewhere = 0;
    results_[k] = Tensor::Borrow(&somewhere, call.out_type, call.shape, std::shared_ptr<const void>());
    // Of whole numbers an operator may look at the elements, as Div does for zeros.
    const bool looked_at = !kFloatTypes.Has(call.out_type) && call.out_type != TensorType::kBool;
    if (k == last_ || !looked_at) Enter(k + 1);
  }

  void RunTogether() {
    const Shape shape = results_[last_].tensor().shape();
    for (size_t k = 0; k < last_; ++k)
      if (results_[k].tensor().shape() != shape) return;
    together_ = done_ = true;
    SetLoops(shape);
    Tensor out = TakeOutput(shape);
    auto* const to = static_cast<std::byte*>(out.mutable_data());
    const int64_t grain = std::max(kBlock, kElementGrain / static_cast<int64_t>(chain_.steps.size()));
    outer_.ParallelFor(shape.NumElements(), grain, [&](int64_t begin, int64_t end) {
      const int64_t tile_bytes = std::min(kBlock, end - begin) * kMaxElement;
      Tensor tiles(TensorType::kUint8, Shape{chain_.tiles * tile_bytes});
      auto* const tile = static_cast<std::byte*>(tiles.mutable_data());
      for (; begin < end; begin += kBlock) RunBlock(begin, std::min(end, begin + kBlock), tile, tile_bytes, to);
    });
    outer_.SetOutput(0, std::move(out));
  }

  struct Loops {
    kernels::BroadcastLoops loops;
    std::array<int, kernels::kMaxOperands> tile;  // -1 for an operand in memory
    std::array<const void*, kernels::kMaxOperands> data;
    std::array<size_t, kernels::kMaxOperands> size;
  };
  void SetLoops(const Shape& shape) {
    for (size_t k = 0; k <= last_; ++k) {
      const Call& call = calls_[k];
      std::array<std::span<const int64_t>, kernels::kMaxOperands> shapes;
      std::array<const Tensor*, kernels::kMaxOperands> operands{};
      const auto count = static_cast<size_t>(call.count);
      for (size_t i = 0; i < count; ++i) {
        operands[i] = call.last != nullptr && i + 1 == count ? call.last : &InputOf(k, static_cast<int>(i)).tensor();
        shapes[i] = operands[i]->shape().dims();
      }
      Loops& step = loops_[k].emplace(kernels::BroadcastLoops(shape.dims(), std::span(shapes).first(count)),
                                      std::array<int, kernels::kMaxOperands>{-1, -1, -1},
                                      std::array<const void*, kernels::kMaxOperands>{},
                                      std::array<size_t, kernels::kMaxOperands>{});
      for (size_t i = 0; i < count; ++i) {
        const int input = chain_.steps[k].inputs[i];
        if (input >= chain_.inputs) step.tile[i] = chain_.steps[static_cast<size_t>(input - chain_.inputs)].tile;
        step.data[i] = operands[i]->data();
        step.size[i] = onnx_optim::BytesOf(operands[i]->dtype());
      }
    }
  }

  // Input memory that nobody needs any more, of the same type and shape; else new. A block of the output is written
  // after all that is read at its place.
  Tensor TakeOutput(const Shape& shape) {
    const TensorType type = calls_[last_].type;
    size_t held = 0;
    for (int i = 0; i < chain_.inputs && held < held_.size(); ++i) {
      if (!outer_.HasInput(i) || outer_.tensor(i).dtype() != type || outer_.tensor(i).shape() != shape) continue;
      Value& taken = held_[held++] = outer_.TakeInput(i);
      if (taken.tensor().IsUnique()) return std::move(taken.mutable_tensor());
    }
    return Tensor(type, shape);
  }

  // Where a block of a tile begins is where the whole tensor would have its element `begin`.
  static std::byte* Shifted(std::byte* tile, int64_t begin, size_t size) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(tile) - static_cast<uintptr_t>(begin) * size);
  }
  void RunBlock(int64_t begin, int64_t end, std::byte* tiles, int64_t tile_bytes, std::byte* out) const {
    for (size_t k = 0; k <= last_; ++k) {
      const Loops& step = *loops_[k];
      const size_t size = onnx_optim::BytesOf(calls_[k].type);
      std::array<const void*, kernels::kMaxOperands> in = step.data;
      for (size_t i = 0; i < in.size(); ++i)
        if (step.tile[i] >= 0) in[i] = Shifted(tiles + step.tile[i] * tile_bytes, begin, step.size[i]);
      std::byte* const to = k == last_ ? out : Shifted(tiles + chain_.steps[k].tile * tile_bytes, begin, size);
      step.loops.Run(begin, end, in.data(), step.size.data(), to, size, calls_[k].row, calls_[k].fn);
    }
  }

  RunContext& outer_;
  const Chain& chain_;
  size_t last_;  // step
  std::array<Call, kMaxSteps> calls_;
  std::array<Value, kMaxSteps> results_;  // of the steps; without elements unless they run one by one
  std::array<std::optional<Loops>, kMaxSteps> loops_;
  std::array<Value, 4> held_;  // inputs that were taken and turned out to be others' too
  bool done_ = false;
  bool together_ = false;  // what is wrong now is no single step's
  bool one_by_one_ = false;
};

class Fusion::StepContext final : public RunContext {
 public:
  StepContext(Fusion& fusion, size_t k) : fusion_(fusion), step_(fusion.chain_.steps[k]), k_(k) {}
  const NodeProto& node() const override { return *step_.node; }
  const OpDef& op() const override { return *step_.op; }
  int input_size() const override { return static_cast<int>(step_.inputs.size()); }
  const Value& input(int i) const override { return fusion_.InputOf(k_, i); }
  Value TakeInput(int i) override { return fusion_.TakeInput(k_, i); }
  int output_size() const override { return 1; }
  bool HasOutput(int) const override { return true; }
  void SetOutput(int, Value value) override {
    if (k_ == fusion_.last_) {
      fusion_.outer_.SetOutput(0, std::move(value));
    } else {
      fusion_.results_[k_] = std::move(value);
    }
  }
  Tensor& AllocateOutput(int, TensorType dtype, Shape shape) override {
    if (k_ == fusion_.last_) return fusion_.outer_.AllocateOutput(0, dtype, std::move(shape));
    fusion_.results_[k_] = Tensor(dtype, std::move(shape));
    return fusion_.results_[k_].mutable_tensor();
  }
  ThreadTeam& team() override { return fusion_.outer_.team(); }
  int threads() const override { return fusion_.outer_.threads(); }
  bool TakeRows(const RowsCall& call) override {
    if (fusion_.one_by_one_) return false;
    fusion_.Take(k_, call);
    return true;
  }
  const BodyRunner& Body(std::string_view name) override { return fusion_.outer_.Body(name); }
  void CheckCancelled() const override { fusion_.outer_.CheckCancelled(); }
  uint64_t NextSeed() override { return fusion_.outer_.NextSeed(); }

 protected:
  const OpState* RawState() const override { return nullptr; }  // elementwise operators have none

 private:
  Fusion& fusion_;
  const Step& step_;
  size_t k_;
};

void Fusion::RunStep(size_t k) {
  StepContext context(*this, k);
  try {
    CheckInputs(context, chain_.steps[k].checks);
    chain_.steps[k].op->run(context);
  } catch (Error& e) {
    if (!together_) e.AddNode(chain_.steps[k].node->op_type(), chain_.steps[k].node->name());
    throw;
  }
}

void Run(RunContext& ctx) { Fusion(ctx, ctx.state<Chain>()).Run(); }

void ShapeRule(InferScope& scope) {
  std::vector<ShapeValue> inputs;
  for (int i = 0; i < scope.input_size(); ++i) inputs.push_back(scope.Input(i));
  scope.SetOutput(0, scope.InferBody(scope.attrs().Graph(kSteps), inputs).at(0));
}

}  // namespace

std::span<const OpDef> fused_elementwise_ops() {
  static constexpr TypeSet kTypes = kNumericTypes | kBoolType;
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "FusedElementwise",
       .since_version = 1,
       .inputs = {{.name = "inputs", .types = kTypes, .count = FormalCount::kVariadic}},
       .outputs = {{"output", kTypes}},
       .attributes = {{kSteps, AttrKind::kGraph, true},
                      {"opset", AttrKind::kInt, true},
                      {kTogetherFrom, AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run,
       .reads_graphs = true},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
