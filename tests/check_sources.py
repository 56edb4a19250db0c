# SPDX-License-Identifier: Apache-2.0
"""Fails for sources that are not ASCII, lack their licence line, or name an absolute path of one machine.

check_sources.py REPOSITORY
"""

import pathlib
import re
import sys

CODE = {".cc", ".h", ".inc", ".py", ".cmake", ".sh", ".in"}
TEXT = CODE | {".md", ".txt", ".toml", ".test", ".json"}
FOLDERS = (".ci", "bench", "cli", "cmake", "docs", "examples", "fuzz", "include", "python", "src", "tests", "tools")
SKIPPED = ("tests/data/", "examples/")
PATHS = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")


def sources(root):
    yield from (path for path in sorted(root.iterdir()) if path.is_file())
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob("*")) if path.is_file())


def problems(root):
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        special = path.name in ("CMakeLists.txt", "Makefile", "run")
        if (path.suffix not in TEXT and not special) or name.startswith(SKIPPED) or "__pycache__" in name:
            continue
        try:
            text = path.read_bytes().decode("ascii")
        except UnicodeDecodeError as error:
            yield f"{name}: not ASCII at byte {error.start}"
            continue
        if (path.suffix in CODE or special) and "SPDX-License-Identifier: Apache-2.0" not in text[:200]:
            yield f"{name}: no SPDX line at the top"
        found = PATHS.search(text)
        if found:
            yield f"{name}: names the path {text[found.start() : found.end() + 20].split()[0]} of one machine"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(1 if found else 0)
