# The groups of a heterogeneous job. The first one's command is the job's, and its end ends the job; so does the failure of
# any other group, which runs its command once on each of its nodes.
NEXA_GROUP_NAMES=(<#list groups as group> [=group.name]</#list> ) NEXA_GROUP_FROM=() NEXA_GROUP_PIDS=() NEXA_GROUP_ENDED=0

# Where each group is, for all of them.
nexa_groups() {
  local -a variables=(<#list groups as group> [=group.variable]</#list> ) hosts
  local index list
  for index in "${!variables[@]}"; do
    list=SLURM_JOB_NODELIST_HET_GROUP_$index
    mapfile -t hosts < <(scontrol show hostnames "${!list}")
    export "NEXA_${variables[index]}_HOSTS=${hosts[*]}" "NEXA_${variables[index]}_HOST=${hosts[0]}"
    NEXA_GROUP_FROM+=("$(stat -c %s -- "${NEXA_LOG%_*}_$index.out" 2>/dev/null || echo 0)")
  done
  export NEXA_GROUP=${NEXA_GROUP_NAMES[0]}
  trap nexa_group_failed USR2
  export -f nexa_group_on_node nexa_check_node nexa_make_folders nexa_take_scratch nexa_hold nexa_forget_scratch nexa_tidy nexa_give_back
<#list groups as group>
<#if group.index gt 0 && group.runs>
  nexa_group [=group.index] [=group.cpus_per_task] [=group.gpus_per_node] &
  NEXA_GROUP_PIDS+=($!)
</#if>
</#list>
}

# INDEX CPUS GPUS: its log, its scratch and its result are those of the task with its number. srun would take the options of
# the first group from the environment.
nexa_group() {
  local status=0
  export NEXA_TASK=$1 NEXA_GROUP=${NEXA_GROUP_NAMES[$1]} NEXA_GPUS=$3 NEXA_TASK_SCRATCH=$NEXA_RUN_SCRATCH/task_$1
  export NEXA_ATTEMPT=${NEXA_ATTEMPT%/*}/$1.$NEXA_RESTART NEXA_CHECKPOINTS=${NEXA_CHECKPOINTS%/*}/task_$1
  export NEXA_METRICS=$NEXA_ATTEMPT.metrics.json
  export WANDB_NAME=${WANDB_NAME/%_task_0/_task_$1} WANDB_RUN_ID=${WANDB_RUN_ID/_task_0_/_task_$1_}
  trap - EXIT TERM USR1 USR2
  [[ -z $NEXA_SUBMISSION ]] || exec >>"${NEXA_LOG%_*}_$1.out" 2>&1
  ((NEXA_RESTART == 0)) || echo "nexa-slurm: attempt $((NEXA_RESTART + 1))"
  unset "${!SLURM_NTASKS@}" "${!SLURM_GPUS@}" "${!SLURM_MEM_@}" "${!SLURM_CPUS_PER_@}" SLURM_NPROCS SLURM_TASKS_PER_NODE \
    SLURM_HINT SLURM_THREADS_PER_CORE SLURM_DISTRIBUTION SLURM_EXCLUSIVE SLURM_OVERCOMMIT
  case $1 in
<#list groups as group>
<#if group.index gt 0>
    [=group.index])
      :
<#list group.hidden as name>
      unset [=name] # the first group's own
</#list>
<#list group.env as variable>
      export [=variable.name]=[=variable.value]
</#list>
      ;;
</#if>
</#list>
  esac
  srun --het-group="$1" --ntasks-per-node=1 --cpus-per-task="$2" --kill-on-bad-exit=1<@step/> bash -c nexa_group_on_node || status=$?
  echo "$status" >"$NEXA_ATTEMPT.ended"
  ((status == 0)) || kill -s USR2 $$
}

nexa_group_on_node() {
  local status=0
  trap : TERM
  nexa_take_scratch && nexa_check_node || exit
  cd "$NEXA_TASK_SCRATCH"
 <@prefix/> bash "$NEXA_RUN_DIR/runner/group_$NEXA_TASK.sh" || status=$?
  cd /
  nexa_tidy
  exit "$status"
}

nexa_group_failed() {
  NEXA_SIGNAL=USR2
  [[ -n $NEXA_CHILD ]] || return 0
  kill -s TERM -- "-$NEXA_CHILD" 2>/dev/null || true
  (sleep 30 && kill -s KILL -- "-$NEXA_CHILD" 2>/dev/null) &
}

# Ends the other groups. The failure of the group that failed first is the job's.
nexa_end_groups() {
  local index file failed='' unfit try
  if [[ -z $NEXA_SIGNALLED ]]; then
    for file in "${NEXA_ATTEMPT%/*}"/*".$NEXA_RESTART.ended"; do
      [[ -e $file && $(<"$file") != 0 && (-z $failed || $file -ot $failed) ]] || continue
      failed=$file
    done
  fi
  if [[ -n $failed ]]; then
    status=$(<"$failed") index=${failed##*/} index=${index%%.*} NEXA_GROUP_ENDED=$index
    echo "nexa-slurm: group ${NEXA_GROUP_NAMES[index]} failed, which ends the job" >&2
    # shellcheck disable=SC2034
    NEXA_LOG=${NEXA_LOG%_*}_$index.out NEXA_LOG_FROM=${NEXA_GROUP_FROM[index]}
    for unfit in "${NEXA_ATTEMPT%/*}/$index.$NEXA_RESTART".unfit.*; do
      [[ ! -e $unfit ]] || NEXA_UNFIT+=${NEXA_UNFIT:+,}${unfit##*.unfit.}
    done
  fi
  trap '' USR2
  scancel --quiet --signal=TERM "$NEXA_JOB" 2>/dev/null || true
  for ((try = 0; try < 50 && ${#NEXA_GROUP_PIDS[@]}; try++)); do
    kill -0 "${NEXA_GROUP_PIDS[@]}" 2>/dev/null || break
    sleep 0.2
  done
}

# One for each group, as if each were a task.
nexa_group_results() {
  local index code signal failure list hosts result told=${NEXA_ATTEMPT%/*}/$NEXA_GROUP_ENDED.$NEXA_RESTART.failure.json
  ((NEXA_GROUP_ENDED == 0)) || mv -f -- "$NEXA_ATTEMPT.failure.json" "$told" 2>/dev/null || true
  for index in "${!NEXA_GROUP_NAMES[@]}"; do
    code=$status signal=$NEXA_SIGNALLED failure=
    if ((index == NEXA_GROUP_ENDED)); then
      failure=${NEXA_FAILURE:-}
    elif [[ $status != 0 && -z $signal ]]; then
      code=143 signal=TERM
    fi
    list=SLURM_JOB_NODELIST_HET_GROUP_$index
    mapfile -t hosts < <(scontrol show hostnames "${!list}")
    result=${NEXA_ATTEMPT%/*}/$index.$NEXA_RESTART.json
    printf '{"task":%d,"restart":%d,"job_id":%d,"array_job_id":%d,"node":"%s","started":%d,"ended":%(%s)T,"exit_code":%d,"signal":"%s"%s}\n' \
      "$index" "$NEXA_RESTART" $((SLURM_JOB_ID + index)) "$SLURM_JOB_ID" \
      "${hosts[0]}" "$NEXA_STARTED" -1 "$code" "$signal" "$failure" >"$result.tmp" && mv -f -- "$result.tmp" "$result" ||
      echo "nexa-slurm: could not write $result" >&2
  done
}
