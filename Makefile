# Everything runs in .venv, which the first target that needs it creates. Required: make and Python 3.11 or newer.

BIN := .venv/bin
READY := .venv/.ready
DEMO_READY := .venv/.demo-ready
DOCS_READY := .venv/.docs-ready

# The first interpreter that starts, is recent enough and can make a virtual environment.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)

.DEFAULT_GOAL := help
.PHONY: help setup demo wheel test check bench bench-full validate validate-real mutations soak docs

# Bytecode is written for what is imported, when it is imported: half of the time and a fifth of the room of an installation.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(READY)  ## create .venv with the library and its development tools (once)

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with the venv module is needed; name it with: make PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv --clear .venv

# Kernels are compiled while the tools are installed; if that fails, the tests compile them.
$(READY): pyproject.toml | $(BIN)/pip $(DEMO_READY)
	@echo "Installing anguilla's development tools into .venv, and compiling kernels meanwhile"
	@$(BIN)/anguilla --help >/dev/null
	@ANGUILLA_COMPILERS=1 $(BIN)/python packaging/compile.py core contact & compiling=$$!; \
	$(PIP) -e '.[dev]' || { kill $$compiling; exit 1; }; \
	ANGUILLA_COMPILERS=1 $(BIN)/python packaging/compile.py volumes contact core; wait $$compiling; true
	@touch $@ $(DEMO_READY)

$(DEMO_READY): pyproject.toml | $(BIN)/pip
	@echo "Installing anguilla into .venv"
	@$(PIP) -e '.[plot]'
	@touch $@

$(DOCS_READY): $(READY)
	@$(PIP) -e '.[docs]'
	@touch $@

demo: $(DEMO_READY)  ## run the demonstration; installs no more than it needs
	$(BIN)/anguilla demo

wheel: $(READY)  ## build dist/*.whl with kernels for a common processor
	OMP_NUM_THREADS=1 $(BIN)/python packaging/wheel.py dist

test: $(READY)  ## run the tests, without the slow ones and those that need a browser or start workers
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder -m "not slow and not browser and not cluster" --durations 40 --durations-min 2

check: $(READY)  ## lint, format, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## time the library against its peers, about ten minutes; writes docs/benchmarks.md, fails on lost ratios
	$(BIN)/python benchmarks/run.py

bench-full: $(READY)  ## every table; writes docs/benchmarks_full.md, fails where a ratio fell by a third
	$(BIN)/python benchmarks/full.py

validate: $(READY)  ## slow proofs and figures; writes docs/validation.md
	OMP_NUM_THREADS=1 $(BIN)/python validation/run.py

mutations: $(READY)  ## make 50 formulas of kernels wrong, one at a time, and see that a test turns red; hours
	$(BIN)/python validation/mutations.py --count 50 --seed $(SEED) --out mutations-$(SEED).json

validate-real: $(READY)  ## compare with measurements of others, if they are there (ANGUILLA_DATA); writes docs/real_data.md
	OMP_NUM_THREADS=1 $(BIN)/python validation/real.py

SEED ?= 1
ROBOTS ?= 10000
soak: $(READY)  ## judge 10,000 random robots (ROBOTS=...) of a SEED; goes on where it stopped; writes docs/soak.md
	$(BIN)/python soak/run.py --robots $(ROBOTS) --seed $(SEED) --out soak-$(SEED).jsonl --resume --page docs/soak.md

docs: $(DOCS_READY)  ## build the documentation in docs/_build/html
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
