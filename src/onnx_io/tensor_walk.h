// SPDX-License-Identifier: Apache-2.0
// Every tensor a model holds: initializers, sparse ones, those in attributes, through bodies and functions.
#pragma once

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Calls visit(TensorProto&, const NodeProto*) for each, in the order of the file; the node is null for initializers, a
// default one for the defaults of functions.
template <class Visit>
class TensorWalk {
 public:
  explicit TensorWalk(Visit visit) : visit_(visit) {}

  void Model(ModelProto& model) {
    if (model.has_graph()) Graph(model.ref_graph());
    for (TrainingInfoProto& training : model.training_info()) {
      if (training.has_initialization()) Graph(training.ref_initialization());
      if (training.has_algorithm()) Graph(training.ref_algorithm());
    }
    for (FunctionProto& function : model.functions()) {
      for (AttributeProto& attribute : function.attribute_proto()) Attribute(attribute, &NodeProto::default_instance());
      for (NodeProto& node : function.node()) Node(node);
    }
  }

 private:
  void Graph(GraphProto& graph) {
    for (NodeProto& node : graph.node()) Node(node);
    for (TensorProto& tensor : graph.initializer()) visit_(tensor, nullptr);
    for (SparseTensorProto& sparse : graph.sparse_initializer()) Sparse(sparse, nullptr);
  }
  void Node(NodeProto& node) {
    for (AttributeProto& attribute : node.attribute()) Attribute(attribute, &node);
  }
  void Attribute(AttributeProto& attribute, const NodeProto* node) {
    if (attribute.has_t()) visit_(attribute.ref_t(), node);
    for (TensorProto& tensor : attribute.tensors()) visit_(tensor, node);
    if (attribute.has_sparse_tensor()) Sparse(attribute.ref_sparse_tensor(), node);
    for (SparseTensorProto& sparse : attribute.sparse_tensors()) Sparse(sparse, node);
    if (attribute.has_g()) Graph(attribute.ref_g());
    for (GraphProto& graph : attribute.graphs()) Graph(graph);
  }
  void Sparse(SparseTensorProto& sparse, const NodeProto* node) {
    if (sparse.has_values()) visit_(sparse.ref_values(), node);
    if (sparse.has_indices()) visit_(sparse.ref_indices(), node);
  }

  Visit visit_;
};

template <class Visit>
void ForEachTensor(ModelProto& model, Visit visit) {
  TensorWalk<Visit>(visit).Model(model);
}

}  // namespace ONNX_LIGHT_NAMESPACE
