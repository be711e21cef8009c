#!/bin/bash
# Checks nodes, by the rows of diag_checks.sh beside it:
#   diag.sh job LEVEL GPUS    in a job: each of its nodes, then pairs of them; ends with 1 if a node has a critical finding
#   diag.sh node LEVEL GPUS   this node
#   diag.sh probe NAME GPUS   one check of this node
#   diag.sh words             lines of the input in words
#   diag.sh gres              the GPUs of the nodes in the input
# A line for each node and check, separated by tabs: NODE CHECK RESULT VALUE LIMIT UNIT SECONDS TEXT. RESULT is ok, warning,
# critical or unknown (could not look); LIMIT begins with its comparison. LEVEL: quick or full. GPUS: how many this node should
# have; - for those that its driver shows.
set -uo pipefail
export LC_ALL=C
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
mode=$1 level=${2:-} gpus=${3:-0}
if [[ $gpus == - ]]; then
  gpus=$(find /proc/driver/nvidia/gpus -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
  if ((gpus == 0)) && command -v nvidia-smi >/dev/null; then
    gpus=$(timeout 30 nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ')
    # Beside its tool, a driver that shows none is asked for one.
    ((gpus > 0)) || gpus=1
  fi
fi
node=${SLURMD_NODENAME:-${HOSTNAME%%.*}}

# row NAME NEEDS LEVEL COMPARE LIMIT UNIT RESULT SECONDS: a check, whose function NAME follows. NEEDS: any or gpu. COMPARE:
# ==, >= or <= LIMIT; LIMIT - is for a number that only the node's own history judges. RESULT: of a number beyond the limit,
# and of a check that hangs. SECONDS: its time-out.
rows=()
row() { rows+=("$*"); }
# shellcheck disable=SC1091
source "$here/diag_checks.sh"

# CHECK RESULT VALUE LIMIT UNIT SECONDS TEXT
line() {
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$node" "$1" "$2" "${3:--}" "${4:--}" "${5:--}" "$6" "${7:0:300}"
}

# VALUE COMPARE LIMIT: within the limit?
within() {
  [[ $3 != - ]] || return 0
  awk -v value="$1" -v limit="$3" -v compare="$2" \
    'BEGIN { exit !(compare == "<=" ? value + 0 <= limit + 0 : compare == ">=" ? value + 0 >= limit + 0 : value "" == limit "") }'
}

# Each check has its own process and time-out: one that hangs holds up no other.
check() {
  local name=$1 compare=$4 limit=$5 unit=$6 bad=$7 seconds=$8 from=${EPOCHREALTIME/./} answer status own text
  # A file, not a pipe: nobody waits for what a check has left behind. 512 MiB are what a check may write.
  (ulimit -f 524288 && exec timeout -k 1 "$seconds" bash "$here/diag.sh" probe "$name" "$gpus" >"$answers" 2>&1 </dev/null) &
  { wait "$!"; } 2>/dev/null
  status=$?
  # timeout leads a process group of its own.
  kill -KILL -- "-$!" 2>/dev/null
  answer=$(tail -c 4096 -- "$answers" | tr -c '[:print:]\n' '?')
  local took=$((${EPOCHREALTIME/./} - from))
  printf -v took '%d.%03d' $((took / 1000000)) $((took / 1000 % 1000))
  IFS='|' read -r value own text <<<"${answer##*$'\n'}"
  answer=${answer//$'\n'/ }
  ((status != 0)) || limit=${own:-$limit}
  value=${value:0:60}
  case $status in
  0)
    if [[ $compare != '==' && ! $value =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
      value='' text="no number: $answer" bad=unknown
    elif within "$value" "$compare" "$limit"; then
      bad=ok
    fi
    ;;
  3) value='' text=$answer bad=unknown ;;
  4) return ;;
  1) value='' text=$answer ;;
  124 | 137)
    [[ $compare$limit != '>=-' ]] || bad=unknown
    value='' text="no answer in $seconds s"
    ;;
  *) value='' text="the check ended with $status: $answer" bad=unknown ;;
  esac
  line "$name" "$bad" "$value" "$compare$limit" "$unit" "$took" "$text"
}

# Checks this node.
node() {
  local one value answers
  answers=$(mktemp) || return
  for one in "${rows[@]}"; do
    # shellcheck disable=SC2086
    set -- $one
    [[ $2 != gpu || $gpus != 0 ]] || continue
    [[ $3 != full || $level == full ]] || continue
    check "$@"
    # A hanging driver would hold up each further check.
    [[ $1 != gpus || -n $value ]] || gpus=0
  done
  rm -f -- "$answers"
  # Without this line, the node did not come to its end.
  line answer ok '' '' '' 0 ''
}

# ROUND FIRST SECOND: the bandwidth between two nodes, in a line "FIRST SECOND GB/s" of the file `pairs`.
pair() {
  local meeting=$NEXA_ATTEMPT.pair.$1.$2 rate='' with=()
  ((gpus == 0)) || with=(--gpus-per-node="$gpus")
  rate=$(timeout -k 5 120 srun --overlap --quiet --nodes=2 --nodelist="$2,$3" --ntasks=2 --ntasks-per-node=1 --cpus-per-task=1 \
    "${with[@]}" python3 "$here/diag_pair.py" "$meeting" 2>"$meeting.err" | tail -n 1)
  [[ $rate =~ ^[0-9.]+$ ]] || rate=
  printf '%s %s %s\n' "$2" "$3" "${rate:--}" >>"$pairs"
  [[ -n $rate ]] || echo "no bandwidth between $2 and $3: $(tail -n 1 "$meeting.err")" >&2
  rm -f -- "$meeting" "$meeting.err"
}

# ROUND NODE...: neighbours at the same time; a node that is left over joins the first one afterwards.
round() {
  local number=$1 i
  shift
  for ((i = 1; i < $#; i += 2)); do pair "$number" "${@:i:2}" & done
  wait
  (($# % 2 == 0)) || pair "$number" "${@:$#}" "$1"
}

# [SLOW...]: the file `pairs` as lines of checks. A node's figure is its best one. Only these nodes can be slow; all, if none is
# named.
judge() {
  awk -v OFS='\t' -v least=0.7 -v slow="$*" '
    { for (i = 1; i <= 2; i++) { nodes[$i]; if ($3 != "-" && $3 + 0 > best[$i]) best[$i] = $3 + 0 } }
    function median(but,   n, sorted, i, x) {
      for (x in best) if (x != but && best[x] > 0) {
        for (i = n++; i > 0 && sorted[i - 1] > best[x]; i--) sorted[i] = sorted[i - 1]
        sorted[i] = best[x]
      }
      return n < 2 ? 0 : (sorted[int((n - 1) / 2)] + sorted[int(n / 2)]) / 2
    }
    END {
      for (x in nodes) {
        limit = median(x) * least
        if (!best[x]) print x, "pair", "unknown", "-", ">=-", "GB/s", 0, "no other node could measure it"
        else {
          bad = best[x] < limit && (slow == "" || index(" " slow " ", " " x " "))
          print x, "pair", bad ? "critical" : "ok", best[x], limit ? sprintf(">=%.3f", limit) : ">=-", "GB/s", 0,
            bad ? "slower than the others, with each of its partners" : best[x] < limit ? "not slower when it was measured alone" : ""
        }
      }
    }' "$pairs"
}

# NODE GOOD OTHER: is a node slow alone too? Its bandwidth to a good node, and that between good nodes, in turns: what else goes on
# meanwhile meets both.
is_slow() {
  local pairs=$pairs.again i
  : >"$pairs"
  for i in 1 2 3; do
    pair "3.$i" "$1" "$2"
    pair "4.$i" "$2" "$3"
  done
  awk -v node="$1" '$1 == node && $3 > own { own = $3 } $1 != node && $3 > others { others = $3 } END { exit !(own < 0.7 * others) }' "$pairs"
  local status=$?
  rm -f -- "$pairs"
  return "$status"
}

# Two rounds name a slow node: in the second one the slowest pair's nodes have the fastest as partners. Who is slow after both is
# measured again, alone.
between() {
  local pairs=$NEXA_ATTEMPT.pairs order good one slow=(-)
  : >"$pairs"
  round 1 "$@"
  mapfile -t order < <(sort -k3,3g "$pairs" | awk '{ for (i = 1; i <= 2; i++) if (!seen[$i]++) print $i }')
  if (($# > 2)); then
    local mixed=() i
    for ((i = 0; i < $# / 2; i++)); do mixed+=("${order[i]}" "${order[$# - 1 - i]}"); done
    (($# % 2 == 0)) || mixed+=("${order[$# / 2]}")
    round 2 "${mixed[@]}"
    mapfile -t good < <(judge | grep $'\tok\t' | sort -t $'\t' -k4,4gr | cut -f 1)
    for one in $(judge | awk -F '\t' '$3 == "critical" { print $1 }' | head -n 10); do
      ((${#good[@]} > 1)) && is_slow "$one" "${good[0]}" "${good[1]}" && slow+=("$one")
    done
  fi
  judge "${slow[@]}"
  rm -f -- "$pairs"
}

# What the lines say, in one line for people: "gpus: 7 GPUs (==8); ecc_uncorrected: 1 GPUs (==0) GPU 3: 2".
words() {
  awk -F '\t' '{
    said = $4 == "-" ? "" : " " $4 ($6 == "-" ? "" : " " $6) ($5 ~ /-$/ ? "" : " (" $5 ")")
    printf "%s%s:%s%s", comma, $2, said, $8 == "" ? "" : " " $8
    comma = "; "
  }'
}

# Of nodes as `scontrol --oneliner show node` prints them, the fewest GPUs that one has.
gres() {
  awk '
    { n = 0
      if (match($0, / Gres=[^ ]*/)) {
        gres = substr($0, RSTART + 6, RLENGTH - 6); gsub(/\([^)]*\)/, "", gres)
        count = split(gres, part, ",")
        for (i = 1; i <= count; i++) if (part[i] ~ /^gpu(:|$)/) { sub(/.*:/, "", part[i]); n += part[i] ~ /^[0-9]+$/ ? part[i] : 1 }
      }
      if (NR == 1 || n < least) least = n }
    END { print least + 0 }'
}

# FILE: its lines, in which a node with a shared tier on its own disk is broken if most nodes have something else. Any other
# difference is a warning: nobody can say who is right.
compare_mounts() {
  awk -F '\t' -v OFS='\t' '
    $2 != "mounts" || $3 != "ok" { if (NR != FNR) print; next }
    NR == FNR { all++; if (++count[$4] > count[usual]) usual = $4; next }
    count[$4] < all {
      most = count[usual] * 2 > all
      if ($4 != usual || !most) {
        $3 = most && $4 ~ /disk/ ? "critical" : "warning"
        $8 = most ? "most nodes: " usual : "the nodes differ"
      }
    }
    { print }' "$1" "$1"
}

# Checks the nodes of the job.
job() {
  local all=() found=$NEXA_ATTEMPT.diag.tsv one count bad with=()
  mapfile -t all < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
  # A config that asks for no GPUs gets those of whole nodes all the same.
  ((gpus > 0)) || gpus=$(scontrol --oneliner show node "$SLURM_JOB_NODELIST" | gres)
  ((gpus == 0)) || with=(--gpus-per-node="$gpus")
  timeout -k 5 780 srun --overlap --quiet --nodes="${#all[@]}" --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 "${with[@]}" \
    bash "$here/diag.sh" node "$level" "$gpus" >"$found.new"
  count=$(grep -c $'\tanswer\tok' "$found.new")
  for one in "${all[@]}"; do
    grep -q "^$one"$'\tanswer\tok' "$found.new" && continue
    # If most nodes give none, the fault is elsewhere.
    bad=unknown
    ((count * 2 < ${#all[@]})) || bad=critical
    node=$one line answer "$bad" '' '' '' 0 "the node gave no answer, or stopped before its end" >>"$found.new"
  done
  if [[ $level == full ]] && ((${#all[@]} > 1)); then
    between "${all[@]}" >>"$found.new"
  fi
  compare_mounts "$found.new" | sort -s -t $'\t' -k1,1V >"$found.sorted"
  mv -- "$found.sorted" "$found"
  rm -f -- "$found.new"
  for one in "${all[@]}"; do
    bad=$(awk -F '\t' -v node="$one" '$1 == node && $3 == "critical" { print }' "$found" | words)
    if [[ -n $bad ]]; then
      echo "$bad" >"$NEXA_ATTEMPT.unfit.$one"
      echo "nexa-slurm: node $one has a critical finding: $bad"
    elif grep -q "^$one"$'\tanswer\tok' "$found"; then
      : >"$NEXA_ATTEMPT.fit.$one"
    fi
  done
  awk -F '\t' -v metrics="${NEXA_METRICS:-/dev/null}" '{ n[$3]++ } !seen[$1]++ { nodes++ } END {
    printf "%d checks: %d ok, %d warning, %d critical, %d unknown\n", NR, n["ok"], n["warning"], n["critical"], n["unknown"]
    printf "{\"nodes\": %d, \"checks\": %d, \"warnings\": %d, \"critical\": %d}\n", nodes, NR, n["warning"], n["critical"] >metrics
  }' "$found"
  ! grep -q $'^[^\t]*\t[^\t]*\tcritical' "$found"
}

case $mode in
job) job ;;
node) node ;;
words | gres) "$mode" ;;
probe) "$2" ;;
esac
