# One command for each thing a developer or an analyst does here.
PYTHON ?= python3

.PHONY: test-slow setup test lint bench docs neo4j neo4j-stop

VENV ?= .venv
RUN = $(VENV)/bin

## setup: a virtual environment with the product, editable, and all that its tests and checks use
setup:
	$(PYTHON) -m venv $(VENV)
	$(RUN)/pip install --editable '.[test,lint]'

## test: all tests; pick some with ARGS, as in make test ARGS="tests/derive -k late"
test:
	$(RUN)/python -m pytest -n 2 --dist loadfile $(ARGS)

## test-slow: all shared runs, the reference engines, the peers; takes an hour on two cores
test-slow:
	$(RUN)/python -m pytest -n 2 --dist loadfile -m slow $(ARGS)

## lint: style, formatting and types
lint:
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

## bench: every benchmark with its own defaults; a single one: python benchmarks/NAME.py --help
bench:
	set -e; for file in benchmarks/*.py; do echo "== $$file"; $(RUN)/python "$$file"; done

## docs: refresh docs/cli.md and the output shown in the pages; read the difference before it is committed
docs:
	$(RUN)/python docs/generate.py

## neo4j: start Neo4j Community on this machine without containers (needs Java 17 or 21, and Maven once)
neo4j:
	$(PYTHON) docker/local/start_neo4j.py --home build/neo4j

## neo4j-stop: stop the one that `make neo4j` started; its data stays in build/neo4j
neo4j-stop:
	$(PYTHON) docker/local/start_neo4j.py --home build/neo4j --stop

.PHONY: ontology-docs
## ontology-docs: the ontology's pages (build/ontology/index.html, package.html) and the mapping table in docs/graph.md
ontology-docs:
	$(PYTHON) -m trace_prov.ontology.docs html build/ontology/index.html
	$(PYTHON) -m trace_prov.ontology.docs html build/ontology/package.html package.ttl
	$(PYTHON) -m trace_prov.ontology.docs table docs/graph.md
