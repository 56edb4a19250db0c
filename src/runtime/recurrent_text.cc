// SPDX-License-Identifier: Apache-2.0
#include "runtime/recurrent_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/lower_case.h"
#include "kernels/activation/activation.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using kernels::Activation;
using kernels::ActivationKind;

const AttributeProto* Find(const NodeProto& node, std::string_view name) {
  const auto found =
      std::ranges::find(node.attribute(), name, [](const AttributeProto& a) { return std::string_view(a.name()); });
  return found == node.attribute().end() ? nullptr : &*found;
}
int64_t Int(const NodeProto& node, std::string_view name) {
  return Find(node, name) == nullptr ? 0 : Find(node, name)->i();
}

// The function of one node, as text.
class FunctionText {
 public:
  FunctionText(const NodeProto& node, const RecurrentTextOptions& options)
      : node_(node), options_(options), opset_(options.opset) {
    const TensorType type = options.type;
    // Numbers of 16 bits are computed with as those of 32, which is what the operators do.
    narrow_ = type == TensorType::kFloat16 || type == TensorType::kBfloat16;
    type_ = onnx_optim::TensorTypeName(narrow_ ? TensorType::kFloat : type);
    lstm_ = node.op_type() == "LSTM";
    gru_ = node.op_type() == "GRU";
    gates_ = lstm_ ? 4 : gru_ ? 3 : 1;
    hidden_ = Int(node, "hidden_size") > 0 ? Int(node, "hidden_size") : options.hidden_size;
    layout_ = Int(node, "layout");
    linear_ = gru_ && Int(node, "linear_before_reset") != 0;
    const std::string direction =  // read as the operators do
        Find(node, "direction") == nullptr ? "forward" : LowerCase(Find(node, "direction")->s().as_string());
    directions_ = direction == "bidirectional" ? 2 : 1;
    reverse_ = direction == "reverse";
    clip_ = Find(node, "clip") == nullptr ? 0 : Find(node, "clip")->f();
  }

  // False when the attributes are not what the operator takes.
  bool ReadFunctions() {
    const size_t each = lstm_ ? 3 : gru_ ? 2 : 1, all = each * static_cast<size_t>(directions_);
    constexpr std::string_view kLstm[] = {"Sigmoid", "Tanh", "Tanh"}, kGru[] = {"Sigmoid", "Tanh"};
    std::vector<std::string> names;
    if (const AttributeProto* given = Find(node_, "activations"))
      names.assign(given->strings().begin(), given->strings().end());
    for (size_t k = 0; names.size() < all && Find(node_, "activations") == nullptr; ++k)
      names.emplace_back(lstm_ ? kLstm[k % each] : gru_ ? kGru[k % each] : "Tanh");
    if (names.size() != all) return false;
    const auto floats = [&](const char* name) {
      return Find(node_, name) == nullptr ? std::vector<float>() : std::vector<float>(Find(node_, name)->floats());
    };
    const std::vector<float> alphas = floats("activation_alpha"), betas = floats("activation_beta");
    size_t alpha = 0, beta = 0;
    for (const std::string& name : names) {
      const auto kind = kernels::ActivationFromName(name);
      if (!kind) return false;
      Activation& function = functions_.emplace_back(Activation::Default(*kind));
      if (kernels::TakesAlpha(*kind) && alpha < alphas.size()) function.alpha = static_cast<double>(alphas[alpha++]);
      if (kernels::TakesBeta(*kind) && beta < betas.size()) function.beta = static_cast<double>(betas[beta++]);
    }
    return true;
  }

  // What a sequence says needs none of this.
  bool IsNeeded() const {
    if (hidden_ <= 0) return false;
    const auto plain = [](const Activation& f) {
      return f.kind == ActivationKind::kSigmoid || f.kind == ActivationKind::kTanh || f.kind == ActivationKind::kRelu;
    };
    return !std::ranges::all_of(functions_, plain) || (lstm_ && (Has(7) || Int(node_, "input_forget") != 0));
  }

  std::string Text() {
    static constexpr const char* kFormals[] = {"X", "W", "R", "B", "lens", "H0", "C0", "P"};
    std::vector<std::string> formals, outputs;
    for (int i = 0; i < node_.input_size(); ++i)
      if (Has(i)) formals.push_back(Taken(kFormals[i]));
    Number("zero", 0);
    Number("one", 1);
    if (clip_ > 0) {
      Number("most", static_cast<double>(clip_));
      Number("least", -static_cast<double>(clip_));
    }
    for (int k = 0; k <= 2 * gates_; ++k) Line("at{} = Constant<value = int64[1] {{{}}}>()", k, k * hidden_);
    Line("first = Constant<value = int64[1] {{0}}>()");
    Line("second = Constant<value = int64[1] {{1}}>()");
    Line("none = Constant<value = int64 {{0}}>()");
    Line("step = Constant<value = int64 {{1}}>()");
    Line("x = {}", layout_ == 1 ? "Transpose<perm = [1, 0, 2]>(X)" : "Identity(X)");
    Line("shape = Shape(x)");
    Line("steps = Gather(shape, none)");
    Line("rows = Gather(shape, second)");
    Line("times = Gather(shape, first)");
    Line("result = Concat<axis = 0>(times, rows, at1)");
    if (Has(4)) {
      Line("lens64 = Cast<to = 7>(lens)");
      Line("column = Constant<value = int64[2] {{-1, 1}}>()");
      Line("lengths = Reshape(lens64, column)");
      Line("there = Greater(lengths, none)");
      Line("no_steps = Equal(steps, none)");
      Line("keep = Or(there, no_steps)");
    }
    for (int d = 0; d < directions_; ++d) Direction(d);
    const auto join = [&](const char* value, const char* output, int axis) {
      std::vector<std::string> parts;
      for (int d = 0; d < directions_; ++d) {
        Line("{0}{1}_wide = {2}", value, d, Unsqueezed(fmt::format("{}{}", value, d), axis));
        parts.push_back(fmt::format("{}{}_wide", value, d));
      }
      Line("{} = Concat<axis = {}>({})", output, axis, fmt::join(parts, ", "));
    };
    if (Gives(0)) {
      join("ys", layout_ == 1 ? "y_steps" : "Y", 1);
      if (layout_ == 1) Line("Y = Transpose<perm = [2, 0, 1, 3]>(y_steps)");
      outputs.push_back(Given("Y"));
    }
    const int axis = layout_ == 1 ? 1 : 0;
    if (Gives(1)) join("hf", "Yh", axis), outputs.push_back(Given("Yh"));
    if (Gives(2)) join("cf", "Yc", axis), outputs.push_back(Given("Yc"));
    return fmt::format("<domain: \"{}\", opset_import: [\"\" : {}]> {} ({}) => ({}) {{ {} }}", options_.domain, opset_,
                       options_.name, fmt::join(formals, ", "), fmt::join(outputs, ", "), lines_);
  }

 private:
  bool Has(int i) const { return i < node_.input_size() && !node_.input(i).empty(); }
  bool Gives(int i) const { return i < node_.output_size() && !node_.output(i).empty(); }

  template <class... Args>
  void Line(fmt::format_string<Args...> text, Args&&... args) {
    lines_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }
  // The name of the formal input that is known as `name` inside, of the output that is.
  std::string Taken(const std::string& name) {
    if (!narrow_ || name == "lens") return name;
    Line("{0} = Cast<to = 1>({0}_given)", name);
    return name + "_given";
  }
  std::string Given(const std::string& name) {
    if (!narrow_) return name;
    Line("{0}_given = Cast<to = {1}>({0})", name, static_cast<int>(options_.type));
    return name + "_given";
  }
  // A number of the type that is computed with.
  void Number(const std::string& name, double value) {
    Line("{}_float = Constant<value = float {{{}}}>()", name, static_cast<float>(value));
    Line("{0} = Cast<to = {1}>({0}_float)", name, static_cast<int>(onnx_optim::TensorTypeFromName(type_)));
  }
  std::string Unsqueezed(const std::string& value, int axis) const {
    if (opset_ < 13) return fmt::format("Unsqueeze<axes = [{}]>({})", axis, value);
    return fmt::format("Unsqueeze({}, {})", value, axis == 0 ? "first" : "second");
  }
  // Gates [from, to) of the last axis of `value`, which is axis `axis`.
  std::string Gates(const std::string& value, int from, int to, int axis) const {
    if (opset_ < 10)
      return fmt::format("Slice<axes = [{}], starts = [{}], ends = [{}]>({})", axis, from * hidden_, to * hidden_,
                         value);
    return fmt::format("Slice({}, at{}, at{}, {})", value, from, to, axis == 0 ? "first" : "second");
  }

  void State(const char* name, int input, int d) {
    if (Has(input)) {
      Line("{0}0_{1} = Gather<axis = {2}>({3}0, d{1})", name, d, layout_ == 1 ? 1 : 0, input == 5 ? "H" : "C");
    } else {
      Line("{0}0_{1}_shape = Concat<axis = 0>(rows, at1)", name, d);
      Line("{0}0_{1} = Expand(zero, {0}0_{1}_shape)", name, d);
    }
  }

  void Direction(int d) {
    const bool backwards = reverse_ || d == 1;
    Line("d{0} = Constant<value = int64 {{{0}}}>()", d);
    for (const char* weights : {"w", "r"}) {
      Line("{0}{1} = Gather<axis = 0>({2}, d{1})", weights, d, *weights == 'w' ? "W" : "R");
      Line("{0}t{1} = Transpose<perm = [1, 0]>({0}{1})", weights, d);
    }
    Line("product{0} = MatMul(x, wt{0})", d);
    if (Has(3)) {
      Line("b{0} = Gather<axis = 0>(B, d{0})", d);
      Line("wb{0} = {1}", d, Gates(fmt::format("b{}", d), 0, gates_, 0));
      Line("rb{0} = {1}", d, Gates(fmt::format("b{}", d), gates_, 2 * gates_, 0));
      Line("biased{0} = Add(product{0}, wb{0})", d);
    } else {
      Line("biased{0} = Identity(product{0})", d);
    }
    // The second bias of h is reset with the product.
    Line("xs{0} = {1}", d,
         Has(3) && !linear_ ? fmt::format("Add(biased{0}, rb{0})", d) : fmt::format("Identity(biased{})", d));
    State("h", 5, d);
    if (lstm_) State("c", 6, d);
    if (lstm_ && Has(7)) Line("p{0} = Gather<axis = 0>(P, d{0})", d);
    Line("t0_{} = {}", d, backwards ? "Sub(steps, step)" : "Identity(none)");
    const std::string cell = lstm_ ? fmt::format("c0_{}, ", d) : "", last = lstm_ ? fmt::format("cl{}, ", d) : "";
    const std::string state = fmt::format("{}[n, {}]", type_, hidden_);
    std::string outer = std::exchange(lines_, {});
    Step(d, backwards);
    const std::string body = std::exchange(lines_, std::move(outer));
    const std::string in_cell = lstm_ ? state + " c, " : "", out_cell = lstm_ ? state + " c2, " : "";
    Line(
        "hl{0}, {1}tl{0}, yl{0} = Scan<num_scan_inputs = 1, scan_input_directions = [{2}], scan_output_directions = "
        "[{2}], "
        "body = body{0} ({3} h, {4}int64 t, {5}[n, {6}] xt) => ({3} h2, {7}int64 t2, {3} y) {{ {8} }}>(h0_{0}, "
        "{9}t0_{0}, xs{0})",
        d, last, backwards ? 1 : 0, state, in_cell, type_, gates_ * hidden_, out_cell, body, cell);
    Line("ys{0} = Reshape(yl{0}, result)", d);  // without a step nothing says how many rows there are
    for (const char* name : {"h", "c"}) {
      if (*name == 'c' && !lstm_) continue;
      Line("{0}f{1} = {2}", name, d,
           Has(4) ? fmt::format("Where(keep, {}l{}, zero)", name, d) : fmt::format("Identity({}l{})", name, d));
    }
  }

  // Before its function, a gate is held within the clip.
  void Gate(int d, int function, const std::string& from, const std::string& to) {
    std::string value = from;
    if (clip_ > 0) {
      Line("{0}_low = Min({1}, most)", to, from);
      Line("{0}_held = Max({0}_low, least)", to);
      value = to + "_held";
    }
    Function(d, function, value, to);
  }
  void Function(int d, int number, const std::string& x, const std::string& y) {
    const int each = lstm_ ? 3 : gru_ ? 2 : 1;
    const Activation& f = functions_[static_cast<size_t>(d * each + number)];
    const std::string_view op = kernels::ActivationName(f.kind);
    switch (f.kind) {
      case ActivationKind::kAffine:
        Number(y + "_a", f.alpha);
        Number(y + "_b", f.beta);
        Line("{0}_scaled = Mul({0}_a, {1})", y, x);
        return Line("{0} = Add({0}_scaled, {0}_b)", y);
      case ActivationKind::kScaledTanh:
        Number(y + "_a", f.alpha);
        Number(y + "_b", f.beta);
        Line("{0}_scaled = Mul({0}_b, {1})", y, x);
        Line("{0}_tanh = Tanh({0}_scaled)", y);
        return Line("{0} = Mul({0}_a, {0}_tanh)", y);
      case ActivationKind::kThresholdedRelu:  // at alpha itself it is x
        Number(y + "_a", f.alpha);
        Line("{0}_below = Less({1}, {0}_a)", y, x);
        return Line("{0} = Where({0}_below, zero, {1})", y, x);
      case ActivationKind::kHardSigmoid:
        return Line("{} = HardSigmoid<alpha = {:.9e}, beta = {:.9e}>({})", y, f.alpha, f.beta, x);
      case ActivationKind::kElu:
      case ActivationKind::kLeakyRelu:
        return Line("{} = {}<alpha = {:.9e}>({})", y, op, f.alpha, x);
      default:
        return Line("{} = {}({})", y, op, x);
    }
  }

  void Step(int d, bool backwards) {
    if (lstm_) {
      LstmStep(d);
    } else if (gru_) {
      GruStep(d);
    } else {
      Line("back = MatMul(h, rt{})", d);
      Line("sum = Add(xt, back)");
      Gate(d, 0, "sum", "hn");
    }
    for (const char* name : {"h", "c"}) {
      if (*name == 'c' && !lstm_) continue;
      if (Has(4) && *name == 'h') Line("active = Less(t, lengths)");
      Line("{0}2 = {1}", name,
           Has(4) ? fmt::format("Where(active, {0}n, {0})", name) : fmt::format("Identity({}n)", name));
    }
    Line("y = {}", Has(4) ? "Where(active, hn, zero)" : "Identity(hn)");
    Line("t2 = {}(t, step)", backwards ? "Sub" : "Add");
  }

  // Blocks i, o, f, c; peepholes i, o, f, of which o sees the new cell state.
  void LstmStep(int d) {
    Line("back = MatMul(h, rt{})", d);
    Line("sum = Add(xt, back)");
    const auto gate = [&](const char* name, int block, const char* seen) {
      Line("{}_sum = {}", name, Gates("sum", block, block + 1, 1));
      if (!Has(7) || seen == nullptr) return;
      Line("{}_p = {}", name, Gates(fmt::format("p{}", d), block, block + 1, 0));
      Line("{0}_seen = Mul({0}_p, {1})", name, seen);
      Line("{0}_all = Add({0}_sum, {0}_seen)", name);
    };
    const auto value = [&](const std::string& name) { return name + (Has(7) ? "_all" : "_sum"); };
    gate("i", 0, "c");
    Gate(d, 0, value("i"), "i");
    if (Int(node_, "input_forget") != 0) {
      Line("f = Sub(one, i)");
    } else {
      gate("f", 2, "c");
      Gate(d, 0, value("f"), "f");
    }
    gate("g", 3, nullptr);
    Gate(d, 1, "g_sum", "g");
    Line("kept = Mul(f, c)");
    Line("new = Mul(i, g)");
    Line("cn = Add(kept, new)");
    gate("o", 1, "cn");
    Gate(d, 0, value("o"), "o");
    Function(d, 2, "cn", "shown");
    Line("hn = Mul(o, shown)");
  }

  // Blocks z, r, h.
  void GruStep(int d) {
    Line("r_zr = {}", Gates(fmt::format("rt{}", d), 0, 2, 1));
    Line("r_h = {}", Gates(fmt::format("rt{}", d), 2, 3, 1));
    Line("x_zr = {}", Gates("xt", 0, 2, 1));
    Line("x_h = {}", Gates("xt", 2, 3, 1));
    Line("back = MatMul(h, r_zr)");
    Line("sum = Add(x_zr, back)");
    const bool apart = linear_ && Has(3);
    if (apart) {
      Line("b_zr = {}", Gates(fmt::format("rb{}", d), 0, 2, 0));
      Line("b_h = {}", Gates(fmt::format("rb{}", d), 2, 3, 0));
      Line("sum_b = Add(sum, b_zr)");
    }
    const std::string sum = apart ? "sum_b" : "sum";
    Line("z_sum = {}", Gates(sum, 0, 1, 1));
    Line("r_sum = {}", Gates(sum, 1, 2, 1));
    Gate(d, 0, "z_sum", "z");
    Gate(d, 0, "r_sum", "r");
    if (linear_) {
      Line("h_back = MatMul(h, r_h)");
      Line("h_biased = {}", apart ? "Add(h_back, b_h)" : "Identity(h_back)");
      Line("h_part = Mul(r, h_biased)");
    } else {
      Line("h_reset = Mul(r, h)");
      Line("h_part = MatMul(h_reset, r_h)");
    }
    Line("h_sum = Add(x_h, h_part)");
    Gate(d, 1, "h_sum", "g");
    Line("rest = Sub(one, z)");
    Line("new = Mul(rest, g)");
    Line("kept = Mul(z, h)");
    Line("hn = Add(new, kept)");
  }

  const NodeProto& node_;
  const RecurrentTextOptions& options_;
  int64_t opset_;
  std::string type_, lines_;
  bool narrow_ = false, lstm_ = false, gru_ = false, linear_ = false, reverse_ = false;
  int gates_ = 1, directions_ = 1;
  int64_t hidden_ = 0, layout_ = 0;
  float clip_ = 0;
  std::vector<Activation> functions_;
};

}  // namespace

std::optional<std::string> RecurrentText(const NodeProto& node, const RecurrentTextOptions& options) {
  FunctionText text(node, options);
  if (!text.ReadFunctions() || !text.IsNeeded()) return std::nullopt;
  return text.Text();
}

}  // namespace ONNX_LIGHT_NAMESPACE
