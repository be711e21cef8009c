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

pattern='^(checkpoint|ckpt|global_step|step|epoch|iter|iteration)[-_=]?([0-9]{1,18})(-step=([0-9]{1,18}))?(\.(pt|pth|ckpt|bin|safetensors))?$'

# The number in a checkpoint's name: checkpoint-500, step_500, epoch=1-step=500.ckpt. Nothing for other names.
number_of() {
  [[ $1 =~ $pattern ]] || return 1
  echo $((10#${BASH_REMATCH[4]:-${BASH_REMATCH[2]}}))
}

# What the number counts: step_500 and epoch=1-step=500 count steps, epoch_2 counts epochs.
kind_of() {
  [[ $1 =~ $pattern ]] && if [[ -n ${BASH_REMATCH[4]} ]]; then echo step; else echo "${BASH_REMATCH[1]}"; fi
}

# The numbered entries of a folder, the newest first. The numbers of two kinds can't be compared: the kind whose highest
# entry was written last comes first.
numbered() {
  local path number
  for path in "$1"/*; do
    number=$(number_of "${path##*/}") &&
      printf '%s %s %s %s\n' "$(kind_of "${path##*/}")" "$number" "$(stat -c %Y -- "$path")" "${path##*/}"
  done | sort -k1,1 -k2,2nr | awk '$1 != kind { kind = $1; time = $3 } { print time, $0 }' |
    sort -k1,1nr -k2,2 -k3,3nr | cut -d ' ' -f 5-
}

# FOLDER KIND: the newest entry of a kind.
newest_of() {
  local name
  while IFS= read -r name; do
    [[ $(kind_of "$name") != "$2" ]] || { echo "$name" && return; }
  done < <(numbered "$1")
}

# The entries of a folder, hidden ones too: torch's distributed checkpoints have the file .metadata. Each ends with NUL.
entries() { find "$1" -mindepth 1 -maxdepth 1 ! -name '.part.*' ! -name '.parts.*' ! -name '.old.*' -print0 | sort -z; }

# PATH: the name of the checkpoint that a link points to; fails for anything else.
pointed() {
  local target
  [[ -L $1 ]] && target=$(readlink -f -- "$1") && [[ ${target%/*} == "$(readlink -f -- "$NEXA_CHECKPOINTS")" ]] &&
    number_of "${target##*/}" >/dev/null && echo "${target##*/}"
}

# FROM... TO: copies and flushes. A link on the command line, and a link into the folder on scratch, become what they
# point to, because that folder goes.
copy() {
  local link target
  cp -aH -- "$@" || return 1
  while IFS= read -r -d '' link; do
    target=$(readlink -- "$link")
    [[ ! -e $target ]] || { rm -- "$link" && cp -aH -- "$target" "$link"; } || return 1
  done < <(find "${!#}" -type l -lname "$NEXA_CHECKPOINTS/*" -print0)
  find "${!#}" -type f -exec sync -- {} +
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
      ! is_zip "$1" || tail -c 65558 -- "$1" | grep -aq $'PK\x05\x06'
      ;;
  esac
}

is_zip() { [[ $(head -c 4 -- "$1" | tr -d '\0') == $'PK\x03\x04' ]]; }

# FOLDER: whether all of its files are whole. half is the first that is not.
half=
all_whole() {
  local file
  while IFS= read -r -d '' file; do
    is_whole "$file" || { half=$file && return 1; }
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
  if [[ -f $path ]] && { [[ $path == *.safetensors ]] || is_zip "$path"; }; then
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
  if ! copy "$from" "$aside"; then
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
  local newest='' state name
  [[ ! -f $NEXA_METRICS ]] ||
    tr '"' '\n' <"$NEXA_METRICS" | awk -v of="$NEXA_CHECKPOINTS/" 'index($0, of) == 1 { split(substr($0, length(of) + 1), name, "/"); print name[1] }'
  while IFS= read -r name; do
    [[ ! -f $1/$name/trainer_state.json ]] || { newest=$name && break; }
  done < <(numbered "$1")
  state=$1/$newest/trainer_state.json
  [[ ! -L $1/best ]] || basename -- "$(readlink "$1/best")"
  [[ -z $newest ]] ||
    grep -oE '"best_model_checkpoint"[[:space:]]*:[[:space:]]*"[^"]+"' "$state" | sed -E 's/"$//; s/.*[/"]//'
}

# KEEP: takes the older copies away: the newest KEEP of each kind stay, and the best.
prune() {
  local name kind='' count=0 best
  best=$(best_of "$NEXA_CHECKPOINTS")$'\n'$(best_of "$resume")
  while IFS= read -r name; do
    if [[ $(kind_of "$name") != "$kind" ]]; then
      kind=$(kind_of "$name") count=0
    fi
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
  left=$(numbered "$NEXA_CHECKPOINTS" | head -n 1)
  copy=$(newest_of "$resume" "$(kind_of "$left")")
  if ((${SLURM_NNODES:-1} == 1)) && [[ -n $left ]] && marked "$left" && all_whole "$NEXA_CHECKPOINTS/$left" &&
    { [[ -z $copy ]] || (($(number_of "$left") > $(number_of "$copy"))); }; then
    # Without room for a copy, it is the only one.
    copy_aside "$left" "$resume" || return 1
    say "$left was left on $node by an earlier attempt"
  fi
  if [[ -e $NEXA_CHECKPOINTS.stranded ]]; then
    mv -T -- "$NEXA_CHECKPOINTS" "$NEXA_CHECKPOINTS.of_earlier.$attempt" && mkdir -- "$NEXA_CHECKPOINTS" || return 1
    rm -f -- "$NEXA_CHECKPOINTS.stranded"
    say "the final files of an earlier attempt are in $NEXA_CHECKPOINTS.of_earlier.$attempt until this attempt succeeds"
  fi
  find "$NEXA_CHECKPOINTS" -mindepth 1 -delete
  while IFS= read -r -d '' path; do
    if ! cp -a -- "$path" "$NEXA_CHECKPOINTS/"; then
      say "$path could not be brought to $NEXA_CHECKPOINTS" >&2
      return 1
    fi
    count=$((count + 1))
  done < <(entries "$resume")
  ((count == 0)) || say "$count brought back from $resume to $NEXA_CHECKPOINTS on $node"
}

# [ended STATUS]: copies what is complete and new on this node's disk. Of numbered checkpoints the newest complete one of
# each kind, and the best.
declare -A copied=()
copy_new() {
  local name path now to=$resume chosen='' kind=''
  ((${SLURM_NNODES:-1} == 1 || $(copiers) == 1)) || to=$parts/$node
  mkdir -p -- "$to" || return 1
  while IFS= read -r name; do
    [[ $(kind_of "$name") != "$kind" ]] || continue
    is_complete "$name" "$@" || continue
    kind=$(kind_of "$name")
    chosen+=$name$'\n'
  done < <(numbered "$NEXA_CHECKPOINTS")
  while IFS= read -r name; do
    [[ -e $NEXA_CHECKPOINTS/$name ]] && number_of "$name" >/dev/null && ! grep -Fxq -- "$name" <<<"$chosen" &&
      is_complete "$name" "$@" && chosen+=$name$'\n'
  done < <(best_of "$NEXA_CHECKPOINTS")
  while IFS= read -r -d '' path; do
    name=${path##*/}
    # A folder that changes on several nodes can't be put together: nothing says which parts belong together. What has
    # no number becomes part of the final folder in the end.
    if number_of "$name" >/dev/null || [[ ! -e $path || ($to != "$resume" && -d $path) || ${2:-} == 0 ]]; then
      continue
    fi
    ! is_complete "$name" "$@" || chosen+=$name$'\n'
  done < <(entries "$NEXA_CHECKPOINTS")
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
  newest_are_complete && stage_final
}

# A command that ended with 0 has written its last checkpoint wholly. If not, an older one must not be called final.
newest_are_complete() {
  local name kind=''
  while IFS= read -r name; do
    [[ $(kind_of "$name") != "$kind" ]] || continue
    kind=$(kind_of "$name") half=
    if ! is_complete "$name" ended 0; then
      say "$NEXA_CHECKPOINTS/$name is not complete${half:+: $half is too short}" >&2
      return 1
    fi
  done < <(numbered "$NEXA_CHECKPOINTS")
}

# This node's part of the files that are no checkpoints. A link to a checkpoint is made again by publish, unless it is
# called final.
stage_final() {
  local path name error from=() to=$NEXA_FINAL/.part.final.$attempt/$node
  while IFS= read -r -d '' path; do
    name=${path##*/}
    if [[ -e $path ]] && ! number_of "$name" >/dev/null && { [[ $name == final || $name == final.* ]] || ! pointed "$path" >/dev/null; }; then
      from+=("$path")
    fi
  done < <(entries "$NEXA_CHECKPOINTS")
  rm -rf -- "$to"
  ((${#from[@]} > 0)) || return 0
  if ! error=$(mkdir -p -- "$to" 2>&1 && copy "${from[@]}" "$to/" 2>&1); then
    say "the final files could not be copied to $NEXA_FINAL${error:+: ${error##*: }}" >&2
    return 1
  fi
  if ! all_whole "$to"; then
    say "$NEXA_CHECKPOINTS/${half#"$to"/} is too short" >&2
    return 1
  fi
}

# FOLDER: whether it has files of a model: a log beside checkpoints is none.
has_model() {
  find "$1" -type f -regextype posix-extended \
    -regex '.*\.(safetensors|bin|pt|pth|ckpt|distcp|gguf|onnx|h5|keras|msgpack|npz|pkl|nemo)(\.index\.json)?' -print -quit | grep -q .
}

# FOLDER: its entries become entries of the final folder's parent.
put_beside() {
  local path
  while IFS= read -r -d '' path; do
    [[ ${path##*/} == final || ${path##*/} == final.* ]] || put "$path" "$NEXA_FINAL/${path##*/}" || return 1
  done < <(entries "$1")
}

publish() {
  join_parts "$([[ $1 != 0 ]] || echo yes)"
  prune $(($1 == 0 ? 1 : 2))
  if [[ $1 != 0 ]]; then
    rm -rf -- "$parts" "$NEXA_FINAL"/.part.*
    return 0
  fi
  publish_final && return
  say "the final files could not be moved to $NEXA_FINAL" >&2
  rm -rf -- "$NEXA_FINAL"/.part.*
  return 1
}

publish_final() {
  local name path target newest whole=$NEXA_FINAL/.part.final main=$NEXA_FINAL/final beside=''
  local -a nodes=("$whole.$attempt"/*)
  newest=$(numbered "$resume" | head -n 1)
  if ((${#nodes[@]} == 0)) && [[ -z $newest ]]; then
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
    beside=yes
    put_beside "$whole" || return 1
    for path in "${named[@]}"; do
      [[ -e $path ]] || continue
      main=$NEXA_FINAL/${path##*/}
      put "$path" "$main" || return 1
    done
  elif [[ -z $newest ]] || has_model "$whole"; then
    put "$whole" "$main" || return 1
  else
    beside=yes
    put_beside "$whole" || return 1
    rm -rf -- "$whole"
    # Hard links: the checkpoint stays beside it, and the bytes are there once.
    if [[ -d $resume/$newest ]]; then
      cp -al -- "$resume/$newest" "$whole" || return 1
    else
      mkdir -- "$whole" && cp -al -- "$resume/$newest" "$whole/" || return 1
    fi
    put "$whole" "$main" || return 1
  fi
  # The best and the last stay beside it.
  while IFS= read -r name; do
    rm -rf -- "$whole.kept"
    cp -al -- "$resume/$name" "$whole.kept" && put "$whole.kept" "$NEXA_FINAL/$name" || return 1
  done < <(numbered "$resume")
  while IFS= read -r -d '' path; do
    target=$(pointed "$path") && [[ -e $NEXA_FINAL/$target && ! -e $NEXA_FINAL/${path##*/} ]] &&
      ln -sfn -- "$target" "$NEXA_FINAL/${path##*/}"
  done < <(entries "$NEXA_CHECKPOINTS")
  say "the final files are in $NEXA_FINAL"
  tell_where "$main" "$([[ -n $beside ]] && echo "$NEXA_FINAL" || echo "$main")"
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
