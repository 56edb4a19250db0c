# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN beside onnxruntime, OpenVINO and, where there, oneDNN's own LSTM and PyTorch, and what part of the machine's
limit they reach (../limits.py). usage: recurrent.py [THREADS [SECONDS PER ROW]]; OPS=LSTM,GRU,RNN: only those"""

import ctypes
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxseq
import openvino
import timing
from onnx import TensorProto, helper, numpy_helper

try:
    import torch
except ImportError:
    torch = None

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import limits  # noqa: E402

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 3
OPS = os.environ.get("OPS", "LSTM,GRU,RNN").split(",")
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}

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
SOME_ROWS = [(1, 100, 128, 1), (1, 100, 256, 2), (1, 50, 512, 1), (1, 50, 1024, 1), (32, 50, 256, 1)]
LENGTHS_ROW = (32, 100, 256, 1)

# Text of a row: its operator, sizes, and whether rows have lengths.
CASES = {}
for op in OPS:
    for n, t, hidden, directions in ROWS if op == "LSTM" else SOME_ROWS:
        CASES[f"{op} N={n} T={t} H={hidden} D={directions}"] = (op, (n, t, hidden, directions), False)
    n, t, hidden, directions = LENGTHS_ROW
    CASES[f"{op} N={n} T={t} H={hidden} D={directions}, lengths 1..{t}"] = (op, LENGTHS_ROW, True)


def network(op, n, t, hidden, directions, lengths):
    rng = np.random.default_rng(0)

    def weights(name, *shape):
        return numpy_helper.from_array(rng.uniform(-1, 1, shape).astype(np.float32) / np.sqrt(hidden, dtype="f"), name)

    initializers = [
        weights("W", directions, GATES[op] * hidden, hidden),
        weights("R", directions, GATES[op] * hidden, hidden),
        weights("B", directions, 2 * GATES[op] * hidden),
    ]
    inputs = ["X", "W", "R", "B"]
    if lengths is not None:
        initializers.append(numpy_helper.from_array(lengths, "lengths"))
        inputs.append("lengths")
    direction = "forward" if directions == 1 else "bidirectional"
    outputs = ["Y", "Y_h", "Y_c"] if op == "LSTM" else ["Y", "Y_h"]
    node = helper.make_node(op, inputs, outputs, hidden_size=hidden, direction=direction)
    value = helper.make_tensor_value_info
    states = [value(name, TensorProto.FLOAT, [directions, n, hidden]) for name in outputs[1:]]
    graph = helper.make_graph(
        [node],
        op,
        [value("X", TensorProto.FLOAT, [t, n, hidden])],
        [value("Y", TensorProto.FLOAT, [t, directions, n, hidden]), *states],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model, rng.standard_normal((t, n, hidden)).astype(np.float32)


def openvino_call(model, x, threads):
    core = openvino.Core()
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, os.path.join(folder, "model.onnx"))
        ir = os.path.join(folder, "model.xml")
        openvino.save_model(core.read_model(os.path.join(folder, "model.onnx")), ir, compress_to_fp16=False)
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


def onednn_library():
    """The LSTM of oneDNN (onednn_lstm.cc), or None where it was not built."""
    try:
        library = limits.library("onednn_lstm")
    except OSError:
        return None
    library.OnednnLstmCreate.restype = ctypes.c_void_p
    return library


def onednn_call(model, x, threads):
    # oneDNN's OpenMP reads the variable when it starts; the peers before it have read their own settings.
    os.environ["OMP_NUM_THREADS"] = str(threads)
    library = onednn_library()
    (steps, n, hidden), directions = x.shape, model.graph.initializer[0].dims[0]
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    # iofc to ifco, rows of inputs first.
    order = [0, 2, 3, 1]

    def arranged(name):
        return np.ascontiguousarray(
            weights[name].reshape(directions, 4, hidden, hidden)[:, order].transpose(0, 3, 1, 2)
        )

    b = np.ascontiguousarray(weights["B"].reshape(directions, 2, 4, hidden).sum(1)[:, order])
    w, r = arranged("W"), arranged("R")
    y = np.empty((steps, n, directions * hidden), np.float32)
    h, c = (np.empty((directions, n, hidden), np.float32) for _ in range(2))

    def pointer(array):
        return ctypes.c_void_p(array.ctypes.data)

    sizes = [ctypes.c_int64(size) for size in (steps, n, hidden, directions)]
    lstm = ctypes.c_void_p(library.OnednnLstmCreate(*sizes, pointer(w), pointer(r), pointer(b)))
    assert lstm.value, "oneDNN refuses the LSTM"

    def call():
        library.OnednnLstmRun(lstm, pointer(x), pointer(y), pointer(h), pointer(c))
        return [y.reshape(steps, n, directions, hidden).transpose(0, 2, 1, 3), h, c]

    call.keeps = (w, r, b)  # alive as long as it
    return call


def lengths_of(row):
    _, (n, t, _, _), with_lengths = CASES[row]
    return np.random.default_rng(1).integers(1, t + 1, n).astype(np.int32) if with_lengths else None


def make(row, threads, names):
    op, sizes, _ = CASES[row]
    lengths = lengths_of(row)
    model, x = network(op, *sizes, lengths)
    calls = {}
    if "onnxruntime" in names:
        ort = timing.onnxruntime_session(model.SerializeToString(), threads)
        calls["onnxruntime"] = lambda: ort.run(None, {"X": x})
    if "openvino" in names and lengths is None:
        calls["openvino"] = openvino_call(model, x, threads)
    if "oneDNN" in names and lengths is None and op == "LSTM":
        calls["oneDNN"] = onednn_call(model, x, threads)
    if "torch" in names and lengths is None and op == "LSTM":
        calls["torch"] = torch_call(model, x, threads)
    if "onnxseq" in names:
        session = onnxseq.InferenceSession(model.SerializeToString(), onnxseq.SessionOptions(threads=threads))
        calls["onnxseq"] = lambda: session.run(None, {"X": x})
    return calls


def floor(row):
    op, (n, t, hidden, directions), _ = CASES[row]
    lengths = lengths_of(row)
    row_steps, steps = (n * t, t) if lengths is None else (int(lengths.sum()), int(lengths.max()))
    return limits.floor(THREADS, GATES[op], row_steps, steps, hidden, directions)


PEERS = ["onnxruntime", "openvino"] + (["oneDNN"] if onednn_library() else []) + (["torch"] if torch else [])
timing.compare(__file__, list(CASES), make, [*PEERS, "onnxseq"], THREADS, SECONDS, floor=floor)
