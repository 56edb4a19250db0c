# SPDX-License-Identifier: Apache-2.0
"""A page of results made of the tables of several scripts."""

import os
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).parent
sys.path.append(str(BENCH / "peers"))
import timing  # noqa: E402


def write(subject, heading, sections):
    """Runs each of `sections` (title, script with its arguments, environment) and writes
    bench/results/<date>-<cpu>-<subject>.md.
    The program's own arguments are a command that runs each script, one that keeps the machine quiet, for one. A script
    whose title says "one thread" is held on one core."""
    path = timing.results_path(subject)
    text = heading
    for title, script, environment in sections:
        one_core = ["taskset", "-c", "0"] if "one thread" in title else []
        command = [*sys.argv[1:], *one_core, sys.executable, str(BENCH / script[0]), *script[1:]]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(script)}: {done.stderr}")
        settings = "".join(f"{name}={value} " for name, value in environment.items())
        shown = f"{settings}{' '.join([*one_core, 'build/peers/bin/python', f'bench/{script[0]}', *script[1:]])}"
        section = f"\n## {title}: `{shown}`\n\n{done.stdout.strip()}\n"
        print(section, flush=True)
        text += section
    path.write_text(text)
    print(f"written: {path}")
