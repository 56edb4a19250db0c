// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "onnxseq/errors.h"
#include "runtime/session_impl.h"

namespace ONNX_LIGHT_NAMESPACE {

struct Runner::State {
  std::shared_ptr<const Session::Impl> session;
  std::vector<size_t> inputs, outputs;  // by position here, that of the model
  std::vector<Value> values;            // of the inputs, by position here
  std::vector<Value> bound;             // of the outputs, by position here; nothing where none is
  std::vector<Value> in, out;           // by position in the model
  SymbolSizes symbols;
};

namespace {

// Copies the elements of `from`, whose type and shape are those of `to`.
void CopyInto(const Tensor& to, const Tensor& from) {
  // Bound tensors have storage of their own, of which the caller may hold handles.
  void* const data = const_cast<void*>(to.data());
  if (to.dtype() == TensorType::kString) {
    std::ranges::copy(from.View<std::string>(), static_cast<std::string*>(data));
  } else if (const size_t bytes = to.ByteSize(); bytes > 0) {
    std::memcpy(data, from.data(), bytes);
  }
}

void CheckPosition(std::string_view what, int i, size_t size) {
  if (i < 0 || static_cast<size_t>(i) >= size)
    throw InvalidArgument(fmt::format("there is no {} {}: the runner has {}", what, i, size));
}

}  // namespace

Runner::Runner(const Session& session, std::span<const std::string> inputs, std::span<const std::string> outputs)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.session = session.impl_;
  const auto add = [](std::vector<size_t>& list, std::string_view what, std::string_view name, int i) {
    if (std::ranges::find(list, static_cast<size_t>(i)) != list.end()) FailIo(what, name, "is named twice");
    list.push_back(static_cast<size_t>(i));
  };
  for (const std::string& name : inputs) add(s.inputs, "input", name, s.session->FindInput(name));
  for (const std::string& name : outputs) add(s.outputs, "output", name, s.session->FindOutput(name));
  s.in.resize(s.session->inputs.size());
  s.out.resize(s.session->output_descriptions.size());
  for (size_t i = 0; inputs.empty() && i < s.in.size(); ++i) s.inputs.push_back(i);
  for (size_t i = 0; outputs.empty() && i < s.out.size(); ++i) s.outputs.push_back(i);
  s.values.resize(s.inputs.size());
  s.bound.resize(s.outputs.size());
}

Runner::Runner(const Session& session, std::initializer_list<std::string> inputs,
               std::initializer_list<std::string> outputs)
    : Runner(session, std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size())) {}
Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;

int Runner::input_size() const { return static_cast<int>(state_->inputs.size()); }
int Runner::output_size() const { return static_cast<int>(state_->outputs.size()); }

void Runner::SetInput(int i, Value value) {
  CheckPosition("input", i, state_->values.size());
  state_->values[static_cast<size_t>(i)] = std::move(value);
}

void Runner::BindOutput(int i, Tensor tensor) {
  CheckPosition("output", i, state_->bound.size());
  if (tensor.IsBorrowed())
    FailIo("output", state_->session->output_descriptions[state_->outputs[static_cast<size_t>(i)]].name,
           fmt::format("the tensor given for it, {}, is in borrowed memory", tensor.TypeString()));
  state_->bound[static_cast<size_t>(i)] = tensor.defined() ? Value(std::move(tensor)) : Value();
}

const Value& Runner::output(int i) const {
  CheckPosition("output", i, state_->outputs.size());
  const auto at = static_cast<size_t>(i);
  const Value& result = state_->out[state_->outputs[at]];
  return state_->bound[at].IsNone() || result.IsNone() ? result : state_->bound[at];
}

Value Runner::TakeOutput(int i) {
  Value value = output(i);
  state_->out[state_->outputs[static_cast<size_t>(i)]] = Value();
  return value;
}

void Runner::Run(const RunOptions& options) {
  State& s = *state_;
  TranslateErrors([&] {
    try {
      for (size_t i = 0; i < s.inputs.size(); ++i) s.in[s.inputs[i]] = s.values[i];
      s.symbols.clear();
      bool overrides = false;
      for (size_t i = 0; i < s.in.size(); ++i) {
        if (s.in[i].IsNone())
          s.session->CheckMissing(i);
        else
          overrides = s.session->CheckInput(i, s.in[i], s.symbols) || overrides;
      }
      s.session->Execute(s.in, overrides, s.symbols, s.out, options);
      for (size_t i = 0; i < s.outputs.size(); ++i) {
        if (s.bound[i].IsNone()) continue;
        const Tensor& bound = s.bound[i].tensor();
        // Stays where it is until the next run, which takes its memory again.
        const Value& result = s.out[s.outputs[i]];
        if (!result.IsTensor() || result.tensor().dtype() != bound.dtype() || result.tensor().shape() != bound.shape())
          FailIo("output", s.session->output_descriptions[s.outputs[i]].name,
                 fmt::format("the tensor given for it is {}, the result {}", bound.TypeString(), result.TypeString()));
        CopyInto(bound, result.tensor());
      }
    } catch (...) {
      for (Value& value : s.in) value = Value();
      for (Value& value : s.out) value = Value();
      throw;
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE
