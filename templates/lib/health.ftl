# A broken node is named here, before it joins, instead of failing the job hours later.
nexa_check_node() {
  local node=${SLURMD_NODENAME:-$HOSTNAME} reason
  local -a folders=("$NEXA_RUN_SCRATCH" "$NEXA_TASK_SCRATCH" "$NEXA_DURABLE" "$NEXA_SHARED"<#if ranks_per_node gt 0> "$NEXA_RANKS_SCRATCH"/rank_{0..[=ranks_per_node * nodes - 1]}</#if>)
  reason=$(nexa_make_folders [=cluster] "${folders[@]}") &&
<#if health_check>
    reason=$(bash "$NEXA_RUN_DIR/runner/check_node.sh" "$NEXA_SCRATCH" [=scratch_free_kib] <#if grouped>"$NEXA_GPUS"<#else>[=gpus_per_node]</#if><#if nodes gt 1><#if interface??> [=interface]<#else> "${NCCL_SOCKET_IFNAME:-}"</#if><#else> ''</#if><#if min_driver??> [=min_driver]</#if>) &&
</#if>
    echo "nexa-slurm: node $node is well" && return
  echo "nexa-slurm: node $node is not well: $reason" >&2
  echo "$reason" >"$NEXA_ATTEMPT.unfit.$node"
  return 1
}

# All nodes of this attempt: it ends early where one is not well, and if there is another attempt, that does without it.
nexa_check_nodes() {
  local file
<#if nodes gt 1 && !diagnoses>
  export -f nexa_check_node nexa_make_folders nexa_take_scratch nexa_hold nexa_forget_scratch
  nexa_run nexa_on_each_node --overlap<#if processes && gpus_per_node == 0> --gres=none</#if> --kill-on-bad-exit=0 bash -c 'nexa_take_scratch && nexa_check_node' &&<#if monitor_seconds gt 0 && !(stepped!false)> nexa_monitor_nodes [=monitor_seconds] [=gpus_per_node] [=nodes] &&</#if> return
<#else>
  nexa_run nexa_check_node &&<#if monitor_seconds gt 0> nexa_monitor [=monitor_seconds] [=gpus_per_node] 1 &&</#if> return
</#if>
  # What another node wrote may be seen here only later.
  local try
  for try in 1 2 3 4 5 6; do
    for file in "${NEXA_ATTEMPT%.*}".*.unfit.*; do
      [[ ! -e $file ]] || NEXA_UNFIT+=${NEXA_UNFIT:+,}${file##*.unfit.}
    done
    [[ -z $NEXA_UNFIT ]] || break
    sleep $((try * 2))
  done
  return 1
}
