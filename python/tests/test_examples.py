# SPDX-License-Identifier: Apache-2.0
"""The examples give what they should, and come out of their generator as they stand."""

import subprocess
import sys

from cases import REPOSITORY


def test_examples_match():
    done = subprocess.run([sys.executable, REPOSITORY / "tools" / "run_examples.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("matches") == 10
    assert done.stdout.endswith("10 of 10 examples match\n")


def test_a_wrong_output_is_found(tmp_path):
    tools = REPOSITORY / "tools"
    subprocess.run([sys.executable, tools / "make_examples.py", tmp_path], check=True)
    text = tmp_path / "test_cc_sequence_map_identity_int64" / "expected.txt"
    text.write_text(text.read_text().replace("[3, 4, 5, 6]", "[3, 4, 5, 7]"))
    done = subprocess.run([sys.executable, tools / "run_examples.py", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1
    assert "DIFFERS" in done.stdout


def test_generator_gives_the_files_that_are_kept(tmp_path):
    subprocess.run([sys.executable, REPOSITORY / "tools" / "make_examples.py", tmp_path], check=True)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    kept_root = REPOSITORY / "examples"
    kept = {path.relative_to(kept_root): path.read_bytes() for path in kept_root.rglob("*") if path.is_file()}
    assert made == kept
