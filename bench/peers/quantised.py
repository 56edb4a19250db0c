# SPDX-License-Identifier: Apache-2.0
"""Quantised models beside onnxruntime, and beside the same in floats. usage: quantised.py [THREADS [SECONDS PER ROW]]

Random networks: every product and convolution between QuantizeLinear and DequantizeLinear, weights int8 with a scale for
each channel, activations uint8 with one. `mobile` and `over_time` are depthwise convolutions, of 3 x 3 and of 31, between
those of single places. Bytes of the two may differ by a unit or two of the last scale. At one thread the
time is that of the CPU, so that busy neighbours do not show.
"""

import sys
import time

import numpy as np
import onnxseq
import timing
from onnx import TensorProto, helper, numpy_helper

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 3
STEP = 0.05  # of activations, whose zero point is 0 behind a Relu


class Network:
    """Layers one after the other, of floats or with each quantised."""

    def __init__(self, quantised, shape):
        self.quantised = quantised
        self.random = np.random.default_rng(0)
        self.nodes, self.constants, self.count = [], [], 0
        self.input = self.shape = shape
        self.last = self.activation("x")

    def constant(self, array):
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{self.count}"))
        return self.constants[-1].name

    def node(self, op, inputs, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(op, inputs, [f"v{self.count}"], **attributes))
        return self.nodes[-1].output[0]

    def activation(self, value):
        if not self.quantised:
            return value
        by = [self.constant(np.float32(STEP)), self.constant(np.uint8(0))]
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [value, *by]), *by])

    def weights(self, shape, axis):
        """Of about the size that keeps activations as large as they are."""
        w = self.random.integers(-127, 128, shape, dtype=np.int8)
        channels = shape[axis]
        scale = np.full(channels, 1.6 / (73 * np.sqrt(w.size / channels)), np.float32)
        bias = self.random.integers(-100, 100, channels, dtype=np.int32)
        wide = [-1 if d == axis else 1 for d in range(len(shape))]
        if not self.quantised:
            steps = scale * np.float32(STEP)
            return self.constant(w * scale.reshape(wide)), self.constant(bias.astype(np.float32) * steps)
        made = []
        for data, s in ((w, scale), (bias, scale * np.float32(STEP))):
            zeros = self.constant(np.zeros(channels, data.dtype))
            along = axis if data is w else 0
            made.append(self.node("DequantizeLinear", [self.constant(data), self.constant(s), zeros], axis=along))
        return made

    def linear(self, n):
        w, b = self.weights((n, self.shape[-1]), 0)
        self.last = self.activation(self.node("Relu", [self.node("Gemm", [self.last, w, b], transB=1)]))
        self.shape = (self.shape[0], n)

    def product(self, n):
        w, _ = self.weights((self.shape[-1], n), 1)
        self.last = self.activation(self.node("Relu", [self.node("MatMul", [self.last, w])]))
        self.shape = (*self.shape[:-1], n)

    def conv(self, channels, kernel=3, stride=1, group=1, add=None):
        axes = len(self.shape) - 2
        w, b = self.weights((channels, self.shape[1] // group, *[kernel] * axes), 0)
        pad = [kernel // 2] * (2 * axes)
        y = self.node("Conv", [self.last, w, b], strides=[stride] * axes, pads=pad, group=group)
        if add is not None:
            y = self.node("Add", [self.activation(y), add])
        self.last = self.activation(self.node("Relu", [y]))
        self.shape = (self.shape[0], channels, *(-(-d // stride) for d in self.shape[2:]))

    def model(self):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.input)]
        outputs = [helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 17)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def mlp(quantised, rows):
    network = Network(quantised, (rows, 512))
    for n in (1024, 1024, 1024, 256):
        network.linear(n)
    return network


def products(quantised, rows):
    network = Network(quantised, (4, rows, 512))
    for n in (2048, 512, 2048, 512):
        network.product(n)
    return network


def residual(quantised, rows):
    network = Network(quantised, (rows, 3, 64, 64))
    network.conv(32)
    for channels in (64, 128):
        network.conv(channels, stride=2)
        before = network.last
        network.conv(channels)
        network.conv(channels, add=before)
    return network


def mobile(quantised, rows):
    network = Network(quantised, (rows, 3, 64, 64))
    network.conv(32, stride=2)
    for channels, stride in ((64, 1), (128, 2), (128, 1), (256, 2)):
        network.conv(network.shape[1], stride=stride, group=network.shape[1])
        network.conv(channels, kernel=1)
    return network


def over_time(quantised, rows):
    network = Network(quantised, (rows, 80, 400))
    network.conv(144, stride=2)
    for _ in range(3):
        network.conv(144, kernel=31, group=144)
        network.conv(144, kernel=1)
    return network


ROWS = {
    f"{make.__name__} {kind}, {rows} rows": (make, kind == "bytes", rows)
    for make, sizes in ((mlp, (1, 64)), (products, (64,)), (residual, (1,)), (mobile, (1,)), (over_time, (1,)))
    for rows in sizes
    for kind in ("bytes", "floats")
}


def make(row, threads, names):
    network, quantised, rows = ROWS[row]
    built = network(quantised, rows)
    x = np.random.default_rng(1).uniform(0, 255 * STEP / 2, built.input).astype(np.float32)
    model = built.model()
    calls = {}
    if "onnxruntime" in names:
        ort = timing.onnxruntime_session(model, threads)
        calls["onnxruntime"] = lambda: ort.run(None, {"x": x})
    if "onnxseq" in names:
        session = onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=threads))
        calls["onnxseq"] = lambda: session.run(None, {"x": x})
    return calls


if __name__ == "__main__":
    clock = time.process_time if THREADS == 1 else time.perf_counter
    timing.compare(__file__, list(ROWS), make, ["onnxruntime", "onnxseq"], THREADS, SECONDS, clock=clock, atol=4 * STEP)
