# Two commands for a fresh clone: `make align` checks OneFlow's ops, `make test` checks the harness itself. The harness's
# adapters for Paddle and JAX want environments of their own: `make targets test-targets`.
# ARGS goes to the command behind a target: make align ARGS="--cases 5", make test ARGS="-k graph".
PYTHON := .venv/bin/python
STAMP := .venv/.built
# Hundreds of processes start here, and each would compile torch anew (3 s of the 4 that it takes to import it) where a
# machine says that Python shall keep no bytecode.
export PYTHONDONTWRITEBYTECODE :=
ARGS :=
# The harness's tests often wait for a process that they started: one more than there are cores keeps all of them busy.
# Two more are slower, for each collects all tests anew. Who has nothing left to do takes over what others have not begun:
# some tests take a hundred times as long as most.
TESTERS := $(shell echo $$(($$(nproc) + 1)))

# What is made of ops: trainings, graphs in each configuration, models, chains for compilers, tensors on several ranks.
PROGRAMS := $(foreach name,compile contract global models,suites/$(name)) \
	$(foreach name,graph_configurations optimizers schedules,suites/test_$(name).py)

# What runtimes below PyTorch are run on.
SIX := $(foreach name,unary view inplace reduction normalization convolution,suites/test_$(name).py)

# What the targets paddle and jax are held to.
MAPPED := $(foreach name,unary binary reduction activation matmul convolution,suites/test_$(name).py)

# What the target of docs/new-target.md is held to.
FOUR := $(foreach name,unary binary reduction activation,suites/test_$(name).py)

.PHONY: align programs onnxruntime iree targets paddle jax mlx paddle-all jax-all boxing-4 compile survey test test-slow test-targets lint docs package matrix bench mutation false-alarms kernels blame build clean

# uv is asked for its version because a pyenv shim of that name exists and fails where .python-version has no uv.
$(STAMP): pyproject.toml constraints.txt .python-version
	@if uv --version >/dev/null 2>&1; then \
		uv venv --quiet --clear .venv && \
		uv pip install --quiet --python $(PYTHON) -c constraints.txt -e '.[docs,oneflow,ray,suites,test]'; \
	else \
		rm -rf .venv && python3.10 -m venv .venv && \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs,oneflow,ray,suites,test]'; \
	fi
	@touch $@

build: $(STAMP)

# Ops and layers. What is laid out is the same on every seed. A drawn case runs in static graphs, too, which take long: one
# besides.
align: $(STAMP)
	PYTEST_ADDOPTS="$(addprefix --ignore=,$(PROGRAMS))" \
	.venv/bin/autotest run suites -n auto --coverage arguments --drawn 1 $(ARGS)

# What is made of them.
programs: $(STAMP)
	.venv/bin/autotest run $(PROGRAMS) -n auto --coverage arguments --drawn 1 $(ARGS)

# All drawn cases, of edge inputs, and all pairs of corners, to be read: new divergences are printed and kept
# in the report, and are no failure.
survey: $(STAMP)
	@.venv/bin/autotest run suites -n auto --inputs edge --report autotest-report/survey $(ARGS); status=$$?; \
	echo "survey: exit status $$status of autotest run"; test $$status -le 1

# All suites under torch.compile, for a night: PyTorch's compiler held against eager PyTorch. A second run finds the
# compiled code of the first. A cold transformer takes its minute where others compute, too.
compile: $(STAMP)
	.venv/bin/autotest run suites --target torch:inductor -n auto --cases 1 --coverage none --case-timeout 300 --report autotest-report/compile $(ARGS)

# Four ranks, placements of two dimensions: for people, it wants four cores' worth of patience.
boxing-4: $(STAMP)
	.venv/bin/autotest run suites/global/test_boxing.py --ranks 4 $(ARGS)

# An environment for each runtime: onnx wants another protobuf than OneFlow.
.venv-%/.built: pyproject.toml constraints-runtimes.txt .python-version
	@if uv --version >/dev/null 2>&1; then \
		uv venv --quiet --clear .venv-$* && \
		uv pip install --quiet --python .venv-$*/bin/python -c constraints-runtimes.txt -e '.[$*,suites,test]'; \
	else \
		rm -rf .venv-$* && python3.10 -m venv .venv-$* && \
		.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-runtimes.txt \
			-e '.[$*,suites,test]'; \
	fi
	@touch $@

# Frameworks that want another Python or another NumPy than OneFlow: an environment of its own for each, without PyTorch,
# of pyenv's CPython 3.12 or 3.11, or whatever is called python3.12.
NEWER := $(firstword $(wildcard $(HOME)/.pyenv/versions/3.12.*/bin/python $(HOME)/.pyenv/versions/3.11.*/bin/python) python3.12)

.venv-paddle/.built .venv-jax/.built .venv-mlx/.built: .venv-%/.built: constraints-%.txt
	@if uv --version >/dev/null 2>&1; then \
		uv venv --quiet --clear --python $(NEWER) .venv-$* && \
		uv pip install --quiet --python .venv-$*/bin/python -r constraints-$*.txt; \
	else \
		rm -rf .venv-$* && $(NEWER) -m venv .venv-$* && \
		.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -r constraints-$*.txt; \
	fi
	@touch $@

targets: .venv-paddle/.built .venv-jax/.built .venv-mlx/.built

paddle jax: %: .venv-%/.built $(STAMP)
	.venv/bin/autotest run $(MAPPED) --target $* -n auto --coverage none $(ARGS)

# The target that docs/new-target.md writes, on what its table is held to.
mlx: .venv-mlx/.built $(STAMP)
	.venv/bin/autotest run $(FOUR) --target mlx -n auto --coverage none $(ARGS)

# Every suite that needs no nn.Graph, no global tensors and no op of OneFlow's own: two cases of each test. Hooks are seen in
# the process of the tests alone.
ALL := $(filter-out suites/test_tensor_buffer.py,$(wildcard suites/test_*.py))

paddle-all jax-all: %-all: .venv-%/.built $(STAMP)
	.venv/bin/autotest run $(ALL) --target $* -n auto --cases 2 --coverage none --report autotest-report/$*-all $(ARGS) -- --deselect suites/test_autograd.py::test_hook

onnxruntime iree: %: .venv-%/.built
	.venv-$*/bin/autotest run $(SIX) --target torch:$* -n auto --cases 1 --coverage none $(ARGS)

test: $(STAMP)
	$(PYTHON) -m pytest tests -m "not own_environment and not slow" -n $(TESTERS) --dist worksteal $(ARGS)

# The tests of whole things, which take seconds each: kernels that are judged, runs that are killed or that ranks share,
# campaigns, scripts, the drop-in, the guides, faults that a suite has to find. They take longer than all others together.
test-slow: $(STAMP)
	$(PYTHON) -m pytest tests -m slow -n $(TESTERS) --dist worksteal $(ARGS)

# The tests of the targets paddle, jax and mlx, each skipped where `make targets` has not built its environment.
test-targets: $(STAMP)
	$(PYTHON) -m pytest tests -m own_environment -n $(TESTERS) --dist loadfile $(ARGS)

lint: $(STAMP)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

# The site of docs/, without a network: site/index.html. A page that leads nowhere is an error.
docs: $(STAMP)
	.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -d .venv/.doctrees docs site $(ARGS)
	@echo "site/index.html"

# An sdist and a wheel in dist/, each installed into an empty environment without OneFlow, and tried there.
package: $(STAMP)
	$(PYTHON) .ci/package.py $(ARGS)

# The same on every CPython and pytest that the plugin is said to work with; some minutes.
matrix: $(STAMP)
	$(PYTHON) .ci/package.py --all $(ARGS)

bench: $(STAMP)
	$(PYTHON) -m benchmarks $(ARGS)

# How many faults planted in OneFlow ordinary tests notice, and how often a lawful variant of PyTorch is called wrong.
mutation: $(STAMP)
	$(PYTHON) -m benchmarks.mutation $(ARGS)

false-alarms: $(STAMP)
	$(PYTHON) -m benchmarks.false_alarms $(ARGS)

# How often the kernel judge is right: wrong kernels refused for their own fault, sound ones accepted.
kernels: $(STAMP)
	$(PYTHON) -m benchmarks.kernels $(ARGS)

# How often the verdict on which side of a divergence is wrong is right.
blame: $(STAMP)
	$(PYTHON) -m benchmarks.blame $(ARGS)

clean:
	rm -rf .venv .venv-onnxruntime .venv-iree .venv-paddle .venv-jax .venv-mlx autotest-report dist site
