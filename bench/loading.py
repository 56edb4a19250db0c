# SPDX-License-Identifier: Apache-2.0
"""What starting costs: loading large models, external weights, the program, the first run. Each row is a process of its own.

.venv/bin/python bench/loading.py BUILD_FOLDER [PEERS_PYTHON]

Needs 4 GB of disk below the folder for temporary files. PEERS_PYTHON has onnxruntime: the last row is timed beside it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from onnx import TensorProto, helper, numpy_helper

LAYERS, ROWS, COLUMNS = 37, 2048, 3840
# Runs the code with its arguments; prints the seconds it took and the process's largest resident memory.
TIMED = """
import sys, time
{setup}
start = time.perf_counter()
{code}
seconds = time.perf_counter() - start
import json
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([seconds, int(peak.split()[1]) / 1024]))
"""


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def chain(path, layers, external):
    """layers x (MatMul, Relu, MatMul) with weights of zeros, in the file itself or in one beside it."""
    nodes, initializers, last = [], [], "x"
    offset = 0
    size = ROWS * COLUMNS * 4
    for i in range(2 * layers):
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT)
        tensor.dims.extend([ROWS, COLUMNS] if i % 2 == 0 else [COLUMNS, ROWS])
        if external:
            tensor.data_location = TensorProto.EXTERNAL
            for key, text in (("location", "weights.bin"), ("offset", offset), ("length", size)):
                entry = tensor.external_data.add()
                entry.key, entry.value = key, str(text)
            offset += size
        else:
            tensor.raw_data = bytes(size)
        initializers.append(tensor)
        nodes.append(helper.make_node("MatMul", [last, tensor.name], [f"m{i}"]))
        last = f"m{i}"
        if i % 2 == 0:
            nodes.append(helper.make_node("Relu", [last], [f"r{i}"]))
            last = f"r{i}"
    graph = helper.make_graph(nodes, "chain", [value("x", ["N", ROWS])], [value(last, None)], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    if external:
        with open(os.path.join(os.path.dirname(path), "weights.bin"), "wb") as file:
            file.truncate(offset)


def small(path):
    """A model of 1 MB: one MatMul."""
    weights = numpy_helper.from_array(np.ones((512, 512), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [value("x", [1, 512])], [value("y", [1, 512])], [weights]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def python(code, interpreter=sys.executable, setup=""):
    """Best of five: seconds within, MB resident, seconds of the whole process."""
    best = [float("inf")] * 3
    for _ in range(5):
        begin = time.perf_counter()
        run = subprocess.run(
            [interpreter, "-c", TIMED.format(code=code, setup=setup)], check=True, capture_output=True, text=True
        )
        whole = time.perf_counter() - begin
        best = [min(pair) for pair in zip(best, [*json.loads(run.stdout), whole])]
    return best


def program(*arguments):
    """Best of five: milliseconds of the whole process."""
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def main():
    build = sys.argv[1]
    peers = sys.argv[2] if len(sys.argv) > 2 else None
    exe = os.path.join(build, "bin", "onnxseq")
    with tempfile.TemporaryDirectory(dir=build) as folder:
        base = python("import onnxseq")[1]
        print("| what | measured |\n|---|---|")
        path = os.path.join(folder, "one_file.onnx")
        chain(path, 16, external=False)
        megabytes = os.path.getsize(path) >> 20
        seconds, resident, _ = python(f"onnxseq.infer_shapes({path!r})", setup="import onnxseq")
        resident -= base
        print(
            f"| {megabytes} MB in one file: load and infer | {seconds * 1e3:.1f} ms, {resident:.0f} MB more resident |"
        )
        os.remove(path)
        path = os.path.join(folder, "external.onnx")
        chain(path, LAYERS, external=True)
        megabytes = os.path.getsize(os.path.join(folder, "weights.bin")) >> 20
        seconds, resident, whole = python(f"import onnxseq; onnxseq.infer_shapes({path!r})")
        print(
            f"| {megabytes} MB of external weights: load and infer, whole Python process "
            f"| {whole * 1e3:.0f} ms, {resident:.0f} MB resident, {base:.0f} of them Python and numpy |"
        )
        print(f"| the same: `onnxseq shapes` | {program(exe, 'shapes', path):.0f} ms |")
        path = os.path.join(folder, "small.onnx")
        small(path)
        print(f"| `onnxseq info`, a model of 1 MB | {program(exe, 'info', path):.1f} ms |")
        print(f"| `onnxseq shapes`, a model of 1 MB | {program(exe, 'shapes', path):.1f} ms |")
        run = "import numpy, {module}; s = {module}.InferenceSession({path!r}{more}); "
        run += "s.run(None, {{'x': numpy.ones((1, 512), 'float32')}})"
        _, _, ours = python(run.format(module="onnxseq", path=path, more=""), peers or sys.executable)
        text = f"| import, load and first run of a model of 1 MB, whole process | {ours * 1e3:.0f} ms"
        if peers:
            more = ", providers=['CPUExecutionProvider']"
            _, _, theirs = python(run.format(module="onnxruntime", path=path, more=more), peers)
            text += f"; onnxruntime {theirs * 1e3:.0f} ms: {theirs / ours:.1f} x"
        print(text + " |")


main()
