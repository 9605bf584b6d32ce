# `make demo` does the main job, `make test` runs every check; both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO ?= demo

.PHONY: demo test bench lint clean

demo: $(VENV)/ready
	$(BIN)/orchbench demo $(DEMO)

test: lint
	$(BIN)/pytest -n auto

lint: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/ready
	$(BIN)/python -m tests.benchmarks

$(VENV)/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
