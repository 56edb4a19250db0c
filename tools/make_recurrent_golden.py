#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/{lstm,gru,rnn}/golden.txt: cases with the values numpy computes for them in float64.

    python3 tools/make_recurrent_golden.py DIR_OF_RNN_REFERENCE tests/data

DIR holds rnn_reference.py, the numpy oracle. A case is `case NAME`, then lines `KEY words...` and
`KEY [dims] : values`, then `end`. Inputs are multiples of 1/32, so that they are exact in float and short in text.
"""

import pathlib
import sys

import numpy as np

SEED = 20240611
NAMES = {
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "relu": "Relu",
    "hardsigmoid": "HardSigmoid",
    "affine": "Affine",
    "leakyrelu": "LeakyRelu",
    "thresholdedrelu": "ThresholdedRelu",
    "scaledtanh": "ScaledTanh",
    "elu": "Elu",
    "softsign": "Softsign",
    "softplus": "Softplus",
}

# name: (contract, N, T, I, H, options). Options not named have the operator's default.
LSTM_CASES = {
    "onnx_plain": ("onnx", 2, 3, 3, 5, {}),
    "onnx_no_bias_no_state": ("onnx", 1, 4, 2, 3, {"bias": False, "states": False}),
    "onnx_reverse": ("onnx", 2, 4, 3, 4, {"direction": "reverse"}),
    "onnx_bidirectional": ("onnx", 3, 3, 2, 4, {"direction": "bidirectional"}),
    "onnx_lengths": ("onnx", 4, 5, 2, 3, {"lens": [5, 2, 0, 3]}),
    "onnx_lengths_short": ("onnx", 3, 6, 2, 3, {"lens": [2, 4, 3]}),
    "onnx_bidirectional_lengths": ("onnx", 4, 4, 3, 2, {"direction": "bidirectional", "lens": [1, 4, 0, 2]}),
    "onnx_layout1": ("onnx", 3, 4, 2, 3, {"layout": 1}),
    "onnx_layout1_bidirectional_lengths": (
        "onnx",
        3,
        4,
        2,
        3,
        {"layout": 1, "direction": "bidirectional", "lens": [3, 1, 4]},
    ),
    "onnx_clip": ("onnx", 2, 3, 3, 4, {"clip": 0.375}),
    "onnx_peephole": ("onnx", 2, 3, 3, 4, {"peephole": True}),
    "onnx_peephole_bidirectional": ("onnx", 2, 3, 3, 4, {"peephole": True, "direction": "bidirectional"}),
    "onnx_input_forget": ("onnx", 2, 3, 3, 4, {"input_forget": 1}),
    "onnx_activations_hardsigmoid": (
        "onnx",
        2,
        3,
        3,
        4,
        {"acts": [("hardsigmoid", 0.25, 0.375), ("tanh",), ("tanh",)]},
    ),
    "onnx_activations_defaults": ("onnx", 2, 3, 3, 4, {"acts": [("hardsigmoid",), ("scaledtanh",), ("leakyrelu",)]}),
    "onnx_activations_per_direction": (
        "onnx",
        2,
        3,
        3,
        4,
        {
            "direction": "bidirectional",
            "acts": [
                ("sigmoid",),
                ("relu",),
                ("softsign",),
                ("hardsigmoid", 0.5, 0.25),
                ("elu", 0.75),
                ("scaledtanh", 1.5, 0.5),
            ],
        },
    ),
    "onnx_activations_affine": ("onnx", 2, 3, 3, 4, {"acts": [("sigmoid",), ("affine", 0.5, 0.125), ("softplus",)]}),
    "onnx_activations_thresholded": (
        "onnx",
        2,
        3,
        3,
        4,
        {"acts": [("sigmoid",), ("thresholdedrelu", 0.25), ("tanh",)]},
    ),
    "onnx_everything": (
        "onnx",
        3,
        4,
        2,
        3,
        {
            "direction": "bidirectional",
            "lens": [4, 0, 2],
            "clip": 0.75,
            "peephole": True,
            "input_forget": 1,
            "layout": 1,
            "acts": [
                ("hardsigmoid", 0.25, 0.5),
                ("softsign",),
                ("tanh",),
                ("sigmoid",),
                ("leakyrelu", 0.125),
                ("elu", 1.0),
            ],
        },
    ),
    "openvino_plain": ("openvino", 2, 3, 3, 5, {}),
    "openvino_bidirectional_lengths": ("openvino", 3, 4, 2, 3, {"direction": "bidirectional", "lens": [2, 4, 0]}),
    "openvino_clip_relu": ("openvino", 2, 3, 3, 4, {"clip": 1.5, "acts": [("sigmoid",), ("relu",), ("relu",)]}),
    "openvino_icof": ("openvino", 2, 3, 3, 4, {"format": "icof"}),
    "openvino_ifoc": ("openvino", 2, 3, 3, 4, {"format": "ifoc"}),
    "openvino_ifco": ("openvino", 2, 3, 3, 4, {"format": "ifco"}),
    "openvino_legacy": (
        "openvino",
        2,
        4,
        3,
        4,
        {"direction": "reverse", "peephole": True, "input_forget": 1, "lens": [4, 2]},
    ),
}


GRU_CASES = {
    "onnx_plain": ("onnx", 2, 3, 3, 5, {}),
    "onnx_linear": ("onnx", 2, 3, 3, 5, {"linear": 1}),
    "onnx_no_bias_no_state": ("onnx", 1, 4, 2, 3, {"bias": False, "states": False}),
    "onnx_linear_no_bias": ("onnx", 2, 4, 2, 3, {"bias": False, "linear": 1}),
    "onnx_reverse_lengths": ("onnx", 4, 4, 3, 4, {"direction": "reverse", "lens": [4, 2, 0, 3]}),
    "onnx_bidirectional": ("onnx", 3, 3, 2, 4, {"direction": "bidirectional"}),
    "onnx_linear_bidirectional_lengths": (
        "onnx",
        3,
        4,
        2,
        3,
        {"direction": "bidirectional", "lens": [1, 4, 2], "linear": 1},
    ),
    "onnx_layout1": ("onnx", 3, 4, 2, 3, {"layout": 1, "direction": "bidirectional", "lens": [3, 1, 4]}),
    "onnx_clip": ("onnx", 2, 3, 3, 4, {"clip": 0.375}),
    "onnx_linear_clip": ("onnx", 2, 3, 3, 4, {"clip": 0.375, "linear": 1}),
    "onnx_activations_defaults": ("onnx", 2, 3, 3, 4, {"acts": [("hardsigmoid",), ("leakyrelu",)]}),
    "onnx_activations_per_direction": (
        "onnx",
        2,
        3,
        3,
        4,
        {
            "direction": "bidirectional",
            "acts": [("hardsigmoid", 0.5, 0.25), ("elu", 0.75), ("sigmoid",), ("scaledtanh", 1.5, 0.5)],
        },
    ),
    "onnx_everything": (
        "onnx",
        3,
        4,
        2,
        3,
        {
            "direction": "bidirectional",
            "lens": [4, 0, 2],
            "clip": 0.75,
            "linear": 1,
            "layout": 1,
            "acts": [("hardsigmoid", 0.25, 0.5), ("softsign",), ("sigmoid",), ("affine", 0.5, 0.125)],
        },
    ),
    "openvino_plain": ("openvino", 2, 3, 3, 5, {}),
    "openvino_linear": ("openvino", 2, 3, 3, 5, {"linear": 1}),
    "openvino_bidirectional_lengths": ("openvino", 3, 4, 2, 3, {"direction": "bidirectional", "lens": [2, 4, 0]}),
    "openvino_linear_bidirectional_lengths": (
        "openvino",
        3,
        4,
        2,
        3,
        {"direction": "bidirectional", "lens": [2, 4, 0], "linear": 1},
    ),
    "openvino_clip_relu": ("openvino", 2, 3, 3, 4, {"clip": 1.5, "acts": [("sigmoid",), ("relu",)]}),
}

RNN_CASES = {
    "onnx_plain": ("onnx", 2, 3, 3, 5, {}),
    "onnx_no_bias_no_state": ("onnx", 1, 4, 2, 3, {"bias": False, "states": False}),
    "onnx_reverse_lengths": ("onnx", 4, 4, 3, 4, {"direction": "reverse", "lens": [4, 2, 0, 3]}),
    "onnx_layout1": ("onnx", 3, 4, 2, 3, {"layout": 1, "direction": "bidirectional", "lens": [3, 1, 4]}),
    "onnx_clip": ("onnx", 2, 3, 3, 4, {"clip": 0.375}),
    "onnx_relu": ("onnx", 2, 3, 3, 4, {"acts": [("relu",)]}),
    "onnx_softplus": ("onnx", 2, 3, 3, 4, {"acts": [("softplus",)]}),
    "onnx_thresholded": ("onnx", 2, 3, 3, 4, {"acts": [("thresholdedrelu", 0.25)]}),
    "onnx_activations_per_direction": (
        "onnx",
        2,
        3,
        3,
        4,
        {"direction": "bidirectional", "acts": [("elu", 0.75), ("scaledtanh", 1.5, 0.5)], "clip": 1.5},
    ),
    "openvino_plain": ("openvino", 2, 3, 3, 5, {}),
    "openvino_bidirectional_lengths": ("openvino", 3, 4, 2, 3, {"direction": "bidirectional", "lens": [2, 4, 0]}),
    "openvino_sigmoid": ("openvino", 2, 3, 3, 4, {"acts": [("sigmoid",)]}),
}

DEFAULTS = {
    "lstm": [("sigmoid",), ("tanh",), ("tanh",)],
    "gru": [("sigmoid",), ("tanh",)],
    "rnn": [("tanh",)],
}
GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def numbers(rng, *shape, bound=1.0):
    steps = int(bound * 32)
    return rng.integers(-steps, steps + 1, size=shape) / 32.0


def write_array(out, key, values, form):
    dims = " ".join(str(d) for d in values.shape)
    out.write(f"{key} {dims} : " + " ".join(form % v for v in values.ravel()) + "\n")


def evaluate(oracle, kind, onnx, data, lens, direction, layout, spread, opt):
    """Y and the final states of one case, in its own layout."""
    clip = opt.get("clip", 0.0)
    if kind == "lstm" and onnx:
        return oracle.onnx_lstm(
            data["X"],
            data["W"],
            data["R"],
            data.get("B"),
            lens,
            data.get("H0"),
            data.get("C0"),
            data.get("P"),
            direction,
            layout,
            *spread,
            clip=clip,
            input_forget=opt.get("input_forget", 0),
        )
    if kind == "lstm":
        return oracle.lstm_sequence(
            data["X"],
            data["H0"],
            data["C0"],
            lens,
            data["W"],
            data["R"],
            data["B"],
            direction,
            *spread,
            clip=clip,
            P=data.get("P"),
            input_forget="i=1-f" if opt.get("input_forget") else None,
            weights_format=opt.get("format", "fico"),
        )
    # GRU and RNN of ONNX are their sequences with the batch first and the biases summed.
    swap = onnx and layout == 0
    x, h0, b = data["X"], data.get("H0"), data.get("B")
    gates, hidden, dirs = GATES[kind], data["R"].shape[2], data["W"].shape[0]
    if swap:
        x, h0 = x.transpose(1, 0, 2), None if h0 is None else h0.transpose(1, 0, 2)
    if h0 is None:
        h0 = np.zeros((x.shape[0], dirs, hidden))
    linear = bool(opt.get("linear"))
    if onnx:
        b = np.zeros((dirs, 2 * gates * hidden)) if b is None else b
        wb, rb = np.split(b, 2, axis=1)
        if linear:
            two = 2 * hidden
            b = np.concatenate([wb[:, :two] + rb[:, :two], wb[:, two:], rb[:, two:]], axis=1)
        else:
            b = wb + rb
    more = {"linear_before_reset": linear} if kind == "gru" else {}
    run = oracle.gru_sequence if kind == "gru" else oracle.rnn_sequence
    y, yh = run(x, h0, lens, data["W"], data["R"], b, direction, *spread, clip=clip, **more)
    if swap:
        return y.transpose(2, 1, 0, 3), yh.transpose(1, 0, 2)
    return (y.transpose(0, 2, 1, 3), yh) if onnx else (y, yh)


def write_cases(oracle, kind, cases, path):
    gates, functions = GATES[kind], len(DEFAULTS[kind])
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write("# Written by tools/make_recurrent_golden.py\n")
        for index, (name, (contract, n, t, i, h, opt)) in enumerate(cases.items()):
            rng = np.random.default_rng([SEED, index])
            onnx = contract == "onnx"
            layout = opt.get("layout", 0)
            direction = opt.get("direction", "forward")
            dirs = 2 if direction == "bidirectional" else 1
            lens, clip = opt.get("lens"), opt.get("clip", 0.0)
            blocks = 2 * gates if onnx else gates + opt.get("linear", 0)
            data = {
                "X": numbers(rng, t, n, i, bound=2) if onnx and layout == 0 else numbers(rng, n, t, i, bound=2),
                "W": numbers(rng, dirs, gates * h, i),
                "R": numbers(rng, dirs, gates * h, h),
            }
            if opt.get("bias", True):
                data["B"] = numbers(rng, dirs, blocks * h)
            if opt.get("states", True):
                shape = (dirs, n, h) if onnx and layout == 0 else (n, dirs, h)
                data["H0"] = numbers(rng, *shape)
                if kind == "lstm":
                    data["C0"] = numbers(rng, *shape)
            if opt.get("peephole"):
                data["P"] = numbers(rng, dirs, 3 * h)
            acts = [a + (None,) * (3 - len(a)) for a in opt.get("acts", DEFAULTS[kind])]
            repeat = functions * dirs // len(acts)  # the oracle wants one entry per activation and direction
            spread = [[a[k] for a in acts] * (repeat if onnx else 1) for k in range(3)]
            outputs = evaluate(oracle, kind, onnx, data, lens, direction, layout, spread, opt)
            out.write(f"case {name}\ncontract {contract}\nlayout {layout}\ndirection {direction}\nclip {clip}\n")
            if kind == "lstm":
                order = opt.get("format", "iofc" if onnx else "fico")
                out.write(f"input_forget {opt.get('input_forget', 0)}\nformat {order}\n")
            if kind == "gru":
                out.write(f"linear_before_reset {opt.get('linear', 0)}\n")
            for k in range(functions * dirs):
                function, alpha, beta = acts[k % len(acts)]
                _, default_alpha, default_beta = oracle.ACTIVATIONS[function]
                alpha = default_alpha if alpha is None else alpha
                beta = default_beta if beta is None else beta
                out.write(f"activation {NAMES[function]} {alpha or 0} {beta or 0}\n")
            if lens is not None:
                write_array(out, "lens", np.asarray(lens), "%d")
            for key, values in data.items():
                write_array(out, key, values, "%.9g")
            for key, values in zip(("Y", "Yh", "Yc"), outputs):
                write_array(out, key, values, "%.15g")
            out.write("end\n")


def main():
    sys.path.insert(0, sys.argv[1])
    import rnn_reference as oracle

    for kind, cases in (("lstm", LSTM_CASES), ("gru", GRU_CASES), ("rnn", RNN_CASES)):
        folder = pathlib.Path(sys.argv[2]) / kind
        folder.mkdir(exist_ok=True)
        write_cases(oracle, kind, cases, folder / "golden.txt")


if __name__ == "__main__":
    main()
