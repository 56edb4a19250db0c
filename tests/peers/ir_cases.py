# SPDX-License-Identifier: Apache-2.0
"""Small OpenVINO models, one for each layer type that is read, as (builder, inputs) by name."""

import numpy as np
import openvino as ov
from openvino import (
    opset1,
    opset3,
    opset4,
    opset5,
    opset6,
    opset7,
    opset8,
    opset9,
    opset10,
    opset12,
    opset13,
    opset15,
)
from openvino import opset16 as op
from openvino.utils.node_factory import NodeFactory

RANDOM = np.random.default_rng(7)
CASES = {}


def floats(*shape, low=-2.0, high=2.0):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def ints(*shape, low=-7, high=8, dtype=np.int32):
    return RANDOM.integers(low, high, shape).astype(dtype)


def case(name, build, *inputs):
    assert name not in CASES, name
    CASES[name] = (build, [np.asarray(x) for x in inputs])


def const(values, dtype=np.int64):
    return op.constant(np.array(values, dtype))


X = floats(2, 3, 4)
for name in [
    "abs",
    "acos",
    "asin",
    "atan",
    "ceiling",
    "cos",
    "cosh",
    "erf",
    "exp",
    "floor",
    "negative",
    "relu",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "atanh",
    "asinh",
    "hswish",
    "softplus",
    "softsign",
    "mish",
    "hsigmoid",
]:
    function = getattr(op, name)
    low = 0.1 if name == "sqrt" else -0.9
    case(name, lambda x, f=function: f(x), floats(2, 3, 4, low=low, high=0.9))
case("acosh", lambda x: op.acosh(x), floats(5, low=1, high=3))
case("log", lambda x: op.log(x), floats(5, low=0.1, high=3))
case("elu", lambda x: op.elu(x, 0.7), X)
case("clamp", lambda x: op.clamp(x, -0.5, 1.25), X)
case("clamp_int", lambda x: op.clamp(x, -2.5, 3.5), ints(9))
case("gelu_erf", lambda x: op.gelu(x, "erf"), X)
case("gelu_tanh", lambda x: op.gelu(x, "tanh"), X)
case("swish", lambda x: op.swish(x), X)
case("swish_beta", lambda x: op.swish(x, const(0.7, np.float32)), X)
case("hard_sigmoid", lambda x: op.hard_sigmoid(x, const(0.3, np.float32), const(0.4, np.float32)), X)
case("selu", lambda x: op.selu(x, const(1.6, np.float32), const(1.1, np.float32)), X)
case("prelu_channels", lambda x: op.prelu(x, const([0.1, 0.2, 0.3], np.float32)), X)
case("prelu_one", lambda x: op.prelu(x, const([0.1], np.float32)), X)
case("prelu_full", lambda x: op.prelu(x, const([[0.1, 0.2, 0.3, 0.4]], np.float32)), X)
case("round_even", lambda x: op.round(x, "half_to_even"), np.arange(-3, 3.5, 0.5, np.float32))
case(
    "round_away", lambda x: op.round(x, "half_away_from_zero"), np.array([-2.5, -0.3, 0.49999997, 0.5, 1.5], np.float32)
)
for name in ["add", "subtract", "multiply", "divide", "maximum", "minimum", "squared_difference", "mod", "floor_mod"]:
    case(name, lambda a, b, n=name: getattr(op, n)(a, b), X, floats(3, 1, low=0.5))
case("power", lambda a, b: op.power(a, b), floats(2, 3, low=0.1), floats(3))
case(
    "floor_mod_signs",
    lambda a, b: op.floor_mod(a, b),
    np.array([5, -5, 5, -5], np.float32),
    np.array([3, 3, -3, -3], np.float32),
)
case(
    "floor_mod_int",
    lambda a, b: op.floor_mod(a, b),
    np.array([5, -5, 5, -5], np.int32),
    np.array([3, 3, -3, -3], np.int32),
)
case("mod_int", lambda a, b: op.mod(a, b), np.array([5, -5, 5, -5], np.int32), np.array([3, 3, -3, -3], np.int32))
case(
    "divide_int",
    lambda a, b: op.divide(a, b),
    np.array([7, -7, 7, -7, 6], np.int32),
    np.array([2, 2, -2, -2, 3], np.int32),
)
for name in ["equal", "not_equal", "greater", "greater_equal", "less", "less_equal"]:
    case(name, lambda a, b, n=name: getattr(op, n)(a, b), ints(4, 3), ints(3))
BOOLS = np.array([[True, False, True, False], [True, True, False, False]])
for name in ["logical_and", "logical_or", "logical_xor"]:
    case(name, lambda a, b, n=name: getattr(op, n)(a, b), BOOLS[0], BOOLS[1])
case("logical_not", lambda a: op.logical_not(a), BOOLS[0])
for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
    case(name, lambda a, b, n=name: getattr(opset13, n)(a, b), ints(5), ints(5))
case("bitwise_not", lambda a: opset13.bitwise_not(a), ints(5))
case("select", lambda c, a, b: op.select(c, a, b), BOOLS[0], floats(2, 4), floats(4))
SPECIAL = np.array([1, np.nan, np.inf, -np.inf], np.float32)
case("is_nan", lambda x: opset10.is_nan(x), SPECIAL)
case("is_finite", lambda x: opset10.is_finite(x), SPECIAL)
case("is_inf", lambda x: opset10.is_inf(x), SPECIAL)
case("is_inf_positive", lambda x: opset10.is_inf(x, {"detect_negative": False}), SPECIAL)
case("convert", lambda x: op.convert(x, "i32"), X)
case("convert_like", lambda x, y: op.convert_like(x, y), X, ints(2))
for name in ["l1", "l2", "max", "mean", "min", "prod", "sum"]:
    function = getattr(op, "reduce_" + name)
    case("reduce_" + name, lambda x, f=function: f(x, const([1]), True), X)
    case("reduce_" + name + "_axes", lambda x, f=function: f(x, const([0, -1]), False), X)
for name in ["and", "or"]:
    case("reduce_logical_" + name, lambda x, n="reduce_logical_" + name: getattr(op, n)(x, const([0]), False), BOOLS)
case("softmax", lambda x: op.softmax(x, -1), X)
case("log_softmax", lambda x: op.log_softmax(x, 1), X)
for mode in ["inside_sqrt", "outside_sqrt"]:
    case("mvn6_" + mode, lambda x, m=mode: op.mvn(x, const([1, 2]), True, 1e-2, m), X)
case("mvn6_mean", lambda x: op.mvn(x, const([2]), False, 1e-2, "inside_sqrt"), X)
for mode in ["add", "max"]:
    case("normalize_l2_" + mode, lambda x, m=mode: op.normalize_l2(x, const([1]), 0.5, m), X)
CHANNELS = [np.array(v, np.float32) for v in ([1, 2, 3], [0.1, 0.2, 0.3], [0.5, 0, 1], [1, 2, 0.5])]
case("batch_norm", lambda x: opset5.batch_norm_inference(x, *map(op.constant, CHANNELS), 1e-3), floats(2, 3, 4, 4))
case("batch_norm1", lambda x: opset1.batch_norm_inference(x, *map(op.constant, CHANNELS), 1e-3), floats(2, 3, 4, 4))
case(
    "group_norm",
    lambda x: opset12.group_normalization(x, const([1, 2, 3, 4], np.float32), const([0, 1, 2, 3], np.float32), 2, 1e-3),
    floats(2, 4, 3),
)
case("lrn", lambda x: op.lrn(x, const([1]), 1e-1, 0.75, 1.0, 3), floats(1, 6, 4, 4))
IMAGE = floats(1, 4, 7, 6)
case("convolution", lambda x: op.convolution(x, op.constant(floats(5, 4, 3, 2)), [2, 1], [1, 0], [1, 1], [1, 2]), IMAGE)
case(
    "convolution_same",
    lambda x: op.convolution(x, op.constant(floats(5, 4, 3, 2)), [2, 1], [0, 0], [0, 0], [1, 1], "same_upper"),
    IMAGE,
)
case("convolution_1d", lambda x: op.convolution(x, op.constant(floats(5, 3, 3)), [1], [1], [1], [1]), X)
case(
    "group_convolution",
    lambda x: op.group_convolution(x, op.constant(floats(2, 3, 2, 3, 3)), [1, 1], [1, 1], [1, 1], [1, 1]),
    IMAGE,
)
case(
    "deconvolution",
    lambda x: op.convolution_backprop_data(
        x, op.constant(floats(4, 3, 3, 3)), [2, 2], pads_begin=[1, 1], pads_end=[1, 1], output_padding=[1, 0]
    ),
    IMAGE,
)
case(
    "group_deconvolution",
    lambda x: op.group_convolution_backprop_data(
        x, op.constant(floats(2, 2, 3, 3, 3)), [2, 2], pads_begin=[1, 1], pads_end=[1, 1]
    ),
    IMAGE,
)
case("max_pool", lambda x: opset8.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [3, 2]).output(0), IMAGE)
case("max_pool_indices", lambda x: opset8.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [3, 2]).output(1), IMAGE)
case("max_pool1", lambda x: opset1.max_pool(x, [2, 2], [1, 1], [1, 1], [3, 3], "ceil"), IMAGE)
case("avg_pool", lambda x: opset8.avg_pool(x, [2, 2], [1, 1], [1, 1], [3, 3], True), IMAGE)
case("avg_pool_include", lambda x: opset8.avg_pool(x, [2, 2], [1, 1], [1, 1], [3, 3], False), IMAGE)
case("avg_pool_ceil", lambda x: opset8.avg_pool(x, [2, 2], [0, 0], [0, 0], [3, 3], True, "ceil"), IMAGE)
for mode in ["constant", "edge", "reflect"]:
    case(
        "pad_" + mode,
        lambda x, m=mode: op.pad(
            x,
            const([0, 1, 2]),
            const([1, 0, 1]) if m == "constant" else const([0, 1, 1]),
            m,
            const(1.5, np.float32) if m == "constant" else None,
        ),
        X,
    )
case("pad_negative", lambda x: opset12.pad(x, const([0, -1, 1]), const([0, 0, -2]), "constant"), X)
case("tile", lambda x: op.tile(x, const([2, 1, 3])), X)
case("tile_short", lambda x: op.tile(x, const([2])), X)
case("tile_long", lambda x: op.tile(x, const([2, 1, 1, 2])), X)
case("range", lambda a, b, c: op.range(a, b, c, "f32"), np.float32(1), np.float32(5), np.float32(0.7))
case("range_int", lambda a, b, c: op.range(a, b, c, "i64"), np.int32(1), np.int32(9), np.int32(2))
for mode in ["max", "min"]:
    case("topk_" + mode, lambda x, m=mode: op.topk(x, const(2), -1, m, "value").output(0), X)
    case("topk_indices_" + mode, lambda x, m=mode: op.topk(x, const(2), 1, m, "value").output(1), X)
case("topk_by_index", lambda x: op.topk(x, const(3), -1, "max", "index").output(0), X)
case("topk_by_index_indices", lambda x: op.topk(x, const(3), -1, "max", "index", "i64").output(1), X)
case("non_zero", lambda x: opset3.non_zero(x, "i32"), np.array([[1, 0, 2], [0, 0, 3]], np.float32))
case("gather", lambda x, i: op.gather(x, i, const(1)), X, np.array([[0, 2], [1, -1]], np.int32))
case("gather_batch", lambda x, i: op.gather(x, i, const(1), 1), X, np.array([[0, 2], [1, 1]], np.int32))
case("gather_elements", lambda x, i: opset6.gather_elements(x, i, 1), X, ints(2, 2, 4, low=0, high=3))
case("gather_nd", lambda x, i: opset8.gather_nd(x, i, 1), X, np.array([[[0], [2]], [[1], [1]]], np.int32))
case(
    "scatter_elements",
    lambda x, i, u: opset12.scatter_elements_update(x, i, u, const(1), "sum"),
    X,
    ints(2, 2, 4, low=0, high=3),
    floats(2, 2, 4),
)
case(
    "scatter_elements3",
    lambda x, i, u: opset3.scatter_elements_update(x, i, u, const(1)),
    X,
    np.array([[[0] * 4, [2] * 4]] * 2, np.int32),
    floats(2, 2, 4),
)
case(
    "scatter_nd",
    lambda x, i, u: opset4.scatter_nd_update(x, i, u),
    X,
    np.array([[0, 1], [1, 2]], np.int32),
    floats(2, 4),
)
case(
    "scatter_nd_sub",
    lambda x, i, u: opset15.scatter_nd_update(x, i, u, "sub"),
    X,
    np.array([[0, 1], [0, 1]], np.int32),
    floats(2, 4),
)
case(
    "scatter_update",
    lambda x, i, u: opset3.scatter_update(x, i, u, const(1)),
    X,
    np.array([2, 0], np.int32),
    floats(2, 2, 4),
)
case(
    "scatter_update_0",
    lambda x, i, u: opset3.scatter_update(x, i, u, const(0)),
    X,
    np.array([1], np.int32),
    floats(1, 3, 4),
)
case(
    "scatter_update_rank2",
    lambda x, i, u: opset3.scatter_update(x, i, u, const(-1)),
    X,
    np.array([[3, 0]], np.int32),
    floats(2, 3, 1, 2),
)
case(
    "one_hot",
    lambda i: opset1.one_hot(i, const(4), const(2, np.float32), const(-1, np.float32), 1),
    np.array([[0, 3], [-1, 5]], np.int32),
)
case("cum_sum", lambda x: opset3.cum_sum(x, const(1), True, True), X)
for mode, coordinates in [
    ("nearest", "asymmetric"),
    ("linear_onnx", "half_pixel"),
    ("cubic", "align_corners"),
    ("linear_onnx", "pytorch_half_pixel"),
]:
    case(
        f"interpolate4_{mode}_{coordinates}",
        lambda x, m=mode, c=coordinates: NodeFactory("opset4").create(
            "Interpolate",
            [x.output(0), const([14, 9]).output(0), const([2.0, 1.5], np.float32).output(0), const([2, 3]).output(0)],
            {
                "mode": m,
                "shape_calculation_mode": "sizes",
                "coordinate_transformation_mode": c,
                "nearest_mode": "floor",
                "antialias": False,
                "pads_begin": [0],
                "pads_end": [0],
                "cube_coeff": -0.75,
            },
        ),
        IMAGE,
    )
case(
    "interpolate11",
    lambda x: op.interpolate(x, const([2.0, 1.5], np.float32), "linear_onnx", "scales", axes=const([2, 3])),
    IMAGE,
)
for mode in ["blocks_first", "depth_first"]:
    case("depth_to_space_" + mode, lambda x, m=mode: op.depth_to_space(x, m, 2), floats(1, 8, 2, 3))
case("space_to_depth", lambda x: op.space_to_depth(x, "blocks_first", 2), floats(1, 2, 4, 6))
case("shuffle_channels", lambda x: op.shuffle_channels(x, 1, 2), floats(2, 6, 2, 3))
case("shuffle_channels_last", lambda x: op.shuffle_channels(x, -1, 3), floats(2, 6))
case(
    "reverse",
    lambda x: NodeFactory("opset1").create("Reverse", [x.output(0), const([0, 2]).output(0)], {"mode": "index"}),
    X,
)
case(
    "reverse_mask",
    lambda x: NodeFactory("opset1").create(
        "Reverse", [x.output(0), const([False, True, False], bool).output(0)], {"mode": "mask"}
    ),
    X,
)
case("reverse_sequence", lambda x, n: op.reverse_sequence(x, n, 0, 1), X, np.array([2, 3], np.int32))
case(
    "fake_quantize",
    lambda x: op.fake_quantize(
        x, const(-1, np.float32), const(1, np.float32), const(-2, np.float32), const(3, np.float32), 16
    ),
    X,
)
case("einsum", lambda a, b: opset7.einsum([a, b], "abc,cd->abd"), X, floats(4, 2))
case("eye", lambda: opset9.eye(const(3), const(4), const(1), "f32"))
case(
    "attention",
    lambda q, k, v: opset13.scaled_dot_product_attention(q, k, v),
    floats(2, 3, 4),
    floats(2, 5, 4),
    floats(2, 5, 6),
)
case(
    "attention_causal",
    lambda q, k, v: opset13.scaled_dot_product_attention(q, k, v, causal=True),
    floats(2, 3, 4),
    floats(2, 5, 4),
    floats(2, 5, 6),
)
case(
    "attention_mask",
    lambda q, k, v, m: opset13.scaled_dot_product_attention(q, k, v, m),
    floats(2, 3, 4),
    floats(2, 5, 4),
    floats(2, 5, 6),
    floats(3, 5),
)
case(
    "attention_bool",
    lambda q, k, v, m: opset13.scaled_dot_product_attention(q, k, v, m),
    floats(2, 3, 4),
    floats(2, 5, 4),
    floats(2, 5, 6),
    np.tri(3, 5) > 0,
)
case("identity", lambda x: op.identity(x), X)
case("transpose", lambda x: op.transpose(x, const([2, 0, 1])), X)
case(
    "strided_slice",
    lambda x: op.strided_slice(
        x,
        const([0, 0, 1, 1]),
        const([0, 0, 2, 3]),
        const([1, 1, 1, 1]),
        [1, 0, 0, 0],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
    ),
    X,
)
case(
    "strided_slice_ellipsis",
    lambda x: op.strided_slice(
        x, const([1, 0, 2]), const([2, 0, 4]), const([1, 1, 1]), [0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]
    ),
    X,
)
case("slice", lambda x: opset8.slice(x, const([3]), const([-9]), const([-2]), const([2])), X)
case("matmul", lambda a, b: op.matmul(a, b, True, True), floats(2, 4, 3), floats(5, 4))
case("split", lambda x: op.split(x, const(2), 2).output(1), X)
case("variadic_split", lambda x: op.variadic_split(x, const(2), const([1, -1])).output(1), X)


def if_model(c, x):
    a, b = opset8.parameter([2, 3, 4], np.float32), opset8.parameter([2, 3, 4], np.float32)
    then_body = ov.Model([opset8.result(opset8.relu(a))], [a], "then")
    else_body = ov.Model([opset8.result(opset8.negative(b))], [b], "else")
    node = opset8.if_op(c.output(0))
    node.set_then_body(then_body)
    node.set_else_body(else_body)
    node.set_input(x.output(0), a, b)
    return node.set_output(then_body.results[0], else_body.results[0])


def loop_model(x, s, which):
    i, state = opset8.parameter([], np.int64), opset8.parameter([2, 3], np.float32)
    part = opset8.parameter([2, 1], np.float32)
    number = opset8.convert(i, "f32")
    added = opset8.add(state, opset8.multiply(part, number))
    condition = opset8.constant(True, dtype=bool)
    body = ov.Model(
        [opset8.result(condition), opset8.result(added), opset8.result(opset8.multiply(part, part))],
        [i, state, part],
        "body",
    )
    node = opset8.loop(opset8.constant(np.int64(5)), opset8.constant(True, dtype=bool))
    node.set_function(body)
    node.set_special_body_ports([0, 0])
    node.set_sliced_input(part, s.output(0), 0, 1, 1, -1, 1)
    node.set_merged_input(state, x.output(0), added.output(0))
    outputs = [
        node.get_iter_value(body.results[1].output(0), -1),
        node.get_concatenated_slices(body.results[2].output(0), 0, 1, 1, -1, 1),
    ]
    return outputs[which]


case("if_then", if_model, np.array(True), X)
case("if_else", if_model, np.array(False), X)
case("loop_state", lambda x, s: loop_model(x, s, 0), floats(2, 3), floats(2, 5))
case("loop_concatenated", lambda x, s: loop_model(x, s, 1), floats(2, 3), floats(2, 5))
