#!/bin/sh
# The server's main program. It listens on this machine alone; nodes come in through proxy.sh.
set -eu
. "$(dirname "$0")/settings.sh"
exec flower-superlink --host 127.0.0.1 --port "$SUPERLINK_PORT" \
    --ssl-ca-certfile "$KEYS/server/ca.crt" \
    --ssl-certfile "$KEYS/server/server.pem" --ssl-keyfile "$KEYS/server/server.key" \
    --enable-supernode-auth --disable-runtime-dependency-installation \
    --database "$STATE/superlink.db" \
    --isolation process --superexec-auth-secret-file "$KEYS/server/superexec.secret"
