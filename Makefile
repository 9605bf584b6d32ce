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

# What needs a browser or a server: Debian's chromium, Postgres and Java, selenium, and axe-core.
SERVICES ?= $(VENV)/services
APT_INSTALL = apt-get update -qq && apt-get install -qq -y --no-install-recommends
test-services: $(VENV)/developing
	command -v chromium chromedriver >/dev/null || ($(APT_INSTALL) chromium chromium-driver)
	command -v npm >/dev/null || ($(APT_INSTALL) npm)
	ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || ($(APT_INSTALL) postgresql)
	command -v java >/dev/null || ($(APT_INSTALL) openjdk-17-jre-headless)
	$(INSTALL) selenium --editable '.[spark]'
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
