# Each target sets up what it needs, in .venv and nowhere else: `make demo` and `make test` are enough on a machine with
# only Python (3.11 or later) and make. PYTHON=/path/to/python chooses another Python than the one that is found.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHONS := $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python)
DEMO := results/demo
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench wheel-test clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile

setup: $(STAMP) ## make .venv and install the project and its tools there

demo: $(STAMP) ## which house rule of Ochos Locos is fairest? for 2 and 4 players; report in results/demo
	$(BIN)/ochos-sim fairness --rules ochos-locos \
	  --vary draw-until-playable,draw-three,no-eight-on-eight,silent-eight,actions \
	  --players 2,4 --hands 1M --out $(DEMO)

test: $(STAMP) ## run the tests
	$(BIN)/python -m pytest

check: $(STAMP) ## lint, formatting, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP) ## measure speed, start-up and memory; FLOOR=/path/to/compiled/floor adds the floor
	$(BIN)/ochos-sim bench $(if $(FLOOR),--floor "$(FLOOR)")

wheel-test: $(STAMP) ## build the wheel, install it on its own, play with it
	@set -eu; \
	room=$$(mktemp -d); trap 'rm -rf "$$room"' EXIT; \
	if command -v uv >/dev/null; then \
	  uv build --quiet --wheel --out-dir "$$room"; \
	  uv venv --quiet --python $(BIN)/python "$$room/venv"; \
	  uv pip install --quiet --python "$$room/venv/bin/python" "$$room"/*.whl; \
	else \
	  $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir "$$room" .; \
	  $(BIN)/python -m venv "$$room/venv"; \
	  "$$room/venv/bin/python" -m pip install --quiet "$$room"/*.whl; \
	fi; \
	cd "$$room"; \
	venv/bin/ochos-sim presets >/dev/null; \
	venv/bin/ochos-sim simulate --hands 1000 >/dev/null; \
	echo "the wheel works: $$(ls *.whl)"

clean: ## remove .venv, results and everything that tools left
	rm -rf $(VENV) build dist results .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Making an environment where one is already changes little and mends one that was interrupted, so this always starts
# with that. Names are tried by running them: there are stand-ins that are on the path and do not work.
$(STAMP): pyproject.toml
	@set -eu; \
	uv=$$(command -v uv || true); \
	needs='import sys; assert sys.version_info >= (3, 11)'; \
	[ -n "$$uv" ] || needs="$$needs; import ensurepip, venv"; \
	found=; \
	for name in $(PYTHONS); do \
	  found=$$("$$name" -c "$$needs; print(sys.executable)" 2>/dev/null) && break; \
	  found=; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "error: no Python 3.11 or later with venv among: $(PYTHONS) (install one, on Debian python3 and python3-venv, or name one: make PYTHON=/path/to/python)" >&2; \
	  exit 1; \
	fi; \
	echo "setting up $(VENV) with $$found, which takes a minute or two the first time"; \
	if [ -n "$$uv" ]; then \
	  "$$uv" venv --quiet --allow-existing --python "$$found" $(VENV); \
	  "$$uv" pip install --quiet --compile-bytecode --python $(BIN)/python -e '.[dev]'; \
	else \
	  "$$found" -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet -e '.[dev]'; \
	fi
	@touch $@
