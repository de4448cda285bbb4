# One command per intent. `make` alone lists them.
# A fresh machine needs Python 3.11 or newer, make and a network; everything else lands in .uv/ and .venv/.

UV_VERSION := 0.13.9
UV := .uv/bin/uv
BIN := .venv/bin
BENCH := -m gateway.bench
N ?= 2000
SEED ?= 1
LOCK := --quiet --universal --generate-hashes --no-header
# Registry approvals and bundles expire; the checks judge them at this instant, so that they do not rot.
CHECK_AT := 2026-12-01T00:00:00Z

# The first Python that is new enough. PYTHON=/path/to/python overrides it.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	"$$p" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys.executable)' 2>/dev/null && break; done)

.DEFAULT_GOAL := help
.PHONY: help demo test check bench faults lock opa schemas clean
# The steps of a target depend on each other's files; pytest and the demo use both cores by themselves.
.NOTPARALLEL:

help: ## List the targets
	@echo "Usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' Makefile

demo: .venv/.ready opa ## Tell the story: an answer, its replay, a conflict, privacy, a closed source, an unknown, a crash
	$(BIN)/python -m gateway.demo

test: .venv/.ready opa ## Run all tests, with branch coverage (PYTEST_ARGS="-k word" narrows)
	$(BIN)/python -m pytest $(if $(PYTEST_ARGS),$(PYTEST_ARGS),--cov)

check: .venv/.ready opa ## Format, lint, types, contracts, dependencies, registry, policies, mutations, behaviours
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/deptry --no-ansi gateway adapters
	$(BIN)/gateway check --at $(CHECK_AT)
	$(BIN)/gateway policy check
	$(BIN)/gateway policy mutate
	$(BIN)/python -m gateway.testkit.behaviours check

bench: .venv/.ready opa ## Measure the gateway's own cost beside a bare pass-through
	$(BIN)/python $(BENCH)

faults: .venv/.ready opa ## Strike N operations of a real gateway, and check what is left (N=2000 SEED=1)
	$(BIN)/python -m gateway.testkit.faults --operations $(N) --seed $(SEED)

schemas: .venv/.ready opa ## Write the generated files: schemas, codes, pages in docs/
	$(BIN)/python -m gateway.testkit.generated

lock: $(UV) ## Resolve the dependencies of pyproject.toml into requirements/
	$(UV) pip compile $(LOCK) pyproject.toml -o requirements/runtime.txt
	$(UV) pip compile $(LOCK) pyproject.toml --extra hosted -o requirements/hosted.txt
	$(UV) pip compile $(LOCK) pyproject.toml --group dev -o requirements/dev.txt
	echo uv==$(UV_VERSION) | $(UV) pip compile $(LOCK) --python-version 3.11 -o requirements/uv.txt -

opa: .venv/.ready ## Find OPA, or build it once (a minute or two)
	@PATH="$(CURDIR)/.uv/bin:$$PATH" $(BIN)/gateway opa install >/dev/null

clean: ## Remove what the other targets made, but not data/
	rm -rf .venv .uv .build build *.egg-info .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Installs exactly what the lock says, hashes required, and the gateway itself in place.
.venv/.ready: requirements/dev.txt pyproject.toml $(UV)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" .venv
	$(UV) pip sync --quiet --python .venv --require-hashes requirements/dev.txt
	$(UV) pip install --quiet --python .venv --no-deps --no-build-isolation -e .
	@touch $@

$(UV): requirements/uv.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "There is no Python 3.11 or newer. Install one, or name it: make PYTHON=/path/to/python."; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip' 2>/dev/null || { \
		echo "This Python cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv."; exit 1; }
	"$(PYTHON)" -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@
