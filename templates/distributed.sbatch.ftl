<#assign stepped = nodes gt 1 || container_step>
#!/bin/bash
# Rendered by nexa-slurm from templates/distributed.sbatch.ftl: one launcher on each node, which starts its ranks.
<#include "lib/directives.ftl">
# Values are quoted as they are meant: a dollar sign in one is a dollar sign.
# shellcheck disable=SC2016,SC2209

<#include "lib/preamble.ftl">

<#include "lib/health.ftl">

<#include "lib/exit.ftl">

# What the runner reads; a value set by the config or the cluster profile wins.
nexa_distributed() {
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-[=threads_per_rank]}
  export TOKENIZERS_PARALLELISM=${TOKENIZERS_PARALLELISM:-false}
  export WANDB_START_METHOD=${WANDB_START_METHOD:-thread} WANDB_DIR=${WANDB_DIR:-$NEXA_RUN_DIR/tracking/$NEXA_TASK}
  mkdir -p "$WANDB_DIR"
<#if accelerator == "cuda">
  export PYTORCH_CUDA_ALLOC_CONF=${PYTORCH_CUDA_ALLOC_CONF:-expandable_segments:True}
  export TORCH_NCCL_ASYNC_ERROR_HANDLING=${TORCH_NCCL_ASYNC_ERROR_HANDLING:-1}
<#else>
  export NEXA_DEVICE=cpu
</#if>
<#if warning_seconds gt 0>
  # torchrun kills its ranks 30 s after a SIGTERM, unless told to let them save.
  export TORCH_ELASTIC_SHUTDOWN_TIMEOUT=${TORCH_ELASTIC_SHUTDOWN_TIMEOUT:-[=warning_seconds]}
</#if>
<#if debug>
  # Slow, and many lines: only to find why ranks hang.
  export NCCL_DEBUG=INFO TORCH_DISTRIBUTED_DEBUG=DETAIL CUDA_LAUNCH_BLOCKING=1
</#if>
<#if nodes gt 1>
  # Here, outside any container, and no fallback: a missing scontrol would make one world for each node.
  local -a hosts=()
  mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
  if [[ -z ${hosts[0]:-} ]]; then
    echo "nexa-slurm: scontrol show hostnames named no host for '$SLURM_JOB_NODELIST'" >&2
    return 1
  fi
  export MASTER_ADDR=${hosts[0]}
  # Each array task has its own job id; below the ephemeral range of Linux.
  local try
  for try in {0..19}; do
    export MASTER_PORT=$((15000 + (SLURM_JOB_ID + try * 701) % 14000))
    nexa_port_is_free "$MASTER_PORT" && break
  done
  # A requeued job keeps its id: its ranks must not meet those of the attempt before.
  export NEXA_RENDEZVOUS=$SLURM_JOB_ID.$NEXA_RESTART
</#if>
}
<#if nodes gt 1>

# The batch script runs on the first node, where the port is needed: a bind tells, or where there is no Python a connect.
nexa_port_is_free() {
  if command -v python3 >/dev/null; then
    python3 -c 'import socket, sys; socket.socket().bind(("", int(sys.argv[1])))' "$1" 2>/dev/null
  elif (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
    return 1
  fi
}
</#if>

<#include "lib/container.ftl">
# Runs on each node, where alone its number is known.
nexa_launch() {
<#if nodes gt 1>
  # torchrun guesses from host names who holds the rendezvous, and guesses wrong where a node has several
  # (pytorch/pytorch#73656): it is told.
  export NEXA_IS_FIRST=0
  [[ $SLURM_NODEID != 0 ]] || NEXA_IS_FIRST=1
</#if>
<#if stepped && warning_seconds gt 0>
  # Told to save, nodes end one after another: the first to end must not take the others down.
  local told='' status=0
  trap 'told=1' TERM
 <@prefix/><@words/> || status=$?
  if [[ -n $told && $status != 0 ]]; then
    echo "$status" >"$NEXA_ATTEMPT.stopped"
    status=0
  fi
  return "$status"
<#else>
  exec<@prefix/><@words/>
</#if>
}

<#if all_reduce>
nexa_all_reduce() {
  RANK=$SLURM_NODEID WORLD_SIZE=[=nodes] exec<@prefix/> timeout 120 python3 "$NEXA_RUN_DIR/runner/all_reduce.py"
}

</#if>
nexa_main() {
  nexa_preamble "$@"
  nexa_claim
  nexa_watch
<#if chain gt 1>
  nexa_leave_if_done
</#if>
<#if requeues gt 0 && scheduler == "slurm">
  nexa_limit_requeues
</#if>
  nexa_software
  nexa_distributed
  nexa_check_nodes
<#if workdir??>
  cd [=workdir]
<#else>
  cd "$NEXA_RUN_DIR"
</#if>
<#if all_reduce>
  export -f nexa_all_reduce
  if ! nexa_run nexa_on_each_node<@step/> bash -c nexa_all_reduce; then
    echo "nexa-slurm: $SLURM_JOB_NODELIST: the nodes are well, but can't add up a number together; debug: true tells more" >&2
    return 1
  fi
</#if>
<#if stepped>
  export -f nexa_launch
  nexa_run nexa_on_each_node<@step/> bash -c nexa_launch
<#if warning_seconds gt 0>
  if [[ -e $NEXA_ATTEMPT.stopped ]]; then
    return "$(<"$NEXA_ATTEMPT.stopped")"
  fi
</#if>
<#else>
  nexa_run nexa_launch
</#if>
}

# On the last line and in braces: half a script does nothing.
{ nexa_main "$@"; }
