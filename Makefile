# Works from a fresh clone with nothing but make and a Python (3.10 or newer) that has venv.
SHELL := /bin/sh
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Set PYTHON to choose the interpreter; otherwise the first of these that answers is taken.
PYTHON ?=
# Two workers suit two cores; tests that share something large name a group and stay together.
PYTEST_ARGS ?= -n 2 --dist loadgroup

COUNT ?= 1000000
MODELS ?= 100000

bin := .venv/bin
install := -m pip --disable-pip-version-check install --quiet

.PHONY: help demo test test-heavy fuzz lint generated bench clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(bin)/envspec ## verify examples/x-transformers, from nothing to the table of C0 to C5
	$(bin)/envspec verify examples/x-transformers/spec.env

test: lint ## lint, then every test but the heavy ones (PYTEST_ARGS='-k word' narrows)
	$(bin)/python -m pytest -m "not heavy" $(PYTEST_ARGS)

test-heavy: .venv/test-tools ## the tests that download gigabytes
	$(bin)/python -m pytest -m heavy

fuzz: .venv/test-tools ## a million mutated specs, 100,000 generated ones and hostile values (COUNT=…)
	PYTHONPATH=. $(bin)/python tests/property/mutations.py --count $(COUNT)
	ENVSPEC_PROPERTY_EXAMPLES=$(MODELS) $(bin)/python -m pytest tests/property/test_round_trip.py \
	  tests/property/test_formatter.py $(PYTEST_ARGS)
	ENVSPEC_PROPERTY_EXAMPLES=$(MODELS) $(bin)/python -m pytest tests/emit/test_emit_hostile.py \
	  tests/emit/test_emit_hostile_inputs.py tests/emit/test_emit_hostile_nix.py $(PYTEST_ARGS)

lint: .venv/test-tools ## ruff, its formatter as a check, mypy
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy

generated: $(bin)/envspec ## compile every example into generated/ again
	@set -e; for spec in examples/*/spec.env; do \
	  name=$${spec#examples/}; name=$${name%/spec.env}; \
	  echo "$(bin)/envspec compile $$spec -o generated/$$name"; \
	  $(bin)/envspec compile "$$spec" -o "generated/$$name"; \
	done

bench: .venv-bench/ready ## measure against the neighbours, in a virtual environment of its own
	.venv-bench/bin/python benchmarks/run.py

clean: ## remove the virtual environments and every cache
	rm -rf .venv .venv-bench dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find envspec probes tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} +

# --- virtual environments: each is a file that is newer than what it was made from ---------------

# A Python that was removed leaves a dangling link, which make takes for a missing file: made anew.
.venv/bin/python .venv-bench/bin/python:
	@found=; bare=; \
	for python in $(or $(PYTHON),python3.13 python3.12 python3.11 python3.10 python3); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1 || continue; \
	  if "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then found=$$python; break; fi; \
	  bare=$${bare:-$$python}; \
	done; \
	if [ -z "$$found" ] && [ -n "$$bare" ]; then \
	  echo "$$bare has no venv module; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; \
	elif [ -z "$$found" ]; then \
	  echo "no Python 3.10 or newer answers; on Debian and Ubuntu: apt install python3 python3-venv;" \
	    "elsewhere: make PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	echo "$$found -m venv --clear $(@D:/bin=)"; \
	"$$found" -m venv --clear $(@D:/bin=)

$(bin)/envspec: $(bin)/python pyproject.toml
	$(bin)/python $(install) --editable .
	@touch $@

.venv/test-tools: $(bin)/python pyproject.toml
	$(bin)/python $(install) --editable '.[test]'
	@touch $@ $(bin)/envspec

.venv-bench/ready: .venv-bench/bin/python pyproject.toml
	.venv-bench/bin/python $(install) --editable '.[bench]'
	@touch $@
