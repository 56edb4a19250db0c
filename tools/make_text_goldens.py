# SPDX-License-Identifier: Apache-2.0
"""Writes what onnx.parser makes of every tests/data/text/NAME.KIND.txt to NAME.KIND.pb beside it.

KIND is model, graph, node or function.

python tools/make_text_goldens.py
"""

import pathlib

import onnx.parser

PARSERS = {
    "model": onnx.parser.parse_model,
    "graph": onnx.parser.parse_graph,
    "node": onnx.parser.parse_node,
    "function": onnx.parser.parse_function,
}


def main():
    for source in sorted((pathlib.Path(__file__).parent.parent / "tests/data/text").glob("*.txt")):
        kind = source.name.split(".")[-2]
        source.with_suffix(".pb").write_bytes(PARSERS[kind](source.read_text()).SerializeToString())


if __name__ == "__main__":
    main()
