# `make demo` does the main job, `make test` runs every check; both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
DEMO ?= demo

.PHONY: demo test test-services bench lint clean

demo: $(VENV)/installed
	$(BIN)/orchbench demo $(DEMO)

test: lint
	$(BIN)/pytest -n auto --cov --cov-report=term:skip-covered

lint: $(VENV)/developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The report in a real browser: Debian's chromium, selenium, and axe-core for accessibility.
SERVICES ?= $(VENV)/services
test-services: $(VENV)/developing
	command -v chromium chromedriver npm >/dev/null || (apt-get update && apt-get install -y chromium chromium-driver npm)
	$(INSTALL) selenium
	npm install --silent --no-save --prefix $(SERVICES) axe-core
	AXE=$(abspath $(SERVICES))/node_modules/axe-core/axe.min.js $(BIN)/pytest tests/services

# What pip installs it compiles; of an editable package that is left to us.
bench: $(VENV)/developing
	$(BIN)/python -m compileall -q orchbench_analytics
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.simulations

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	touch $@

$(VENV)/developing: $(VENV)/installed
	$(INSTALL) --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
