# SPDX-License-Identifier: Apache-2.0
"""Everything about SequenceMap in one go, each table by its own script: beside onnxruntime, our strategies beside each other,
two threads beside one, time per element. Writes bench/results/<date>-<cpu>-sequence-map.md.

sequence_map.py [COMMAND...]: each script is run by COMMAND, one that keeps the machine quiet, for one.
"""

import sections

PEERS = "peers/sequence_map.py"
SECTIONS = [
    ("Beside onnxruntime, one thread", [PEERS, "1", "1"], {}),
    ("Beside onnxruntime, two threads", [PEERS, "2", "0.3"], {}),
    ("Strategies, one thread", [PEERS, "1", "1"], {"WHO": "onnxseq,elements,stacked,packed"}),
    ("Two threads beside one, each on two cores", [PEERS, "2", "0.5"], {"WHO": "onnxseq,single"}),
    ("Time per element, one thread", ["sequence_map_length.py"], {}),
]
HEADING = """# SequenceMap: `make bench-sequence-map`

Medians of calls through Python; outputs are compared before timing. Contestants take turns: in one process at one thread, in processes of
their own at two. Only the ratios of one table mean something. In the table of strategies the ratio says what the choice of `auto` costs
beside the best of the forced ones; in that of threads, how much faster two are than one.
"""

sections.write("sequence-map", HEADING, SECTIONS)
