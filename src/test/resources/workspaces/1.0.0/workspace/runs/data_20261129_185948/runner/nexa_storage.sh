# The job script has set what is read here.
# shellcheck disable=SC2153

# Sourced by the job script: which names on the storage tiers are this run's. Another workspace may have given a run the
# same id in the same second. So each name belongs to the run whose folder a file says: TIER/.nexa-runs/NAME, on scratch
# TIER/.nexa-scratch/NAME. O_EXCL makes the file, so that one run gets the name. Submit does the same on the tiers that it
# sees (StorageClaims), and then the names are the run's id.

# Whether NAME is this run's in that folder of claims, or the tier takes none. The third argument is the run's own folder. Each
# run makes its claim before its folder and no task removes a claim, so a folder without a claim is no run's of ours.
nexa_hold() {
  local claim=$1/$2 owner='' try
  if [[ ! -d $1 ]]; then
    # As writable as the tier.
    { mkdir -p -- "${1%/*}" && mkdir -- "$1" && chmod --reference="${1%/*}" -- "$1"; } 2>/dev/null || true
  fi
  [[ -z ${3:-} || ! -e $3 || -e $claim ]] || return 1
  ! (umask 022 && set -C && echo "$NEXA_OWNER" >"$claim") 2>/dev/null || return 0
  # The run that has just made the claim may not have written it yet.
  for try in 1 2 3 4 5; do
    [[ -e $claim ]] || return 0
    owner=$(cat -- "$claim" 2>/dev/null) || true
    [[ -z $owner ]] || break
    sleep "0.$try"
  done
  [[ $owner == "$NEXA_OWNER" ]]
}

# Removes this user's claims on scratch that no task has held for 30 days and that have no folder. Reconcile removes the claim
# of an ended run where it sees the tier; on a node's own disk only a job can.
nexa_forget_scratch() {
  local claim
  while IFS= read -r -d '' claim; do
    [[ -e $NEXA_SCRATCH/${claim##*/} ]] || rm -f -- "$claim"
  done < <(find "$1" -maxdepth 1 -type f -user "$EUID" -mtime +30 -print0 2>/dev/null)
}

# On each node, before anything is written there. A task of this run that ends here removes the run's folder once it is empty:
# it can't be empty from the mkdir on.
nexa_take_scratch() {
  local claims=$NEXA_SCRATCH/.nexa-scratch name=${NEXA_RUN_SCRATCH##*/} node=${SLURMD_NODENAME:-$HOSTNAME}
  if nexa_hold "$claims" "$name" "$NEXA_RUN_SCRATCH"; then
    touch -c -- "$claims/$name" 2>/dev/null || true
    nexa_forget_scratch "$claims"
    # What can't be made, the check of the node reports.
    for _ in {1..20}; do ! mkdir -p -- "$NEXA_TASK_SCRATCH" 2>/dev/null || break; done
    # In a folder of another user, that user could change what the task uses.
    if [[ ! -L $NEXA_RUN_SCRATCH && (! -e $NEXA_RUN_SCRATCH || -O $NEXA_RUN_SCRATCH) ]]; then
      ! nexa_hold "$claims" "$name" || return 0
    fi
  fi
  [[ -z ${NEXA_ATTEMPT:-} ]] || echo "$NEXA_RUN_SCRATCH belongs to another run" >"$NEXA_ATTEMPT.unfit.$node"
  return 1
}

# Makes the folders that a task needs on a node: two on scratch, one on durable, one on shared, the others on scratch. The
# first argument is the cluster profile's name. Prints which tier can't be written, and fails then.
nexa_make_folders() {
  local profile=configs/clusters/$1.yaml error i
  shift
  # A task of this run that ends on this node may take the run's folder away before mkdir goes on in it.
  for _ in {1..20}; do
    mkdir -p -- "$@" 2>/dev/null || continue
    [[ ! -O $1 || -L $1 ]] || return 0
    echo "$1 belongs to another user"
    return 1
  done
  local -a keys=(scratch scratch durable shared) tiers=("$NEXA_SCRATCH" "$NEXA_SCRATCH" "$NEXA_DURABLE" "$NEXA_SHARED")
  local -a folders=("$@")
  for i in "${!folders[@]}"; do
    error=$(LC_ALL=C mkdir -p -- "${folders[i]}" 2>&1) && continue
    echo "it can't write ${tiers[i]:-$NEXA_SCRATCH} (storage.${keys[i]:-scratch} in $profile): ${error##*: }"
    return 1
  done
}

# Removes the task's folders, which are the arguments, and the run's once it is empty; nothing of another run. The claim stays,
# because another task may make the folder at this moment. And what the command left in the workspace, only the user can write to.
nexa_give_back() {
  local claim=$NEXA_SCRATCH/.nexa-scratch/${NEXA_RUN_SCRATCH##*/}
  [[ ! -e $claim || $(cat -- "$claim") == "$NEXA_OWNER" ]] || return 0
  rm -rf -- "$@"
  if ((8#$NEXA_UMASK != 8#$NEXA_TIGHT)); then
    chmod "$NEXA_CLOSE" -- "$NEXA_RUN_DIR/tracking" 2>/dev/null || true
    chmod -R "$NEXA_CLOSE" -- "$NEXA_ATTEMPT".* "$NEXA_RUN_DIR/tracking/$NEXA_TASK" 2>/dev/null || true
  fi
  rmdir -- "$NEXA_RUN_SCRATCH" 2>/dev/null || true
}

nexa_names() {
  export NEXA_OWNER=$NEXA_RUN_DIR
  # By hand, one folder may have several jobs at once.
  [[ -n $NEXA_SUBMISSION ]] || NEXA_OWNER+=" job $SLURM_JOB_ID of ${SLURM_CLUSTER_NAME:-}"
  local id=$NEXA_RUN_ID more
  for more in '' .{2..99} none; do
    NEXA_RUN_ID=$id$more
    nexa_hold "$NEXA_DURABLE/.nexa-runs" "$NEXA_RUN_ID" && nexa_hold "$NEXA_SHARED/.nexa-runs" "$NEXA_RUN_ID" && break
  done
  for more in '' .{2..99} none; do
    NEXA_RUN_SCRATCH=$NEXA_SCRATCH/$NEXA_RUN_ID$more
    NEXA_TASK_SCRATCH=$NEXA_RUN_SCRATCH/task_$NEXA_TASK
    nexa_take_scratch && break
  done
  if [[ $NEXA_RUN_SCRATCH == *none ]]; then
    echo "nexa-slurm: no name like $id is free in $NEXA_SCRATCH, $NEXA_DURABLE and $NEXA_SHARED" >&2
    return 1
  fi
  [[ $NEXA_RUN_SCRATCH == "$NEXA_SCRATCH/$id" ]] ||
    echo "nexa-slurm: $id is another run's here; this run's are $NEXA_RUN_ID and $NEXA_RUN_SCRATCH" >&2
}

# In the workspace nobody but the user can write, whatever the umask is, unless its folders are set up for a group. In
# the sticky folders of a team the group can read. The command keeps the umask: on the tiers that is the user's choice.
nexa_umask() {
  local others=22 kept=777 log
  NEXA_CLOSE=go-w
  if [[ -g $NEXA_RUN_DIR && $(stat -c %A -- "$NEXA_RUN_DIR") == ?????w* ]]; then
    others=2 NEXA_CLOSE=o-w
  elif [[ -g $NEXA_RUN_DIR && -k $NEXA_RUN_DIR ]]; then
    kept=727 NEXA_CLOSE=go-w,g+rX
  fi
  NEXA_UMASK=$(umask)
  NEXA_TIGHT=$(printf %04o "$(((8#$NEXA_UMASK | 8#$others) & 8#$kept))")
  export NEXA_CLOSE NEXA_UMASK NEXA_TIGHT
  umask "$NEXA_TIGHT"
  log=$(readlink "/proc/$$/fd/1") || true
  [[ $log != "$NEXA_RUN_DIR/logs/"* ]] || chmod "$NEXA_CLOSE" -- "$log"
}

nexa_umask
# What is no job of this task's must not take a name.
nexa_claim
nexa_names
# Until nexa_watch, whatever ends the task.
trap nexa_tidy EXIT
