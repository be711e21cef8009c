#!/usr/bin/env bash
# Words given: runs them. MODEL set: vLLM's OpenAI-compatible server. Neither: a shell.
#   MODEL            a model's name or folder
#   PORT             8000 if not given
#   TP               GPUs that one copy of the model is spread over, 1 if not given
#   VLLM_EXTRA_ARGS  more words for `vllm serve`, split at blanks
# The API key is VLLM_API_KEY, which vLLM reads itself: as a word it would show in `ps`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [[ $# -eq 0 && -n ${MODEL:-} ]]; then
  for name in PORT TP; do
    if [[ -n ${!name:-} && ! ${!name} =~ ^[1-9][0-9]*$ ]]; then
      echo "vllm_entry.sh: $name is '${!name}', expected a whole number" >&2
      exit 2
    fi
  done
  read -ra extra <<<"${VLLM_EXTRA_ARGS:-}"
  set -- vllm serve "$MODEL" --host 0.0.0.0 --port "${PORT:-8000}" --tensor-parallel-size "${TP:-1}" "${extra[@]}"
fi
exec "$here/shell_entry.sh" "$@"
