# SPDX-License-Identifier: Apache-2.0
"""Time per trip and node of a Loop over scalars (Add, Less), and of 20,000 appends to a carried sequence, through Python.

.venv/bin/python bench/loop_trips.py
"""

import time

import numpy as np
import onnx.parser
import onnxseq

COUNT = """<ir_version: 8, opset_import: ["" : 17]>
g (int64 m, float x, float lim) => (float y) <bool yes = {1}> {
  y = Loop <body = b (int64 i, bool c, float v) => (bool d, float w) { w = Add(v, x) d = Less(w, lim) }>(m, yes, x)
}"""
APPEND = """<ir_version: 8, opset_import: ["" : 17]>
g (int64 m, float[16] x) => (int64 n) {
  e = SequenceEmpty()
  s = Loop <body = b (int64 i, bool c, seq(float[16]) v) => (bool c, seq(float[16]) w) { w = SequenceInsert(v, x) }>(m, "", e)
  n = SequenceLength(s)
}"""


def best_of(session, feeds, times=7):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        (result,) = session.run(None, feeds)
        best = min(best, time.perf_counter() - start)
    return result, best


def main():
    trips = 100_000
    session = onnxseq.InferenceSession(onnx.parser.parse_model(COUNT).SerializeToString())
    feeds = {"m": np.int64(trips), "x": np.float32(1), "lim": np.float32(1e9)}
    result, best = best_of(session, feeds)
    assert result == trips + 1
    print(f"{trips} trips of Add, Less: {best * 1e3:.2f} ms, {best / trips / 2 * 1e9:.0f} ns per trip and node")

    appends = 20_000
    session = onnxseq.InferenceSession(onnx.parser.parse_model(APPEND).SerializeToString())
    result, best = best_of(session, {"m": np.int64(appends), "x": np.zeros(16, np.float32)})
    assert result == appends
    print(f"{appends} appends: {best * 1e3:.2f} ms, {best / appends * 1e9:.0f} ns each")


main()
