#!/bin/sh
# Prepare what compose.yaml needs and git must not hold: the password of user neo4j, and the import folder.
# NEO4J_PASSWORD from the environment, else a random one. A password that is there already is kept.
set -eu
cd "$(dirname "$0")"

auth=secrets/neo4j_auth
mkdir -p import secrets
# The image reads the secret only if everyone or its own user may; the folder keeps other users of this machine out.
chmod 700 secrets
if [ -e "$auth" ]; then
    echo "kept: docker/$auth"
    exit 0
fi
password=${NEO4J_PASSWORD:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
case $password in
    neo4j | */*)
        echo "error: the password must not be 'neo4j' and must not hold a slash" >&2
        exit 2
        ;;
esac
if [ "${#password}" -lt 8 ]; then
    echo "error: Neo4j wants at least 8 characters in a password" >&2
    exit 2
fi
printf 'neo4j/%s\n' "$password" > "$auth"
chmod 644 "$auth"
echo "written: docker/$auth (user/password)"
echo "next:    docker compose --project-directory docker up --detach --wait"
