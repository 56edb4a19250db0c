// SPDX-License-Identifier: Apache-2.0
// Models of one recurrent operator, for tests.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/activation/activation.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// The operator's inputs in order, by the names the tests use.
inline std::vector<std::string> RecurrentInputs(const std::string& op_type) {
  static const std::map<std::string, std::vector<std::string>> kInputs{
      {"LSTM", {"X", "W", "R", "B", "lens", "H0", "C0", "P"}},
      {"GRU", {"X", "W", "R", "B", "lens", "H0"}},
      {"RNN", {"X", "W", "R", "B", "lens", "H0"}},
      {"LSTMSequence", {"X", "H0", "C0", "lens", "W", "R", "B", "P"}},
      {"GRUSequence", {"X", "H0", "lens", "W", "R", "B"}},
      {"RNNSequence", {"X", "H0", "lens", "W", "R", "B"}},
      {"LSTMCell", {"X", "H0", "C0", "W", "R", "B", "P"}},
      {"GRUCell", {"X", "H0", "W", "R", "B"}},
      {"RNNCell", {"X", "H0", "W", "R", "B"}}};
  return kInputs.at(op_type);
}

class RecurrentModel {
 public:
  RecurrentModel(std::string op_type, int64_t onnx_opset) : op_type_(std::move(op_type)) {
    for (const auto& [domain, version] :
         {std::pair<const char*, int64_t>{"", onnx_opset}, {"org.openvinotoolkit", 1}}) {
      OperatorSetIdProto& opset = *model_.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    model_.set_ir_version(10);
    model_.mutable_graph()->set_name("g");
    NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type(op_type_);
    if (op_type_.size() > 4) node.set_domain("org.openvinotoolkit");
  }

  void SetInt(const std::string& name, int64_t value) { Add(name, AttributeProto::INT).set_i(value); }
  void SetFloat(const std::string& name, float value) { Add(name, AttributeProto::FLOAT).set_f(value); }
  void SetString(const std::string& name, const std::string& value) { Add(name, AttributeProto::STRING).set_s(value); }
  // Names, and the alpha and beta of those that take them; without `values` these are the functions' own.
  void SetActivations(const std::vector<kernels::Activation>& activations, bool values) {
    AttributeProto& names = Add("activations", AttributeProto::STRINGS);
    std::vector<float> alphas, betas;
    for (const kernels::Activation& activation : activations) {
      names.add_strings(std::string(kernels::ActivationName(activation.kind)));
      if (values && kernels::TakesAlpha(activation.kind)) alphas.push_back(static_cast<float>(activation.alpha));
      if (values && kernels::TakesBeta(activation.kind)) betas.push_back(static_cast<float>(activation.beta));
    }
    const std::string prefix = op_type_.size() > 4 ? "activations_" : "activation_";
    if (!alphas.empty()) Add(prefix + "alpha", AttributeProto::FLOATS).mutable_floats()->extend(alphas);
    if (!betas.empty()) Add(prefix + "beta", AttributeProto::FLOATS).mutable_floats()->extend(betas);
  }

  // Of the inputs: nothing, the number of dims, or all sizes.
  enum class Declared : uint8_t { kNothing, kRanks, kSizes };
  void Declare(Declared declared) { declared_ = declared; }
  // What is run is what this makes of the model.
  void Through(std::function<ModelProto(const ModelProto&)> convert) { convert_ = std::move(convert); }

  // Runs with these inputs, those not given absent; the outputs are Y, Yh, Yc, as far as the operator has them.
  ValueMap Run(const std::map<std::string, Tensor>& inputs, bool constant_weights, int threads = 1,
               WeightStorage storage = WeightStorage::kFull) {
    const auto [session, feeds] = Load(inputs, constant_weights, threads, storage);
    return session.Run(feeds);
  }

  // The session of such runs, and what is fed.
  std::pair<Session, ValueMap> Load(const std::map<std::string, Tensor>& inputs, bool constant_weights, int threads = 1,
                                    WeightStorage storage = WeightStorage::kFull) {
    GraphProto& graph = *model_.mutable_graph();
    NodeProto& node = graph.ref_node()[0];
    ValueMap feeds;
    for (const std::string& name : RecurrentInputs(op_type_)) {
      const auto found = inputs.find(name);
      if (found == inputs.end()) {
        node.add_input("");
        continue;
      }
      node.add_input(name);
      const Tensor& tensor = found->second;
      const bool is_weight = name == "W" || name == "R" || name == "B" || name == "P";
      if (is_weight && constant_weights) {
        TensorProto& initializer = *graph.add_initializer();
        initializer.set_name(name);
        initializer.set_data_type(static_cast<int32_t>(tensor.dtype()));
        for (const int64_t dim : tensor.shape()) initializer.add_dims(dim);
        initializer.set_raw_data(Bytes(tensor.data(), tensor.ByteSize()));
      } else {
        ValueInfoProto& input = *graph.add_input();
        input.set_name(name);
        input.mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int32_t>(tensor.dtype()));
        for (const int64_t dim : tensor.shape()) {
          if (declared_ == Declared::kNothing) break;
          TensorShapeProto_Dimension& written =
              *input.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
          if (declared_ == Declared::kSizes) written.set_dim_value(dim);
        }
        feeds[name] = tensor;
      }
    }
    const bool is_cell = op_type_.ends_with("Cell"), is_lstm = op_type_.starts_with("LSTM");
    for (const char* name : {"Y", "Yh", "Yc"}) {
      if ((is_cell && name == std::string("Y")) || (!is_lstm && name == std::string("Yc"))) continue;
      node.add_output(name);
      graph.add_output()->set_name(name);
    }
    SessionOptions options;
    options.threads = threads;
    options.weights = storage;
    if (convert_) model_ = convert_(model_);
    // What a converted model does not look at is no input.
    std::erase_if(feeds, [&](const auto& feed) {
      return std::ranges::none_of(model_.graph().input(),
                                  [&](const auto& input) { return input.name() == feed.first; });
    });
    return {Session::FromModel(std::move(model_), options), std::move(feeds)};
  }

 private:
  AttributeProto& Add(const std::string& name, AttributeProto::AttributeType type) {
    AttributeProto& attribute = *model_.mutable_graph()->ref_node()[0].add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  std::string op_type_;
  ModelProto model_;
  Declared declared_ = Declared::kNothing;
  std::function<ModelProto(const ModelProto&)> convert_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
