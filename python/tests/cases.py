# SPDX-License-Identifier: Apache-2.0
"""How test cases are read, run in a process of their own, and compared."""

import json
import os
import pathlib
import resource
import tempfile
import time

import numpy as np

REPOSITORY = pathlib.Path(__file__).parent.parent.parent


def load_values(folder, described, npz):
    """Values by name: what expected.json or inputs.json describes, from the arrays beside it."""
    arrays = np.load(folder / npz) if (folder / npz).exists() else {}
    values = {}
    for name, value in described.items():
        if value["kind"] == "none":
            values[name] = None
        elif value["kind"] == "tensor":
            values[name] = arrays[value["key"]]
        elif value["kind"] == "strings":
            values[name] = np.array(value["data"], dtype=object).reshape(value["shape"])
        elif value["dtype"] == "string":
            values[name] = [np.array(item["data"], dtype=object).reshape(item["shape"]) for item in value["items"]]
        else:
            values[name] = [arrays[key] for key in value["keys"]]
    return values


def difference(got, expected, rtol, atol):
    """None when they agree: kind, shape, element type, values."""
    if expected is None or got is None:
        return None if got is expected else f"expected {expected}, got {got}"
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"expected a sequence of {len(expected)}, got {got!r:.80}"
        for i, pair in enumerate(zip(got, expected)):
            found = difference(*pair, rtol, atol)
            if found:
                return f"[{i}] {found}"
        return None
    expected = np.asarray(expected)
    if not isinstance(got, np.ndarray) or got.shape != expected.shape:
        return f"expected shape {expected.shape}, got {getattr(got, 'shape', type(got))}"
    if expected.dtype.kind in "OUS":
        return None if [str(v) for v in got.ravel()] == [str(v) for v in expected.ravel()] else "strings differ"
    if got.dtype != expected.dtype:
        return f"expected {expected.dtype}, got {got.dtype}"
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), expected.astype(wide)
    return None if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True) else f"differs by {np.nanmax(np.abs(a - b))}"


def in_child(function, timeout):
    """What function() returns (JSON), from a forked child with limits; {"error": ...} for what it raises, how it ended otherwise."""
    handle, path = tempfile.mkstemp()
    os.close(handle)
    child = os.fork()
    if child == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # what the parent had is counted as the child's
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            result = function()
        except BaseException as error:
            result = {"error": str(error), "type": type(error).__name__}
        result = dict(result or {})
        result["grown_mb"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        with open(path, "w") as file:
            json.dump(result, file)
        os._exit(0)
    start = time.monotonic()
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() - start > timeout:
            os.kill(child, 9)
            os.waitpid(child, 0)
            os.unlink(path)
            return {"ended": f"still running after {timeout} s"}
        time.sleep(0.002)
    try:
        with open(path) as file:
            result = json.load(file)
    except ValueError:
        result = {"ended": f"crashed with status {status}"}
    os.unlink(path)
    result["rss_mb"] = usage.ru_maxrss // 1024
    return result
