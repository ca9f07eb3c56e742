# Needs only python3 (3.11 or later) and make; everything else goes into .venv.
PYTHON ?= python3
VENV   ?= .venv
EXTRAS ?= spark,database,dev
# Many tests wait for processes of their own: two workers for each core.
JOBS   ?= $(shell expr 2 '*' $$(nproc 2>/dev/null || echo 2))
ROUNDS ?= 1

BENCHES := n3 side_by_side n10 n11 compile_time spool wire archive w1 kill s1 terminal_cost \
           orders_crash chaos jepc jepc_answers strategies trader t1 frames dispatch alerts \
           broker backtesters

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed-$(shell cksum < pyproject.toml | tr ' ' '-')

# The tests start hundreds of processes, each of which would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: compiled demo test test-all explore check bench bench-quick mutants clean help

demo: $(STAMP)  ## run everything at once on this machine; ends by itself
	$(BIN)/mt5cep demo

test: compiled  ## run the tests but the house rules, with a sample of the generated examples
	$(BIN)/pytest -n $(JOBS) --dist loadfile --ignore tests/tidy

test-all: compiled  ## run all tests with all their examples: the long campaigns
	$(BIN)/pytest -n $(JOBS) --dist loadfile --campaign --timeout 7200

explore: compiled  ## run the property tests on new random examples until one fails: ROUNDS=1
	@for round in $$(seq $(ROUNDS)); do echo "== round $$round of $(ROUNDS)"; \
	  $(BIN)/pytest -q -n $(JOBS) --dist loadfile --campaign -m hypothesis --hypothesis-profile explore || exit 1; done

check: $(STAMP)  ## lint, formatting, types and house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/tidy

bench: $(STAMP)  ## run every benchmark
	@for name in $(BENCHES); do echo "== $$name"; $(BIN)/python -m benchmarks.$$name || exit 1; done

bench-quick: $(STAMP)  ## the headline figures as ratios to a calibration, beside the recorded ones
	$(BIN)/python -m benchmarks.quick

mutants: $(STAMP)  ## count how many of 250 small faults the tests notice, by what they are in
	$(BIN)/python -m tests.mutation

clean:  ## remove the virtual environment and everything generated
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Beside tests that keep the machine busy, compiling the engine would take longer than they do.
compiled: $(STAMP)
	@echo "compiling the engine, some minutes, unless that was done before"
	@$(BIN)/python -m cep.engine.machine_code cep.engine.machine.kernels.entry enter "in haste"

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is older than 3.11; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "error: python cannot create $(VENV); on Debian and Ubuntu: apt install python3-venv"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@rm -f $(VENV)/.installed-* && touch $@
