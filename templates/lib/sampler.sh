#!/bin/bash
# Samples the GPUs, the job's cgroup and the node's network: sampler.sh FILE KEPT SECONDS GPUS NUMBER NODES [apart]
# FILE is on scratch, and beside it FILE.pipe. Twice a minute what is new is added to KEPT, in results/. The line "stop" in
# the pipe ends it, and so does the end of the shell that started it. It prints nothing and can fail no job: what it cannot
# read stays empty. docs/monitor.md describes its lines. Between two samples it starts no process.
set -uf
trap '' HUP INT QUIT ABRT USR1 USR2 TERM
file=$1 kept=$2 every=$3 promised=$4 number=$5 nodes=$6 apart=${7:-}
exec </dev/null >/dev/null 2>&1
exec 3<>"$file.pipe" || exit 0
: >"$file" || exit 0

# The clock of the boot, in hundredths of a second: it never jumps.
ticks() {
  local up
  read -r up _ </proc/uptime
  ticks=$((10#${up/./}))
}
ticks
printf -v epoch '%(%s)T' -1
base=$((epoch * 100 - ticks))

pending='' flushed=0 written=0 stride=1 turn=0
# LINE...: on scratch at once, in results/ twice a minute.
put() {
  printf '%s\n' "$@" >>"$file"
  printf -v pending '%s' "$pending" "${@/%/$'\n'}"
  ((flushed > 0 && ticks - flushed < 3000)) || flush
}
flush() {
  flushed=$ticks
  if printf '%s' "$pending" >>"$kept" || ((${#pending} > 65536)); then
    pending='' # the job's end copies what is missing
  fi
}
event() {
  local time
  stamp
  put "e,$time,$1,$2"
}
stamp() {
  ticks
  local now=$((base + ticks))
  printf -v time '%d.%02d' $((now / 100)) $((now % 100))
}
# Slurm's cgroup of the whole job; without one, the processes below the job's shell are looked at.
v2='' v1cpu='' v1memory='' v1io=''
while IFS=: read -r _ kinds path; do
  [[ $path =~ ^(.*/job_[0-9]+)(/|$) ]] || continue
  path=${BASH_REMATCH[1]}
  case ,$kinds, in
  ,,) v2=/sys/fs/cgroup$path ;;
  *,cpuacct,*) v1cpu=/sys/fs/cgroup/cpuacct$path ;;
  *,memory,*) v1memory=/sys/fs/cgroup/memory$path ;;
  *,blkio,*) v1io=/sys/fs/cgroup/blkio$path ;;
  esac
done </proc/self/cgroup
[[ -r $v2/cpu.stat ]] || v2=
[[ -r $v1cpu/cpuacct.usage ]] || v1cpu=
[[ -r $v1memory/memory.usage_in_bytes ]] || v1memory=
page=$(getconf PAGESIZE) || page=4096

limit=
[[ -z $v2 ]] || read -r limit <"$v2/memory.max"
[[ -z $v1memory ]] || read -r limit <"$v1memory/memory.limit_in_bytes"
[[ $limit =~ ^[0-9]{1,15}$ ]] || limit= # "max", or nearly all of 64 bits
cpus=${SLURM_CPUS_ON_NODE:-$(nproc)}

# Ports of the machine; without any, all interfaces. InfiniBand counts what passes by the kernel in words of four bytes.
set +f
ports=() words=()
for path in /sys/class/net/*/device; do [[ ! -e $path ]] || ports+=("${path%/device}/statistics"); done
if ((${#ports[@]} == 0)); then
  for path in /sys/class/net/*; do [[ $path == */lo || ! -e $path ]] || ports+=("$path/statistics"); done
fi
for path in /sys/class/infiniband/*/ports/*/counters; do
  [[ ! -r $path/port_rcv_data || $(cat "${path%/*}/link_layer") != InfiniBand ]] || words+=("$path")
done
set -f

# Which GPUs are the job's: of a node that shows all, those that Slurm chose.
chosen=,${CUDA_VISIBLE_DEVICES:-${ROCR_VISIBLE_DEVICES:-}},
mine() {
  [[ $chosen == ,, || $chosen == *,"$1",* || ( -n $2 && $chosen == *,"$2",* ) ]]
}

# rocm-smi is a Python program: asked once a minute, it costs less than half a percent of a core.
source=none way=none looping=0 child=0 heard=0 asked=0 retry=0 again=6000 lines=0 pause=0
if ((promised > 0)) && command -v nvidia-smi; then
  source=nvidia-smi way=loop looping=1
elif ((promised > 0)) && command -v rocm-smi; then
  source=rocm-smi way=once pause=6000
fi
[[ $chosen != *MIG* ]] || chosen=,, promised=0 # a part of a GPU cannot be counted
unbuffered=''
! command -v stdbuf || unbuffered='stdbuf -oL'
nvidia() {
  exec $unbuffered nvidia-smi \
    --query-gpu=index,uuid,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu \
    --format=csv,noheader,nounits "$@"
}
# A broken GPU can hang its driver, and then nobody may wait for the program.
ask() {
  asked=$ticks lines=0
  case $source.$way in
  nvidia-smi.loop) nvidia --loop="$every" >&3 3>&- & ;;
  nvidia-smi.once) nvidia >&3 3>&- & ;;
  rocm-smi.*) rocm-smi --showuse --showmeminfo vram --showpower --showtemp --csv >&3 3>&- & ;;
  *) return ;;
  esac
  child=$!
}

declare -A name_of=() busy=() busy_at=() known=()
activity=none meter=0
if [[ $source == nvidia-smi ]] && command -v dcgmi; then
  id=
  while IFS='|' read -r _ first second _; do
    [[ ! $first =~ ([0-9]+) ]] || id=${BASH_REMATCH[1]}
    [[ ! $second =~ Device\ UUID:\ (GPU-[0-9a-f-]+) ]] || name_of[$id]=${BASH_REMATCH[1]}
  done < <(timeout -s KILL 10 dcgmi discovery -l 3>&-)
  if ((${#name_of[@]} > 0)); then
    activity=dcgmi
    dcgmi dmon -e 1002 -d $((every * 1000)) >&3 3>&- &
    meter=$!
  fi
fi

put "h,1,number=$number,nodes=$nodes,interval=$every,gpus=$promised,source=$source,activity=$activity,cpus=$cpus,memory=$limit"

# Sets `value`: of "[N/A]", "[Not Supported]", "ERR!" and the like, nothing.
number() {
  value=
  [[ ! $1 =~ ^[0-9]{1,12}(\.[0-9]{1,6})?$ ]] || value=$1
}

split() {
  local IFS=,
  # shellcheck disable=SC2206
  fields=($1)
}

# One GPU of a sample: INDEX UUID USE MIB TOTAL_MIB WATTS CELSIUS
group=() last=-1 seen=0
gpu() {
  local row sm=''
  mine "$1" "$2" || return 0
  ((seen++))
  if [[ -z ${known[$1]:-} && ${#2} -lt 64 && $2 != *,* ]]; then
    number "$5"
    group+=("d,$1,$2,${value%.*}")
    known[$1]=1
  fi
  [[ -z ${busy[x$2]:-} ]] || ((ticks - ${busy_at[x$2]} > every * 250)) || sm=${busy[x$2]}
  number "$3"
  row=$value,$sm
  number "$4"
  row+=,${value%.*}
  number "$6"
  row+=,$value
  number "$7"
  group+=("g,$time,$1,$row,$value")
}

# Columns of rocm-smi have different names in each release.
rocm=()
rocm_columns() {
  local i=0 column
  rocm=('' '' '' '' '')
  split "$1"
  for column in "${fields[@]}"; do
    case $column in
    'GPU use (%)'*) rocm[0]=$i ;;
    'VRAM Total Used Memory (B)'*) rocm[1]=$i ;;
    'VRAM Total Memory (B)'*) rocm[2]=$i ;;
    *'Power (W)'*) rocm[3]=$i ;;
    'Temperature (Sensor edge)'* | 'Temperature (Sensor junction)'*) [[ -n ${rocm[4]} ]] || rocm[4]=$i ;;
    esac
    ((i++))
  done
}
rocm_row() {
  local i values=('' '' '' '' '')
  split "$1"
  for i in 0 1 2 3 4; do
    [[ -z ${rocm[i]:-} ]] || number "${fields[rocm[i]]:-}"
    [[ -z ${rocm[i]:-} ]] || values[i]=$value
  done
  for i in 1 2; do [[ -z ${values[i]} ]] || values[i]=$((values[i] >> 20)); done
  gpu "${fields[0]#card}" '' "${values[@]}"
}

# The first GPU of a sample, or its next one.
begin() {
  ((last < 0 || 10#$1 > last)) || finish
  ((last >= 0)) || stamp
  last=$((10#$1))
}

# A line of the pipe; true if it belongs to a sample of GPUs.
hear() {
  local row=${1//, /,}
  if [[ $row =~ ^[0-9]{1,3},[^,]*, ]]; then
    split "$row"
    ((${#fields[@]} == 7)) || return 1
    begin "${fields[0]}"
    gpu "${fields[@]}"
  elif [[ $source == rocm-smi && $1 == device,* ]]; then
    rocm_columns "$1"
    return 1
  elif [[ $source == rocm-smi && $1 =~ ^card([0-9]{1,3}), ]]; then
    begin "${BASH_REMATCH[1]}"
    rocm_row "$1"
  elif [[ $1 =~ ^[[:space:]]*GPU\ ([0-9]+)[[:space:]]+([01])\.([0-9]+) ]]; then
    local id=${name_of[${BASH_REMATCH[1]}]:-none} digits=${BASH_REMATCH[3]}0000
    digits=$((10#${BASH_REMATCH[2]}${digits:0:4}))
    printf -v "busy[x$id]" '%d.%02d' $((digits / 100)) $((digits % 100))
    busy_at[x$id]=$ticks
    return 1
  else
    return 1
  fi
  heard=$ticks again=6000
  ((lines++))
  return 0
}

# The command and all below it; what has ended counts with its parent. apart: all of the job's steps on this node, each below
# a slurmstepd, whose title is "slurmstepd: [JOB.STEP]". To look for new ones takes long, so that is not done each time.
steps=() looked=0
family() {
  local -a all=("$PPID")
  local i line more path
  if [[ -n $apart ]]; then
    if ((looked++ % 6 == 0)); then
      steps=()
      set +f
      for path in /proc/[0-9]*; do
        read -r line <"$path/cmdline"
        [[ $line != "slurmstepd: [${SLURM_JOB_ID:-0}."* ]] || steps+=("${path##*/}")
      done
      set -f
    fi
    all=("${steps[@]+"${steps[@]}"}")
  fi
  cpu=0 memory=0 in=0 out=0
  for ((i = 0; i < ${#all[@]} && i < 200; i++)); do
    read -r line <"/proc/${all[i]}/stat" || continue
    # shellcheck disable=SC2086
    set -- ${line##*) }
    ((cpu += (${12} + ${13} + ${14} + ${15}) * 10000, memory += ${22} * page))
    while read -r name value; do
      case $name in
      read_bytes:) ((in += value)) ;;
      write_bytes:) ((out += value)) ;;
      esac
    done <"/proc/${all[i]}/io"
    more=
    read -r more <"/proc/${all[i]}/task/${all[i]}/children"
    # shellcheck disable=SC2206
    all+=($more)
  done
}
# The memory that cannot be taken back: without files that were read once. FILE KEY
working() {
  while read -r name value; do
    [[ $name != "$2" ]] || { ((memory = memory > value ? memory - value : 0)) && return; }
  done <"$1"
}
node() {
  local name value path rest time
  stamp
  cpu='' memory='' in='' out='' received='' sent=''
  if [[ -z $v2 && -z $v1memory ]]; then
    family
  fi
  if [[ -n $v2 ]]; then
    read -r _ cpu <"$v2/cpu.stat"
    read -r memory <"$v2/memory.current" && working "$v2/memory.stat" inactive_file
    if [[ -r $v2/io.stat ]]; then
      in=0 out=0
      while read -r _ rest; do
        [[ ! $rest =~ rbytes=([0-9]+)\ wbytes=([0-9]+) ]] || ((in += BASH_REMATCH[1], out += BASH_REMATCH[2]))
      done <"$v2/io.stat"
    fi
  fi
  [[ -z $v1cpu ]] || { read -r cpu <"$v1cpu/cpuacct.usage" && cpu=$((cpu / 1000)); }
  if [[ -n $v1memory ]]; then
    read -r memory <"$v1memory/memory.usage_in_bytes" && working "$v1memory/memory.stat" total_inactive_file
  fi
  if [[ -r $v1io/blkio.throttle.io_service_bytes ]]; then
    in=0 out=0
    while read -r _ name value; do
      case $name in
      Read) ((in += value)) ;;
      Write) ((out += value)) ;;
      esac
    done <"$v1io/blkio.throttle.io_service_bytes"
  fi
  for path in "${ports[@]+"${ports[@]}"}"; do
    read -r value <"$path/rx_bytes" && ((received += value))
    read -r value <"$path/tx_bytes" && ((sent += value))
  done
  for path in "${words[@]+"${words[@]}"}"; do
    read -r value <"$path/port_rcv_data" && ((received += value * 4))
    read -r value <"$path/port_xmit_data" && ((sent += value * 4))
  done
  group+=("n,$time,$cpu,$memory,$in,$out,$received,$sent")
}

# Ends a sample. A task of days keeps every second one, then every fourth: 4096 of each.
# A GPU that fell off the bus is one that two samples in a row lack: lines of one sample may come late.
counted=$promised before=$promised
finish() {
  if ((last >= 0 && promised > 0)); then
    if ((seen == before && seen != counted && (seen < promised || counted < promised))); then
      event fewer "$seen"
      counted=$seen
    fi
    before=$seen
  fi
  if ((turn++ % stride == 0)); then
    node
    put "${group[@]}"
    ((++written % 4096 != 0)) || ((stride *= 2))
  fi
  group=() last=-1 seen=0 fresh=1
}

over() {
  local line
  [[ $1 != stop ]] || return 0
  # The shell that started it is gone, and another process is the parent.
  # shellcheck disable=SC2086
  read -r line <"/proc/$$/stat" && set -- ${line##*) } && [[ $2 != "$PPID" ]]
}

# The program that is asked about GPUs: is it there, does it answer?
look_after() {
  local patience=$((every * 400 < 3000 ? 3000 : every * 400)) since=$((heard > asked ? heard : asked))
  [[ $way != none ]] || return
  if ((child == 0)); then
    ((ticks < retry)) || ask
  elif ! kill -0 "$child"; then
    child=0
    if [[ $way == once ]]; then
      retry=$((asked + pause))
      ((lines > 0)) && { ((ticks < retry)) || ask; } && return
    fi
    event failed 0
    later
  elif ((ticks - since > patience)); then
    event hang $(((ticks - since) / 100))
    kill -KILL "$child"
    child=0
    # Should a release keep its lines back until it ends, it is started for each sample.
    [[ $source.$way != nvidia-smi.loop || $heard != 0 ]] || way=once looping=0
    later
  fi
}
later() {
  retry=$((ticks + again)) again=$((again < 60000 ? again * 2 : again))
}

fresh=0
look_after
due=$((ticks + 100)) # the first sample does not wait for a whole interval
while :; do
  ticks
  wait=$((due > ticks ? due - ticks : 1))
  printf -v wait '%d.%02d' $((wait / 100)) $((wait % 100))
  line=
  if read -r -t "$wait" -u 3 line; then
    ticks
    ! over "$line" || break
    # Its lines come together: when none has come for a moment, the sample is complete.
    ! hear "$line" || due=$((ticks + (every > 1 ? 100 : 50)))
  else
    ticks
    ! over '' || break
    if ((last >= 0)); then
      finish
      due=$((ticks + every * (100 + 100 * looping)))
    else
      ((fresh)) || finish
      fresh=0
      look_after
      due=$((ticks + every * 100))
    fi
  fi
done
((last < 0)) || finish
stride=1
finish
event end 0
flush
((child == 0)) || kill -KILL "$child"
((meter == 0)) || kill -KILL "$meter"
rm -f -- "$file.pipe"
