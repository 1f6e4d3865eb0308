#!/bin/sh
# Starts a run, on the server, and shows its log. Arguments are settings of app/pyproject.toml:
# run.sh num-rounds=10 'strategy="fedavg"'. A run goes on from state/checkpoint.pt if it is there.
set -eu
. "$(dirname "$0")/settings.sh"
exec flwr run "$HERE/app" digits --stream --run-config "allowed-keys=\"$KEYS/server/signing\" \
records=\"$STATE/records.jsonl\" checkpoint=\"$STATE/checkpoint.pt\" $*"
