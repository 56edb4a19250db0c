# SPDX-License-Identifier: Apache-2.0
"""What a file may ask of shape inference: each of these ends soon and in little memory, with a result or an error."""

import time

import onnxseq
import pytest

from cases import REPOSITORY, in_child

INVALID = sorted(path.parent for path in (REPOSITORY / "tests" / "data" / "runtime").glob("h_*/model.onnx"))
# Twice what is promised on a machine of its own.
CPU_SECONDS, MEGABYTES = 2, 200


def nested(count, wrap):
    """Nodes y1 .. y<count>, each with the ones before in its body."""
    inner = "y0 = Neg(x)"
    for i in range(count):
        inner = wrap(i, inner)
    return inner


def loop(grow):
    return lambda i, inner: (
        f"y{i + 1} = Loop<body = b{i} (int64 i{i}, bool c{i}, v{i}) => (d{i}, o{i}) "
        f"{{ d{i} = Identity(c{i}) {inner} o{i} = {grow(i)} }}>(n, , x)\n"
    )


def inputs(dims, count):
    return ", ".join(f"float[{dims.format(i)}] x{i}" for i in range(count))


def folded(dims, count, step):
    """x0, then `step` of what was and the next input, again and again."""
    nodes = "".join(step(i) for i in range(1, count))
    return f"g ({inputs(dims, count)}) => (v) {{ y0 = Neg(x0) {nodes} v = Neg(y{count - 1}) }}"


def mapped(i, inner):
    return f"y{i + 1} = SequenceMap<body = b{i} (e{i}) => (o{i}) {{ {inner} o{i} = Neg(e{i}) }}>(s)\n"


def branched(i, inner):
    return (
        f"y{i + 1} = If<then_branch = t{i} () => (p{i}) {{ {inner} p{i} = Identity(y{i}) }}, "
        f"else_branch = e{i} () => (q{i}) {{ q{i} = Concat<axis = 0>(x, x) }}>(c)\n"
    )


def arithmetic(count):
    sizes = "".join(f"s{i} = Shape(x{i}) " for i in range(40))
    nodes, last = "", "s0"
    for i in range(count):
        op = ["Add", "Max", "Min", "Mul", "Sub"][i % 5]
        nodes += f"a{i} = {op}({last}, s{i % 40}) b{i} = Div(a{i}, two) "
        last = f"b{i}"
    two = "two = Constant<value_ints = [2]>() "
    return f"g ({inputs('N{}', 40)}) => (v) {{ {two}{sizes}{nodes} v = Expand(x0, {last}) }}"


GROWING = loop(lambda i: f"Concat<axis = 0>(v{i}, y{i})")
RISING = loop(lambda i: f"Unsqueeze(v{i}, z)")
LIST = f"s = SequenceConstruct({', '.join(f'x{i}' for i in range(20))}) x = Identity(x0) "
MODELS = {
    "loops": "g (float[N] x, int64 n) => (y8) { " + nested(8, GROWING) + "}",
    "loops_beyond_the_limit": "g (float[N] x, int64 n) => (y30) { " + nested(30, GROWING) + "}",
    "loops_of_known_length": "g (float[N] x) => (y8) { n = Constant<value_int = 30>() " + nested(8, GROWING) + "}",
    "loops_run_by_run": "g (float[N] x) => (y5) { n = Constant<value_int = 30>() z = Constant<value_ints = [0]>() "
    + nested(5, RISING)
    + "}",
    "maps": f"g ({inputs('{0},A{0}', 20)}) => (y3) {{ {LIST}{nested(3, mapped)} }}",
    "branches": "g (float[N] x, bool c) => (y60) { " + nested(60, branched) + "}",
    "branches_beyond_the_limit": "g (float[N] x, bool c) => (y90) { " + nested(90, branched) + "}",
    "arithmetic": arithmetic(3000),
    "broadcasts": folded("N{}", 400, lambda i: f"y{i} = Add(y{i - 1}, x{i}) "),
    "sums": folded("N{}", 1500, lambda i: f"y{i} = Concat<axis = 0>(y{i - 1}, x{i}) "),
    "equalities": folded("N{0},M{0}", 2000, lambda i: f"y{i} = MatMul(y{i - 1}, x{i}) "),
    "windows": folded(
        "1,1,N{}",
        500,
        lambda i: f"p{i} = MaxPool<kernel_shape = [3], strides = [2]>(y{i - 1}) y{i} = Concat<axis = 2>(p{i}, x{i}) ",
    ),
    "insertions": "g (float[N] x, int64 n) => (v) { s0 = SequenceConstruct(x) "
    + "".join(f"s{i + 1} = SequenceInsert(s{i}, x, n) " for i in range(300))
    + "v = SequenceLength(s300) }",
    "long_splits": "g (float[5000000000] x) => (v) { s = SplitToSequence<axis = 0>(x) v = SequenceLength(s) }",
}


def infer(model):
    start = time.process_time()
    try:
        inferred = onnxseq.infer_shapes(model)
    except onnxseq.Error as error:
        return {"cpu": time.process_time() - start, "raised": str(error)}
    return {"cpu": time.process_time() - start, "values": len(inferred["values"]), "problems": inferred["problems"]}


def check(model):
    result = in_child(lambda: infer(model), 30)
    assert "cpu" in result, result
    assert result["cpu"] < CPU_SECONDS
    assert result["grown_mb"] < MEGABYTES
    return result


@pytest.mark.parametrize("name", MODELS)
def test_much_from_little(name, tmp_path):
    model = tmp_path / "model.onnxtxt"
    model.write_text('<ir_version: 10, opset_import: ["" : 21]>\n' + MODELS[name])
    result = check(model)
    beyond = [problem["message"] for problem in result["problems"] if problem["level"] == "error"]
    assert bool(beyond) == name.endswith("_beyond_the_limit"), beyond
    for message in beyond:
        assert "nested more than 64 deep" in message or "hold more than 200000 nodes in all" in message


@pytest.mark.parametrize("folder", INVALID, ids=lambda folder: folder.name)
def test_invalid_models(folder):
    check(folder / "model.onnx")
