// SPDX-License-Identifier: Apache-2.0
// Operators that see one place at a time.
#include "body_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

std::string BodyMaker::Numbers(const std::vector<int>& dims, double scale) {
  int count = 1;
  for (const int dim : dims) count *= dim;
  std::vector<std::string> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(fmt::format("{:.4f}", random_.Int(-4, 4) * scale / 4));
  const std::string name = "w" + NewName();
  const std::string type = dims.empty() ? "float" : fmt::format("float[{}]", fmt::join(dims, ","));
  const std::string constant = fmt::format("{} {{{}}}", type, fmt::join(numbers, ", "));
  switch (random_.Int(0, 3)) {
    case 0:
      around_.inputs.push_back(fmt::format("{} {}", type, name));
      break;
    case 1:
      around_.initializers.push_back(fmt::format("{} {} = {{{}}}", type, name, fmt::join(numbers, ", ")));
      break;
    case 2:
      around_.in_body.push_back(fmt::format("{} {} = {{{}}}", type, name, fmt::join(numbers, ", ")));
      break;
    default:
      text_ += fmt::format("  {} = Constant <value = {}> ()\n", name, constant);
  }
  return name;
}

std::string BodyMaker::Hidden(const std::string& call) {
  const std::string name = "h" + NewName();
  text_ += fmt::format("  {} = {}\n", name, call);
  return name;
}

std::vector<Mark> BodyMaker::Broadcasted(const std::vector<Mark>& a, const std::vector<Mark>& b) {
  std::vector<Mark> dims = a.size() >= b.size() ? a : b;
  const std::vector<Mark>& other = a.size() >= b.size() ? b : a;
  for (size_t i = 1; i <= other.size(); ++i) {
    Mark& mark = dims[dims.size() - i];
    if (mark == 1) mark = other[other.size() - i];
  }
  return dims;
}

void BodyMaker::AddTyped(Typed value) {
  Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", value.name), value.dims);
  typed_.push_back(std::move(value));
}

void BodyMaker::Unary() {
  static const std::vector<std::string> kOps{"Abs",         "Ceil",
                                             "Cos",         "Elu",
                                             "Erf",         "Exp",
                                             "Floor",       "Gelu",
                                             "HardSigmoid", "HardSwish",
                                             "Identity",    "LeakyRelu",
                                             "Mish",        "Neg",
                                             "Relu",        "Reciprocal",
                                             "Round",       "Selu",
                                             "Sigmoid",     "Sign",
                                             "Sin",         "Softplus",
                                             "Softsign",    "Sqrt",
                                             "Tanh",        "ThresholdedRelu",
                                             "Celu"};
  const Known x = Float();
  Emit(Kind::kFloat, fmt::format("{} ({})", random_.Of(kOps), x.name), x.dims);
}

// With another value of the element, one of the graph around it, or a constant.
void BodyMaker::Broadcast() {
  const Known x = Float();
  std::string other;
  std::vector<Mark> dims = x.dims;
  if (random_.OneIn(2)) {
    const Known y = Partner(x);
    other = y.name;
    dims = Broadcasted(x.dims, y.dims);
  } else {
    // Any suffix of its dims, ones where they differ between elements; now and then more axes than it has.
    std::vector<int> sizes;
    const int rank = random_.Int(0, static_cast<int>(x.dims.size()));
    for (size_t i = x.dims.size() - static_cast<size_t>(rank); i < x.dims.size(); ++i)
      sizes.push_back(IsSize(x.dims[i]) && !random_.OneIn(4) ? x.dims[i] : 1);
    if (random_.OneIn(8) && sizes.size() == x.dims.size()) sizes.insert(sizes.begin(), random_.Int(1, 2));
    other = Numbers(sizes);
    dims = Broadcasted(x.dims, {sizes.begin(), sizes.end()});
  }
  static const std::vector<std::string> kTwo{"Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum"};
  const std::string& op = random_.Of(kTwo);
  const bool turned = random_.OneIn(2);
  switch (random_.Int(0, 9)) {
    case 0:
      Emit(Kind::kFloat, fmt::format("PRelu ({}, {})", x.name, other), dims);
      return;
    case 1: {
      static const std::vector<std::string> kMany{"Max", "Min", "Mean", "Sum"};
      Emit(Kind::kFloat, fmt::format("{} ({}, {}, {})", random_.Of(kMany), x.name, other, x.name), dims);
      return;
    }
    case 2: {
      const std::string base = Hidden(fmt::format("Abs ({})", x.name));
      Emit(Kind::kFloat, fmt::format("Pow ({}, {})", base, Scalar(random_.Int(1, 3))), x.dims);
      return;
    }
    case 3:
      Emit(Kind::kFloat, fmt::format("Mod <fmod = 1> ({}, {})", x.name, other), dims);
      return;
    default:
      Emit(Kind::kFloat, fmt::format("{} ({}, {})", op, turned ? other : x.name, turned ? x.name : other), dims);
  }
}

void BodyMaker::Choose() {
  const Known x = Float();
  const Known y = Partner(x);
  const std::vector<Mark> dims = Broadcasted(x.dims, y.dims);
  switch (random_.Int(0, 3)) {
    case 0: {
      const std::string least = random_.OneIn(3) ? "" : Scalar(-1), most = random_.OneIn(3) ? "" : Numbers({});
      Emit(Kind::kFloat, fmt::format("Clip ({}, {}{})", x.name, least, most.empty() ? "" : ", " + most), x.dims);
      return;
    }
    case 1: {
      static const std::vector<std::string> kCompare{"Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"};
      static const std::vector<std::string> kLogic{"And", "Or", "Xor"};
      const std::string a = Hidden(fmt::format("{} ({}, {})", random_.Of(kCompare), x.name, y.name));
      const std::string b = Hidden(fmt::format("{} ({}, {})", random_.Of(kCompare), x.name, Numbers({})));
      const std::string c = Hidden(fmt::format("{} ({}, {})", random_.Of(kLogic), a, b));
      const std::string d = Hidden(fmt::format("Not ({})", c));
      Emit(Kind::kFloat, fmt::format("Where ({}, {}, {})", d, x.name, y.name), dims);
      return;
    }
    case 2: {
      for (const Typed& value : typed_) {
        if (value.dtype != "bool") continue;
        Emit(Kind::kFloat, fmt::format("Where ({}, {}, {})", value.name, x.name, Numbers({})),
             Broadcasted(value.dims, x.dims));
        return;
      }
      const std::string test = Hidden(fmt::format("IsNaN ({})", x.name));
      Emit(Kind::kFloat, fmt::format("Where ({}, {}, {})", test, Scalar(0), x.name), x.dims);
      return;
    }
    default: {
      const std::string test = Hidden(fmt::format("Less ({}, {})", x.name, Scalar(1)));
      Emit(Kind::kFloat, fmt::format("Where ({}, {}, {})", test, y.name, Numbers({})), dims);
    }
  }
}

void BodyMaker::OtherTypes() {
  static const std::vector<std::pair<int, std::string>> kTypes{{11, "double"}, {7, "int64"}, {6, "int32"}};
  const auto& [number, dtype] = random_.Of(kTypes);
  const Known x = Float();
  const Known y = Partner(x);
  // Within what integers hold, whatever the values have grown to.
  const auto cast = [&](const std::string& name) {
    const std::string bounded = Hidden(fmt::format("Clip ({}, {}, {})", name, Scalar(-50), Scalar(50)));
    const std::string test = Hidden(fmt::format("IsNaN ({})", bounded));
    const std::string finite = Hidden(fmt::format("Where ({}, {}, {})", test, Scalar(0), bounded));
    return Hidden(fmt::format("Cast <to = {}> ({})", number, finite));
  };
  std::string a = cast(x.name);
  static const std::vector<std::string> kTwo{"Add", "Sub", "Mul", "Max", "Min"};
  const std::string b = cast(y.name);
  std::string result = Hidden(fmt::format("{} ({}, {})", random_.Of(kTwo), a, b));
  if (random_.OneIn(3)) result = Hidden(fmt::format("Abs ({})", result));
  for (const Typed& value : typed_) {
    if (value.dtype != dtype || !random_.OneIn(2)) continue;
    result = Hidden(fmt::format("Add ({}, {})", result, value.name));
    Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", result), Broadcasted(Broadcasted(x.dims, y.dims), value.dims));
    return;
  }
  Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", result), Broadcasted(x.dims, y.dims));
}

}  // namespace ONNX_LIGHT_NAMESPACE
