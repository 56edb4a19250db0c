# SPDX-License-Identifier: Apache-2.0
"""Prints what ml_dtypes makes of floats of 8 bits and fewer; a test holds kernels/cast against it.

    python tools/make_narrow_floats.py > tests/data/narrow_floats.txt

Lines: `values TYPE HEX`, the float (8 digits each) that each code is, by code; `codes TYPE SATURATE FIRST LAST HEX`, the
code (2 digits each) of the float with sign s, exponent e and upper five bits m of its mantissa, in the order of s (0, 1),
e (FIRST to LAST), m: ties, and what lies next to them, are among these. Where SATURATE is 1 what is too large was cut to
the largest number first, as the text of Cast says. float8e8m0 has no `codes`: that text says more of it than ml_dtypes
does.
"""

import ml_dtypes
import numpy as np

TYPES = {
    "float8e4m3fn": (ml_dtypes.float8_e4m3fn, -12, 10, (0, 1)),
    "float8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, -13, 9, (0, 1)),
    "float8e5m2": (ml_dtypes.float8_e5m2, -19, 17, (0, 1)),
    "float8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, -20, 17, (0, 1)),
    "float4e2m1": (ml_dtypes.float4_e2m1fn, -4, 4, (1,)),
    "float6e2m3": (ml_dtypes.float6_e2m3fn, -6, 4, (1,)),
    "float6e3m2": (ml_dtypes.float6_e3m2fn, -7, 6, (1,)),
    "float8e8m0": (ml_dtypes.float8_e8m0fnu, 0, 0, ()),
}


def main():
    print(f"# Written by tools/make_narrow_floats.py from ml_dtypes {ml_dtypes.__version__}.")
    for name, (dtype, first, last, modes) in TYPES.items():
        codes = np.arange(2 ** (8 if name.startswith("float8") else int(name[5]))).astype(np.uint8)
        values = codes.view(dtype).astype(np.float32)
        print("values", name, "".join(f"{bits:08x}" for bits in values.view(np.uint32)))
        exponents = np.arange(first, last + 1) + 127
        bits = [s << 31 | int(e) << 23 | m << 18 for s in (0, 1) for e in exponents for m in range(32)]
        floats = np.array(bits, np.uint32).view(np.float32)
        for saturate in modes:
            largest = np.float32(ml_dtypes.finfo(dtype).max)
            given = np.clip(floats, -largest, largest) if saturate else floats
            print("codes", name, saturate, first, last, given.astype(dtype).tobytes().hex())


main()
