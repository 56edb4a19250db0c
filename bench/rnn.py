# SPDX-License-Identifier: Apache-2.0
"""Everything about recurrent operators in one go, each table by its own script: the machine's limits; LSTM, GRU and RNN beside other
engines at one and two threads; stacked layers; smaller weights; streams. Writes bench/results/<date>-<cpu>-rnn.md.

rnn.py [COMMAND...]: each script is run by COMMAND, one that keeps the machine quiet, for one. A script takes less than a minute.
"""

import sections

LSTM, OTHERS = {"OPS": "LSTM"}, {"OPS": "GRU,RNN"}
# Title, script with its arguments, environment.
SECTIONS = [
    ("Limits of the machine", ["limits.py"], {}),
    ("LSTM, one thread", ["peers/recurrent.py", "1", "1"], LSTM),
    ("GRU and RNN, one thread", ["peers/recurrent.py", "1", "1"], OTHERS),
    ("LSTM, two threads", ["peers/recurrent.py", "2", "0.3"], LSTM),
    ("GRU and RNN, two threads", ["peers/recurrent.py", "2", "0.3"], OTHERS),
    ("Stacked layers and independent nodes, two threads", ["stacks.py", "2", "0.3"], {}),
    ("Smaller weights, one thread", ["weights.py"], {}),
    ("64 streams, a step at a time, one thread", ["streams.py"], {}),
]
HEADING = """# Recurrent operators: `make bench-rnn`

Medians of calls through Python (least, for weights and streams); outputs are compared before timing. Contestants take turns: in one
process at one thread, in processes of their own at two. Only the ratios of one table mean something. "Of the limit" is the time the
machine's own rates allow, by the limits below, over the time measured: multiply-adds for the products with W, then for each step the
multiply-adds with R or the reading of R, whichever takes longer; activations and calls are not counted.
"""

sections.write("rnn", HEADING, SECTIONS)
