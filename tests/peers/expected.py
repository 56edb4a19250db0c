# SPDX-License-Identifier: Apache-2.0
"""What a script of this folder is to find other than agreement, in the .txt file of its name: NAME: reason."""

import pathlib


def reasons(script):
    """{name: reason}"""
    lines = pathlib.Path(script).with_suffix(".txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
