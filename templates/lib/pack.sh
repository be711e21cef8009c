#!/bin/bash
# shellcheck disable=SC2153
# Runs the indices of a task, several at once: pack.sh SIZE PARALLEL COMMAND...
# $NEXA_ATTEMPT.indices gets a line for each that ends: INDEX STATUS METRICS. An index with status 0 in a file of an earlier
# attempt, also of an earlier submission, is not run again. Ends with the status of the first index that failed.
set -uo pipefail
size=$1 parallel=$2 task=$NEXA_TASK scratch=$NEXA_TASK_SCRATCH ended=$NEXA_ATTEMPT.indices stopped=''
shift 2
export -nf nexa_index

# An attempt that died may have left half of the last line.
declare -A good=() results=()
for file in "${NEXA_SUBMISSION:-/none}"/../*/results/"$task".*.indices "$ended"; do
  [[ ! -f $file ]] || while read -r index status metrics; do
    [[ $status != 0 || $metrics != '{'*'}' ]] || good[$index]=1
  done <"$file"
done
todo=()
for ((index = task * size; index < (task + 1) * size && index < NEXA_TASKS; index++)); do
  [[ -n ${good[$index]:-} ]] || todo+=("$index")
done
((${#good[@]} == 0)) || echo "nexa-slurm: ${#good[@]} of the indices ended well before; those left: ${#todo[@]}"

# Runs one index. Slurm signals each process: this shell stays to tell the result.
one() {
  local index=$1 status=0 metrics='{}' printer
  shift
  trap : TERM
  trap - INT QUIT # bash ignores them in what `&` starts
  export NEXA_TASK=$index NEXA_TASK_SCRATCH=$scratch/index_$index NEXA_METRICS=$scratch/index_$index.json
  export NEXA_CHECKPOINTS=$NEXA_DURABLE/checkpoints/$NEXA_RUN_ID/task_$index
  export WANDB_NAME=${WANDB_NAME/_task_$task/_task_$index} WANDB_RUN_ID=${WANDB_RUN_ID/_task_$task/_task_$index}
  nexa_index
  exec 3> >(trap '' TERM && exec sed -u "s/^/$index: /")
  printer=$!
  [[ $PWD != "$scratch" ]] || cd "$NEXA_TASK_SCRATCH" || status=74
  ((status != 0)) || "$@" >&3 2>&1 3>&- 4>&- || status=$?
  exec 3>&-
  # Not for ever: a process that the command left behind may hold it.
  for _ in {1..100}; do
    kill -0 "$printer" 2>/dev/null || break
    read -rt 0.01 <&4
  done
  if [[ -s $NEXA_METRICS ]]; then
    metrics=$(tr -d '\n\r' <"$NEXA_METRICS")
    if [[ $metrics != '{'*'}' ]] || ((${#metrics} > 4000)); then
      echo "nexa-slurm: index $index: its metrics are not kept: they are no JSON object of at most 4000 characters" >&2
      metrics='{}'
    fi
  fi
  # At once, so that lines of several do not mix; on a line of its own, after one that a full disk cut short.
  printf '\n%d %d %s\n' "$index" "$status" "$metrics" >>"$ended" ||
    echo "nexa-slurm: could not write to $ended: index $index counts as not run" >&2
  left=("$NEXA_TASK_SCRATCH"/*)
  if ((${#left[@]} > 0)) || [[ -e $NEXA_METRICS ]]; then
    cd / && rm -rf -- "$NEXA_TASK_SCRATCH" "$NEXA_METRICS"
  fi
}

trap 'stopped=1' TERM
exec 4<> <(:) # never has anything: to read from it is to sleep without a process
# As few processes as possible: short commands end before many of them have begun.
((${#todo[@]} == 0)) || mkdir -p -- "${todo[@]/#/$scratch/index_}" || exit 74
shopt -s nullglob dotglob
running=()
for index in "${todo[@]}"; do
  while [[ -z $stopped ]]; do
    alive=()
    for pid in "${running[@]}"; do
      ! kill -0 "$pid" 2>/dev/null || alive+=("$pid")
    done
    running=("${alive[@]}")
    ((${#running[@]} >= parallel)) || break
    wait -n
  done
  [[ -z $stopped ]] || break
  one "$index" "$@" &
  running+=($!)
done
until wait; do :; done

while read -r index status _; do
  [[ -z $index ]] || results[$index]=$status
done < <(cat -- "$ended" 2>/dev/null)
code=0 bad=()
for index in "${todo[@]}"; do
  status=${results[$index]:-$([[ -n $stopped ]] && echo 143 || echo 137)}
  [[ $status == 0 ]] && continue
  ((code != 0)) || code=$status
  bad+=("$index (${results[$index]:-not run})")
done
((${#bad[@]} == 0)) ||
  printf 'nexa-slurm: %d of %d indices did not end well: %s\n' ${#bad[@]} ${#todo[@]} "${bad[*]:0:10}$( ((${#bad[@]} <= 10)) || echo ' …')"
exit "$code"
