# One command for each thing a developer or an analyst does here.
PYTHON ?= python3

.PHONY: neo4j neo4j-stop

## neo4j: start Neo4j Community on this machine without containers (needs Java 17 or 21, and Maven once)
neo4j:
	$(PYTHON) docker/local/start_neo4j.py --home build/neo4j

## neo4j-stop: stop the one that `make neo4j` started; its data stays in build/neo4j
neo4j-stop:
	$(PYTHON) docker/local/start_neo4j.py --home build/neo4j --stop
