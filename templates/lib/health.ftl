# One node, before it joins: a broken one is named here instead of failing hours later.
nexa_check_node() {
  local node=${SLURMD_NODENAME:-$HOSTNAME}
  mkdir -p "$NEXA_RUN_SCRATCH" "$NEXA_TASK_SCRATCH" "$NEXA_DURABLE" "$NEXA_SHARED" || {
    echo "nexa-slurm: node $node: a storage tier can't be written" >&2
    return 1
  }
<#if ranks_per_node gt 0>
  local rank
  for ((rank = 0; rank < [=ranks_per_node * nodes]; rank++)); do
    mkdir -p "$NEXA_RUN_SCRATCH/rank_$rank"
  done
</#if>
<#if health_check && gpus_per_node gt 0>
  local promised=[=gpus_per_node]
  local -a visible=()
  IFS=, read -r -a visible <<<"${CUDA_VISIBLE_DEVICES:-}" || true
  if ((${#visible[@]} < promised)); then # a whole node may have more
    echo "nexa-slurm: node $node: $promised GPUs promised, CUDA_VISIBLE_DEVICES='${CUDA_VISIBLE_DEVICES:-}'" >&2
    return 1
  fi
  if command -v nvidia-smi >/dev/null && (($(nvidia-smi --list-gpus | wc -l) < promised)); then
    echo "nexa-slurm: node $node: nvidia-smi sees fewer than $promised GPUs" >&2
    return 1
  fi
</#if>
<#if health_check && nodes gt 1>
  local interface=${NCCL_SOCKET_IFNAME:-}
  if [[ $interface == [a-z]* && $interface != *,* && ! -e /sys/class/net/$interface ]]; then
    echo "nexa-slurm: node $node: no network interface $interface (NCCL_SOCKET_IFNAME)" >&2
    return 1
  fi
</#if>
  echo "nexa-slurm: node $node is well"
}
