#!/bin/sh
# Runs the ServerApp on the server; the secret keeps others from doing so in its place.
set -eu
. "$(dirname "$0")/settings.sh"
exec flower-superexec --root-certificates "$KEYS/server/ca.crt" \
    --runtime-api-address "127.0.0.1:$SUPERLINK_PORT" \
    --superexec-auth-secret-file "$KEYS/server/superexec.secret"
