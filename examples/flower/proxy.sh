#!/bin/sh
# The only door to the outside: nginx passes the fleet API and answers 403 to all else.
set -eu
. "$(dirname "$0")/settings.sh"
PATH=$PATH:/usr/sbin
exec nginx -e stderr -p "$STATE" -c "$HERE/nginx.conf"
