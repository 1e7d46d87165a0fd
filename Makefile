# All tasks of a fresh checkout: `make` alone lists them.
#
# A target's dependencies are installed into .venv the first time, and again when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# --- To use ---------------------------------------------------------------------------------------------------

.PHONY: demo
demo: $(VENV)/.installed-notebook ## Run the quickstart notebook, print its timings, leave build/quickstart.html
	@$(BIN)/python notebooks/execute.py notebooks/quickstart.ipynb build/quickstart.html

.PHONY: lab
lab: $(VENV)/.installed-lab ## Open the notebooks in JupyterLab
	@$(BIN)/jupyter lab --notebook-dir=notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

# --- To check -------------------------------------------------------------------------------------------------

.PHONY: test
test: $(VENV)/.installed-browser ## Run the tests, including those in a browser; ONLY=profiling for one subject or room
	@[ -n "$${CHROMIUM:-}" ] || command -v chromium chromium-browser >/dev/null || $(INSTALL_CHROMIUM)
	$(BIN)/pytest -n auto $(if $(ONLY),tests/$(ONLY))

.PHONY: test-matrix
test-matrix: $(VENV)/.installed-dev ## Run the tests on each supported corner of Python, JAX and IPython, and the ecosystem
	$(BIN)/nox $(NOX) $(if $(SESSIONS),--session $(SESSIONS))

.PHONY: suites
suites: $(VENV)/.installed-dev ## Run the slow suites: planted lines on each JAX, simulations and their tables
	$(BIN)/nox --tags suites $(if $(SESSIONS),--session $(SESSIONS))

.PHONY: interrupts
interrupts: $(VENV)/.installed-dev ## Interrupt all magics at each of their lines (half an hour)
	$(BIN)/nox --session interrupts

# A target of its own, so that .ci/run can install while other checks run.
.PHONY: install-matrix
install-matrix: $(VENV)/.installed-dev
	$(BIN)/nox --install-only $(if $(SESSIONS),--session $(SESSIONS))

.PHONY: lint
lint: $(VENV)/.installed-dev ## Check style and format
	$(BIN)/ruff check . notebooks/execute.py
	$(BIN)/ruff format --check . notebooks/execute.py

.PHONY: types
types: $(VENV)/.installed-dev ## Check types
	$(BIN)/mypy

.PHONY: contracts
contracts: $(VENV)/.installed-dev ## Check who imports whom
	$(BIN)/lint-imports

.PHONY: package-check
package-check: $(VENV)/.installed-dev ## Build wheel and sdist, and check what they hold, the README and the links
	rm -rf dist
	$(BIN)/pyproject-build --outdir dist .
	$(BIN)/python tests/package_check.py

.PHONY: wheel
wheel: package-check ## Try the wheel in an environment that has only JAX
	rm -rf build/wheel
	$(BIN)/python -m venv build/wheel
	build/wheel/bin/pip install --quiet --disable-pip-version-check jax==0.7.2 jaxlib==0.7.2
	build/wheel/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	build/wheel/bin/python -I tests/smoke_wheel.py dist/*.whl

.PHONY: release-check
release-check: package-check ## Check what a release needs besides: versions, wheel and sdist on each Python
	$(BIN)/python tests/release_check.py $(or $(PYTHONS),python3.11 python3.12 python3.13)

.PHONY: docs
docs: $(VENV)/.installed-docs ## Build the manual into build/docs
	$(BIN)/sphinx-build -W --keep-going -b html docs build/docs

.PHONY: docs-check
docs-check: $(VENV)/.installed-browser ## Check that everybody can read the manual that is in build/docs
	JAXMAGIC_MANUAL=build/docs $(BIN)/pytest tests/browser/test_manual.py

.PHONY: bench
bench: $(VENV)/.installed-bench ## Measure jaxmagic itself; ONLY=launches for one table
	@command -v chromium chromium-browser >/dev/null || $(INSTALL_CHROMIUM)
	$(BIN)/python tests/benchmarks/run.py $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick)

.PHONY: gpu
gpu: ## Run the checks that need an accelerator, into build/gpu/report.md; PARTS="checks lines" for some
	@python=; for each in $(PYTHON) build/gpu-venv/bin/python; do \
	  ! $$each -c "$$SEES_ACCELERATOR" 2>/dev/null || { python=$$each; break; }; done; \
	[ -n "$$python" ] || { \
	  echo "$(PYTHON) has no JAX that sees an accelerator: installing one into build/gpu-venv"; \
	  $(PYTHON) -m venv build/gpu-venv && build/gpu-venv/bin/pip install --quiet --disable-pip-version-check \
	  --retries 1 "jax[$(or $(ACCELERATOR),cuda12)]" --editable '.[bench]' && python=build/gpu-venv/bin/python \
	  || { echo "JAX for an accelerator could not be installed here, perhaps because there is no network." \
	  "Name a Python whose JAX sees the accelerator: make gpu PYTHON=/path/to/python" >&2; exit 1; }; }; \
	$$python tests/gpu/run.py $(PARTS)

export SEES_ACCELERATOR := import jax, sys; sys.exit(all(each.platform == "cpu" for each in jax.devices()))

.PHONY: tables
tables: $(VENV)/.installed-test ## Write the manual's tables that take thousands of simulations or many programs
	$(BIN)/python tests/verdict_table.py
	XLA_FLAGS=--xla_force_host_platform_device_count=2 $(BIN)/python -m tests.doctor.slow_table docs/tables/slow.md

.PHONY: ci
ci: ## Run all checks, as before merging a change
	@bash .ci/run

.PHONY: clean
clean: ## Remove everything that was built here
	rm -rf .venv .nox build dist .*_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- The environment ------------------------------------------------------------------------------------------

# Show only pip's large downloads, so that it does not seem to hang.
SHORTEN := sed -un \
  -e 's/^ *Downloading \(.*\/\)\{0,1\}\([^-]*\)-.*(\(.* [MG]B\))$$/  \2, \3/p' \
  -e 's/^Installing collected packages.*/  and now into their places/p'

.PRECIOUS: $(VENV)/.installed-%
$(VENV)/.installed-%: pyproject.toml $(BIN)/python
	@echo "Installing jaxmagic and what its '$*' extra names into $(VENV)"
	@$(BIN)/python -m pip install --disable-pip-version-check --editable '.[$*]' | $(SHORTEN)
	@touch $@

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "jaxmagic needs Python 3.11 or newer; there is no $(PYTHON)." \
	  "Install it, or name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; } >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "jaxmagic needs Python 3.11 or" \
	  "newer; found $$($(PYTHON) --version). Name a newer one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; } >&2
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(INSTALL_VENV)
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)

# $(call apt_install,PACKAGE,WHAT): installs PACKAGE if that needs no password.
apt_install = { \
  as_root=; [ $$(id -u) = 0 ] || as_root='sudo -n'; \
  { $$as_root true && $$as_root apt-get --version; } >/dev/null 2>&1 \
  && echo "Installing $(1), $(2)" \
  && { $$as_root apt-get update -qq && $$as_root apt-get install -qq -y --no-install-recommends $(1); } >/dev/null; }

# Debian and Ubuntu package Python's venv separately.
INSTALL_VENV = { \
  package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
  $(call apt_install,$$package,which brings Python's venv) \
  || { echo "$(PYTHON) has no venv, and it could not be installed from here." \
       "Install it (on Debian and Ubuntu: sudo apt install $$package), and run make again."; exit 1; } >&2; }

# Without Chromium the tests report what they skipped; if CI is set, they fail.
INSTALL_CHROMIUM = { $(call apt_install,chromium,the browser of the tests) \
  || echo "The tests in a browser need Chromium; there is none on the path, and it could not be installed from here." \
     "Install it (on Debian: sudo apt install chromium), or name one: CHROMIUM=/path/to/it make test" >&2; }
