// SPDX-License-Identifier: Apache-2.0
// ShapesContext: names, functions, scopes. Facts are in facts.cc.
#include "onnx_optim/shapes/shapes_context.h"

#include <algorithm>

#include "fmt/format.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

namespace {

std::string_view Domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }
std::string Key(std::string_view domain, std::string_view name, std::string_view overload = {}) {
  return fmt::format("{}\n{}\n{}", Domain(domain), name, overload);
}

template <class Map>
auto* Lookup(const Map& map, std::string_view name) {
  const auto it = map.find(name);
  return it == map.end() ? nullptr : &it->second;
}

}  // namespace

struct ShapesContext::Shared {
  NameMap<std::shared_ptr<const FunctionProto>> functions;
  NameMap<CustomShapeInferenceFunction> rules;
};

ShapesContext::ShapesContext()
    : shared_(std::make_shared<Shared>()), counter_(std::make_shared<std::atomic<int64_t>>(0)) {}
ShapesContext::ShapesContext(const ShapesContext&) = default;
ShapesContext::ShapesContext(ShapesContext&&) noexcept = default;
ShapesContext& ShapesContext::operator=(const ShapesContext&) = default;
ShapesContext& ShapesContext::operator=(ShapesContext&&) noexcept = default;
ShapesContext::~ShapesContext() = default;

void ShapesContext::Set(const std::string& name, OptimTensor tensor) {
  values_.insert_or_assign(name, ShapeValue(tensor));
  tensors_.insert_or_assign(name, std::move(tensor));
}

bool ShapesContext::Has(const std::string& name) const {
  if (tensors_.contains(name)) return true;
  if (values_.contains(name) || sequence_values_.contains(name)) return false;
  return parent_ != nullptr && parent_->Has(name);
}

const OptimTensor& ShapesContext::Get(const std::string& name) const {
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const OptimTensor* tensor = Lookup(scope->tensors_, name)) return *tensor;
    if (scope->values_.contains(name) || scope->sequence_values_.contains(name)) break;
  }
  const ShapeValue* other = Find(name);
  if (other == nullptr) throw OutOfRange(fmt::format("no tensor named \"{}\" is known", name));
  throw OutOfRange(fmt::format("no tensor named \"{}\" is known, it is {}", name, other->ToString()));
}

void ShapesContext::SetSequence(const std::string& name, OptimSequence sequence) {
  sequence_values_.insert_or_assign(name, ShapeValue(sequence));
  sequences_.insert_or_assign(name, std::move(sequence));
}

bool ShapesContext::HasSequence(const std::string& name) const { return FindSequence(name) != nullptr; }

const OptimSequence& ShapesContext::GetSequence(const std::string& name) const {
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const OptimSequence* sequence = Lookup(scope->sequences_, name)) return *sequence;
    if (scope->values_.contains(name)) break;
  }
  const ShapeValue* other = Find(name);
  if (other == nullptr) throw OutOfRange(fmt::format("no sequence named \"{}\" is known", name));
  throw OutOfRange(fmt::format("no sequence named \"{}\" is known, it is {}", name, other->ToString()));
}

void ShapesContext::SetValue(const std::string& name, ShapeValue value) {
  if (value.IsSequence()) {
    values_.erase(name);
    tensors_.erase(name);
    sequences_.insert_or_assign(name, value.ToOptimSequence());
    sequence_values_.insert_or_assign(name, std::move(value));
    return;
  }
  sequences_.erase(name);
  sequence_values_.erase(name);
  if (value.IsTensor()) {
    tensors_.insert_or_assign(name, value.ToOptimTensor());
  } else {
    tensors_.erase(name);
  }
  values_.insert_or_assign(name, std::move(value));
}

const ShapeValue& ShapesContext::GetValue(const std::string& name) const {
  const ShapeValue* value = Find(name);
  if (value == nullptr) throw OutOfRange(fmt::format("no value named \"{}\" is known", name));
  return *value;
}

const ShapeValue* ShapesContext::Find(std::string_view name) const noexcept {
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const ShapeValue* value = Lookup(scope->values_, name)) return value;
    if (const ShapeValue* value = Lookup(scope->sequence_values_, name)) return value;
  }
  return nullptr;
}

const ShapeValue* ShapesContext::FindTensor(std::string_view name) const noexcept {
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const ShapeValue* value = Lookup(scope->values_, name)) return value;
    if (scope->sequence_values_.contains(name)) return nullptr;
  }
  return nullptr;
}

const ShapeValue* ShapesContext::FindSequence(std::string_view name) const noexcept {
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const ShapeValue* value = Lookup(scope->sequence_values_, name)) return value;
    if (scope->values_.contains(name)) return nullptr;
  }
  return nullptr;
}

void ShapesContext::Remove(const std::string& name) {
  tensors_.erase(name);
  sequences_.erase(name);
  values_.erase(name);
  sequence_values_.erase(name);
}

std::vector<std::string> ShapesContext::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) names.push_back(name);
  for (const auto& [name, value] : sequence_values_) {
    if (!values_.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void ShapesContext::Clear() {
  ShapesContext empty;
  empty.parent_ = parent_;
  *this = std::move(empty);
}

void ShapesContext::SetOpsetVersion(const std::string& domain, int64_t version) {
  opsets_.insert_or_assign(std::string(Domain(domain)), version);
}

int64_t ShapesContext::OpsetVersion(std::string_view domain) const noexcept {
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const int64_t* version = Lookup(scope->opsets_, Domain(domain))) return *version;
  }
  return 0;
}

ShapesContext::Shared& ShapesContext::MutableShared() {
  // Children and copies keep what they have; a sole holder need not copy.
  if (shared_.use_count() == 1) return const_cast<Shared&>(*shared_);
  auto copy = std::make_shared<Shared>(*shared_);
  Shared& shared = *copy;
  shared_ = std::move(copy);
  return shared;
}

void ShapesContext::SetLocalFunction(const FunctionProto& function) {
  SetLocalFunction(std::make_shared<const FunctionProto>(function));
}

void ShapesContext::SetLocalFunction(const std::string& domain, const std::string& name,
                                     const FunctionProto& function) {
  MutableShared().functions.insert_or_assign(Key(domain, name, function.overload()),
                                             std::make_shared<const FunctionProto>(function));
}

void ShapesContext::SetLocalFunction(std::shared_ptr<const FunctionProto> function) {
  std::string key = Key(function->domain(), function->name(), function->overload());
  MutableShared().functions.insert_or_assign(std::move(key), std::move(function));
}

const FunctionProto* ShapesContext::GetLocalFunction(std::string_view domain, std::string_view name,
                                                     std::string_view overload) const {
  if (shared_->functions.empty()) return nullptr;
  const auto* function = Lookup(shared_->functions, Key(domain, name, overload));
  return function == nullptr ? nullptr : function->get();
}

void ShapesContext::SetCustomShapeInferenceFunction(const std::string& domain, const std::string& op_type,
                                                    CustomShapeInferenceFunction fn) {
  MutableShared().rules.insert_or_assign(Key(domain, op_type), std::move(fn));
}

const CustomShapeInferenceFunction* ShapesContext::GetCustomShapeInferenceFunction(std::string_view domain,
                                                                                   std::string_view op_type) const {
  if (shared_->rules.empty()) return nullptr;
  return Lookup(shared_->rules, Key(domain, op_type));
}

ShapesContext ShapesContext::ChildScope() const {
  ShapesContext child;
  child.parent_ = this;
  child.precision_ = precision_;
  child.shared_ = shared_;
  child.counter_ = counter_;
  return child;
}

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
