# SPDX-License-Identifier: Apache-2.0
# The entry to everything. `make run` and `make test` install what is missing (Debian 12, as root or with sudo).
JOBS ?= 2
PYTHON := .venv/bin/python
# Cached objects serve every checkout and build folder, whatever its path.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
CXX_FILES = $(shell git ls-files --cached --others --exclude-standard '*.cc' '*.h')

.PHONY: help run test build program bench bench-peers bench-quantised bench-rnn bench-sequence-map bench-shapes bench-models peers asan tsan fuzz tidy format format-check docs test-memory test-namespaces test-peers test-rnn-fuzz test-sequence-map-fuzz test-shape-fuzz clean

help:
	@echo "make run              build, then run every model of examples/ and compare its outputs"
	@echo "make test             build, then run every test: C++ (ctest) and Python (pytest)"
	@echo "make build            the release build in build/release, the Python package in .venv"
	@echo "make asan | tsan      the C++ tests under AddressSanitizer + UBSan | ThreadSanitizer"
	@echo "make bench            the benches: results checked, then timed"
	@echo "make bench-peers      beside onnxruntime, OpenVINO and, where installed, PyTorch; THREADS=1 by default"
	@echo "make bench-rnn        recurrent operators: limits of the machine, peers at 1 and 2 threads, weights, streams; into bench/results"
	@echo "make bench-quantised  quantised networks and depthwise convolutions beside onnxruntime, also with older instruction sets; into bench/results"
	@echo "make bench-sequence-map  SequenceMap beside onnxruntime, each strategy, per element, one and two threads"
	@echo "make bench-shapes     shape inference of large models beside onnx, onnxruntime's script, onnx-shape-inference and tract"
	@echo "make bench-models     MODELS=folder of .onnx files with io/NAME.npz: each beside onnxruntime; THREADS=1 by default"
	@echo "make fuzz             each fuzzer for FUZZ_SECONDS (default 60) seconds"
	@echo "make format | tidy    clang-format and ruff | clang-tidy"
	@echo "make format-check     fails where make format would change something"
	@echo "make docs             docs/operators.md from the operator table"
	@echo "make test-rnn-fuzz    RNN_SEEDS (first:count) random nodes of every recurrent operator against the plain loops (long)"
	@echo "make test-sequence-map-fuzz  MAP_SEEDS (first:count) random bodies of SequenceMap: each strategy against element by element"
	@echo "make test-shape-fuzz  SHAPE_SEEDS (first:count) random models: what is inferred against what runs give (long)"
	@echo "make test-memory      MEMORY_RUNS runs and MEMORY_SESSIONS sessions: memory stays as it is (long)"
	@echo "make test-peers       one OpenVINO model for each layer type, read and written again: its outputs and ours agree"
	@echo "make test-namespaces  builds the library in other namespaces and beside the official onnx library (long)"
	@echo "make clean            removes build/; .venv stays"

run: program
	$(PYTHON) tools/run_examples.py

# `program` is what `make run` needs, without tests and benches. A tree that is configured and up to date costs what ninja needs to
# find that out.
build: TARGETS := all
program: TARGETS := onnxseq onnxseq_program onnxseq_python onnxseq_stub
build program:
	@tools/setup.sh
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build build/release -j $(JOBS) --target $(TARGETS)
	@cmake --install build/release --component python --prefix "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" > /dev/null

# clang for the programs that use the library as an outsider would.
test: build
	@tools/setup.sh clang
	$(PYTHON) -m pytest -q python/tests
	ctest --test-dir build/release -j $(JOBS) --output-on-failure

bench: build
	@for bench in build/release/bin/*_bench; do [ ! -x "$$bench" ] || "$$bench" || exit 1; done

# The peers live in an environment of their own: they are never needed to build, test or use onnxseq.
PEERS := build/peers/bin/python
THREADS ?= 1
bench-peers bench-quantised bench-rnn bench-sequence-map bench-shapes bench-models test-peers: peers
peers: build
	@test -x $(PEERS) || /usr/bin/python3 -m venv build/peers
	@$(PEERS) -m pip install --quiet --disable-pip-version-check ml_dtypes==0.6.0 numpy onnx onnxruntime openvino pytest onnx-shape-inference sympy tract
	@cmake --install build/release --component python --prefix "$$($(PEERS) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" > /dev/null

bench-peers:
	$(PEERS) bench/peers/recurrent.py $(THREADS)
	$(PEERS) bench/peers/sequence_map.py $(THREADS)
bench-rnn:
	$(PEERS) bench/rnn.py $(UNDER)
bench-quantised:
	$(PEERS) bench/quantised.py $(UNDER)
bench-sequence-map:
	$(PEERS) bench/sequence_map.py $(UNDER)
bench-models:
	@test -d "$(MODELS)" || { echo "bench-models: MODELS=folder is needed: .onnx files, and io/NAME.npz with their inputs" >&2; exit 1; }
	$(PEERS) bench/peers/models.py $(MODELS) $(THREADS)

bench-shapes:
	$(PEERS) bench/peers/shapes.py build/release/bin/onnxseq bench/results

test-peers:
	$(PEERS) tests/peers/ir_values.py
	$(PEERS) tests/peers/ir_writes.py
	$(PEERS) tests/peers/ir_nodes.py

# The C++ tests only: the Python package and the program are covered by `make test`. Allocations of absurd sizes must fail, as they
# do outside a sanitizer, not end the process.
asan tsan: export ASAN_OPTIONS := allocator_may_return_null=1
asan tsan: export TSAN_OPTIONS := allocator_may_return_null=1
asan tsan:
	@tools/setup.sh clang
	@test -f build/$@/build.ninja || cmake --preset $@
	@cmake --build build/$@ -j $(JOBS)
	ctest --test-dir build/$@ -j $(JOBS) --output-on-failure

FUZZ_SECONDS ?= 60
fuzz:
	@tools/setup.sh clang
	@test -f build/fuzz/build.ninja || cmake --preset fuzz
	@cmake --build build/fuzz -j $(JOBS) --target fuzzers
	@for fuzzer in build/fuzz/bin/*_fuzz; do \
	  corpus=build/fuzz/corpus/$$(basename $$fuzzer); mkdir -p $$corpus; \
	  [ ! -x "$$fuzzer" ] || "$$fuzzer" -max_total_time=$(FUZZ_SECONDS) $$corpus tests/data/wire tests/data/text tests/data/fuzz tests/data/ir tests/data/ir_bodies tests/data/ir_layers || exit 1; done

tidy:
	@tools/setup.sh clang
	@test -f build/tidy/build.ninja || cmake --preset tidy
	@cmake --build build/tidy -j $(JOBS) --target onnxseq
	run-clang-tidy-19 -quiet -p build/tidy -j $(JOBS) '^$(CURDIR)/(src|cli)/.*\.cc$$'

format:
	@tools/setup.sh
	@.venv/bin/clang-format -i $(CXX_FILES)
	@.venv/bin/ruff format -q python tools tests bench
	@.venv/bin/ruff check -q --fix python tools tests bench

format-check:
	@tools/setup.sh
	@.venv/bin/clang-format --dry-run -Werror $(CXX_FILES)
	@.venv/bin/ruff format --check -q python tools tests bench
	@.venv/bin/ruff check -q python tools tests bench

docs: build
	build/release/bin/onnxseq ops --markdown > docs/operators.md

test-namespaces:
	@tools/setup.sh clang onnx
	sh tests/namespaces.sh

RNN_SEEDS ?= 1000:20000
test-rnn-fuzz: build
	ONNXSEQ_RNN_SEEDS=$(RNN_SEEDS) build/release/bin/recurrent_test --gtest_filter='RecurrentRandom.*'

MAP_SEEDS ?= 1000:10000
test-sequence-map-fuzz: build
	ONNXSEQ_MAP_SEEDS=$(MAP_SEEDS) build/release/bin/sequence_map_fuzz_test

SHAPE_SEEDS ?= 1000:20000
test-shape-fuzz: build
	ONNXSEQ_SHAPE_SEEDS=$(SHAPE_SEEDS) build/release/bin/shape_fuzz_test

MEMORY_RUNS ?= 100000
MEMORY_SESSIONS ?= 10000
test-memory: build
	ONNXSEQ_MEMORY_RUNS=$(MEMORY_RUNS) ONNXSEQ_MEMORY_SESSIONS=$(MEMORY_SESSIONS) build/release/bin/flat_memory_test

clean:
	rm -rf build
