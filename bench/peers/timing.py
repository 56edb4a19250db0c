# SPDX-License-Identifier: Apache-2.0
"""Contestants timed in turn, so that a drifting clock or a busy neighbour hits all alike; only ratios of one run count."""

import datetime
import json
import pathlib
import subprocess
import sys
import time

import numpy as np


def machine():
    with open("/proc/cpuinfo") as info:
        return next(line.split(":")[1].strip() for line in info if line.startswith("model name"))


def results_path(subject):
    """Where a bench writes what it measured today on this CPU. Machines of one name differ: those without AVX-512 say so."""
    cpu = machine().lower().split()[1 if machine().startswith("AMD") else 0].strip("()")
    if "avx512f" not in pathlib.Path("/proc/cpuinfo").read_text():
        cpu += "-avx2"
    return pathlib.Path(__file__).parents[1] / "results" / f"{datetime.date.today().isoformat()}-{cpu}-{subject}.md"


def onnxruntime_session(model, threads):
    """Of a path or the bytes of a file; says nothing."""
    import onnxruntime  # not every bench has it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def interleave(contestants, seconds, clock=time.perf_counter):
    """Median seconds per call of each of {name: callable}, called in turn for `seconds`, at least five times."""
    taken = {name: [] for name in contestants}
    for call in contestants.values():
        call()
    start = time.perf_counter()
    rounds = 0
    while rounds < 5 or (time.perf_counter() - start < seconds and rounds < 5000):
        for name, call in contestants.items():
            begin = clock()
            call()
            taken[name].append(clock() - begin)
        rounds += 1
    return {name: float(np.median(times)) for name, times in taken.items()}


def check(row, outputs, rtol=1e-4, atol=1e-4):
    """outputs: {name: list of arrays}; each must agree with onnxseq's."""
    ours = outputs["onnxseq"]
    for name, theirs in outputs.items():
        assert len(ours) == len(theirs), f"{row}: onnxseq gives {len(ours)} arrays, {name} {len(theirs)}"
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol, atol, err_msg=f"{row}: onnxseq against {name}")


def compare(
    script,
    rows,
    make,
    names,
    threads,
    seconds,
    arrays=lambda outputs: outputs,
    clock=time.perf_counter,
    floor=None,
    atol=1e-4,
):
    """Prints a table of `rows` (texts). make(row, threads, names) gives {name: callable}; `arrays` makes a list of arrays
    of what a callable returns. At one thread time.process_time may be the clock: busy neighbours do not show in it.
    floor(row): the seconds a row cannot go below on this machine, for one more column.

    At one thread all contestants share a process. At more, the waiting threads of one would steal the cores of the
    next: each has a process of its own, and the processes take turns.
    """
    only = sys.argv[3:]  # a child's contestant
    if only:
        for row in rows:
            for name, call in make(row, threads, only).items():
                print(json.dumps([row, name, interleave({name: call}, seconds)[name]]), flush=True)
        return
    times = {row: {} for row in rows}
    if threads == 1:
        for row in rows:
            contestants = make(row, threads, names)
            check(row, {name: arrays(call()) for name, call in contestants.items()}, atol=atol)
            times[row] = interleave(contestants, seconds, clock)
    else:
        for _ in range(2):
            for name in names:
                child = [sys.executable, script, str(threads), str(seconds), name]
                for line in subprocess.run(child, check=True, capture_output=True, text=True).stdout.splitlines():
                    row, who, taken = json.loads(line)
                    times[row][who] = min(taken, times[row].get(who, taken))
    print(f"{machine()}, {threads} thread{'s' if threads > 1 else ''}, ms; ratio: best peer / onnxseq\n")
    columns = [*names, "ratio", *(["of the limit"] if floor else [])]
    print("| case | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    ratios = []
    for row in rows:
        peers = [taken for name, taken in times[row].items() if name != "onnxseq"]
        ratios.append(min(peers) / times[row]["onnxseq"])
        cells = [f"{times[row][name] * 1e3:.3g}" if name in times[row] else "-" for name in names]
        cells += [f"{ratios[-1]:.2f}", *([f"{floor(row) / times[row]['onnxseq']:.0%}"] if floor else [])]
        print(f"| {row} | " + " | ".join(cells) + " |", flush=True)
    print(f"\ngeometric mean {np.exp(np.mean(np.log(ratios))):.2f}, worst {min(ratios):.2f}\n")
