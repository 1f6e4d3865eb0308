#!/bin/sh
# Makes the authority, the server's certificate and the keys of five clients, all in keys/.
# Further arguments: --clients 8, --host fl.example.org (a name under which nodes reach the server).
set -eu
. "$(dirname "$0")/settings.sh"
exec wola flower keygen "$KEYS" "$@"
