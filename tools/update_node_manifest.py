# SPDX-License-Identifier: Apache-2.0
"""Runs every official ONNX test of nodes and models and writes tests/node_manifest.txt: `pass NAME`, or `skip NAME: reason`.

.venv/bin/python tools/update_node_manifest.py

A test that passed before and fails now is printed and keeps its place among those that must pass.
"""

import re
import sys
import warnings
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "python" / "tests"))

import onnxseq  # noqa: E402
import test_node_suite  # noqa: E402

HEADER = (
    "# Every official ONNX test, as python/tests/test_node_suite.py runs them: `pass NAME`, or `skip NAME: reason` for\n"
    "# those expected to fail; those of models are named KIND/NAME. Written by tools/update_node_manifest.py.\n"
)


def random_operators(model):
    return sorted(
        {node.op_type for node in model.graph.node} & {"Bernoulli", "Dropout", "Multinomial", "RandomUniformLike"}
    )


def reason_of(case):
    """Why the case fails; nothing when it passes."""
    try:
        test_node_suite.run_case(case)
    except onnxseq.Unsupported as error:
        operators = re.findall(r"(\w+) of ([\w.]+) \d+", str(error))
        named = [name if domain == "ai.onnx" else f"{domain}.{name}" for name, domain in operators]
        return f"{', '.join(named)} not supported" if named else str(error).splitlines()[0]
    except AssertionError:
        names = random_operators(test_node_suite.load(case)[0])
        return f"{', '.join(names)} draws other random numbers" if names else "values differ"
    except Exception as error:
        return (str(error) or type(error).__name__).splitlines()[0]
    return ""


def main():
    warnings.simplefilter("ignore")
    before = {name for name, reason in test_node_suite.MANIFEST.items() if not reason}
    lines, passed = [], 0
    for name, case in sorted(test_node_suite.suite().items()):
        reason = reason_of(case)
        if reason and name in before:
            print(f"passed before: {name}: {reason}")
        passed += not reason
        lines.append(f"pass {name}\n" if not reason or name in before else f"skip {name}: {reason}\n")
    (REPOSITORY / "tests" / "node_manifest.txt").write_text(HEADER + "".join(lines))
    print(f"{passed} of {len(lines)} pass")


main()
