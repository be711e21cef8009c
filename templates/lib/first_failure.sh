#!/bin/bash
# Which rank failed first, and of which class is the failure? What follows a rank's end (SIGTERM to the others, lost
# connections, the launcher's own status) says nothing about the cause.
#   first_failure.sh STATUS LOG FROM RANKS ATTEMPT [CLASS]
# STATUS is the command's; LOG holds what the task printed, this attempt from byte FROM on; RANKS is the folder of the
# ranks' logs. Prints the class and the exit status, then the failure as JSON; tells people on stderr.
set -uo pipefail
status=$1 log=$2 from=$3 ranks=$4 attempt=$5 class=${6:-}
table=${0%/*}/failures.tsv
signal=0 rank='' node='' text=''

# What this attempt printed to the task's log, and to a rank's.
printed() { tail -c "+$((from + 1))" -- "$log" 2>/dev/null; }
printed_by() {
  local line
  line=$(grep -an '^nexa-slurm: attempt ' -- "$1" | tail -n 1)
  tail -n "+$((${line%%:*} + 1))" -- "$1"
}

# The first row of the table that the text on stdin matches: its class, and the last such line. A traceback's lines of
# source are left out: a program that looks for an error names it.
match() {
  local wanted=$1 lines row pattern line
  lines=$(tail -n 500 | grep -av '^    ')
  while IFS=$'\t' read -r row pattern _; do
    [[ $row != '#'* && ($wanted == any || $row == "$wanted") ]] || continue
    line=$(grep -aE -e "$pattern" <<<"$lines") || continue
    printf '%s\t%s\n' "$row" "${line##*$'\n'}"
    return 0
  done <"$table"
  return 1
}

# torchrun tells of a rank's end at once, before it ends the others. A signal from outside is a cause, a lost connection
# a consequence; of two alike the first counts. Ranks of two nodes may have the same process id.
first_rank() {
  local words code local_rank pid header file best=99 weight
  local -a headers
  while read -r _ _ words; do
    code=${words%%)*} local_rank=${words#*: } pid=${words##*pid: }
    local_rank=${local_rank%% *} pid=${pid%)}
    mapfile -t headers < <(grep -aEHs "^nexa-slurm: attempt $attempt, rank [0-9]+ \(local $local_rank\) on [^ ]+ \(pid $pid\)$" \
      "$ranks"/rank_*.log)
    for header in "${headers[@]:-}"; do
      file=${header%%:nexa-slurm: *}
      weight=2
      case $code in
        -15 | -2) weight=6 ;;
        -6) ;;
        -*) weight=0 ;;
      esac
      if [[ -n $file ]] && printed_by "$file" | match peer >/dev/null; then
        weight=$((weight + 1))
      fi
      if ((weight < best)); then
        best=$weight
        status=$code rank='' node=''
        if [[ $header =~ rank\ ([0-9]+)\ \(local\ [0-9]+\)\ on\ ([^ ]+) ]]; then
          rank=${BASH_REMATCH[1]} node=${BASH_REMATCH[2]}
        fi
      fi
    done
  done < <(printed | grep -aoE 'failed \(exitcode: -?[0-9]+\) local_rank: [0-9]+ \(pid: [0-9]+\)')
  ((best < 99))
}

# srun tells of each of its tasks in the order in which they ended.
first_task() {
  local line word
  line=$(printed | grep -aE '^srun: error: [^:]+: tasks? [^:]+: ' | grep -avE ': Terminated' | head -n 1)
  [[ -n $line ]] || return 1
  node=${line#srun: error: } node=${node%%:*}
  word=${line##*: }
  case $word in
    'Exited with exit code '*) status=${word##* } ;;
    Killed*) status=-9 ;;
    'Segmentation fault'*) status=-11 ;;
    Aborted*) status=-6 ;;
    'Bus error'*) status=-7 ;;
    'Illegal instruction'*) status=-4 ;;
    'Floating point exception'*) status=-8 ;;
    *) return 1 ;;
  esac
}

# Whether the kernel killed something of this job for its memory (cgroup v2, then v1).
out_of_memory() {
  local path job
  path=$(awk -F: '$2 == "" || $2 ~ /memory/ { print $3; exit }' /proc/self/cgroup 2>/dev/null)
  job=${path%/step_*}
  awk '$1 == "oom_kill" && $2 > 0 { found = 1 } END { exit !found }' "/sys/fs/cgroup$job/memory.events" \
    "/sys/fs/cgroup/memory$path/memory.oom_control" 2>/dev/null && [[ $job == */job_* ]]
}

json() {
  text=${1:0:300}
  text=${text//\\/\\\\}
  printf '%s' "${text//\"/\\\"}" | tr -d '\000-\037\177' | iconv -c -f UTF-8 -t UTF-8
}

if [[ -n $class ]]; then
  status=124 # as timeout(1) has it
else
  first_rank || first_task || true
fi
((status < 0)) && signal=$((-status)) status=$((128 - status))
((signal == 0 && status > 128 && status <= 192)) && signal=$((status - 128))
own=()
if [[ -n $rank && -f $ranks/rank_$rank.log ]]; then
  mapfile -t own < <(printed_by "$ranks/rank_$rank.log" | tail -n 500)
else
  # A script with its own --error has stderr.log.
  mapfile -t own < <({ printed && tail -n 500 -- "$ranks/stderr.log" 2>/dev/null; } |
    grep -avE '^(nexa-slurm|srun): |^[^ ]*: line [0-9]+: nexa_' | tail -n 500)
fi
if [[ -n $class ]]; then
  text="it printed nothing and wrote nothing for too long"
elif ((signal == 9)) && { out_of_memory || printed | grep -aqE 'oom[-_]kill event|Detected [0-9]+ oom'; }; then
  class=oom text="the kernel killed it for its memory"
elif ((signal != 0 && signal != 6)); then
  class=signal
elif found=$(printf '%s\n' "${own[@]-}" | match any); then
  class=${found%%$'\t'*} text=${found#*$'\t'}
  if [[ $class == peer ]]; then
    # It is the first all the same: of NCCL's where NCCL says so.
    class='' text=''
    if found=$(printf '%s\n' "${own[@]-}" | match nccl); then
      class=nccl text=${found#*$'\t'}
    fi
  fi
fi
if [[ -z $class ]]; then
  class='exit'
  ((signal == 0)) || class=signal
fi
if [[ -z $text ]]; then
  text=$(printf '%s\n' "${own[@]-}" | grep -av '^[[:space:]]*$' | tail -n 1)
fi

name=
((signal == 0)) || name=$(kill -l "$signal" 2>/dev/null)
said="nexa-slurm: the first failure: ${rank:+rank $rank}"
[[ -n $rank ]] || said+='the command'
said+="${node:+ on $node} "
if [[ $class == stall ]]; then
  said+="showed no sign of life, and the watchdog ended it"
elif ((signal != 0)); then
  said+="was ended by signal $signal ($name)"
else
  said+="ended with $status"
fi
if [[ -n $rank || $class != exit ]]; then
  # The last line may lack its end. Of a plain exit status Slurm says as much.
  [[ -z $(tail -c 1 -- "$log" 2>/dev/null) ]] || echo >&2
  echo "$said; class $class" >&2
fi
if [[ -n $rank && $rank != 0 ]]; then
  echo "nexa-slurm: the last lines of $ranks/rank_$rank.log:" >&2
  printf '%s\n' "${own[@]-}" | tail -n 30 >&2
fi
printf '%s %d\n{"class":"%s","exit_code":%d,"signal":%d%s%s,"text":"%s"}\n' "$class" "$status" "$class" "$status" "$signal" \
  "${rank:+,\"rank\":$rank}" "${node:+,\"node\":\"$node\"}" "$(json "$text")"
