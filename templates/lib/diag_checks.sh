# shellcheck shell=bash disable=SC2154
# The checks of `nexa-slurm diag`: a row (diag.sh says what stands in it), and below it the function that looks. It prints
# VALUE, or VALUE|LIMIT|TEXT; LIMIT is empty where the row's counts. Status 1: it is broken, the output says how. 3: it could
# not look, the output says why. 4: it does not apply here. A site's own copy in templates/lib/ is used instead.

say() { printf '%s|%s|%s\n' "$@"; }
blind() { echo "$*"; exit 3; }
broken() { echo "$*"; exit 1; }
none() { exit 4; }

# FOLDER: writes a MiB to the storage, reads it, and prints how many milliseconds that took.
writes() {
  [[ -n $1 ]] || none
  [[ -d $1 ]] || broken "there is no folder $1"
  local file from
  from=$(date +%s%3N)
  file=$(mktemp -- "$1/.nexa-diag.XXXXXX" 2>&1) || broken "cannot write: $file"
  # shellcheck disable=SC2064
  trap "rm -f -- '$file'" EXIT
  dd if=/dev/zero of="$file" bs=64K count=16 conv=fsync status=none || broken "cannot write $1"
  cmp -s -n 1048576 /dev/zero "$file" || broken "$1 gives back other bytes than were written"
  say $(($(date +%s%3N) - from)) '' ''
}
row scratch any quick '<=' 5000 ms critical 20
scratch() { writes "${NEXA_SCRATCH:-}"; }
row durable any quick '<=' 5000 ms critical 20
durable() { writes "${NEXA_DURABLE:-}"; }
row shared any quick '<=' 5000 ms critical 20
shared() { writes "${NEXA_SHARED:-}"; }

# COLUMNS FOLDER...: what df says of the folders that are there.
tiers() {
  local tiers=() tier
  for tier in "${@:2}"; do [[ ! -d $tier ]] || tiers+=("$tier"); done
  ((${#tiers[@]})) || none
  df --output="$1" -- "${tiers[@]}"
}
# What kind of file system the shared tiers are on. The job compares the nodes: where a mount is missing, the folder is on a disk.
row mounts any quick '==' - - critical 10
mounts() {
  tiers fstype "${NEXA_DURABLE:-}" "${NEXA_SHARED:-}" |
    sed -E '1d; s/^(ext[234]|xfs|btrfs|zfs|overlay|tmpfs|ramfs|rootfs)$/disk/; s/^nfs[34]$/nfs/' | paste -s -d ' '
  exit "${PIPESTATUS[0]}"
}
# COLUMN: of the tiers the one that is fullest, in percent.
fullest() {
  tiers "$1,target" "${NEXA_SCRATCH:-}" "${NEXA_DURABLE:-}" "${NEXA_SHARED:-}" | awk 'NR > 1 && $1 + 0 >= most { most = $1 + 0; at = $2 } END { printf "%d||%s\n", most, at }'
  exit "${PIPESTATUS[0]}"
}
row disk any quick '<=' 95 % warning 10
disk() { fullest pcent; }
row inodes any quick '<=' 95 % warning 10
inodes() { fullest ipcent; }

row clock any quick '<=' 1 s warning 10
clock() {
  local offset file
  if offset=$(chronyc -c tracking 2>/dev/null | awk -F, '$NF ~ /^(Normal|Insert|Delete)/ { print $5 }') && [[ -n $offset ]]; then
    say "${offset#-}" '' 'chrony'
    return
  fi
  # A file server has a clock of its own.
  [[ -n ${NEXA_ATTEMPT:-} ]] || blind "there is no chronyc"
  file=$(mktemp -- "$NEXA_ATTEMPT.clock.XXXXXX") || blind "cannot write beside the run"
  date +%s.%N | awk -v file="$(stat -c %.Y -- "$file")" '{ d = $1 - file; printf "%.3f||against the file system of the run\n", d < 0 ? -d : d }'
  rm -f -- "$file"
}

row open_files any quick '>=' 4096 files warning 5
open_files() { say "$(ulimit -n | sed 's/unlimited/1000000000/')" '' ''; }
# RDMA pins memory: NCCL fails later with "unable to allocate".
row locked_memory any quick '>=' 67108864 KiB critical 5
locked_memory() {
  [[ -e /sys/class/infiniband ]] || none
  say "$(ulimit -l | sed 's/unlimited/100000000000/')" '' ''
}
row shm any quick '>=' 1 GiB warning 5
shm() { say "$(df --output=avail -BG /dev/shm | tr -dc '0-9\n' | tail -n 1)" '' 'free in /dev/shm'; }
row memory any quick '>=' - MiB warning 5
memory() { awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo; }
row memory_errors any quick '==' 0 errors critical 5
memory_errors() {
  local files=(/sys/devices/system/edac/mc/mc*/ue_count)
  [[ -r ${files[0]} ]] || blind "the kernel shows no counters of memory errors (EDAC)"
  cat "${files[@]}" | awk '{ n += $1 } END { print n + 0 }'
}
row container any quick '==' 1 runtime critical 10
container() {
  [[ -n ${NEXA_DIAG_CONTAINER:-} ]] || none
  command -v "$NEXA_DIAG_CONTAINER" >/dev/null || broken "$NEXA_DIAG_CONTAINER is not on the PATH"
  say 1 '' "$("$NEXA_DIAG_CONTAINER" --version 2>&1 | head -n 1)"
}

row interface any quick '==' up - critical 5
interface() {
  local name=${NEXA_DIAG_INTERFACE:-${NCCL_SOCKET_IFNAME:-}} state
  # NCCL's own notation may be a list or a pattern; one plain name can be looked up.
  [[ $name =~ ^[a-z][a-z0-9._-]*$ ]] || none
  [[ -e /sys/class/net/$name ]] || broken "there is no interface $name"
  read -r state <"/sys/class/net/$name/operstate"
  say "${state/unknown/up}" '' "$name"
}
row infiniband any quick '==' 0 ports critical 10
infiniband() {
  local port state rate down='' most=0
  local ports=(/sys/class/infiniband/*/ports/*)
  [[ -e ${ports[0]} ]] || none
  for port in "${ports[@]}"; do
    rate=$(cat "$port/rate")
    ((${rate%%[. ]*} <= most)) || most=${rate%%[. ]*}
  done
  for port in "${ports[@]}"; do
    state=$(cat "$port/state") rate=$(cat "$port/rate")
    [[ $state == *ACTIVE* && ${rate%%[. ]*} == "$most" ]] || down+=" ${port#/sys/class/infiniband/}: $state, $rate;"
  done
  say "$(grep -o ';' <<<"$down" | wc -l)" '' "$down"
}

# FIELDS: of each GPU, one line; values separated by commas.
nvidia() {
  command -v nvidia-smi >/dev/null || { echo "there is no nvidia-smi" && return 1; }
  nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits 2>&1 | sed 's/, */,/g'
}
# FIELD WORDS: how many GPUs show one of the words, or a number above 0 for +.
showing() {
  local answer
  answer=$(nvidia "index,$1") || blind "nvidia-smi: ${answer//$'\n'/; }"
  awk -F, -v words="$2" '
    $2 ~ /N\/A|Not Supported/ { next }
    { seen++; if (words == "+" ? $2 + 0 > 0 : $2 ~ "^(" words ")$") { n++; at = at (at == "" ? "" : ", ") "GPU " $1 ": " $2 } }
    END { if (!seen) { print "the GPUs do not say"; exit 3 } printf "%d||%s\n", n, at }' <<<"$answer"
}
# FIELD: the largest value.
most() {
  local answer
  answer=$(nvidia "index,$1") || blind "nvidia-smi: ${answer//$'\n'/; }"
  awk -F, '$2 ~ /^[0-9.]+$/ && (!seen++ || $2 + 0 > most) { most = $2 + 0; at = $1 }
    END { if (!seen) { print "the GPUs do not say"; exit 3 } printf "%s||GPU %s\n", most, at }' <<<"$answer"
}
# xid.tsv says which numbers count, and why.
row xid gpu quick '==' 0 errors critical 10
xid() {
  local log
  log=$(dmesg --since '2 hours ago' 2>&1) || blind "${log##*$'\n'}"
  awk -F '\t' -v table="${BASH_SOURCE[0]%/*}/xid.tsv" '
    BEGIN { while ((getline < table) > 0) if ($1 ~ /^[0-9]+$/) why[$1] = $3 }
    /NVRM: Xid/ && match($0, /\): [0-9]+/) { x = substr($0, RSTART + 3, RLENGTH - 3); if (x in why) { n++; said[x] = why[x] } }
    END { for (x in said) text = text (text == "" ? "" : "; ") "Xid " x ": " said[x]; printf "%d||%s\n", n, text }' <<<"$log"
}
# A driver that hangs, or shows too few: then no other check of GPUs is made.
row gpus gpu quick '==' - GPUs critical 30
gpus() {
  local answer
  answer=$(nvidia uuid) || broken "nvidia-smi: ${answer//$'\n'/; }"
  say "$(grep -c . <<<"$answer")" "$gpus" ''
}
row driver gpu quick '==' new - critical 60
driver() {
  local found
  found=$(nvidia driver_version) || blind "nvidia-smi: $found"
  found=${found%%$'\n'*}
  [[ -n ${NEXA_DIAG_DRIVER:-} ]] || { say new '' "$found" && return; }
  [[ $(printf '%s\n' "$NEXA_DIAG_DRIVER" "$found" | sort -V | head -n 1) == "$NEXA_DIAG_DRIVER" ]] ||
    broken "the driver is $found, $NEXA_DIAG_DRIVER needed"
  say new '' "$found"
}
row torch gpu quick '==' - GPUs critical 120
torch() {
  local answer
  answer=$(python3 "${BASH_SOURCE[0]%/*}/diag_gpu.py" see 2>&1) || blind "${answer##*$'\n'}"
  say "${answer%%|*}" "$gpus" "${answer#*|}"
}
row ecc_uncorrected gpu quick '==' 0 GPUs critical 60
ecc_uncorrected() { showing ecc.errors.uncorrected.volatile.total +; }
row ecc_corrected gpu quick '<=' 50000000 errors warning 60
ecc_corrected() { most ecc.errors.corrected.volatile.total; }
row rows_failed gpu quick '==' 0 GPUs critical 60
rows_failed() { remapped failure; }
row rows_pending gpu quick '==' 0 GPUs warning 60
rows_pending() { remapped pending; }
remapped() {
  local answer
  answer=$(nvidia-smi --query-remapped-rows="remapped_rows.$1" --format=csv,noheader,nounits 2>/dev/null) || blind "the GPUs do not say"
  say "$(grep -cE '^ *(Yes|[1-9])' <<<"$answer")" '' ''
}
row nvlink gpu quick '==' 0 links critical 60
nvlink() {
  local answer
  answer=$(nvidia-smi nvlink --status 2>&1)
  grep -q 'Link [0-9]' <<<"$answer" || none
  say "$(grep -ci 'inactive' <<<"$answer")" '' 'inactive'
}
row pcie gpu quick '==' 0 GPUs warning 60
pcie() {
  local answer
  answer=$(nvidia index,pcie.link.width.current,pcie.link.width.max) || blind "nvidia-smi: ${answer//$'\n'/; }"
  awk -F, '$2 ~ /^[0-9]+$/ && $3 ~ /^[0-9]+$/ && $2 < $3 { n++; at = at (at == "" ? "" : ", ") "GPU " $1 ": x" $2 " of x" $3 }
    END { printf "%d||%s\n", n, at }' <<<"$answer"
}
row slowed gpu quick '==' 0 GPUs warning 60
slowed() { showing clocks_throttle_reasons.hw_slowdown Active; }
row temperature gpu quick '<=' 87 C warning 60
temperature() { most temperature.gpu; }
row gpu_memory gpu quick '<=' 1024 MiB warning 60
gpu_memory() { most memory.used; }

# dcgmi of version 3 and 4 name their tests and keys differently; each test has a "status". Its exit status alone proves nothing.
row dcgm gpu full '==' 0 tests critical 300
dcgm() {
  command -v dcgmi >/dev/null || none
  local answer
  answer=$(dcgmi diag -r 2 -j 2>&1)
  awk '
    { while (match($0, /"status" *: *"[^"]*"/)) {
        word = tolower(substr($0, RSTART, RLENGTH)); sub(/.*: *"/, "", word); sub(/"/, "", word)
        count[word]++; $0 = substr($0, RSTART + RLENGTH) } }
    END {
      if (!count["pass"] && !count["fail"]) { print "dcgmi gave no result"; exit 3 }
      printf "%d||%d tests passed, %d warn\n", count["fail"], count["pass"], count["warn"] }' <<<"$answer"
}
row gpu_copy gpu full '>=' - GB/s warning 120
gpu_copy() { speed copy; }
row gpu_matmul gpu full '>=' - TFLOP/s warning 120
gpu_matmul() { speed matmul; }
# The slowest GPU's figure.
speed() {
  local answer
  answer=$(python3 "${BASH_SOURCE[0]%/*}/diag_gpu.py" "$1" 2>&1) || blind "${answer##*$'\n'}"
  say "${answer%%|*}" '' "${answer#*|}"
}

# MIB COMMAND...: MiB/s.
rate() {
  local from=${EPOCHREALTIME/./}
  "${@:2}" >/dev/null 2>&1 || blind "${2} failed"
  say $(($1 * 1000000 / (${EPOCHREALTIME/./} - from + 1))) '' ''
}
row cpu any full '>=' - MiB/s warning 60
cpu() { rate 256 bash -c 'head -c 256M /dev/zero | sha256sum'; }
row memory_copy any full '>=' - MiB/s warning 60
memory_copy() { rate 4096 dd if=/dev/zero of=/dev/null bs=64M count=64; }
row scratch_write any full '>=' - MiB/s warning 120
scratch_write() {
  [[ -d ${NEXA_SCRATCH:-} ]] || none
  local file
  file=$(mktemp -- "$NEXA_SCRATCH/.nexa-diag.XXXXXX") || blind "cannot write $NEXA_SCRATCH"
  # shellcheck disable=SC2064
  trap "rm -f -- '$file'" EXIT
  rate 256 dd if=/dev/zero of="$file" bs=4M count=64 conv=fsync
}
