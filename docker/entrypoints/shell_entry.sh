#!/usr/bin/env bash
# Runs the words it is given; none: a shell. Works for any uid, and where the home cannot be written.
set -euo pipefail

# Python asks for a login name, which a uid that is not in /etc/passwd has not.
export USER=${USER:-runner}
export LOGNAME=${LOGNAME:-$USER}

# The mounted cache is used even where $HOME is another place.
mounted=/home/runner/.cache/huggingface
if [[ -z ${HF_HOME:-} && -w $mounted ]]; then
  export HF_HOME=$mounted
fi

# Triton, torch and vLLM keep caches below $HOME.
if [[ ! -d ${HOME:-} || ! -w ${HOME:-} ]]; then
  HOME=$(mktemp -d "${TMPDIR:-/tmp}/home.XXXXXX")
  export HOME
fi

if [[ $# -eq 0 ]]; then
  set -- bash
fi
exec "$@"
