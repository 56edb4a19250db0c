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
    opset11,
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
case(
    "max_pool_indices_of_planes",
    lambda x: opset8.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [3, 2], axis=2).output(1),
    IMAGE,
)
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


def create(opset, layer, inputs, **attributes):
    return NodeFactory(opset).create(layer, [x.output(0) for x in inputs], attributes)


def outputs(name, build, *inputs, count):
    for i in range(count):
        case(f"{name}_{i}", lambda *x, k=i: build(*x).output(k), *inputs)


case("adaptive_avg_pool", lambda x: op.adaptive_avg_pool(x, const([3, 4])), floats(2, 3, 7, 10))
case("adaptive_avg_pool_1d", lambda x: op.adaptive_avg_pool(x, const([5])), floats(2, 3, 7))
case("adaptive_avg_pool_global", lambda x: op.adaptive_avg_pool(x, const([1, 1])), floats(2, 3, 7, 5))
case("adaptive_avg_pool_3d", lambda x: op.adaptive_avg_pool(x, const([2, 3, 2])), floats(1, 2, 5, 4, 3))
outputs("adaptive_max_pool", lambda x: op.adaptive_max_pool(x, const([3, 4]), "i32"), floats(2, 3, 7, 10), count=2)
outputs(
    "adaptive_max_pool_3d", lambda x: op.adaptive_max_pool(x, const([2, 3, 2]), "i32"), floats(1, 2, 5, 4, 3), count=2
)
outputs("adaptive_max_pool_global", lambda x: op.adaptive_max_pool(x, const([1]), "i32"), floats(1, 2, 5), count=2)
case(
    "batch_to_space",
    lambda x: op.batch_to_space(x, const([1, 2, 3]), const([0, 0, 2]), const([0, 1, 0])),
    floats(12, 3, 4),
)
case(
    "space_to_batch",
    lambda x: op.space_to_batch(x, const([1, 2, 3]), const([0, 0, 2]), const([0, 1, 0])),
    floats(2, 3, 4),
)
for pad in ["valid", "same_upper", "same_lower"]:
    case(
        "extract_image_patches_" + pad,
        lambda x, p=pad: op.extract_image_patches(x, [3, 2], [2, 3], [1, 2], p),
        floats(2, 3, 8, 9),
    )
case("roll", lambda x: op.roll(x, const([3, -1]), const([-1, 0])), X)
case("roll_one", lambda x: op.roll(x, const([2]), const([1])), X)
case("roll_dynamic", lambda x, s: op.roll(x, s, const([1, 2])), X, np.array([1, -5], np.int32))
case(
    "slice_scatter",
    lambda x, u: op.slice_scatter(x, u, const([1, 3]), const([3, -5]), const([1, -2]), const([1, 2])),
    X,
    floats(2, 2, 2),
)
case("slice_scatter_all", lambda x, u: op.slice_scatter(x, u, const([1]), const([9]), const([1])), X, floats(1, 3, 4))
case(
    "col2im",
    lambda x: op.col2im(x, const([5, 6]), const([2, 3]), [1, 2], [1, 1], [0, 1], [1, 0]),
    floats(2, 12, 15),
)
case("col2im_single", lambda x: op.col2im(x, const([4, 4]), const([2, 2]), [2, 2]), floats(8, 4))
for right in [True, False]:
    case(
        f"bucketize_{right}",
        lambda x, b, r=right: op.bucketize(x, b, "i32", r),
        np.array([[0.5, 1, 1.5], [3, 4, -1]], np.float32),
        np.array([0, 1, 2, 3], np.float32),
    )
    case(
        f"search_sorted_{right}",
        lambda s, v, r=right: op.search_sorted(s, v, r),
        np.sort(ints(2, 6), axis=-1),
        ints(2, 4),
    )
case("bucketize_types", lambda x, b: op.bucketize(x, b), ints(2, 5), np.array([-3, -0.5, 2], np.float32))
case(
    "search_sorted_vector",
    lambda s, v: op.search_sorted(s, v),
    np.array([-1, 0, 2, 2, 5], np.float32),
    ints(2, 4).astype(np.float32),
)
outputs("unique", lambda x: op.unique(x, None, True, "i32", "i64"), ints(3, 5, low=0, high=4), count=4)
outputs("unique_axis", lambda x: op.unique(x, const(0), True), ints(6, 2, low=0, high=2), count=4)
PROBABILITIES = floats(7, 3, 4)
PROBABILITIES[2:4] = PROBABILITIES[1]
MASK = np.array([[1] * 7, [1] * 4 + [0] * 3, [0] * 7], np.float32).T.copy()
for merge in [True, False]:
    case(f"ctc_greedy_{merge}", lambda x, m, g=merge: op.ctc_greedy_decoder(x, m, g), PROBABILITIES, MASK)
    outputs(
        f"ctc_greedy_seq_len_{merge}",
        lambda x, n, g=merge: op.ctc_greedy_decoder_seq_len(x, n, merge_repeated=g),
        PROBABILITIES.transpose(1, 0, 2).copy(),
        np.array([7, 4, 1], np.int32),
        count=2,
    )
outputs(
    "ctc_greedy_blank",
    lambda x, n: op.ctc_greedy_decoder_seq_len(x, n, const(1, np.int32), True, "i64", "i64"),
    PROBABILITIES.transpose(1, 0, 2).copy(),
    np.array([7, 4, 1], np.int32),
    count=2,
)
TABLE = floats(6, 3, 2)
case("embedding_bag_packed", lambda t, i: op.embedding_bag_packed_sum(t, i), TABLE, ints(4, 2, low=0, high=6))
case(
    "embedding_bag_packed_weights",
    lambda t, i, w: op.embedding_bag_packed_sum(t, i, w),
    TABLE,
    ints(4, 2, low=0, high=6),
    floats(4, 2),
)
case(
    "embedding_bag_packed_mean",
    lambda t, i: create("opset15", "EmbeddingBagPacked", [t, i], reduction="mean"),
    TABLE,
    ints(4, 2, low=0, high=6),
)
OFFSETS = np.array([0, 2, 2, 4], np.int32)
for reduction in ["sum", "mean"]:
    case(
        "embedding_bag_offsets_" + reduction,
        lambda t, i, o, r=reduction: create("opset15", "EmbeddingBagOffsets", [t, i, o], reduction=r),
        TABLE,
        ints(5, low=0, high=6),
        OFFSETS,
    )
case(
    "embedding_bag_offsets_default",
    lambda t, i, o, w: op.embedding_bag_offsets_sum(t, i, o, const(2, np.int32), w),
    TABLE,
    ints(5, low=0, high=6),
    OFFSETS,
    floats(5),
)
for default in [3, 0]:
    case(
        f"embedding_segments_{default}",
        lambda t, i, s, w, d=default: op.embedding_segments_sum(t, i, s, const(5, np.int32), const(d, np.int32), w),
        TABLE,
        ints(4, low=0, high=6),
        np.array([0, 2, 2, 3], np.int32),
        floats(4),
    )
case(
    "embedding_segments",
    lambda t, i, s: op.embedding_segments_sum(t, i, s, const(5, np.int32)),
    TABLE,
    ints(4, low=0, high=6),
    np.array([0, 2, 2, 3], np.int32),
)
COMPLEX = floats(2, 5, 6, 2)
case("dft", lambda x: op.dft(x, const([1, 2])), COMPLEX)
case("dft_size", lambda x: op.dft(x, const([-1, 1]), const([4, 8])), COMPLEX)
case("idft", lambda x: op.idft(x, const([-1])), COMPLEX)
case("idft_size", lambda x: op.idft(x, const([0, 2]), const([3, -1])), COMPLEX)
case("rdft", lambda x: op.rdft(x, const([1, 2])), floats(2, 5, 6))
case("rdft_size", lambda x: op.rdft(x, const([-1, 0]), const([5, 2])), floats(2, 5, 6))
case("irdft", lambda x: op.irdft(x, const([1, 2])), COMPLEX)
case("irdft_size", lambda x: op.irdft(x, const([1, 2]), const([4, 9])), COMPLEX)
WINDOW = floats(12, low=0.1, high=1)
for transposed in [True, False]:
    case(
        f"stft_{transposed}",
        lambda x, w, t=transposed: op.stft(x, w, const(16), const(5), t),
        floats(2, 50),
        WINDOW,
    )
case("stft_vector", lambda x, w: op.stft(x, w, const(12), const(4), False), floats(50), WINDOW)
FRAMES = floats(2, 9, 7, 2)
for center in [True, False]:
    for normalized in [True, False]:
        case(
            f"istft_{center}_{normalized}",
            lambda x, w, c=center, n=normalized: op.istft(x, w, const(16), const(4), c, n),
            FRAMES,
            WINDOW,
        )
case("istft_vector", lambda x, w: op.istft(x, w, const(16), const(4), True, False), FRAMES[0], WINDOW)
for length in [20, 60]:
    case(
        f"istft_length_{length}",
        lambda x, w, n=length: op.istft(x, w, const(16), const(4), True, False, const(n)),
        FRAMES,
        WINDOW,
    )
GRID = floats(1, 3, 5, 2, low=-1.3, high=1.3)
for mode in ["bilinear", "bicubic", "nearest"]:
    for padding in ["zeros", "border", "reflection"]:
        case(
            f"grid_sample_{mode}_{padding}",
            lambda x, g, m=mode, p=padding: op.grid_sample(
                x, g, {"mode": m, "padding_mode": p, "align_corners": p == "border"}
            ),
            IMAGE,
            GRID,
        )
ROIS = np.array([[0, 0, 3, 4], [1.5, 2, 5, 6.5]], np.float32)
case(
    "roi_align",
    lambda x, r, i: opset3.roi_align(x, r, i, 2, 3, 2, 0.8, "avg"),
    IMAGE,
    ROIS,
    np.array([0, 0], np.int32),
)
for aligned in ["asymmetric", "half_pixel_for_nn", "half_pixel"]:
    case(
        "roi_align9_" + aligned,
        lambda x, r, i, a=aligned: op.roi_align(x, r, i, 2, 3, 0, 0.8, "avg", a),
        IMAGE,
        ROIS,
        np.array([0, 0], np.int32),
    )
BOXES = np.array(
    [[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]],
    np.float32,
)
SCORES = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [0.2, 0.85, 0.55, 0.1, 0.97, 0.91]]], np.float32)
for descending in [True, False]:
    outputs(
        f"non_max_suppression_{descending}",
        lambda b, s, d=descending: op.non_max_suppression(
            b, s, const(3), const(0.5, np.float32), const(0.15, np.float32), sort_result_descending=d
        ),
        BOXES,
        SCORES,
        count=3,
    )
outputs(
    "non_max_suppression5",
    lambda b, s: opset5.non_max_suppression(
        b, s, const(2), const(0.5, np.float32), box_encoding="center", output_type="i32"
    ),
    BOXES,
    SCORES,
    count=3,
)
case(
    "gather_tree",
    lambda s, p, n, e: op.gather_tree(s, p, n, e),
    ints(5, 2, 3, low=1, high=6),
    ints(5, 2, 3, low=0, high=3),
    np.array([5, 3], np.int32),
    np.array(4, np.int32),
)
case("grn", lambda x: op.grn(x, 0.5), floats(2, 3, 4, 4))
for kind in ["f8e4m3", "f8e5m2"]:
    case(
        "fake_convert_" + kind,
        lambda x, k=kind: op.fake_convert(x, const(1.5, np.float32), const(0.25, np.float32), k),
        np.concatenate([floats(20), np.array([1e-4, 300, 448, 460, 1e5, -7e4, 0.001], np.float32)]),
    )
case("fake_convert_scale", lambda x: op.fake_convert(x, const([1.5, 2, 3, 4], np.float32)), X)
for kind in [np.int8, np.int32, np.int64, np.uint8, np.uint32]:
    low = -8 if np.issubdtype(kind, np.signedinteger) else 0
    values = ints(2, 6, low=low, high=9, dtype=kind)
    for direction in ["left", "right"]:
        case(
            f"shift_{direction}_{np.dtype(kind)}",
            lambda a, b, d=direction: getattr(op, f"bitwise_{d}_shift")(a, b),
            values,
            np.array([0, 1, 2, 3, 4, 5], kind),
        )
case("pad_symmetric", lambda x: op.pad(x, const([0, 2, 1]), const([1, 0, 4]), "symmetric"), X)
case("broadcast_explicit", lambda x: op.broadcast(x, const([2, 3, 4]), const([1]), "EXPLICIT"), floats(3))
case("broadcast_explicit_two", lambda x: op.broadcast(x, const([2, 3, 5, 4]), const([1, 3]), "EXPLICIT"), floats(3, 4))
case(
    "reverse_sequence_axes",
    lambda x, n: op.reverse_sequence(x, n, 2, 0),
    floats(5, 2, 3),
    np.array([2, 5, 3], np.int32),
)
case("reverse_sequence_last", lambda x, n: op.reverse_sequence(x, n, 0, -1), X, np.array([3, 2], np.int32))
for mode in ["sum", "prod", "min", "max", "mean"]:
    for initial in [True, False]:
        for kind in [np.float32, np.int32]:
            if (mode, initial, kind) != ("sum", True, np.float32):
                case(
                    f"scatter_elements_{mode}_{initial}_{np.dtype(kind)}",
                    lambda x, i, u, m=mode, n=initial: opset12.scatter_elements_update(x, i, u, const(1), m, n),
                    floats(2, 3, 4, low=0, high=20).astype(kind),
                    ints(2, 5, 4, low=0, high=3),
                    floats(2, 5, 4, low=0, high=20).astype(kind),
                )
for pad in ["explicit", "same_upper", "same_lower"]:
    case(
        "deconvolution_shape_" + pad,
        lambda x, p=pad: op.convolution_backprop_data(
            x, op.constant(floats(4, 3, 3, 4)), [2, 3], const([13, 18]), auto_pad=p
        ),
        IMAGE,
    )
case(
    "deconvolution_shape_pads",
    lambda x: op.convolution_backprop_data(
        x, op.constant(floats(4, 3, 3, 4)), [2, 3], const([11, 16]), pads_begin=[1, 2], pads_end=[3, 1]
    ),
    IMAGE,
)
case(
    "deconvolution_shape_large",
    lambda x: op.convolution_backprop_data(x, op.constant(floats(4, 3, 3, 4)), [2, 3], const([16, 21])),
    IMAGE,
)
for mode in ["nearest", "linear", "cubic"]:
    for corners in [True, False]:
        for sizes in [[14, 9], [3, 4]]:
            case(
                f"interpolate1_{mode}_{corners}_{sizes[0]}",
                lambda x, m=mode, c=corners, s=sizes: create(
                    "opset1",
                    "Interpolate",
                    [x, const(s)],
                    axes=[2, 3],
                    mode=m,
                    align_corners=c,
                    antialias=False,
                    pads_begin=[0],
                    pads_end=[0],
                ),
                IMAGE,
            )
for nearest in ["simple", "round_prefer_ceil", "ceil"]:
    for coordinates in ["tf_half_pixel_for_nn", "half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]:
        for sizes in [[14, 9], [3, 1]]:
            case(
                f"interpolate_nearest_{nearest}_{coordinates}_{sizes[0]}",
                lambda x, n=nearest, c=coordinates, s=sizes: op.interpolate(
                    x,
                    const(s),
                    "nearest",
                    "sizes",
                    axes=const([2, 3]),
                    nearest_mode=n,
                    coordinate_transformation_mode=c,
                ),
                IMAGE,
            )
case(
    "interpolate_nearest_scales",
    lambda x: op.interpolate(
        x, const([1.7, 0.6], np.float32), "nearest", "scales", axes=const([2, 3]), nearest_mode="simple"
    ),
    IMAGE,
)
for coordinates in ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]:
    for sizes in [[14, 9], [3, 4]]:
        for antialias in [False, True] if sizes[0] > 7 else [False]:
            case(
                f"interpolate_linear_{coordinates}_{sizes[0]}_{antialias}",
                lambda x, c=coordinates, s=sizes, a=antialias: op.interpolate(
                    x, const(s), "linear", "sizes", axes=const([2, 3]), antialias=a, coordinate_transformation_mode=c
                ),
                IMAGE,
            )
for mode in ["bilinear_pillow", "bicubic_pillow"]:
    for sizes in [[14, 9], [3, 4]]:
        case(
            f"interpolate_{mode}_{sizes[0]}",
            lambda x, m=mode, s=sizes: op.interpolate(x, const(s), m, "sizes", axes=const([2, 3]), cube_coeff=-0.5),
            IMAGE,
        )
case(
    "interpolate_pads",
    lambda x: op.interpolate(
        x, const([9, 13]), "linear_onnx", "sizes", axes=const([2, 3]), pads_begin=[0, 0, 1, 2], pads_end=[0, 0, 1, 0]
    ),
    IMAGE,
)

# Corners of scales that give no whole sizes, and a scale that is a little less than what gives one.
for mode in ["nearest", "linear", "linear_onnx", "cubic"]:
    for scales in [[0.7, 0.7], [2.5, 1.3]]:
        case(
            f"interpolate_corners_{mode}_{scales[0]}",
            lambda x, m=mode, s=scales: opset11.interpolate(
                x, const(s, np.float32), m, "scales", coordinate_transformation_mode="align_corners", axes=const([2, 3])
            ),
            IMAGE,
        )
for mode in ["nearest", "linear_onnx"]:
    case(
        f"interpolate_whole_{mode}",
        lambda x, m=mode: opset11.interpolate(
            x, const([31 / 7], np.float32), m, "scales", coordinate_transformation_mode="asymmetric", axes=const([2])
        ),
        floats(1, 1, 7, 5),
    )
for pad in ["same_upper", "same_lower"]:
    for added in [1, 2]:
        case(
            f"deconvolution_added_{pad}_{added}",
            lambda x, p=pad, n=added: op.convolution_backprop_data(
                x, op.constant(floats(1, 1, 1)), [3], const([8]), auto_pad=p, output_padding=[n]
            ),
            floats(1, 1, 5),
        )
for pad in ["same_upper", "same_lower", "valid"]:
    case(
        "deconvolution_" + pad,
        lambda x, p=pad: op.convolution_backprop_data(
            x, op.constant(floats(4, 3, 3, 4)), [2, 3], pads_begin=[1, 0], pads_end=[0, 1], auto_pad=p
        ),
        IMAGE,
    )
case(
    "strided_slice_shrinks_masked",
    lambda x: op.strided_slice(x, const([1, 2]), const([2, 3]), const([1, 1]), [1, 0], [0, 0], [0, 0], [1, 1]),
    X,
)
case("prelu_broadcast", lambda x: op.prelu(x, const([0.1, 0.2, 0.3, 0.4], np.float32)), X)
case("squeeze_skip", lambda x: op.squeeze(x, const([0, 1, -1]), True), floats(1, 3, 1))
case("squeeze_skip_all", lambda x: op.squeeze(x, const([1]), True), floats(1, 3, 1))
case("gather_behind_batch", lambda x, i: op.gather(x, i, const(2), 1), floats(2, 3, 4, 5), ints(2, 6, 2, low=0, high=4))
case(
    "gather_far_behind_batch", lambda x, i: op.gather(x, i, const(3), 1), floats(2, 3, 4, 5), ints(2, 6, low=0, high=5)
)
for kind in [np.int8, np.uint8, np.uint16]:
    case(
        f"power_{kind.__name__}",
        lambda a, b: op.power(a, b),
        ints(2, 3, low=1, high=4).astype(kind),
        ints(2, 3, low=0, high=4).astype(kind),
    )
