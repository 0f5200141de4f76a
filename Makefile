# make ask Q="…" DOCS=folder    research a question over a folder
# make test                     run the tests
# make help                     list everything

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)
Q ?= How do the two papers disagree about forgetting?
PORT ?= 8123
# As they were typed: make would read a dollar sign in what it exports, and the shell a quote.
unexport Q DOCS
export QUESTION := $(value Q)
export FOLDER := $(if $(strip $(value DOCS)),$(value DOCS),examples/docs)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ifdef UV
INSTALL := uv pip install --quiet --compile-bytecode --python $(BIN)/python
MAKE_VENV := uv venv --quiet --python $(PYTHON) $(VENV)
else
INSTALL := $(BIN)/python -m pip install --quiet --no-compile
# pip compiles on one core. Some packages have files for other versions of Python.
COMPILE_PACKAGES := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
MAKE_VENV := $(PYTHON) -m venv $(VENV)
endif

# Python may be told to write no bytecode, and then half of each start goes into compiling.
COMPILE := $(BIN)/python -m compileall -q app calls config graph library memory models nodes privacy prompts report runs storage text tools

.PHONY: help install ask test check types style format dev docs smoke evals clean

help:  ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

install: $(VENV)/.base  ## Make .venv with what a run needs

$(VENV)/.base: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(MAKE_VENV)
	@echo "Installing dossier into $(VENV), once …" >&2
	@$(INSTALL) -c constraints.txt -e .
	@$(COMPILE_PACKAGES)
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "Installing the server and the development tools into $(VENV), once …" >&2
	@$(INSTALL) -c constraints.txt -e '.[server,dev]'
	@$(COMPILE_PACKAGES)
	@touch $@

ask: install  ## Research Q over the files in DOCS
	@$(BIN)/dossier ask --docs "$$FOLDER" $(ARGS) -- "$$QUESTION"

test: $(VENV)/.dev  ## Run the tests
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(VENV)/.dev  ## Lint, type-check, and check the import floors and the names
	@$(MAKE) --no-print-directory -j 2 types style

types: $(VENV)/.dev
	@$(BIN)/mypy

style: $(VENV)/.dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/codespell
	@$(BIN)/python -m benchmarks.structure --check

format: $(VENV)/.dev  ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

dev: $(VENV)/.dev  ## Start the LangGraph development server
	@$(BIN)/dossier serve --port $(PORT)

docs: $(VENV)/.dev  ## Write the reference and the picture of the graph
	@$(BIN)/python -m app.reference

smoke: install  ## Ask one small question of the model the environment names
	@$(BIN)/python -m evals.smoke

evals: $(VENV)/.dev  ## Measure speed, cost and quality
	@$(BIN)/python -m evals.performance
	@$(BIN)/python -m evals.overhead
	@$(BIN)/python -m evals.crash
	@$(BIN)/python -m evals.sandbox_escapes
	@$(BIN)/python -m evals.extractive

clean:  ## Remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
