# SPDX-License-Identifier: Apache-2.0
"""The interface onnx.backend.base.Backend, by which the official suite runs a backend. Needs the onnx package."""

import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import InferenceSession


class SessionRep(BackendRep):
    """A prepared model."""

    def __init__(self, model):
        self._session = InferenceSession(model)
        self._inputs = [value.name for value in self._session.get_inputs()]
        self._outputs = [value.name for value in self._session.get_outputs()]

    def run(self, inputs, **kwargs):
        """inputs: values by name, or a list in the order of the model's inputs (None: not given)."""
        feeds = inputs if isinstance(inputs, dict) else dict(zip(self._inputs, inputs))
        return namedtupledict("Outputs", self._outputs)(*self._session.run(None, feeds))


class OnnxseqBackend(Backend):
    """Runs models on the CPU."""

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return SessionRep(model)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """Inputs are arrays; a name left empty in the node takes none of them."""
        names = [name for name in node.input if name]
        opset = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        types = [onnx.numpy_helper.from_array(value).data_type for value in inputs]
        graph = onnx.helper.make_graph(
            [node],
            "node",
            [onnx.helper.make_tensor_value_info(*pair, None) for pair in zip(names, types)],
            [onnx.ValueInfoProto(name=name) for name in node.output if name],
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return cls.prepare(model, device).run(dict(zip(names, inputs)))

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


prepare = OnnxseqBackend.prepare
run_model = OnnxseqBackend.run_model
run_node = OnnxseqBackend.run_node
supports_device = OnnxseqBackend.supports_device
