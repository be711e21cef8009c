#!/bin/bash
# Keeps the checkpoints that a task writes on the scratch disk also on durable storage:
#   checkpoints.sh ready            once, at the task's start: makes the folder of copies, removes half copies
#   checkpoints.sh begin            then on each node, before the command: brings the copies back
#   checkpoints.sh watch SECONDS    on each node, beside the command: copies complete checkpoints at this interval
#   checkpoints.sh stage STATUS     on each node, after the command has ended with this status
#   checkpoints.sh publish STATUS   once, after stage: copies become visible; STATUS 0 makes the final folder
# NEXA_CHECKPOINTS is the folder on scratch, NEXA_FINAL the task's folder on durable storage. Copies are in its
# .nexa-resume. A copy is made aside, flushed, and renamed, so a copy with its own name is complete. Nodes that share a
# scratch disk have one copier; nodes with disks of their own copy a part each, and node 0 puts the parts together.
set -uo pipefail
export LC_ALL=C
shopt -s nullglob
resume=$NEXA_FINAL/.nexa-resume
attempt=$SLURM_JOB_ID.$NEXA_RESTART
parts=$resume/.parts.$attempt
node=${SLURMD_NODENAME:-$HOSTNAME}
# How long nothing may have changed, where no file of the framework says that a checkpoint is complete.
quiet=${NEXA_QUIET_SECONDS:-60}

say() { echo "nexa-slurm: checkpoints: $*"; }

# The number in a checkpoint's name: checkpoint-500, step_500, epoch=1-step=500.ckpt. Nothing for other names.
number_of() {
  [[ $1 =~ ^(checkpoint|ckpt|global_step|step|epoch|iter|iteration)[-_=]?([0-9]{1,18})(-step=([0-9]{1,18}))?(\.(pt|pth|ckpt|bin|safetensors))?$ ]] ||
    return 1
  echo $((10#${BASH_REMATCH[4]:-${BASH_REMATCH[2]}}))
}

# The numbered entries of a folder, the newest first.
numbered() {
  local path number
  for path in "$1"/*; do
    number=$(number_of "${path##*/}") && printf '%s %s\n' "$number" "${path##*/}"
  done | sort -k1,1nr | cut -d ' ' -f 2-
}

# Sizes and times of all files of an entry. A change of any file changes it.
signature() { find "$1" -printf '%y %s %T@ %P\n' 2>/dev/null | sort | cksum; }

# Whether a file has the length that its own head or end asks for.
is_whole() {
  local size head end
  size=$(stat -L -c %s -- "$1") || return 1
  case $1 in
    *.safetensors)
      ((size >= 8)) || return 1
      head=$(od -An -v -tu8 -N8 -- "$1" | tr -d ' ')
      [[ $head =~ ^[0-9]{1,9}$ ]] && ((head > 0 && head + 8 <= size)) || return 1
      end=$(tail -c +9 -- "$1" | head -c "$head" | grep -aoE '"data_offsets"[[:space:]]*:[[:space:]]*\[[0-9]+,[[:space:]]*[0-9]+' |
        grep -oE '[0-9]+$' | sort -n | tail -n 1)
      ((size == 8 + head + ${end:-0}))
      ;;
    *)
      # torch.save writes a zip file, whose directory is its end.
      [[ $(head -c 2 -- "$1" | tr -d '\0') != PK ]] || tail -c 65558 -- "$1" | grep -aq $'PK\x05\x06'
      ;;
  esac
}

all_whole() {
  local file
  while IFS= read -r -d '' file; do
    is_whole "$file" || return 1
  done < <(find -L "$1" -type f -print0)
}

# Whether the checkpoint itself says that it is complete: 0; that it is not: 1; or says nothing: 2. Trainer writes
# trainer_state.json last, torch's distributed checkpoints .metadata; DeepSpeed names it in the file latest; a program of
# the user's own makes the file .complete. A single file of torch or safetensors shows its end.
marked() {
  local path=$NEXA_CHECKPOINTS/$1 number
  if [[ -f $path/trainer_state.json ]]; then
    number=$(number_of "$1") || number=
    [[ ! -e $path/checkpoint-is-incomplete.txt && $(tail -c 8 -- "$path/trainer_state.json" | tr -d '[:space:]') == *'}' ]] &&
      grep -Eq "\"global_step\"[[:space:]]*:[[:space:]]*${number:-[0-9]+}([^0-9]|$)" "$path/trainer_state.json"
    return
  fi
  if [[ -f $path && ($path == *.safetensors || $(head -c 2 -- "$path" | tr -d '\0') == PK) ]]; then
    is_whole "$path"
    return
  fi
  [[ ! -s $path/.metadata && ! -e $path/.complete ]] || return 0
  [[ ! -f $NEXA_CHECKPOINTS/latest || $(<"$NEXA_CHECKPOINTS/latest") != "$1" ]] || return 0
  return 2
}

# NAME [ended STATUS]: whether an entry may be copied. After the command's end nothing changes any more, but a command
# that was killed or failed may have left half a file.
is_complete() {
  local path=$NEXA_CHECKPOINTS/$1 mark newest
  marked "$1"
  mark=$?
  ((mark != 1)) && all_whole "$path" || return 1
  ((mark == 2)) || return 0
  [[ ${2:-} != ended || $3 != 0 ]] || return 0
  newest=$(find "$path" -printf '%T@\n' | sort -n | tail -n 1)
  (($(printf '%(%s)T' -1) - ${newest%.*} >= quiet))
}

# NAME TO: copies an entry aside, flushes it, and gives it its name in TO. Fails if it changed meanwhile.
copy_aside() {
  local from=$NEXA_CHECKPOINTS/$1 aside=$2/.part.$node.$1 before
  before=$(signature "$from")
  rm -rf -- "$aside"
  if ! cp -a -- "$from" "$aside" || ! find "$aside" -type f -exec sync -- {} +; then
    say "$from could not be copied to $2; it is tried again" >&2
    rm -rf -- "$aside"
    return 1
  fi
  if [[ $(signature "$from") != "$before" ]]; then
    rm -rf -- "$aside"
    return 1
  fi
  put "$aside" "$2/$1"
}

# FROM TO: gives a complete copy its name. An older copy of this name goes aside first, because a folder can't replace
# another; settle brings it back if this ends in between.
put() {
  local folder=${2%/*} name=${2##*/}
  if [[ -d $2 && ! -L $2 ]]; then
    rm -rf -- "$folder/.old.$name"
    mv -T -- "$2" "$folder/.old.$name" || return 1
  fi
  mv -fT -- "$1" "$2" && sync -- "$folder" && rm -rf -- "$folder/.old.$name"
}

# FOLDER: what an earlier attempt left half done.
settle() {
  local old
  for old in "$1"/.old.*; do
    if [[ -e $1/${old##*/.old.} ]]; then rm -rf -- "$old"; else mv -T -- "$old" "$1/${old##*/.old.}"; fi
  done
  rm -rf -- "$1"/.part.*
}

# The names that the newest trainer_state.json, a link best, or the metrics call the best.
best_of() {
  local newest state
  [[ ! -f $NEXA_METRICS ]] ||
    tr '"' '\n' <"$NEXA_METRICS" | awk -v of="$NEXA_CHECKPOINTS/" 'index($0, of) == 1 { split(substr($0, length(of) + 1), name, "/"); print name[1] }'
  newest=$(numbered "$1" | head -n 1)
  state=$1/$newest/trainer_state.json
  [[ ! -L $1/best ]] || basename -- "$(readlink "$1/best")"
  [[ -z $newest || ! -f $state ]] ||
    grep -oE '"best_model_checkpoint"[[:space:]]*:[[:space:]]*"[^"]+"' "$state" | sed -E 's/"$//; s/.*[/"]//'
}

# KEEP: takes the older copies away: the newest KEEP stay, and the best.
prune() {
  local name count=0 best
  best=$(best_of "$NEXA_CHECKPOINTS")$'\n'$(best_of "$resume")
  while IFS= read -r name; do
    count=$((count + 1))
    if ((count <= $1)) || grep -Fxq -- "$name" <<<"$best"; then
      continue
    fi
    rm -rf -- "$resume/.part.pruned" && mv -T -- "$resume/$name" "$resume/.part.pruned" && rm -rf -- "$resume/.part.pruned"
  done < <(numbered "$resume")
}

# Whether this node copies: of the nodes that share a scratch disk, one does. begin has decided.
is_copier() { [[ -e $parts/copier.$node ]]; }

# Several disks, several parts of one checkpoint.
copiers() { local -a all=("$parts"/copier.*) && echo "${#all[@]}"; }

ready() {
  mkdir -p -- "$resume" && settle "$resume" && rm -rf -- "$resume"/.parts.* "$NEXA_FINAL"/.part.* && mkdir -- "$parts" && return
  say "$resume could not be made ready" >&2
  return 1
}

begin() {
  local turn=$NEXA_CHECKPOINTS.turn.$attempt try error
  if ! error=$(mkdir -p -- "$NEXA_CHECKPOINTS" 2>&1); then
    say "${error#mkdir: }" >&2
    return 1
  fi
  if ! mkdir -- "$turn" 2>/dev/null; then
    # Another node with the same disk brings them back.
    for ((try = 0; try < 6000; try++)); do
      [[ ! -e $turn/done ]] || return 0
      [[ ! -e $turn/failed ]] || return 1
      ls -- "$turn" >/dev/null
      sleep 0.2
    done
    say "no node brought them to $NEXA_CHECKPOINTS within 20 minutes" >&2
    return 1
  fi
  if bring_back; then
    : >"$parts/copier.$node" && : >"$turn/done" && return
  fi
  : >"$turn/failed"
  return 1
}

# What an earlier attempt left on this disk may be half a checkpoint, or older than what another node has done since: it
# counts only if it is complete and newer than all copies.
bring_back() {
  local path count=0 left copy
  left=$(numbered "$NEXA_CHECKPOINTS" | head -n 1) copy=$(numbered "$resume" | head -n 1)
  if ((${SLURM_NNODES:-1} == 1)) && [[ -n $left ]] && marked "$left" && all_whole "$NEXA_CHECKPOINTS/$left" &&
    { [[ -z $copy ]] || (($(number_of "$left") > $(number_of "$copy"))); }; then
    copy_aside "$left" "$resume" && say "$left was left on $node by an earlier attempt"
  fi
  find "$NEXA_CHECKPOINTS" -mindepth 1 -delete
  for path in "$resume"/*; do
    if ! cp -a -- "$path" "$NEXA_CHECKPOINTS/"; then
      say "$path could not be brought to $NEXA_CHECKPOINTS" >&2
      return 1
    fi
    count=$((count + 1))
  done
  ((count == 0)) || say "$count brought back from $resume to $NEXA_CHECKPOINTS on $node"
}

# [ended STATUS]: copies what is complete and new on this node's disk. Of numbered checkpoints the newest complete one,
# and the best.
declare -A copied=()
copy_new() {
  local name path now to=$resume chosen=''
  ((${SLURM_NNODES:-1} == 1 || $(copiers) == 1)) || to=$parts/$node
  mkdir -p -- "$to" || return 1
  while IFS= read -r name; do
    is_complete "$name" "$@" || continue
    chosen+=$name$'\n'
    break
  done < <(numbered "$NEXA_CHECKPOINTS")
  while IFS= read -r name; do
    [[ -e $NEXA_CHECKPOINTS/$name ]] && number_of "$name" >/dev/null && ! grep -Fxq -- "$name" <<<"$chosen" &&
      is_complete "$name" "$@" && chosen+=$name$'\n'
  done < <(best_of "$NEXA_CHECKPOINTS")
  for path in "$NEXA_CHECKPOINTS"/*; do
    name=${path##*/}
    # A folder that changes on several nodes can't be put together: nothing says which parts belong together. What has
    # no number becomes part of the final folder in the end.
    if number_of "$name" >/dev/null || [[ $to != "$resume" && -d $path ]] || [[ ${2:-} == 0 ]]; then
      continue
    fi
    ! is_complete "$name" "$@" || chosen+=$name$'\n'
  done
  while IFS= read -r name; do
    [[ -n $name ]] || continue
    now=$(signature "$NEXA_CHECKPOINTS/$name")
    [[ ${copied[$name]:-} != "$now" ]] || continue
    [[ ! -e $to/$name || $(signature "$to/$name") != "$now" ]] || continue
    copy_aside "$name" "$to" && copied[$name]=$now && say "$name copied to $resume"
  done <<<"$chosen"
}

# On node 0, where each node has a part: a numbered checkpoint is put together once the framework's mark is in a part, and
# each copier has a part or nothing that is still to come.
join_parts() {
  local name path part complete
  (($(copiers) > 1)) || return 0
  for name in $(for path in "$parts"/*/*; do echo "${path##*/}"; done | sort -u); do
    [[ ! -e $resume/$name ]] || continue
    complete=$1
    for path in "$parts"/*/"$name"; do
      [[ ! -e $path/trainer_state.json && ! -e $path/.metadata ]] || complete=yes
    done
    [[ -n $complete ]] || continue
    part=$resume/.part.joined.$name
    rm -rf -- "$part"
    for path in "$parts"/*/"$name"; do
      # Hard links: the parts stay until the next attempt, and the bytes are there once.
      if [[ -d $path ]]; then
        mkdir -p -- "$part" && cp -al -- "$path/." "$part/" || return 1
      else
        cp -al -- "$path" "$part" || return 1
      fi
    done
    put "$part" "$resume/$name" && say "$name put together from $(copiers) nodes in $resume"
  done
}

watch() {
  local every=$1 since=$SECONDS now='' stop=''
  # The warning before the end: copy what is complete. The file stop ends it, on each node; the signal only cuts the pause
  # short, because a signal that was ignored when the job began can't be trapped.
  trap 'now=1' USR1 TERM
  trap 'stop=1' USR2
  while [[ -z $stop && -e /proc/$PPID ]] && ls -- "$parts" >/dev/null && [[ ! -e $parts/stop ]]; do
    # A signal cuts wait short, not sleep.
    sleep 2 &
    wait $!
    [[ -n $now ]] || ((SECONDS - since >= every)) || continue
    since=$SECONDS now=
    ! is_copier || copy_new
    if ((${SLURM_NODEID:-0} == 0)); then
      join_parts '' && prune 2
    fi
  done
}

stage() {
  ! is_copier || copy_new ended "$1" || return 1
  [[ $1 == 0 ]] && is_copier || return 0
  stage_final
}

# This node's part of what stays: all that has no number; else the newest checkpoint.
stage_final() {
  local path name from=() to=$NEXA_FINAL/.part.final.$attempt/$node
  for path in "$NEXA_CHECKPOINTS"/*; do
    number_of "${path##*/}" >/dev/null || from+=("$path")
  done
  if ((${#from[@]} == 0)); then
    name=$(numbered "$NEXA_CHECKPOINTS" | head -n 1)
    [[ -n $name ]] || return 0
    from=("$NEXA_CHECKPOINTS/$name")
    [[ ! -d ${from[0]} ]] || from=("${from[0]}/.")
  fi
  rm -rf -- "$to"
  mkdir -p -- "$to" && cp -a -- "${from[@]}" "$to/" && find "$to" -type f -exec sync -- {} + && return
  say "the final files could not be copied to $NEXA_FINAL" >&2
  return 1
}

publish() {
  local name path whole=$NEXA_FINAL/.part.final main=$NEXA_FINAL/final
  join_parts "$([[ $1 != 0 ]] || echo yes)"
  prune $(($1 == 0 ? 1 : 2))
  if [[ $1 != 0 ]]; then
    rm -rf -- "$parts"
    return 0
  fi
  local -a nodes=("$whole.$attempt"/*)
  if ((${#nodes[@]} == 0)); then
    rm -rf -- "$parts"
    rmdir -- "$resume" "$NEXA_FINAL" 2>/dev/null
    return 0 # it made no checkpoints
  fi
  rm -rf -- "$whole"
  mkdir -- "$whole" || return 1
  for path in "${nodes[@]}"; do
    cp -al -- "$path/." "$whole/" || return 1
  done
  local -a named=("$whole"/final "$whole"/final.*)
  if [[ -e ${named[0]} || ${#named[@]} -gt 1 ]]; then
    # The command has named its final files itself; they come last.
    for path in "$whole"/*; do
      [[ ${path##*/} == final || ${path##*/} == final.* ]] || put "$path" "$NEXA_FINAL/${path##*/}" || return 1
    done
    for path in "${named[@]}"; do
      [[ -e $path ]] || continue
      main=$NEXA_FINAL/${path##*/}
      put "$path" "$main" || return 1
    done
  else
    put "$whole" "$NEXA_FINAL/final" || return 1
  fi
  # The best and the last stay beside it.
  while IFS= read -r name; do
    put "$resume/$name" "$NEXA_FINAL/$name" || return 1
  done < <(numbered "$resume")
  say "the final files are in $NEXA_FINAL"
  tell_where "$main" "$([[ -e $whole ]] && echo "$NEXA_FINAL" || echo "$main")"
  rm -rf -- "$resume" "$NEXA_FINAL"/.part.*
}

# MAIN ROOT: the metrics name files on a disk that is emptied now. They are below ROOT; the checkpoint is MAIN.
tell_where() {
  local text name file=$NEXA_METRICS
  [[ -s $file && -f $file ]] || return 0
  text=$(<"$file")
  shopt -u patsub_replacement 2>/dev/null || true # Bash 5.2 reads & in a value
  while IFS= read -r name; do
    text=${text//"$NEXA_CHECKPOINTS/$name"/$NEXA_FINAL/$name}
  done < <(numbered "$NEXA_FINAL")
  text=${text//"$NEXA_CHECKPOINTS"/$2}
  if [[ $text != *'"checkpoint"'* && $text == *'{'* && $1 != *[\"\\]* ]]; then
    text="{\"checkpoint\":\"$1\"$([[ $text =~ ^[[:space:]]*\{[[:space:]]*\}[[:space:]]*$ ]] || echo ,)${text#*\{}"
  fi
  printf '%s\n' "$text" >"$file.tmp" && mv -f -- "$file.tmp" "$file"
}

"$@"
