# SPDX-License-Identifier: Apache-2.0
"""How runs behave: signals, threads, limits, warnings, inner values, operators of the user's own."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import onnxseq
import pytest
from onnx import helper
from test_session import FLOAT, INT64, make_model, sequence, tensor


def matmul_session(threads=1):
    """A session whose run of `long_feeds` takes seconds."""
    node = helper.make_node("MatMul", ["a", "b"], ["y"], name="n")
    model = make_model([node], [tensor("a"), tensor("b")], [tensor("y")])
    return onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=threads))


def long_feeds():
    return {"a": np.zeros((30000, 1500), np.float32), "b": np.zeros((1500, 6000), np.float32)}


def test_signals_are_handled_inside_a_long_kernel():
    class Alarm(Exception):
        pass

    def handler(number, frame):
        seen.append(time.monotonic())
        if len(seen) == 2:
            raise Alarm("enough")

    session, feeds, seen = matmul_session(), long_feeds(), []
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        with pytest.raises(Alarm, match="enough"):
            session.run(None, feeds)
        end = time.monotonic()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) == 2, "a handler that raises nothing lets the run go on"
    assert end - seen[1] < 1.5
    small = {"a": np.ones((1, 2), np.float32), "b": np.ones((2, 1), np.float32)}
    assert session.run(None, small)[0].tolist() == [[2]]


def test_ctrl_c():
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import signal, test_runs\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells ignore it for what they start aside
        "session, feeds = test_runs.matmul_session(2), test_runs.long_feeds()\n"
        "print('ready', flush=True)\n"
        "try:\n    session.run(None, feeds)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, os.path.dirname(__file__)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == ("interrupted\n", 0)


def test_timeout_inside_a_long_kernel():
    session, feeds = matmul_session(), long_feeds()
    begin = time.monotonic()
    with pytest.raises(onnxseq.TimeoutError, match='MatMul node "n": the run takes longer than its limit of 100 ms'):
        session.run(None, feeds, timeout=0.1)
    assert time.monotonic() - begin < 1.6


def test_inner_values_by_name():
    nodes = [
        helper.make_node("Add", ["x", "x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    session = onnxseq.InferenceSession(make_model(nodes, [tensor("x")], [tensor("y")]))
    feeds = {"x": np.ones(2, np.float32)}
    assert [v.tolist() for v in session.run(["b", "y", "a", "x"], feeds)] == [[-2, -2], [2, 2], [2, 2], [1, 1]]
    with pytest.raises(onnxseq.InvalidArgument, match='output "q": the model has no such output'):
        session.run(["b", "q"], feeds)


def test_profile():
    session = matmul_session()
    (entry,) = session.profile({"a": np.ones((2, 2), np.float32), "b": np.ones((2, 2), np.float32)})
    assert (entry["op_type"], entry["name"], entry["path"], entry["thread"]) == ("MatMul", "n", "", 0)
    assert entry["seconds"] > 0 and entry["start"] > 0


def test_warnings():
    right = make_model([helper.make_node("Neg", ["x"], ["y"])], [tensor("x", FLOAT, [2])], [tensor("y")])
    wrong = make_model([helper.make_node("Neg", ["x"], ["y"])], [tensor("x", FLOAT, [2])], [tensor("y", INT64, [2])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        onnxseq.InferenceSession(right)
        with pytest.raises(onnxseq.Warning, match="declared"):
            onnxseq.InferenceSession(wrong)
    with pytest.warns(onnxseq.Warning, match=r'Neg node, output 0 \("y"\)|output 0 \("y"\)'):
        onnxseq.InferenceSession(wrong)


def test_check_model_loads():
    model = make_model([helper.make_node("Neg", ["x"], ["y"], name="n", k=1)], [tensor("x")], [tensor("y")])
    with pytest.raises(onnxseq.InvalidArgument, match="attribute 'k': is not known to this operator"):
        onnxseq.check_model(model)
    unknown = make_model([helper.make_node("NoSuchOp", ["x"], ["y"])], [tensor("x")], [tensor("y")])
    with pytest.raises(onnxseq.InvalidArgument, match="1 operator cannot run: NoSuchOp"):
        onnxseq.check_model(unknown)


def test_outputs_numpy_cannot_hold():
    model = make_model(
        [helper.make_node("Reshape", ["x", "s"], ["y"])], [tensor("x"), tensor("s", INT64)], [tensor("y")]
    )
    session = onnxseq.InferenceSession(model)
    with pytest.raises(onnxseq.InvalidArgument, match=r'output "y": numpy cannot hold tensor\(float\)\[1,1,1'):
        session.run(None, {"x": np.ones(1, np.float32), "s": np.ones(65, np.int64)})


def custom_model(nodes, inputs, outputs):
    model = make_model(nodes, inputs, outputs)
    model.opset_import.append(helper.make_opsetid("my", 1))
    return model


def custom_session(function, threads=1, **attributes):
    node = helper.make_node("Op", ["x"], ["y"], name="n", domain="my", **attributes)
    options = onnxseq.SessionOptions(threads=threads, custom_ops={("my", "Op"): function})
    return onnxseq.InferenceSession(custom_model([node], [tensor("x")], [tensor("y")]), options)


def test_custom_operators():
    seen = {}

    def op(x, **attributes):
        seen.update(attributes)
        assert not x.flags.writeable
        return x * 2

    attributes = {"i": 3, "f": 0.5, "s": "text", "ints": [1, 2], "floats": [0.5], "strings": ["a", "b"]}
    attributes["t"] = helper.make_tensor("t", FLOAT, [2], [1, 2])
    session = custom_session(op, **attributes)
    x = np.ones(1000, np.float32)
    assert (session.run(None, {"x": x})[0] == 2).all()
    assert seen.pop("t").tolist() == [1, 2]
    assert seen == {"i": 3, "f": 0.5, "s": "text", "ints": [1, 2], "floats": [0.5], "strings": ["a", "b"]}


def test_what_a_custom_operator_returned_is_its_own():
    kept = np.zeros(3000, np.float32)

    def op(x):
        kept[:] += 1
        return kept

    session = custom_session(op)
    (first,) = session.run(None, {"x": kept})
    (second,) = session.run(None, {"x": kept})
    assert (first == 1).all() and (second > 1).all()


def test_errors_of_custom_operators():
    def fail(x):
        raise LookupError("no luck")

    with pytest.raises(onnxseq.Error, match='Op node "n": LookupError: no luck') as caught:
        custom_session(fail).run(None, {"x": np.ones(1, np.float32)})
    assert isinstance(caught.value.__cause__, LookupError)
    assert caught.value.__cause__.__traceback__ is not None
    assert (caught.value.op_type, caught.value.node_name) == ("Op", "n")

    def interrupt(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        custom_session(interrupt).run(None, {"x": np.ones(1, np.float32)})
    for wrong, message in (
        (lambda x: (x, x), "the node has 1 outputs, the operator returned 2"),
        (lambda x: None, "the operator returned None for output 0"),
        (lambda x: np.zeros(1, "datetime64[s]"), "arrays of datetime64"),
    ):
        with pytest.raises(onnxseq.InvalidArgument, match=message):
            custom_session(wrong).run(None, {"x": np.ones(1, np.float32)})
    with pytest.raises(TypeError, match="custom_ops is a dict of"):
        onnxseq.SessionOptions(custom_ops={"Op": fail})
    with pytest.raises(onnxseq.InvalidArgument, match="custom operator Neg of ai.onnx: is an operator of this build"):
        onnxseq.InferenceSession(
            make_model([helper.make_node("Neg", ["x"], ["y"])], [tensor("x")], [tensor("y")]),
            onnxseq.SessionOptions(custom_ops={("", "Neg"): fail}),
        )


def test_custom_operators_on_many_threads():
    body = helper.make_graph([helper.make_node("Op", ["a"], ["b"], domain="my")], "body", [tensor("a")], [tensor("b")])
    node = helper.make_node("SequenceMap", ["x"], ["y"], body=body)
    options = onnxseq.SessionOptions(threads=4, custom_ops={("my", "Op"): lambda a: a + 1})
    session = onnxseq.InferenceSession(custom_model([node], [sequence("x")], [sequence("y")]), options)
    wrong = []

    def work(number):
        for _ in range(10):
            (got,) = session.run(None, {"x": [np.full(500, number + i, np.float32) for i in range(50)]})
            wrong.extend(number for i, a in enumerate(got) if not (a == number + i + 1).all())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_threads_with_different_shapes():
    session = matmul_session(0)
    wrong = []

    def work(number):
        rng = np.random.default_rng(number)
        for _ in range(50):
            a = rng.integers(-3, 3, (int(rng.integers(1, 60)), 20)).astype(np.float32)
            b = rng.integers(-3, 3, (20, int(rng.integers(1, 60)))).astype(np.float32)
            if (session.run(None, {"a": a, "b": b})[0] != a @ b).any():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    session.trim()


def test_feeds_with_equal_but_other_names():
    session = matmul_session()
    ones = np.ones((1, 1), np.float32)
    assert session.run(None, {"".join(["a"]): ones, bytes([98]).decode(): ones})[0].tolist() == [[1]]
    with pytest.raises(
        onnxseq.InvalidArgument, match='input "c": the model has no such input; its inputs are "a", "b"'
    ):
        session.run(None, {"a": ones, "b": ones, "c": ones})
    with pytest.raises(TypeError, match="expected an input name, got 1"):
        session.run(None, {"a": ones, "b": ones, 1: ones})
