# Everything a newcomer needs: `make repro` and `make test`. Both make the environment first, if it is not there.
PYTHON ?= python3
VENV := .venv
PRESET ?= embedded
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Where this is set, every stage would compile the packages that it imports anew: ten seconds and more.
export PYTHONDONTWRITEBYTECODE :=

# uv takes a fifth of the time of pip, which steps in where it fails, such as behind a proxy that only pip knows.
comma := ,
packages = --quiet --constraint constraints.txt --editable '.[$(1)]'
install = $(VENV)/bin/python -m pip install --quiet --constraint constraints.txt uv && \
	UV_FIND_LINKS="$(PIP_FIND_LINKS)" uv pip install --python $(VENV)/bin/python $(packages) || \
	$(VENV)/bin/python -m pip install --no-compile $(packages)

.PHONY: repro test test-all benchmark ui preset clean

repro: $(VENV)/installed
	cxprobe check
	dvc repro
	cxprobe sync
	@echo
	@echo "Tables and figures:  results/report_recognition/, results/report_scenarios/, results/report_pairs/,"
	@echo "                     results/report_prompts/"
	@echo "Runs side by side:   make ui, then open http://127.0.0.1:5000"

test: $(VENV)/installed
	ruff format --check
	ruff check
	mypy
	pytest --numprocesses auto --dist loadfile  # a file is one worker's: what its tests share is made once

# The slow ones too, such as those that start a server.
test-all: $(VENV)/installed
	pytest -m 'slow or not slow'

benchmark: $(VENV)/installed-benchmark
	pytest benchmarks --quiet

ui: $(VENV)/installed
	mlflow ui --backend-store-uri sqlite:///mlruns/mlflow.db --host 127.0.0.1 --port 5000

# A preset is a whole params.yaml; this puts it in the place of the one that is there.
preset: presets/$(PRESET).yaml
	cp $< params.yaml

clean:
	rm -rf $(VENV)

# Python compiles what it imports; compiling every file of every package would take longer than fetching them.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cxprobe needs Python 3.11 or later: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(call install,minilm$(comma)prompting$(comma)test)
	touch $@

$(VENV)/installed-benchmark: $(VENV)/installed
	$(call install,minilm$(comma)prompting$(comma)benchmark)
	touch $@
