#!/bin/bash
# Ends a command that shows no sign of life for too long: watchdog.sh SECONDS PID STEPPED GRACE; -PID if all of its group get signals
# A sign of life is a change of the task's log, a rank's log, the metrics or the checkpoints: of a size or a time, so that
# clocks need not agree. STEPPED: srun started the command, and Slurm signals its processes. GRACE: seconds to save.
set -uo pipefail
limit=$1 pid=$2 stepped=$3 grace=$4
every=$((limit / 10))
every=$((every < 1 ? 1 : every > 30 ? 30 : every))

signs() {
  stat -c '%n %Y %s' -- "$NEXA_LOG" "$NEXA_RANK_LOGS" "$NEXA_RANK_LOGS"/* "$NEXA_METRICS" "$NEXA_CHECKPOINTS" \
    "$NEXA_CHECKPOINTS"/* "$NEXA_CHECKPOINTS"/*/* "$NEXA_ATTEMPT.indices" 2>/dev/null
}

# The command and all below it whose names match.
family() {
  ps -e -o pid= -o ppid= -o comm= | awk -v of="${pid#-}" -v name="$1" '
    { parent[$1] = $2; names[$1] = $3 }
    END {
      for (p in parent) for (q = p; names[p] ~ name && q in parent; q = parent[q]) if (q == of) { print p; break }
    }'
}

tell() {
  if ((stepped)); then
    scancel --quiet --signal="$1" "$NEXA_JOB"
  elif [[ $1 == TERM ]]; then
    kill -TERM "$pid"
  else
    # shellcheck disable=SC2046
    kill -s "$1" $(family '^python')
  fi
}

# The image is being fetched: the clock begins with the command.
while ((stepped == 2)) && [[ ! -e $NEXA_ATTEMPT.began ]]; do
  kill -0 "$pid" 2>/dev/null || exit 0
  sleep 1
done

last=$(signs) moved=$SECONDS
while kill -0 "$pid" 2>/dev/null; do
  sleep "$every"
  now=$(signs)
  if [[ $now != "$last" ]]; then
    last=$now moved=$SECONDS
  elif ((SECONDS - moved >= limit)); then
    break
  fi
done
kill -0 "$pid" 2>/dev/null || exit 0

echo "nexa-slurm: nothing printed or written for $limit s: the watchdog ends the task" | tee "$NEXA_ATTEMPT.stalled"
if [[ -n ${PYTHONFAULTHANDLER:-} ]]; then
  # Python prints where each of its threads is.
  tell ABRT 2>/dev/null
  sleep 2
fi
tell TERM 2>/dev/null
for ((i = 0; i < grace; i++)); do
  kill -0 "$pid" 2>/dev/null || exit 0
  sleep 1
done
if ((stepped)); then
  kill -TERM "$pid" # of a TERM srun makes a KILL
  sleep 5
fi
# Stopped first: a shell whose child is killed before it would go on with its next command.
# shellcheck disable=SC2046
kill -STOP $(family .) 2>/dev/null
# shellcheck disable=SC2046
kill -KILL $(family .) 2>/dev/null
