# SPDX-License-Identifier: Apache-2.0
"""Quantised networks and depthwise convolutions in one go: beside onnxruntime at one and two threads, and bytes beside floats with
the older instruction sets. Writes bench/results/<date>-<cpu>-quantised.md.

quantised.py [COMMAND...]: each script is run by COMMAND, one that keeps the machine quiet, for one. A script takes less than a minute.
"""

import sections

SCRIPT = "peers/quantised.py"
# Title, script with its arguments, environment.
SECTIONS = [
    ("Networks, one thread", [SCRIPT, "1", "2"], {}),
    ("Networks, two threads", [SCRIPT, "2", "0.5"], {}),
    ("AVX2, one thread", [SCRIPT, "1", "1"], {"ONNXSEQ_ISA": "avx2"}),
    ("SSE4, one thread", [SCRIPT, "1", "1"], {"ONNXSEQ_ISA": "sse4"}),
]
HEADING = """# Quantised networks: `make bench-quantised`

Medians of calls through Python; outputs are compared before timing. Contestants take turns: in one process at one thread, in
processes of their own at two. Only the ratios of one table mean something. `bytes` are networks between QuantizeLinear and
DequantizeLinear, `floats` the same without. With the older instruction sets only the two rows of a pair say something: onnxruntime
always uses the best the machine has.
"""

sections.write("quantised", HEADING, SECTIONS)
