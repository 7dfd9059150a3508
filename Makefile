# Set-up happens by itself: every target builds the virtual environment it needs, once.
# Paths are relative, or quoted where they cannot be, so that a folder with a space in its name does no harm.
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
# One BLAS thread per process: small matrices are slower with two, and tests run side by side.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint types compile compile-elastic compile-others unit slow elsewhere oldest fuzz bench papers papers-full docs clean

demo: $(VENV)/installed
	$(RUN) examples/demo_data.py demo
	$(RUN) -m svmpath tune demo/breast_cancer.csv --target diagnosis --output demo
	$(RUN) -m svmpath predict demo/model.skops demo/new_patients.csv --proba -o demo/predictions.csv
	@echo "The report is $(CURDIR)/demo/report.html: open it in a browser."

# Side by side where it can be: types are checked while the engines are compiled.
test: $(VENV)/installed-dev
	$(MAKE) -j 3 lint types unit

lint: $(VENV)/installed-dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m codespell_lib .
	$(RUN) tests/prose.py

types: $(VENV)/installed-dev
	$(RUN) -m mypy

# Compiled once here, and not by each of the processes that test side by side; two engines at a time.
compile: compile-elastic compile-others

compile-elastic: $(VENV)/installed-dev
	$(RUN) -m svmpath compile elastic

compile-others: $(VENV)/installed-dev
	$(RUN) -m svmpath compile path loo kernel

unit: compile
	$(RUN) -m pytest -n 2 --dist worksteal -q -m "not slow"

slow: compile
	$(RUN) -m pytest -n 2 --dist worksteal -q -m slow

# The quick tests as if on another machine (tests/elsewhere.py), in an order that SEED decides: `make elsewhere SEED=17`
# repeats one. Not those in chromium: what a page shows does not depend on the processor.
SEED ?= $(shell date +%s)
elsewhere: $(VENV)/installed-dev
	$(RUN) tests/elsewhere.py $(MAKE) -j 2 compile
	$(RUN) tests/elsewhere.py $(RUN) -m pytest -n 2 --dist worksteal -q -m "not slow and not browser" -p randomly --randomly-seed=$(SEED)

# The tests with the oldest version of every package that pyproject.toml allows, in an environment of their own. Some
# tests start Python in another folder, where relative paths would find nothing.
oldest: $(VENV)/installed-dev
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(RUN) tests/oldest.py > $(VENV)-oldest/oldest.txt
	$(VENV)-oldest/bin/python -m pip install -q --disable-pip-version-check -r $(VENV)-oldest/oldest.txt
	PYTHONPATH="$(CURDIR)/src" NUMBA_CACHE_DIR="$(CURDIR)/$(VENV)-oldest/numba" $(VENV)-oldest/bin/python -m pytest -q -m "not slow"

fuzz: $(VENV)/installed-dev
	$(RUN) tests/fuzz.py

bench: $(VENV)/installed-dev
	$(RUN) benchmarks/peers_least_squares.py
	$(RUN) benchmarks/ding2012_table2.py
	$(RUN) benchmarks/squared_hinge_floor.py
	$(RUN) benchmarks/peers_hinge.py
	$(RUN) benchmarks/peers_kernel_path.py
	$(RUN) benchmarks/wang2007_figures.py
	$(RUN) benchmarks/peers_loo.py
	$(RUN) benchmarks/xu2019_figures.py
	$(RUN) benchmarks/peers_elastic.py
	$(RUN) benchmarks/repeated_rows.py
	$(RUN) benchmarks/full_kernel.py
	$(RUN) benchmarks/full_kernel_tuning.py
	$(RUN) benchmarks/lachaud2014_table1.py --repeats 3
	$(RUN) benchmarks/bonidal2013_table2.py --sets banana twonorm
	$(RUN) benchmarks/bonidal2013_table3_4.py --splits 3
	$(RUN) benchmarks/bonidal2013_table5.py --splits 1
	$(RUN) benchmarks/bonidal2013_figure3.py --splits 1
	$(RUN) benchmarks/bonidal2013_table6.py --splits 3
	$(RUN) benchmarks/bonidal2013_table8.py
	$(RUN) benchmarks/selection_quality.py --splits 2
	$(RUN) benchmarks/default_times.py --sets iris breast_cancer
	$(RUN) benchmarks/waiting.py
	$(RUN) benchmarks/gradient_selection.py --splits 2 --sets heart noisy housing
	$(RUN) benchmarks/peers_tuning.py --splits 2 --only 'wine/*' 'noise-1000/*'
	$(RUN) benchmarks/calibration.py --splits 2 --most 700
	$(RUN) benchmarks/intervals.py --splits 2 --rows 300
	$(RUN) benchmarks/honest_error.py --splits 2 --most 400
	$(RUN) benchmarks/importance.py --sets friedman wine

# The tables and figures of docs/papers, in small: to see that each command runs, not to measure.
papers: $(VENV)/installed-dev
	$(RUN) benchmarks/bonidal2013_table2.py --sets banana --kernels 2 --Cs 14
	$(RUN) benchmarks/bonidal2013_figure3.py --splits 1
	$(RUN) benchmarks/bonidal2013_table3_4.py --splits 1 --sets heart thyroid twonorm
	$(RUN) benchmarks/bonidal2013_table5.py --splits 1 --sets rank=600
	$(RUN) benchmarks/bonidal2013_table6.py --splits 1 --sizes 1000
	$(RUN) benchmarks/bonidal2013_table8.py --sets waveform
	$(RUN) benchmarks/ding2012_theorem1.py --sizes 1000 2000 --columns 50 100 200 --repeats 1
	$(RUN) benchmarks/ding2012_table2.py --splits 1 --sets thyroid heart twonorm
	$(RUN) benchmarks/wang2007_figures.py --draws 3
	$(RUN) benchmarks/peers_kernel_path.py --quick
	$(RUN) benchmarks/lachaud2014_table1.py --repeats 1 --splits 1
	MPLBACKEND=agg $(RUN) examples/gallery/paths/plot_s_path.py
	$(RUN) benchmarks/xu2019_figures.py --draws 1 --repeats 1 --n 100

# Every table and figure of docs/papers as the pages have it, into benchmarks/RESULTS.md: hours. A run that was stopped
# goes on where it was (pieces in benchmarks/out); each output names the machine and its load.
PAPERS := $(RUN) benchmarks
papers-full: $(VENV)/installed-dev
	$(PAPERS)/wang2007_figures.py --pictures docs/_static/papers --frames 0 --write
	$(PAPERS)/peers_kernel_path.py --write
	$(PAPERS)/lachaud2014_table1.py --write
	$(PAPERS)/xu2019_figures.py --overview docs/_static/papers/xu2019_overview.png --write
	$(PAPERS)/ding2012_theorem1.py --write
	$(PAPERS)/ding2012_table2.py --splits 20 --resume --write
	$(PAPERS)/bonidal2013_figure3.py --splits 20 --picture docs/_static/papers/bonidal2013_figure3.png --write
	$(PAPERS)/bonidal2013_table2.py --write
	$(PAPERS)/bonidal2013_table3_4.py --splits 20 --resume --write
	$(PAPERS)/bonidal2013_table6.py --splits 10 --resume --write
	$(PAPERS)/bonidal2013_table5.py --splits 10 --resume --write
	$(PAPERS)/bonidal2013_table8.py --libsvm 3600 --write

# Compiled first: the gallery shows what its examples print, and no line about compiling belongs there.
docs: $(VENV)/installed-docs
	rm -rf docs/api/generated
	$(RUN) -m svmpath compile
	$(RUN) -m sphinx -W --keep-going -b html docs docs/_build/html

$(RUN):
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "svmpath needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(RUN)
	$(RUN) -m pip install -q --disable-pip-version-check -e '.[parquet,arff,plot]'
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/installed
	$(RUN) -m pip install -q --disable-pip-version-check -e '.[parquet,arff,plot,dask,dev,docs]'
	touch $@

$(VENV)/installed-docs: pyproject.toml | $(VENV)/installed
	$(RUN) -m pip install -q --disable-pip-version-check -e '.[parquet,arff,plot,dask,docs]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest demo docs/_build docs/api/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache
