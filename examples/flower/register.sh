#!/bin/sh
# Tells the SuperLink, on the server, whose nodes may connect: all keys in keys/server/nodes, or
# the public keys that are given.
set -eu
. "$(dirname "$0")/settings.sh"
cat > "$FLWR_HOME/config.toml" <<END
[superlink.digits]
address = "127.0.0.1:$SUPERLINK_PORT"
root-certificates = "$KEYS/server/ca.crt"
END
[ $# -gt 0 ] || set -- "$KEYS"/server/nodes/*.pub
for key; do
    flwr supernode register "$key" digits --name "$(basename "$key" .pub)"
done
