#!/usr/bin/env bash
# Whether the server answers. Without MODEL there is none to ask.
set -euo pipefail

if [[ -z ${MODEL:-} ]]; then
  exit 0
fi
exec python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' \
  "http://127.0.0.1:${PORT:-8000}/health"
