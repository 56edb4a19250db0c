#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/lstm/golden.txt: LSTM cases with the values numpy computes for them in float64.

    python3 tools/make_lstm_golden.py DIR_OF_RNN_REFERENCE tests/data/lstm/golden.txt

DIR holds rnn_reference.py, the numpy oracle. A case is `case NAME`, then lines `KEY words...` and
`KEY [dims] : values`, then `end`. Inputs are multiples of 1/32, so that they are exact in float and short in text.
"""

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
CASES = {
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


def numbers(rng, *shape, bound=1.0):
    steps = int(bound * 32)
    return rng.integers(-steps, steps + 1, size=shape) / 32.0


def write_array(out, key, values, form):
    dims = " ".join(str(d) for d in values.shape)
    out.write(f"{key} {dims} : " + " ".join(form % v for v in values.ravel()) + "\n")


def main():
    sys.path.insert(0, sys.argv[1])
    import rnn_reference as oracle

    with open(sys.argv[2], "w", encoding="ascii", newline="\n") as out:
        out.write("# Written by tools/make_lstm_golden.py\n")
        for index, (name, (contract, n, t, i, h, opt)) in enumerate(CASES.items()):
            rng = np.random.default_rng([SEED, index])
            onnx = contract == "onnx"
            layout = opt.get("layout", 0)
            direction = opt.get("direction", "forward")
            dirs = 2 if direction == "bidirectional" else 1
            lens, clip = opt.get("lens"), opt.get("clip", 0.0)
            data = {
                "X": numbers(rng, t, n, i, bound=2) if onnx and layout == 0 else numbers(rng, n, t, i, bound=2),
                "W": numbers(rng, dirs, 4 * h, i),
                "R": numbers(rng, dirs, 4 * h, h),
            }
            if opt.get("bias", True):
                data["B"] = numbers(rng, dirs, 8 * h if onnx else 4 * h)
            if opt.get("states", True):
                shape = (dirs, n, h) if onnx and layout == 0 else (n, dirs, h)
                data["H0"], data["C0"] = numbers(rng, *shape), numbers(rng, *shape)
            if opt.get("peephole"):
                data["P"] = numbers(rng, dirs, 3 * h)
            acts = [a + (None,) * (3 - len(a)) for a in opt.get("acts", [("sigmoid",), ("tanh",), ("tanh",)])]
            spread = [[a[0] for a in acts], [a[1] for a in acts], [a[2] for a in acts]]
            repeat = 3 * dirs // len(acts)  # the oracle wants one entry per activation and direction
            if onnx:
                outputs = oracle.onnx_lstm(
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
                    *[part * repeat for part in spread],
                    clip=clip,
                    input_forget=opt.get("input_forget", 0),
                )
            else:
                outputs = oracle.lstm_sequence(
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
            out.write(f"case {name}\ncontract {contract}\nlayout {layout}\ndirection {direction}\nclip {clip}\n")
            out.write(
                f"input_forget {opt.get('input_forget', 0)}\nformat {opt.get('format', 'iofc' if onnx else 'fico')}\n"
            )
            for k in range(3 * dirs):
                kind, alpha, beta = acts[k % len(acts)]
                _, default_alpha, default_beta = oracle.ACTIVATIONS[kind]
                alpha = default_alpha if alpha is None else alpha
                beta = default_beta if beta is None else beta
                out.write(f"activation {NAMES[kind]} {alpha or 0} {beta or 0}\n")
            if lens is not None:
                write_array(out, "lens", np.asarray(lens), "%d")
            for key, values in data.items():
                write_array(out, key, values, "%.9g")
            for key, values in zip(("Y", "Yh", "Yc"), outputs):
                write_array(out, key, values, "%.15g")
            out.write("end\n")


if __name__ == "__main__":
    main()
