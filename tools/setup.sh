#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build and test: Debian packages and .venv. Called by make; quick when nothing is missing.
#
#   tools/setup.sh            what the release build, its tests and the Python package need
#   tools/setup.sh clang      also clang 19, for asan, tsan, fuzz and tidy
#   tools/setup.sh onnx       also the official onnx library, for test-namespaces
set -eu
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build pkg-config ccache mold python3-dev python3-venv zlib1g-dev libpugixml-dev libhwy-dev
  libre2-dev libutf8proc-dev
  libcli11-dev libfmt-dev libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev"
for group in "$@"; do
  case "$group" in
    clang) packages="$packages clang-19 clang-tidy-19 libclang-rt-19-dev" ;;
    onnx) packages="$packages libonnx-dev libprotobuf-dev" ;;
    *) echo "setup: unknown group $group" >&2; exit 2 ;;
  esac
done

missing=""
if command -v dpkg-query > /dev/null; then
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | sed -n 's/^ii *//p')
  for package in $packages; do
    printf '%s\n' "$installed" | grep -qx "$package" || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then
      root=""
    elif command -v sudo > /dev/null; then
      root="sudo"
    else
      echo "setup: these Debian packages are missing and neither root nor sudo is at hand:$missing" >&2
      exit 1
    fi
    echo "setup: installing the Debian packages$missing"
    log=$(mktemp)
    if ! { $root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq \
      --no-install-recommends $missing; } > "$log" 2>&1; then
      cat "$log" >&2
      echo "setup: apt-get failed; on Debian 12 these packages exist:$missing" >&2
      exit 1
    fi
    rm -f "$log"
  fi
else
  echo "setup: no dpkg here. Needed, as named on Debian 12: $(echo $packages)" >&2
  for tool in cmake ninja ccache mold; do
    command -v "$tool" > /dev/null || { echo "setup: $tool is missing" >&2; exit 1; }
  done
fi

# The stamp holds what .venv was made from.
wanted=$(cat tools/requirements.txt)
if [ ! -x .venv/bin/python ] || [ "$(cat build/venv.stamp 2> /dev/null)" != "$wanted" ]; then
  python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  echo "setup: installing the Python packages of tools/requirements.txt into .venv"
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r tools/requirements.txt
  mkdir -p build
  printf '%s\n' "$wanted" > build/venv.stamp
fi
