#!/bin/bash
# Does the environment of a uv project agree with its uv.lock? check_uv.sh FOLDER
# Compares what is installed, and then asks uv, if the PATH has it. Says what differs and ends with 1.
set -uo pipefail
folder=$1 venv=$1/.venv
# What docker/bootstrap_env.sh installed beside the lock: these versions count instead.
pins=$venv/nexa_pins.txt
next="cd $(printf %q "$folder") && uv sync --locked"
[[ ! -e $pins ]] || next="docker/bootstrap_env.sh $(printf %q "$folder")"

wrong() {
  echo "nexa-slurm: $1; the command was not started. Next: $next" >&2
  exit 1
}

[[ -r $venv/bin/activate ]] || wrong "$venv is not an environment that ${SLURMD_NODENAME:-$HOSTNAME} can read"
[[ -e $folder/uv.lock ]] || exit 0
[[ -e $pins ]] || pins=/dev/null

# As PEP 440 compares versions: 2024.02.0 is 2024.2, and a version without +LOCAL is fine with each of a pin.
compared=$(printf '%s\n' "$venv"/lib*/python*/site-packages/*.dist-info | awk '
  function plain(version) {
    version = tolower(version)
    gsub(/[-_]/, ".", version)
    while (match(version, /(^|\.)0+[0-9]/))
      version = substr(version, 1, RSTART - 1) (RSTART > 1 ? "." : "") substr(version, RSTART + RLENGTH - 1)
    while (sub(/\.0$/, "", version) || sub(/\.0\+/, "+", version)) {}
    return version
  }
  function key(name) {
    name = tolower(name)
    gsub(/[-_.]+/, "-", name)
    return name
  }
  function locked() {
    if (name != "" && version != "" && !own) wanted[name] = wanted[name] " " version
    name = version = own = ""
  }
  FILENAME == ARGV[1] {
    split($1, part, "==")
    if (!/^#/) pinned[key(part[1])] = part[2]
    next
  }
  FILENAME == ARGV[2] {
    if (/^\[/) { locked(); package = ($1 == "[[package]]") }
    if (package && $1 == "name") { split($0, part, "\""); name = key(part[2]) }
    if (package && $1 == "version") { split($0, part, "\""); version = part[2] }
    if (package && /^source = \{ (editable|virtual) /) own = 1
    next
  }
  FNR == 1 { locked() }
  match($0, /-[^-\/]+\.dist-info$/) {
    version = substr($0, RSTART + 1, RLENGTH - 11)
    name = substr($0, 1, RSTART - 1)
    sub(/.*\//, "", name)
    name = key(name)
    there[name] = 1
    if (name in pinned) wanted[name] = pinned[name]
    if (wanted[name] == "") next
    count = split(wanted[name], part, " ")
    for (i = 1; i <= count; i++) {
      found = plain(version)
      if (name in pinned && part[i] !~ /\+/) sub(/\+.*/, "", found)
      if (found == plain(part[i])) next
    }
    text = part[1]
    for (i = 2; i <= count; i++) text = text " or " part[i]
    print "differs", name " is " version " and should be " text
  }
  END {
    locked()
    for (name in pinned) if (pinned[name] != "" && !(name in there)) print "differs", name " is not installed and should be " pinned[name]
    for (name in wanted) if (!(name in there) && !(name in pinned)) print "absent", name
  }' "$pins" "$folder/uv.lock" -) || wrong "$folder/uv.lock could not be compared with $venv"
differs=$(sed -n 's/^differs //p' <<<"$compared" | sort -u)
if [[ -n $differs ]]; then
  count=$(wc -l <<<"$differs") some=$(head -n 5 <<<"$differs" | paste -s -d ';')
  ((count <= 5)) || some+=" and $((count - 5)) more"
  wrong "$venv does not agree with uv.lock: ${some//;/; }"
fi

if command -v uv >/dev/null; then
  left_out=()
  while IFS='= ' read -r name _; do
    [[ -z $name || $name == '#'* ]] || left_out+=(--no-install-package "$name")
  done <"$pins"
  # What a developer's group or an extra added may stay, and nothing is fetched or changed.
  answer=$(cd -- "$folder" && UV_PROJECT_ENVIRONMENT=$venv timeout -k 5 30 env -u UV_LOCKED uv sync --check --frozen --offline \
    --no-cache --inexact --no-default-groups --no-install-workspace ${left_out[@]+"${left_out[@]}"} 2>&1 </dev/null) && exit 0
  status=$?
  # Its exit code for this is 1 or 2, by its version; the sentence is the same.
  [[ $answer != *"environment is outdated"* ]] ||
    wrong "$venv does not agree with uv.lock: uv sync would change $(sed -nE 's/^ *([-+~] )/\1/p' <<<"$answer" | head -n 10 | paste -s -d ' ')"
  [[ $status != 124 && $status != 137 ]] || answer='no answer within 30 s'
  echo "nexa-slurm: uv sync --check could not tell: $(tail -n 1 <<<"$answer" | cut -c -200); what is installed agrees with uv.lock"
fi
absent=$(sed -n 's/^absent //p' <<<"$compared" | sort | head -n 20 | paste -s -d ' ')
[[ -z $absent ]] || echo "nexa-slurm: in uv.lock and not in $venv, for other machines or extras: $absent"
