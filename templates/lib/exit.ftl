# Leaves results/<task>.<restart>.json, whatever ends the task; temp and rename, so that nobody reads half of it. First
# of all: to tidy up may take longer than Slurm waits.
nexa_exit() {
  local status=$?
  trap - EXIT
  if [[ -n $NEXA_SUBMISSION ]]; then
    local result=$NEXA_SUBMISSION/results/$NEXA_TASK.$NEXA_RESTART.json
    printf '{"task":%d,"restart":%d,"job_id":%d,"array_job_id":%d,"node":"%s","started":%d,"ended":%(%s)T,"exit_code":%d,"signal":"%s"}\n' \
      "$NEXA_TASK" "$NEXA_RESTART" "$SLURM_JOB_ID" "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}" \
      "${SLURMD_NODENAME:-$HOSTNAME}" "$NEXA_STARTED" -1 "$status" "$NEXA_SIGNALLED" >"$result.tmp" &&
      mv -f -- "$result.tmp" "$result" ||
      echo "nexa-slurm: could not write $result" >&2
  fi
  cd /
  rm -rf -- "${NEXA_TASK_SCRATCH:?}"
  rmdir -- "$NEXA_RUN_SCRATCH" 2>/dev/null || true
<#if warning_seconds gt 0 && scheduler == "slurm">
  if [[ $NEXA_SIGNALLED == USR1 && $status != 0 ]] && ((NEXA_RESTART < [=requeues])); then
    echo "nexa-slurm: out of time: queued again"
    scontrol requeue "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}"
  fi
</#if>
  exit "$status"
}

# Runs a command so that a signal reaches it at once: bash runs traps only between commands, and wait is one.
nexa_run() {
  local status=0 again
  "$@" &
  NEXA_CHILD=$!
  NEXA_SIGNAL=
  wait "$NEXA_CHILD" || status=$?
  # A trap cut the wait short: wait on, for the command's own status. Bash has lost it where both died at once.
  while [[ -n $NEXA_SIGNAL ]]; do
    NEXA_SIGNAL=
    again=0
    wait "$NEXA_CHILD" || again=$?
    if ((again >= 0 && again != 127 && again != 255)); then
      status=$again
    fi
  done
  NEXA_CHILD=
  return "$status"
}

nexa_signal() {
  NEXA_SIGNAL=$1
  NEXA_SIGNALLED=$1
  if [[ -n $NEXA_CHILD ]]; then
    kill -s "$1" "$NEXA_CHILD" 2>/dev/null || true
  fi
}

<#if warning_seconds gt 0>
# Slurm warns this shell before the time is up. The command gets TERM, to save what it has: USR1 would kill torchrun and
# leave its ranks behind.
nexa_warned() {
  NEXA_SIGNAL=USR1
  NEXA_SIGNALLED=USR1
  if [[ -n $NEXA_CHILD ]]; then
    kill -s TERM "$NEXA_CHILD" 2>/dev/null || true
  fi
}

</#if>
nexa_watch() {
  NEXA_STARTED=$(printf '%(%s)T' -1)
  NEXA_CHILD=
  NEXA_SIGNALLED=
  trap 'nexa_signal TERM' TERM
<#if warning_seconds gt 0>
  trap nexa_warned USR1
</#if>
  trap nexa_exit EXIT
  if [[ -n $NEXA_SUBMISSION ]]; then
    mkdir -p "$NEXA_SUBMISSION/results"
  else
    mkdir -p "$NEXA_RUN_SCRATCH/results"
  fi
}
