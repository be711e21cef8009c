# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# Sourced by a job script that reads files of earlier runs, or whose files in runner/ name the task's own folder on scratch:
# where these files are, and whether they are complete. inputs/<name>/ holds links to the earlier run, its output and its
# checkpoints, and the number of its tasks. The name is a stage of the pipeline, or a name of --from.

NEXA_INPUTS=()
NEXA_LACKING=''
NEXA_USED=''

# STAGE CONDITION VARIABLE: exports VARIABLE_output and VARIABLE_checkpoint. Slurm starts a job at once if it waits for a
# job that Slurm has forgotten, so the links in done/ are counted too. NFS may show a link late.
nexa_input() {
  local input=$NEXA_RUN_DIR/inputs/$1 lacking try
  for ((try = 0; try < 20; try++)); do
    lacking=$(nexa_lacking "$input" "$2")
    [[ -n $lacking ]] || break
    sleep 0.5
  done
  [[ -z $lacking ]] || NEXA_LACKING+="${NEXA_LACKING:+; }$1: $lacking"
  export "$3_output=$(readlink "$input/output")" "$3_checkpoint=$(nexa_checkpoint "$input" "$2")"
  NEXA_INPUTS+=("$1" "$3")
  NEXA_USED+="$1 $(nexa_attempts "$input/run/done" "$2")"$'\n'
}

# DONE CONDITION: a digest of the attempts that have completed the earlier tasks. `pipeline run --reuse` compares it.
nexa_attempts() {
  local task='*'
  [[ $2 != aftercorr ]] || task=$NEXA_TASK
  { find "$1/" -type l -name "$task" -printf '%f %l\n' 2>/dev/null || true; } | LC_ALL=C sort | sha256sum | cut -d ' ' -f 1
}

# INPUT CONDITION: says what is missing, or nothing.
nexa_lacking() {
  local tasks=
  local -a links
  read -r tasks 2>/dev/null <"$1/tasks" || true
  if [[ -z $tasks || ! -d $1/run/done ]]; then
    echo "$1 can't be read"
    return
  fi
  case $2 in
    afterok)
      shopt -s nullglob
      links=("$1/run/done/"*)
      ((${#links[@]} >= tasks)) || echo "${#links[@]} of $tasks tasks have completed"
      ;;
    aftercorr)
      [[ -L $1/run/done/$NEXA_TASK ]] || echo "task $NEXA_TASK has not completed"
      ;;
  esac
}

# INPUT CONDITION: the checkpoint that the earlier task names in its metrics, else the folder of its checkpoints. Without
# one task, it is the folder of all checkpoints of the run. --from JOB_TASK names the task in the file task.
nexa_checkpoint() {
  local tasks=1 task= result file found
  read -r tasks <"$1/tasks" || true
  if [[ -f $1/task ]]; then
    read -r task <"$1/task" || true
  elif [[ $2 == aftercorr ]]; then
    task=$NEXA_TASK
  elif [[ $tasks == 1 ]]; then
    task=0
  fi
  if [[ -n $task ]] && result=$(readlink -f "$1/run/done/$task"); then
    for file in "${result%.json}.metrics.json" "${result%.json}.tracked.json"; do
      if found=$(grep -aoE '"checkpoint"[[:space:]]*:[[:space:]]*"[^"\\]+"' "$file" 2>/dev/null | head -n 1) && [[ -n $found ]]; then
        found=${found%\"}
        printf '%s' "${found##*\"}"
        return
      fi
    done
  fi
  found=$(readlink "$1/checkpoints")
  printf '%s' "$found"
  [[ -z $task || $tasks == 1 ]] || printf '/task_%s' "$task"
}

# FILE REFERENCE VALUE: replaces the reference in the text of that file of runner/.
nexa_fill() {
  [[ $text == *"\${$2}"* ]] || return 0
  if [[ $3 == *[\"\\]* || $3 == *[[:cntrl:]]* || $3 == *': '* || $3 == *' #'* ]]; then
    echo "nexa-slurm: inputs: $2: '$3' can't stand in runner/$1" >&2
    exit 78
  fi
  text=${text//"\${$2}"/$3}
}

# FILE...: ends the task if an earlier stage is not complete; else fills the references in these files of runner/.
nexa_require_inputs() {
  if [[ -n $NEXA_LACKING ]]; then
    echo "nexa-slurm: inputs: $NEXA_LACKING; the command was not started" >&2
    exit 78
  fi
  [[ -z ${NEXA_SUBMISSION:-} ]] || printf '%s' "$NEXA_USED" >"$NEXA_ATTEMPT.inputs" || true
  local file text value i kind
  shopt -u patsub_replacement 2>/dev/null || true # Bash 5.2 reads & in a value
  for file; do
    text=$(<"$NEXA_RUN_DIR/runner/$file")
    nexa_fill "$file" task_scratch "$NEXA_TASK_SCRATCH"
    for ((i = 0; i < ${#NEXA_INPUTS[@]}; i += 2)); do
      for kind in output checkpoint; do
        value=${NEXA_INPUTS[i + 1]}_$kind
        nexa_fill "$file" "stages.${NEXA_INPUTS[i]}.$kind" "${!value}"
      done
    done
    mkdir -p "$NEXA_FILLED/$(dirname -- "$file")"
    printf '%s\n' "$text" >"$NEXA_FILLED/$file"
  done
}
