# Two commands for a fresh clone: `make align` checks OneFlow's ops, `make test` checks the harness itself.
PYTHON := .venv/bin/python
STAMP := .venv/.built

.PHONY: align test lint bench clean

$(STAMP): pyproject.toml constraints.txt .python-version
	@if uv --version >/dev/null 2>&1; then \
		uv venv --quiet --clear .venv && \
		uv pip install --quiet --python $(PYTHON) -c constraints.txt -e '.[oneflow,test]'; \
	else \
		rm -rf .venv && python3.10 -m venv .venv && \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[oneflow,test]'; \
	fi
	@touch $@

align: $(STAMP)
	.venv/bin/autotest run suites -n auto

test: $(STAMP)
	$(PYTHON) -m pytest tests -n auto

lint: $(STAMP)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench: $(STAMP)
	$(PYTHON) -m benchmarks

clean:
	rm -rf .venv autotest-report
