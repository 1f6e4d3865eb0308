# What every script of this folder agrees on; set a variable before a script to change it.
HERE=$(cd "$(dirname "$0")" && pwd)
KEYS=${KEYS:-$HERE/keys}             # what keys.sh made; on a client's machine, its own part
STATE=${STATE:-$HERE/state}          # database, records, checkpoint
SERVER=${SERVER:-localhost}          # the server as nodes reach it
FLEET_PORT=${FLEET_PORT:-9443}       # the proxy's port, open to nodes
SUPERLINK_PORT=${SUPERLINK_PORT:-8000}   # the SuperLink's port, on the server alone

export FLWR_HOME=${FLWR_HOME:-$STATE/flower}
export FLWR_TELEMETRY_ENABLED=0 FLWR_DISABLE_UPDATE_CHECK=1
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
mkdir -p "$STATE" "$FLWR_HOME"
