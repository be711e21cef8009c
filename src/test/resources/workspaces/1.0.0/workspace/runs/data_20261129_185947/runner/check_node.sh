#!/bin/bash
# Is this node well enough to join? check_node.sh SCRATCH KIB GPUS [INTERFACE] [DRIVER]
# KIB: free space that SCRATCH must have; DRIVER: the oldest that will do. Says what is wrong and ends with 1.
set -uo pipefail
scratch=$1 kib=$2 promised=$3 interface=${4:-} oldest=${5:-}

unfit() {
  echo "$1"
  exit 1
}

free=$(df -Pk -- "$scratch" | awk 'END { print $4 }')
((free >= kib)) || unfit "only $free KiB free under $scratch, $kib needed"

# NCCL's own notation may be a list or a pattern; one plain name can be looked up.
if [[ $interface == [a-z]* && $interface != *,* && ! -e /sys/class/net/$interface ]]; then
  unfit "it has no network interface $interface"
fi

((promised > 0)) || exit 0
IFS=, read -r -a visible <<<"${CUDA_VISIBLE_DEVICES:-}"
((${#visible[@]} >= promised)) || # a whole node may have more
  unfit "$promised GPUs promised, CUDA_VISIBLE_DEVICES='${CUDA_VISIBLE_DEVICES:-}'"

# Double-bit errors, a GPU fallen off the bus, uncontained errors: where users may read the kernel's log.
if dmesg --since '1 hour ago' 2>/dev/null | grep -E 'NVRM: Xid .*: (48|79|95),' >/dev/null; then
  unfit "the kernel told of a broken GPU (Xid 48, 79 or 95) within the hour"
fi

command -v nvidia-smi >/dev/null || exit 0
query() {
  timeout 60 nvidia-smi "$1" --format=csv,noheader,nounits # a broken GPU can hang its driver
}
gpus=$(query --query-gpu=driver_version,ecc.errors.uncorrected.volatile.total) || unfit "nvidia-smi: ${gpus//$'\n'/; }"
(($(wc -l <<<"$gpus") >= promised)) || unfit "nvidia-smi sees fewer than $promised GPUs: ${gpus//$'\n'/; }"
while IFS=', ' read -r driver errors; do
  # Cards without ECC say [N/A].
  [[ $errors == *[!0-9]* || $errors == 0 ]] || unfit "a GPU has $errors uncorrected ECC errors"
  [[ -z $oldest || $(printf '%s\n' "$oldest" "$driver" | sort -V | head -n 1) == "$oldest" ]] ||
    unfit "its driver is $driver, $oldest needed"
done <<<"$gpus"
rows=$(query --query-remapped-rows=remapped_rows.pending,remapped_rows.failure 2>/dev/null) || rows= # old cards can't say
[[ ! $rows =~ (Yes|[1-9]) ]] || unfit "a GPU's memory rows wait to be remapped, or could not be"
