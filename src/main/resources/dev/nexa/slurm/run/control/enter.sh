# Runs a command where a task of a run works: with the variables, in the folder and in the container of its newest process.
#   bash -c THIS enter RUN TASK [COMMAND ARG...]     without a command: a shell
set -u
run=$1 task=$2
shift 2
found='' newest=-1
for process in /proc/[0-9]*; do
  [[ -O $process && -r $process/environ ]] || continue
  variables=$'\n'$({ tr '\0' '\n' <"$process/environ"; } 2>/dev/null)$'\n'
  [[ $variables == *$'\n'"NEXA_RUN_ID=$run"$'\n'* && $variables == *$'\n'"NEXA_TASK=$task"$'\n'* ]] || continue
  [[ -z ${SLURM_JOB_ID:-} || $variables == *$'\n'"SLURM_JOB_ID=$SLURM_JOB_ID"$'\n'* ]] || continue
  stat=$(cat "$process/stat" 2>/dev/null) || continue
  read -ra fields <<<"${stat##*) }"
  # The 22nd field of proc(5): when the process started.
  if ((fields[19] > newest)); then
    newest=${fields[19]} found=$process
  fi
done
if [[ -z $found ]]; then
  echo "nexa-slurm: no process of task $task of $run is on $(uname -n)" >&2
  exit 1
fi
terminal=${TERM:-dumb}
while IFS= read -r -d '' variable; do
  export "${variable?}" 2>/dev/null || true
done <"$found/environ"
export TERM=$terminal
if (($# == 0)); then
  echo "nexa-slurm: task $task of $run on $(uname -n); exit leaves it, and the task goes on" >&2
  set -- sh -c 'command -v bash >/dev/null 2>&1 && exec bash; exec sh'
fi
enter=()
for space in user mnt; do
  if [[ $(readlink "$found/ns/$space") != "$(readlink "/proc/self/ns/$space")" ]]; then
    if [[ $space == mnt ]]; then
      enter+=(--mount --wd)
    else
      enter+=(--user --preserve-credentials)
    fi
  fi
done
if ((${#enter[@]} > 0)); then
  exec nsenter --target "${found##*/}" "${enter[@]}" -- "$@"
fi
cd "$(readlink "$found/cwd")" || exit
exec "$@"
