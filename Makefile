PYTHON ?= python3
BIN := .venv/bin
# Rooms with compiled kernels: `make coverage` runs their doctests a second time with the kernels
# interpreted, which is how it sees them.
KERNELS := src/wola/aggregation src/wola/mixing src/wola/attacks
export OMP_NUM_THREADS ?= 1

.PHONY: install demo test coverage fuzz attack-searches flower-check package-check lint methods choosing docs bench-env bench evidence evidence-report extended extended-report beyond beyond-report clean

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet -c constraints.txt -e ".[flower,mlflow,ray,slurm,tensorboard,wandb,package,docs,dev]"
	touch $@

demo: install
	$(BIN)/wola demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	@command -v chromium >/dev/null || echo "chromium is not installed: the page is not tried in a browser (apt-get install chromium)"
	$(BIN)/python -m pytest -n auto --dist loadfile --durations=25

# The same with lines counted, which takes longer: at least 95 % of them.
coverage: install
	$(BIN)/python -m pytest -n auto --dist loadfile --cov --cov-report= --cov-fail-under=0
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --cov --cov-append $(KERNELS)

# How long random cases are tried.
FUZZ_MINUTES ?= 5

fuzz: install
	$(BIN)/python -m checks.fuzz --minutes $(FUZZ_MINUTES)

# The searches of the optimised attacks against a fine grid, on 480 cases: half an hour on a busy core.
attack-searches: install
	$(BIN)/python -m checks.attack_searches

flower-check: install
	$(BIN)/python -m checks.flower

# What users get: the wheel, built, installed outside the repository and run. FULL=1 installs it with all
# that it needs into an empty environment, from the registry, which takes minutes.
package-check: install
	$(BIN)/python -m checks.package $(if $(FULL),--full)

# The manual's pages that are made from the docstrings: docs/methods.md, docs/glossary.md.
methods: install
	$(BIN)/python -m tools.methods
	$(BIN)/python -m tools.glossary

# The manual as a site, which opens from the disk: site/index.html. A dead link or a page that no
# menu leads to is an error.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The manual's page on choosing a rule, from results/: docs/choosing.md.
choosing: install
	$(BIN)/python -m tools.choosing

bench-env: .venv-bench/installed

.venv-bench/installed: benchmarks/constraints.txt constraints.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet -c benchmarks/constraints.txt torch==2.13.0
	.venv-bench/bin/pip install --quiet -c benchmarks/constraints.txt -e . scipy pillow seaborn cloudpickle
	.venv-bench/bin/pip install --quiet --no-deps -c benchmarks/constraints.txt byzfl byzpy torchvision
	.venv-bench/bin/python -c "from benchmarks import peers; peers.byzfl_rules(17, 6); peers.byzpy_rules(17, 6)"
	touch $@

bench: bench-env
	.venv-bench/bin/python -m benchmarks.kernels
	.venv-bench/bin/python -m benchmarks.step
	.venv-bench/bin/python -m benchmarks.run

# The paper's tables on its own data: goes on where it was stopped (results/evidence).
evidence: install
	$(BIN)/python -m benchmarks.evidence

evidence-report: install
	$(BIN)/python -m benchmarks.evidence --report

# Every rule with WoLA and without, on digits: goes on where it was stopped (results/extended).
extended: install
	$(BIN)/python -m benchmarks.extended

extended-report: install
	$(BIN)/python -m benchmarks.extended --report

# Strategies beside the paper's, and attacks made for them, on digits: goes on where it was stopped (results/beyond).
beyond: install
	$(BIN)/python -m benchmarks.beyond

beyond-report: install
	$(BIN)/python -m benchmarks.beyond --report

clean:
	rm -rf .venv .venv-bench build dist site demo .coverage .mypy_cache .ruff_cache .hypothesis
