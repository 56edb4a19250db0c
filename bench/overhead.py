# SPDX-License-Identifier: Apache-2.0
"""What a run costs beside the work, in C++ and through Python, against the targets.

overhead.py BUILD_FOLDER [OUT.md]: runs BUILD_FOLDER/bin/overhead_bench and times the installed Python package; prints a table, and
writes it to OUT.md.
"""

import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import numpy as np
import onnxseq
from onnx import TensorProto, helper


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def python_one_node():
    """Microseconds of session.run for Add of [4] floats: the median and the least of 50 rounds."""
    names = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xzy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "z"], ["y"])], "g", names[:2], names[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=1))
    feeds = {"x": np.ones(4, np.float32), "z": np.full(4, 2, np.float32)}
    assert session.run(None, feeds)[0].tolist() == [3] * 4
    run, rounds, repeats = session.run, 50, 2000
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(repeats):
            run(None, feeds)
        times.append((time.perf_counter() - begin) / repeats * 1e6)
    return statistics.median(times), min(times)


def cpp(build):
    command = [f"{build}/bin/overhead_bench", "--benchmark_format=json", "--benchmark_repetitions=3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    runs = [run for run in json.loads(done.stdout)["benchmarks"] if run["run_type"] == "iteration"]
    unit = {"ns": 1e-3, "us": 1, "ms": 1e3}
    results = {}
    for run in runs:
        name = run["name"].split("/iterations")[0]
        results.setdefault(name, []).append(
            (run["real_time"] * unit[run["time_unit"]], run.get("growth", run.get("ratio", 0)))
        )
    return results


def main():
    results = cpp(sys.argv[1])
    median = {name: statistics.median(time for time, _ in runs) for name, runs in results.items()}
    least = {name: min(time for time, _ in runs) for name, runs in results.items()}
    python_median, python_least = python_one_node()
    rows = [("one node, Runner, C++", median["OneNodeRunner"], least["OneNodeRunner"], "<= 1 us")]
    rows.append(("one node, by name, C++", median["OneNodeByName"], least["OneNodeByName"], ""))
    rows.append(("one node, session.run, Python", python_median, python_least, "<= 5 us"))
    rows.append(
        ("a node of a chain of 1000", median["ChainPerNode/1000"] / 1000, least["ChainPerNode/1000"] / 1000, "")
    )
    cancel = [name for name in median if name.startswith("CancelLatency")][0]
    rows.append(("from cancel to the end of a MatMul", median[cancel], least[cancel], "<= 50000 us"))
    lines = ["| what | median us | least us | target |", "|---|---|---|---|"]
    lines += [f"| {name} | {mid:.3g} | {low:.3g} | {target} |" for name, mid, low, target in rows]
    for kind in ("LstmWeights", "MatMulWeights"):
        ratio = least[f"{kind}/denormal"] / least[f"{kind}/normal"]
        lines.append(f"| {kind}: denormal / normal | {ratio:.3g} | | 1 |")
    for name in (name for name in results if name.startswith("NewShape")):
        ratio = statistics.median(ratio for _, ratio in results[name])
        lines.append(f"| {name}: the first run with a shape / a warm one | {ratio:.3g} | | <= 2 |")
    growth = max(bytes_ for _, bytes_ in results["ChangingShapes"])
    lines.append(
        f"| bytes more in use, once trimmed, after 100,000 runs with random shapes than after 10,000 | {growth:.0f} | | 0 |"
    )
    heading = f"`python bench/overhead.py BUILD_FOLDER` on {machine()}, one thread."
    text = "# Overhead of runs\n\n" + heading + "\n\n" + "\n".join(lines) + "\n"
    print(text)
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(text)


main()
