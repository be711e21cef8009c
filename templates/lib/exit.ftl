# Leaves results/<task>.<restart>.json, whatever ends the task; temp and rename, so that nobody reads half of it. First
# of all: to tidy up may take longer than Slurm waits.
nexa_exit() {
  local status=$?
  trap - EXIT
<#if on_slurm && !(serves!false)>
  # Where Slurm ends the job, its TERM may reach the command before this shell.
  [[ $status == 0 || -n $NEXA_SIGNALLED || $(timeout 10 squeue --noheader --jobs="$NEXA_JOB" --format=%T 2>/dev/null<#if grouped> | head -n 1</#if>) != @(PENDING|COMPLETING) ]] ||
    NEXA_SIGNALLED=TERM
</#if>
<#if grouped>
  nexa_end_groups
</#if>
<#if !(serves!false)>
  nexa_first_failure
</#if>
<#if checkpoint_seconds gt 0>
  # A task is done only if its files are where they stay.
  if ((status == 0)) && [[ $NEXA_SIGNALLED != TERM ]]; then
    nexa_keep_checkpoints 0 || { status=74 && nexa_leave_scratch; }
  fi
</#if>
  if [[ -n $NEXA_SUBMISSION ]]; then
<#if grouped>
    nexa_group_results
<#else>
    local result=$NEXA_ATTEMPT.json
    printf '{"task":%d,"restart":%d,"job_id":%d,"array_job_id":%d,"node":"%s","started":%d,"ended":%(%s)T,"exit_code":%d,"signal":"%s"%s}\n' \
      "$NEXA_TASK" "$NEXA_RESTART" "$SLURM_JOB_ID" "${NEXA_JOB%_*}" \
      "${SLURMD_NODENAME:-$HOSTNAME}" "$NEXA_STARTED" -1 "$status" "$NEXA_SIGNALLED" "${NEXA_FAILURE:-}" >"$result.tmp" &&
      mv -f -- "$result.tmp" "$result" ||
      echo "nexa-slurm: could not write $result" >&2
</#if>
  fi
<#-- Slurm may signal it too, and bash would say so in the log. -->
  { bash "$NEXA_RUN_DIR/runner/snapshot.sh" end "${NEXA_SNAPSHOT:-}" || true; } 2>/dev/null
<#if monitor_seconds gt 0 && (nodes == 1 || !(stepped!false))>
  nexa_end_monitor
</#if>
<#if serves!false>
  nexa_unregister
<#else>
  nexa_done
<#if checkpoint_seconds gt 0>
  if ((status != 0)) || [[ $NEXA_SIGNALLED == TERM ]]; then
    nexa_keep_checkpoints 1 || true
  fi
</#if>
  nexa_tracked || true
</#if>
  cd /
<#if nodes gt 1>
  export -f nexa_tidy nexa_give_back
  # On those that the job still has: somebody may have made it smaller.
<#if processes>
  nexa_own_step
</#if>
  timeout 30 srun <#if grouped>--nodes="$SLURM_JOB_NUM_NODES"<#else>--nodes="$(timeout 10 squeue --noheader --jobs="$NEXA_JOB" --format=%D)"</#if> --ntasks-per-node=1<#if processes> --gres=none</#if> --quiet bash -c nexa_tidy || true
</#if>
  nexa_tidy
<#if requeues gt 0>
  if ((status != 0 && NEXA_RESTART < [=requeues])) && [[ $NEXA_SIGNALLED != TERM && -n $NEXA_SIGNALLED$NEXA_UNFIT$NEXA_ENDED ]]; then
    nexa_requeue
  fi
</#if>
  exit "$status"
}

<#if checkpoint_seconds gt 0>
# Files that could not be kept are only on scratch, so it is not emptied.
nexa_leave_scratch() {
  echo "nexa-slurm: the final files are only in $NEXA_CHECKPOINTS of ${SLURMD_NODENAME:-$HOSTNAME}: copy them from there" >&2
  : >"$NEXA_CHECKPOINTS.stranded" || true
  nexa_tidy() { :; }
}

</#if>
nexa_tidy() {
  nexa_give_back "${NEXA_TASK_SCRATCH:?}"<#if ranks_per_node gt 0> "${NEXA_RANKS_SCRATCH:?}"/rank_*</#if>
}
<#if grows>

# More memory after an out-of-memory, more time after a time-out. Slurm would wait for ever for what no node has. More
# memory is no help where that of a GPU was used up.
nexa_grow() {
  local size most
  if [[ ${class:-} == oom && ! $NEXA_FAILURE =~ CUDA|HIP|CUBLAS ]]; then
    most=$(timeout 30 sinfo --exact --noheader --partition="$SLURM_JOB_PARTITION" --format=%m | sort -n | tail -n 1)
    for size in<#list grow_memory as size> [=size]</#list>; do
      ((size <= ${most:-0})) || size=${most:-0}
      ((size <= SLURM_MEM_PER_NODE)) || { NEXA_GROWN=MinMemoryNode=$size && NEXA_ENDED="out of memory" && break; }
    done
  elif [[ $NEXA_SIGNALLED == USR1 && $(timeout 30 squeue --noheader --jobs="$NEXA_JOB" --format=%l) =~ ^(([0-9]+)-)?(([0-9]+):)?([0-9]+):[0-9]+$ ]]; then
    most=$((10#0${BASH_REMATCH[2]} * 1440 + 10#0${BASH_REMATCH[4]} * 60 + 10#0${BASH_REMATCH[5]}))
    for size in<#list grow_minutes as size> [=size]</#list>; do
      ((size <= most)) || { NEXA_GROWN=TimeLimit=$size && break; }
    done
  fi
}
</#if>
<#if requeues gt 0>

# The next attempt; Slurm takes nodes to keep away from only while the job waits.
nexa_requeue() {
<#if on_slurm>
  trap '' TERM; [[ -z $NEXA_UNFIT ]] || { NEXA_UNFIT=$(bash "$NEXA_RUN_DIR/runner/keep_off.sh" [=nodes] "$NEXA_UNFIT" [=exclude]) || true; NEXA_ENDED="a node was not well"; }
<#else>
  trap '' TERM
</#if>
<#if grows>
  [[ $NEXA_SIGNALLED != USR1 ]] || nexa_grow
</#if>
  echo "nexa-slurm: queued again: $([[ -n $NEXA_UNFIT ]] && echo "without $NEXA_UNFIT" || echo "${NEXA_ENDED:-out of time}")"
<#if on_slurm>
  scontrol requeue "$NEXA_JOB" || echo "nexa-slurm: Slurm did not queue it again: this was the last attempt" >&2
  [[ -z $NEXA_UNFIT ]] || scontrol update "JobId=$NEXA_JOB" "ExcNodeList=$NEXA_UNFIT"
<#if grows>
  if [[ -n $NEXA_GROWN ]]; then
    scontrol update "JobId=$NEXA_JOB" "$NEXA_GROWN" && echo "nexa-slurm: the next attempt has $NEXA_GROWN" ||
      echo "nexa-slurm: Slurm did not give it $NEXA_GROWN: the next attempt is as large as this one" >&2
  fi
</#if>
<#else>
  : >"$NEXA_LOCAL_REQUEUE" || echo "nexa-slurm: it could not be queued again; this was the last attempt" >&2
</#if>
}
</#if>

# Runs a command so that a signal reaches it at once: bash runs traps only between commands, and wait is one.
nexa_run() {
  local status=0 again
  # With the user's own umask. Under -m bash does not make it ignore SIGINT and SIGQUIT, as it does else for `&`.
  set -m; umask "${NEXA_UMASK:-22}"; "$@" &
  NEXA_CHILD=$!; umask "${NEXA_TIGHT:-22}"; set +m
  NEXA_SIGNAL=
<#if watchdog_seconds gt 0>
  local guard=
  if [[ -n ${NEXA_GUARDED:-} ]]; then
    bash "$NEXA_RUN_DIR/runner/watchdog.sh" [=watchdog_seconds] "<#if packed!false>-</#if>$NEXA_CHILD" <#if container_step && !(outside!false)>2<#elseif stepped!false>1<#else>0</#if> 30 &
    guard=$!
  fi
</#if>
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
<#if watchdog_seconds gt 0>
  [[ -z $guard ]] || kill "$guard" 2>/dev/null || true
</#if>
  return "$status"
}

# Whoever ends a job signals each of its processes. Once more from here would be twice: to many programs that means "at
# once".
nexa_ended() {
  NEXA_SIGNAL=TERM
  NEXA_SIGNALLED=TERM
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
    kill -s TERM <#if packed!false>-- "-$NEXA_CHILD"<#else>"$NEXA_CHILD"</#if> 2>/dev/null || true
  fi
<#if checkpoint_seconds gt 0>
  if [[ -n ${NEXA_COPIER:-} ]]; then
    kill -s TERM "$NEXA_COPIER" 2>/dev/null || true
  fi
</#if>
</#if>
}

</#if>
<#if passed_signal??>
# sbatch --signal=B: signals this shell alone; with sbatch that is the command's own.
nexa_passed() {
  NEXA_SIGNAL=[=passed_signal]
  if [[ -n $NEXA_CHILD ]]; then
    kill -s [=passed_signal] "$NEXA_CHILD" 2>/dev/null || true
  fi
}

</#if>
nexa_watch() {
  NEXA_STARTED=$(printf '%(%s)T' -1)
  NEXA_CHILD=
  NEXA_SIGNALLED=
  NEXA_UNFIT=
<#if grows>
  NEXA_GROWN=
</#if>
<#if serves!false>
  NEXA_ENDED=
<#else>
  # shellcheck disable=SC2034
  NEXA_RETRY_ON=<#if requeues gt 0>[=retry_on]<#else>''</#if> NEXA_TAGS=[=tracking_tags]
  # shellcheck disable=SC1091
  source "$NEXA_RUN_DIR/runner/attempt.sh"
</#if>
<#if monitor_seconds gt 0 && (nodes == 1 || !(stepped!false))>
  source "$NEXA_RUN_DIR/runner/monitor.sh"
</#if>
  trap nexa_ended TERM
<#if warning_seconds gt 0>
  trap nexa_warned USR1
</#if>
<#if passed_signal??>
  trap nexa_passed [=passed_signal]
</#if>
  trap nexa_exit EXIT
  mkdir -p "${NEXA_ATTEMPT%/*}"
<#-- What the run runs on (docs/summary.md), beside the command. -->
  ((NEXA_TASK)) || { bash "$NEXA_RUN_DIR/runner/snapshot.sh" <#if uv??>[=uv]<#else>''</#if> <#if container??>[=container]<#else>''</#if> <#if env_file??>[=env_file]<#else>''</#if> & NEXA_SNAPSHOT=$!; disown "$NEXA_SNAPSHOT" 2>/dev/null || true; }
}
