# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# Sourced by the job script at the beginning of each attempt: where its logs are, what trackers call it, why it failed.

# A slurmctld that lost its state starts what has ended once more, as the same attempt.
if [[ -n $NEXA_SUBMISSION && $(cat "$NEXA_ATTEMPT.json" 2>/dev/null) =~ \"exit_code\":([0-9]+) ]]; then
  echo "nexa-slurm: this attempt has ended already; Slurm started it again, and the command was not started" >&2
  exit "${BASH_REMATCH[1]}"
fi

# An earlier attempt of the task printed to the same log.
NEXA_LOG=$(readlink "/proc/$$/fd/1")
NEXA_LOG_FROM=$(stat -c %s -- "$NEXA_LOG" 2>/dev/null) || NEXA_LOG_FROM=0
NEXA_RANK_LOGS=$NEXA_RUN_DIR/logs/${NEXA_JOB%_*}_0.ranks
[[ $NEXA_JOB != *_* ]] || NEXA_RANK_LOGS=$NEXA_RUN_DIR/logs/$NEXA_JOB.ranks
NEXA_FAILURE='' NEXA_ENDED=''
export NEXA_LOG NEXA_RANK_LOGS
((NEXA_RESTART == 0)) || echo "nexa-slurm: attempt $((NEXA_RESTART + 1))"

# done/ has a link for each task that has completed, to its result. A chain's next link leaves what an earlier one has done.
declare -F nexa_leave_if_done >/dev/null || rm -f -- "$NEXA_RUN_DIR/done/$NEXA_TASK"
nexa_done() {
  [[ -n $NEXA_SUBMISSION && $status == 0 && $NEXA_SIGNALLED != TERM && ! -L $NEXA_RUN_DIR/done/$NEXA_TASK ]] || return 0
  ln -s "../submissions/${NEXA_SUBMISSION##*/}/results/${NEXA_ATTEMPT##*/}.json" "$NEXA_RUN_DIR/done/$NEXA_TASK" ||
    echo "nexa-slurm: could not make $NEXA_RUN_DIR/done/$NEXA_TASK" >&2
}

# Python prints each line at once. W&B goes on with the same run at a requeue, and in the next link of a chain. A value
# that the config or the cluster profile set wins.
export PYTHONUNBUFFERED=${PYTHONUNBUFFERED-1}
NEXA_TRACKED=$NEXA_RUN_ID
((NEXA_TASKS == 1)) || NEXA_TRACKED+=_task_$NEXA_TASK
export WANDB_RUN_GROUP=${WANDB_RUN_GROUP:-$NEXA_RUN_ID} WANDB_NAME=${WANDB_NAME:-$NEXA_TRACKED}
# Another workspace may have a run of the same name.
NEXA_PLACE=$(cksum <<<"$NEXA_RUN_DIR")
export WANDB_RUN_ID=${WANDB_RUN_ID:-${NEXA_TRACKED}_${NEXA_PLACE%% *}}
export WANDB_RESUME=${WANDB_RESUME:-allow} WANDB_TAGS=${WANDB_TAGS:-$NEXA_TAGS}

# torchrun and accelerate start each rank through rank.sh, which keeps its output apart. Releases of torch before 2.3 look
# after their ranks every five seconds: too seldom to know which failed first.
nexa_ranks() {
  export NEXA_TRACKED NEXA_PYTHON=${PYTHON_EXEC:-} PYTHON_EXEC=$NEXA_ATTEMPT.python
  export PET_MONITOR_INTERVAL=${PET_MONITOR_INTERVAL:-0.1}
  mkdir -p "$NEXA_RANK_LOGS"
  install -m 755 "$NEXA_RUN_DIR/runner/rank.sh" "$PYTHON_EXEC"
}

# Of a command that failed by itself: what failed first, and whether that is tried again. The attempt's status is that
# failure's; the launcher's own only says that a rank failed.
nexa_first_failure() {
  local class='' found code word
  [[ ! -e $NEXA_ATTEMPT.stalled ]] || class=stall
  [[ $status != 0 || -n $class ]] && [[ -z $NEXA_SIGNALLED && -z $NEXA_UNFIT ]] || return 0
  found=$(timeout 20 bash "$NEXA_RUN_DIR/runner/first_failure.sh" "$status" "$NEXA_LOG" "$NEXA_LOG_FROM" \
    "$NEXA_RANK_LOGS" $((NEXA_RESTART + 1)) ${class:+"$class"}) && [[ $found == *' '*$'\n{'*'}' ]] || return 0
  read -r class code <<<"$found"
  found=${found#*$'\n'}
  NEXA_FAILURE=,\"failure\":$found
  status=$code
  [[ -z $NEXA_SUBMISSION ]] || printf '%s\n' "$found" >"$NEXA_ATTEMPT.failure.json" || true
  [[ -n $NEXA_RETRY_ON ]] || return 0
  ! declare -F nexa_grow >/dev/null || nexa_grow
  for word in $NEXA_RETRY_ON; do
    [[ $word != "$class" && $word != "$status" ]] || NEXA_ENDED="class $class, status $status"
  done
  # The command's last line may lack its end.
  [[ -z $(tail -c 1 -- "$NEXA_LOG" 2>/dev/null) ]] || echo
  [[ -n $NEXA_ENDED ]] || echo "nexa-slurm: not tried again: retry_on names neither $class nor $status" >&2
}

# The address of a tracker's page about a run, which W&B and MLflow print. There is none for a run that is offline, and an
# address with a password is left out.
nexa_page() {
  local url
  url=$(grep -aoE "https?://[^[:space:][:cntrl:]@\"\\\\]+/runs/$2" "$NEXA_LOG" | tail -n 1) || return 0
  [[ -z $url ]] || found+=("\"$1\":\"$url\"")
}

# MODEL...: the SHA-256 of each file of the models that an evaluation reads. `release package` compares them.
nexa_models() {
  local model
  for model; do
    ! model=$(readlink -e -- "$model") || find -L "$model" -type f -print0
  done | sort -zu | xargs -0 -r -n 1 -P 8 sha256sum || true
}

# FOLDER: whether it holds a complete checkpoint. A command that ended with 0 has written its files wholly; two of them are
# copies of ours. Of any other, a file says it that is written last: by Trainer, torch's distributed checkpoints, the
# program itself, or DeepSpeed. A file of torch.save is a zip file, whose directory is its end.
nexa_kept() {
  local file
  if ((status == 0)); then
    [[ -n $(find -L "$1" -maxdepth 3 -type f -size +0 ! -path "$1/config.yaml" ! -path "$1/manifest.json" -print -quit) ]]
    return
  fi
  while IFS= read -r file; do
    case $file in
      *.json) [[ $(tail -c 8 -- "$file" | tr -d '[:space:]') != *'}' ]] || return 0 ;;
      *.pt | *.pth | *.ckpt | *.bin) [[ $(tail -c 65558 -- "$file" | LC_ALL=C grep -ac $'PK\x05\x06') == 0 ]] || return 0 ;;
      *) return 0 ;;
    esac
  done < <(
    find -L "$1" -maxdepth 2 -type f \( -name trainer_state.json -o -name .metadata -o -name .complete \)
    find -L "$1" -maxdepth 1 -type f \( -name latest -o -name '*.pt' -o -name '*.pth' -o -name '*.ckpt' -o -name '*.bin' \)
  )
  return 1
}

# What the metrics may lack: where the checkpoints are, and what the run is called by W&B, which keeps a link to its newest
# run, or by MLflow, which prints where its run can be viewed.
nexa_tracked() {
  local id checkpoint=$NEXA_CHECKPOINTS
  local -a found=()
  [[ -z ${NEXA_FINAL:-} ]] || checkpoint=$NEXA_FINAL/final
  if [[ -d $checkpoint && $checkpoint != *[\"\\]* ]] && nexa_kept "$checkpoint"; then
    found+=("\"checkpoint\":\"$checkpoint\"")
  fi
  if id=$(readlink "${WANDB_DIR:-.}/wandb/latest-run") && id=${id#*run-*-} && [[ ! $id =~ [^A-Za-z0-9_-] ]]; then
    found+=("\"wandb_run_id\":\"$id\"")
    nexa_page wandb_url "$id"
  fi
  if [[ -n ${MLFLOW_TRACKING_URI:-} ]] && id=$(grep -aoE '/runs/[0-9a-f]{32}' "$NEXA_LOG" | tail -n 1); then
    found+=("\"mlflow_run_id\":\"${id##*/}\"")
    nexa_page mlflow_url "${id##*/}"
  fi
  ((${#found[@]} == 0)) || (IFS=, && printf '{%s}\n' "${found[*]}" >"$NEXA_ATTEMPT.tracked.json")
}
