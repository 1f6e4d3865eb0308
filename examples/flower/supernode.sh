#!/bin/sh
# One client: supernode.sh NUMBER [MISBEHAVIOUR], such as "supernode.sh 4 sign-flip".
set -eu
. "$(dirname "$0")/settings.sh"
CLIENT=$KEYS/client-$1
exec flower-supernode --superlink "$SERVER:$FLEET_PORT" --root-certificates "$CLIENT/ca.crt" \
    --auth-supernode-private-key "$CLIENT/node.key" --host 127.0.0.1 --port $((9100 + $1)) \
    --node-config "partition-id=$1 signing-key=\"$CLIENT/signing.key\" misbehave=\"${2:-}\""
