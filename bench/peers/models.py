# SPDX-License-Identifier: Apache-2.0
"""Whole models beside onnxruntime. usage: models.py FOLDER [THREADS [SECONDS PER ROW]]

FOLDER holds .onnx files, also in folders below it, and io/NAME.npz for each of them: inputs as `in:NAME`, elements of
sequences as `inseq:NAME:0`, ... Outputs are compared first. At one thread the time is that of the CPU, so that busy
neighbours do not show. Prints the table, and writes it to bench/results/<date>-<cpu>-models.md.
"""

import contextlib
import datetime
import io
import pathlib
import sys
import time

import numpy as np
import onnxruntime
import onnxseq
import timing

FOLDER = pathlib.Path(sys.argv.pop(1))
THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 3

MODELS = {path.stem: path for path in sorted(FOLDER.rglob("*.onnx")) if (FOLDER / "io" / f"{path.stem}.npz").exists()}


def read_feeds(name):
    feeds = {}
    with np.load(FOLDER / "io" / f"{name}.npz", allow_pickle=True) as arrays:
        for key in arrays.files:
            kind, _, rest = key.partition(":")
            if kind == "in":
                feeds[rest] = arrays[key]
            elif kind == "inseq":
                feeds.setdefault(rest.rpartition(":")[0], {})[int(rest.rpartition(":")[2])] = arrays[key]
    return {name: [f[i] for i in sorted(f)] if isinstance(f, dict) else f for name, f in feeds.items()}


def flat(value):
    """Arrays of whatever a model returns: tensors, sequences, maps."""
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in flat(item)]
    if isinstance(value, dict):
        return flat([np.asarray(list(value.values()))])
    array = np.asarray(value)
    return [] if array.dtype.kind in "OUST" else [array]


def make(row, threads, names):
    model, feeds = str(MODELS[row]), read_feeds(row)
    calls = {}
    if "onnxruntime" in names:
        ort = timing.onnxruntime_session(model, threads)
        calls["onnxruntime"] = lambda: ort.run(None, feeds)
    if "onnxseq" in names:
        session = onnxseq.InferenceSession(model, onnxseq.SessionOptions(threads=threads))
        calls["onnxseq"] = lambda: session.run(None, feeds)
    return calls


def refusal(row):
    """Who cannot run the model, and why; empty where all can."""
    for name in NAMES:
        try:
            make(row, 1, [name])[name]()
        except Exception as error:
            return f"{name}: {str(error).strip().splitlines()[0][:200]}"
    return ""


NAMES = ["onnxruntime", "onnxseq"]


def report():
    refused = {row: refusal(row) for row in MODELS}
    rows = [row for row in MODELS if not refused[row]]
    clock = time.process_time if THREADS == 1 else time.perf_counter
    timing.compare(__file__, rows, make, NAMES, THREADS, SECONDS, flat, clock)
    for row, reason in refused.items():
        if reason:
            print(f"* {row} is left out. {reason}")


if len(sys.argv) > 3:  # a child of timing.compare
    report()
    sys.exit()
text = io.StringIO()
with contextlib.redirect_stdout(text):
    report()
today = datetime.date.today().isoformat()
versions = f"onnxruntime {onnxruntime.__version__}, onnxseq {onnxseq.__version__}"
clock_name = "CPU time" if THREADS == 1 else "time"
heading = f"# Whole models, {today}: {versions}\n\nMedian {clock_name} of calls through Python, the two in turn: `make bench-models THREADS={THREADS}`.\n\n"
timing.results_path("models").write_text(heading + text.getvalue())
print(text.getvalue())
