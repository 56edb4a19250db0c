# SPDX-License-Identifier: Apache-2.0
"""LSTM beside onnxruntime, OpenVINO and, where installed, PyTorch. usage: recurrent.py [THREADS [SECONDS PER ROW]]"""

import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import onnxseq
import openvino
import timing
from onnx import TensorProto, helper, numpy_helper

try:
    import torch
except ImportError:
    torch = None

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 3

# N batch, T steps, H hidden units (and inputs), D directions.
ROWS = [
    (1, 1, 128, 1),
    (1, 100, 128, 1),
    (1, 100, 128, 2),
    (1, 100, 256, 1),
    (1, 50, 512, 1),
    (1, 50, 1024, 1),
    (4, 100, 256, 1),
    (8, 100, 256, 1),
    (32, 50, 256, 1),
    (32, 50, 512, 1),
    (64, 25, 1024, 1),
]
LENGTHS = "LSTM N=32 T=100 H=256 D=1, lengths 1..100"


def lstm(n, t, hidden, directions, lengths):
    rng = np.random.default_rng(0)

    def weights(name, *shape):
        return numpy_helper.from_array(rng.uniform(-1, 1, shape).astype(np.float32) / np.sqrt(hidden, dtype="f"), name)

    initializers = [
        weights("W", directions, 4 * hidden, hidden),
        weights("R", directions, 4 * hidden, hidden),
        weights("B", directions, 8 * hidden),
    ]
    inputs = ["X", "W", "R", "B"]
    if lengths is not None:
        initializers.append(numpy_helper.from_array(lengths, "lengths"))
        inputs.append("lengths")
    direction = "forward" if directions == 1 else "bidirectional"
    node = helper.make_node("LSTM", inputs, ["Y", "Y_h", "Y_c"], hidden_size=hidden, direction=direction)
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "lstm",
        [value("X", TensorProto.FLOAT, [t, n, hidden])],
        [
            value("Y", TensorProto.FLOAT, [t, directions, n, hidden]),
            value("Y_h", TensorProto.FLOAT, [directions, n, hidden]),
            value("Y_c", TensorProto.FLOAT, [directions, n, hidden]),
        ],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model, rng.standard_normal((t, n, hidden)).astype(np.float32)


def openvino_call(model, x, threads):
    core = openvino.Core()
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, os.path.join(folder, "lstm.onnx"))
        ir = os.path.join(folder, "lstm.xml")
        openvino.save_model(core.read_model(os.path.join(folder, "lstm.onnx")), ir, compress_to_fp16=False)
        settings = {
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
        }
        request = core.compile_model(core.read_model(ir), "CPU", settings).create_infer_request()
    return lambda: list(request.infer({0: x}).values())


def torch_call(model, x, threads):
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    hidden, directions = x.shape[2], model.graph.initializer[0].dims[0]
    module = torch.nn.LSTM(hidden, hidden, bidirectional=directions == 2)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    # iofc to torch's ifgo.
    order = np.concatenate([np.arange(hidden) + gate * hidden for gate in (0, 2, 3, 1)])
    for d in range(directions):
        suffix = "_l0_reverse" if d else "_l0"
        parts = {"weight_ih": weights["W"][d], "weight_hh": weights["R"][d]}
        parts["bias_ih"], parts["bias_hh"] = np.split(weights["B"][d], 2)
        for part, array in parts.items():
            getattr(module, part + suffix).data = torch.from_numpy(array[order].copy())
    tensor = torch.from_numpy(x)

    def call():
        y, (h, c) = module(tensor)
        steps, batch, _ = y.shape
        return [y.reshape(steps, batch, directions, hidden).transpose(1, 2).numpy(), h.numpy(), c.numpy()]

    return call


def make(row, threads, names):
    lengths = None
    if row == LENGTHS:
        n, t, hidden, directions = 32, 100, 256, 1
        lengths = np.random.default_rng(1).integers(1, t + 1, n).astype(np.int32)
    else:
        n, t, hidden, directions = ROWS[TEXTS.index(row)]
    model, x = lstm(n, t, hidden, directions, lengths)
    calls = {}
    if "onnxruntime" in names:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        ort = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        calls["onnxruntime"] = lambda: ort.run(None, {"X": x})
    if "openvino" in names and lengths is None:
        calls["openvino"] = openvino_call(model, x, threads)
    if "torch" in names and lengths is None:
        calls["torch"] = torch_call(model, x, threads)
    if "onnxseq" in names:
        session = onnxseq.InferenceSession(model.SerializeToString(), onnxseq.SessionOptions(threads=threads))
        calls["onnxseq"] = lambda: session.run(None, {"X": x})
    return calls


TEXTS = [f"LSTM N={n} T={t} H={hidden} D={directions}" for n, t, hidden, directions in ROWS]
PEERS = ["onnxruntime", "openvino"] + (["torch"] if torch else [])
timing.compare(__file__, [*TEXTS, LENGTHS], make, [*PEERS, "onnxseq"], THREADS, SECONDS)
