# The one argument is the submission's folder, runs/<run id>/submissions/<key>. By hand, `cd` into a run's folder and
# `sbatch job.sbatch`: it runs the same, claims nothing and leaves no results.
nexa_preamble() {
  set -euo pipefail
  # Set by sbatch --export: srun would drop what is exported below (srun(1), --export).
  unset SLURM_EXPORT_ENV
  NEXA_SUBMISSION=${1:-}
  NEXA_RESTART=${SLURM_RESTART_COUNT:-0}
  local offset=0
  if [[ -n $NEXA_SUBMISSION ]]; then
    NEXA_RUN_DIR=$(cd "$NEXA_SUBMISSION/../.." && pwd)
    NEXA_RUN_ID=${NEXA_RUN_DIR##*/}
    read -r offset <"$NEXA_SUBMISSION/offset"
  else
    NEXA_RUN_DIR=$SLURM_SUBMIT_DIR
    NEXA_RUN_ID=manual_$SLURM_JOB_ID
  fi
  # Of an array's tasks one has the array's own number, which Slurm takes for all of them.
  NEXA_JOB=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}
  # Tasks are numbered over the whole run; a submission may hold a part of them.
  NEXA_TASK=$((${SLURM_ARRAY_TASK_ID:-0} + offset))
<#if indices??>
  nexa_index
</#if>
  NEXA_TASKS=[=shards]
  NEXA_STAGE=[=stage]
  export NEXA_JOB NEXA_SUBMISSION NEXA_RESTART NEXA_RUN_DIR NEXA_RUN_ID NEXA_TASK NEXA_TASKS NEXA_STAGE

  export NEXA_SCRATCH=[=scratch] NEXA_DURABLE=[=durable] NEXA_SHARED=[=shared]
  # Whose names on them are whose, where several workspaces share them; before that, nexa_claim.
  source "$NEXA_RUN_DIR/runner/nexa_storage.sh"
  export NEXA_RUN_SCRATCH=${NEXA_RUN_SCRATCH:-$NEXA_SCRATCH/$NEXA_RUN_ID}
  export NEXA_TASK_SCRATCH=$NEXA_RUN_SCRATCH/task_$NEXA_TASK
<#if code_sha256??>
  export NEXA_CODE=$NEXA_TASK_SCRATCH/code
</#if>
<#if program_sha256??>
  export NEXA_PROGRAM=${NEXA_RUN_DIR%/*/*}/programs/[=program_sha256]
  # In a team's workspace another member may have written it, and could change it after the check.
  [[ -O $NEXA_PROGRAM && ! -L $NEXA_PROGRAM ]] || NEXA_PROGRAM=$NEXA_TASK_SCRATCH/.program
</#if>
<#if !(serves!false)>
  export NEXA_OUTPUT=$NEXA_DURABLE/[=outputs]/$NEXA_RUN_ID
</#if>
<#if checkpoint_seconds gt 0>
  # On scratch while the task runs; what stays goes to the other folder.
  export NEXA_CHECKPOINTS=$NEXA_TASK_SCRATCH/checkpoints
  export NEXA_FINAL=$NEXA_DURABLE/checkpoints/$NEXA_RUN_ID<#if tasks gt 1>/task_$NEXA_TASK</#if>
<#else>
  export NEXA_CHECKPOINTS=$NEXA_DURABLE/checkpoints/$NEXA_RUN_ID<#if tasks gt 1>/task_$NEXA_TASK</#if>
</#if>
<#if ranks_per_node gt 0>
  # Each rank's own folder is rank_<n> in it.
  export NEXA_RANKS_SCRATCH=<#if tasks gt 1>$NEXA_TASK_SCRATCH<#else>$NEXA_RUN_SCRATCH</#if>
</#if>
  export NEXA_ATTEMPT=${NEXA_SUBMISSION:-$NEXA_RUN_SCRATCH}/results/$NEXA_TASK.$NEXA_RESTART
  export NEXA_METRICS=$NEXA_ATTEMPT.metrics.json
<#if has_inputs>
  export NEXA_FILLED=$NEXA_ATTEMPT.runner
  # By hand, the attempt's folder is on scratch, which another node may not see.
  [[ -n $NEXA_SUBMISSION ]] || NEXA_FILLED=$NEXA_RUN_DIR/logs/$NEXA_JOB.runner
  # shellcheck disable=SC1091
  source "$NEXA_RUN_DIR/runner/inputs.sh"
<#list after as earlier>
  nexa_input [=earlier.stage] [=earlier.condition] [=earlier.variable]
</#list>
</#if>
<#if sweep>
  # What this task's point of the sweep sets.
  # shellcheck disable=SC1090,SC1091
  source "$NEXA_RUN_DIR/runner/$NEXA_TASK/point.env"
</#if>
<#if debug>
  # Many lines: only to find why it hangs.
  export NCCL_DEBUG=INFO TORCH_DISTRIBUTED_DEBUG=DETAIL VLLM_LOGGING_LEVEL=DEBUG
</#if>
<#list env as variable>
  export [=variable.name]=[=variable.value]
</#list>
<#if env_file??>
  nexa_secrets [=env_file]
</#if>
}
<#if env_file??>

# Secrets stand in no script, argument or log: the job reads them from a file that only its owner may read.
nexa_secrets() {
  if [[ $(stat -L -c %a -- "$1") != 600 ]]; then
    echo "nexa-slurm: $1: expected a file of mode 600; chmod 600 it" >&2
    return 1
  fi
  set -a
  # shellcheck disable=SC1090
  source "$1"
  set +a
}
</#if>

<#if indices??>
# What sbatch sets for an index of this array. Slurm's own array counts from 0, and the list may stand in several arrays.
nexa_index() {
  local list=[=indices] part count left=$NEXA_TASK step IFS=,
  for part in $list; do
    step=1
    [[ $part != *:* ]] || step=${part#*:} part=${part%:*}
    count=$(((${part#*-} - ${part%-*}) / step + 1))
    ((left >= count)) || break
    left=$((left - count))
  done
  SLURM_ARRAY_TASK_ID=$((${part%-*} + left * step))
  SLURM_ARRAY_TASK_MIN=${list%%[-,]*}
  list=${list##*[-,]}
  SLURM_ARRAY_TASK_MAX=${list%:*}
  SLURM_ARRAY_TASK_COUNT=[=shards] SLURM_ARRAY_TASK_STEP=[=index_step]
  export "${!SLURM_ARRAY_TASK_@}"
}
<#if packed>
export -f nexa_index
</#if>

</#if>
# A task belongs to the job that claims it first. A requeue keeps the job id and passes; a duplicate leaves its id and ends.
# So does a job that turns up after its submission was closed and made again: there is no claims/ then.
nexa_claim() {
  [[ -n $NEXA_SUBMISSION ]] || return 0
  local claim=$NEXA_SUBMISSION/claims/$NEXA_TASK
  ln -s "$SLURM_JOB_ID" "$claim" 2>/dev/null && return
  local holder
  holder=$(readlink "$claim") || true
  [[ $holder != "$SLURM_JOB_ID" ]] || return 0
  if [[ -n $holder || ! -e ${claim%/*} ]]; then
    echo "nexa-slurm: task $NEXA_TASK belongs to another job (${holder:-submitted again}); this one ends" >&2
    mkdir -p "$NEXA_SUBMISSION/duplicates/${NEXA_JOB%_*}" || true
    exit 0
  fi
  echo "nexa-slurm: task $NEXA_TASK can't be claimed: $claim can't be made" >&2
  return 1
}
<#if chain gt 1>

# A chain goes on until the task has ended well: what an earlier link finished is not done again.
nexa_leave_if_done() {
  if [[ -L $NEXA_RUN_DIR/done/$NEXA_TASK ]]; then
    echo "nexa-slurm: task $NEXA_TASK was finished by an earlier link of the chain"
    NEXA_METRICS=/dev/null # the link that worked has told
    exit 0
  fi
}
</#if>
<#if requeues gt 0 && on_slurm>

# The last allowed attempt forbids another: each one costs what the estimate counted.
nexa_limit_requeues() {
  if ((NEXA_RESTART >= [=requeues])); then
    scontrol update "JobId=$NEXA_JOB" Requeue=0 || echo "nexa-slurm: could not forbid a further requeue" >&2
  fi
}
</#if>

nexa_software() {
  :
<#list modules>
  # Module scripts use unset variables.
  set +u
<#items as module>
  module load [=module]
</#items>
  set -u
</#list>
<#if venv??>
  # shellcheck disable=SC1091
  source [=venv]/bin/activate
</#if>
<#if uv??>
  nexa_run bash "$NEXA_RUN_DIR/runner/check_uv.sh" [=uv]
  # shellcheck disable=SC1091
  source [=uv]/.venv/bin/activate
</#if>
<#if conda??>
  # Its scripts use unset variables.
  set +u
  eval "$(conda shell.bash hook)"
  conda activate [=conda]
  set -u
</#if>
<#if setup>
  # The config's own lines, which may use unset variables.
  set +u
  # shellcheck disable=SC1091
  source "$NEXA_RUN_DIR/runner/setup.sh"
  set -u
</#if>
}
