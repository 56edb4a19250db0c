# SPDX-License-Identifier: Apache-2.0
"""The limits of this machine (limits.cc) and what a recurrent node can therefore reach. Alone it prints the limits. usage: limits.py"""

import ctypes
import functools
import pathlib

ROOT = pathlib.Path(__file__).parents[1]
READ_SIZES = [1 << shift for shift in range(16, 27)]


def library(name):
    """A library of build/release that a bench loads."""
    return ctypes.CDLL(str(ROOT / "build" / "release" / "lib" / f"lib{name}.so"))


@functools.cache
def machine_limits(threads):
    """(float operations a second, {bytes each thread reads again and again: bytes a second of all})."""
    measure = library("onnxseq_limits")
    measure.LimitsFlops.restype = measure.LimitsReadRate.restype = ctypes.c_double
    seconds = ctypes.c_double(0.05)
    reads = {size: measure.LimitsReadRate(ctypes.c_int64(size), threads, seconds) for size in READ_SIZES}
    return measure.LimitsFlops(threads, seconds), reads


def floor(threads, gates, row_steps, steps, hidden, directions, width=4, weights_per_lane=1):
    """Seconds a network of as many inputs as hidden units cannot go below: the products of W at the rate of multiply-adds, and
    for each step those of R or the reading of R, `width` bytes a weight, whichever takes longer. row_steps: steps of all rows;
    weights_per_lane: 4 where an instruction multiplies four bytes where it otherwise multiplies a float."""
    flops, reads = machine_limits(threads)
    products = 2 * row_steps * directions * gates * hidden * hidden / flops / weights_per_lane
    matrix = width * gates * hidden * hidden
    each = matrix / max(1, threads // directions)
    return products + max(products, steps * directions * matrix / read_rate(reads, each))


def read_rate(reads, size):
    """Bytes a second of reading `size` bytes again and again."""
    return next((reads[measured] for measured in READ_SIZES if measured >= size), reads[READ_SIZES[-1]])


def main():
    print("| threads | multiply-adds, GF/s | " + " | ".join(f"{size >> 10} KB" for size in READ_SIZES) + " |")
    print("|---" * (2 + len(READ_SIZES)) + "|")
    for threads in (1, 2):
        flops, reads = machine_limits(threads)
        cells = " | ".join(f"{rate / 1e9:.0f}" for rate in reads.values())
        print(f"| {threads} | {flops / 1e9:.0f} | {cells} |")
    print("\nReads: GB/s of all threads, each reading an array of its own of that size again and again.")


if __name__ == "__main__":
    main()
