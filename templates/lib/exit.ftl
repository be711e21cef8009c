# Leaves results/<task>.<restart>.json, whatever ends the task; temp and rename, so that nobody reads half of it. First
# of all: to tidy up may take longer than Slurm waits.
nexa_exit() {
  local status=$?
  trap - EXIT
  if [[ -n $NEXA_SUBMISSION ]]; then
    local result=$NEXA_ATTEMPT.json
    printf '{"task":%d,"restart":%d,"job_id":%d,"array_job_id":%d,"node":"%s","started":%d,"ended":%(%s)T,"exit_code":%d,"signal":"%s"}\n' \
      "$NEXA_TASK" "$NEXA_RESTART" "$SLURM_JOB_ID" "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}" \
      "${SLURMD_NODENAME:-$HOSTNAME}" "$NEXA_STARTED" -1 "$status" "$NEXA_SIGNALLED" >"$result.tmp" &&
      mv -f -- "$result.tmp" "$result" ||
      echo "nexa-slurm: could not write $result" >&2
  fi
<#if serves!false>
  nexa_unregister
<#else>
  nexa_tracked || true
</#if>
  cd /
<#if nodes gt 1>
  export -f nexa_tidy
  timeout 30 srun --ntasks-per-node=1 --quiet bash -c nexa_tidy || true
</#if>
  nexa_tidy
<#if requeues gt 0 && scheduler == "slurm">
  if ((status != 0 && NEXA_RESTART < [=requeues])) && [[ $NEXA_SIGNALLED == USR1 || -n $NEXA_UNFIT<#if serves!false> || -n ${NEXA_ENDED:-}</#if> ]]; then
    nexa_requeue
  fi
</#if>
  exit "$status"
}

<#if !(serves!false)>
# A runner that wrote no metrics: where its checkpoints are, and what it is called by W&B, which keeps a link to its newest
# run, or by MLflow, which prints where its run can be viewed.
nexa_tracked() {
  [[ ! -e $NEXA_METRICS ]] || return 0
  local id
  local -a found=()
  [[ ! -d $NEXA_CHECKPOINTS || $NEXA_CHECKPOINTS == *[\"\\]* ]] || found+=("\"checkpoint\":\"$NEXA_CHECKPOINTS\"")
  if id=$(readlink "${WANDB_DIR:-.}/wandb/latest-run") && id=${WANDB_RUN_ID:-${id##*-}} && [[ ! $id =~ [^A-Za-z0-9_-] ]]; then
    found+=("\"wandb_run_id\":\"$id\"")
  fi
  if [[ -n ${MLFLOW_TRACKING_URI:-} ]] && id=$(grep -aoE '/runs/[0-9a-f]{32}' "$(readlink /proc/$$/fd/1)" | tail -n 1); then
    found+=("\"mlflow_run_id\":\"${id##*/}\"")
  fi
  ((${#found[@]} == 0)) || (IFS=, && printf '{%s}\n' "${found[*]}" >"$NEXA_ATTEMPT.tracked.json")
}

</#if>
nexa_tidy() {
  rm -rf -- "${NEXA_TASK_SCRATCH:?}"<#if ranks_per_node gt 0> "${NEXA_RANKS_SCRATCH:?}"/rank_*</#if>
  rmdir -- "$NEXA_RUN_SCRATCH" 2>/dev/null || true
}
<#if requeues gt 0 && scheduler == "slurm">

# The next attempt; Slurm takes nodes to keep away from only while the job waits.
nexa_requeue() {
  trap '' TERM
  echo "nexa-slurm: queued again: $([[ -n $NEXA_UNFIT ]] && echo "without $NEXA_UNFIT" || echo <#if serves!false>"${NEXA_ENDED:-out of time}"<#else>'out of time'</#if>)"
  scontrol requeue "$NEXA_JOB"
  [[ -z $NEXA_UNFIT ]] || scontrol update "JobId=$NEXA_JOB" "ExcNodeList=$NEXA_UNFIT"
}
</#if>

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
<#if stepped!container_step>
  # Slurm signals the steps itself, and srun would kill its own at once.
<#else>
  if [[ -n $NEXA_CHILD ]]; then
    kill -s "$1" "$NEXA_CHILD" 2>/dev/null || true
  fi
</#if>
}

<#if warning_seconds gt 0>
# Slurm warns this shell before the time is up. The command gets TERM, to save what it has: USR1 would kill torchrun and
# leave its ranks behind.
nexa_warned() {
  NEXA_SIGNAL=USR1
  NEXA_SIGNALLED=USR1
<#if stepped!container_step>
  # Of srun a TERM would make a KILL.
  scancel --quiet --signal=TERM "$NEXA_JOB" || true
<#else>
  if [[ -n $NEXA_CHILD ]]; then
    kill -s TERM "$NEXA_CHILD" 2>/dev/null || true
  fi
</#if>
}

</#if>
nexa_watch() {
  NEXA_STARTED=$(printf '%(%s)T' -1)
  NEXA_CHILD=
  NEXA_SIGNALLED=
  NEXA_UNFIT=
  trap 'nexa_signal TERM' TERM
<#if warning_seconds gt 0>
  trap nexa_warned USR1
</#if>
  trap nexa_exit EXIT
  mkdir -p "${NEXA_ATTEMPT%/*}"
}
