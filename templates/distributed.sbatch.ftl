<#assign stepped = nodes gt 1 || container_step>
#!/bin/bash
# Rendered by nexa-slurm from templates/distributed.sbatch.ftl: one launcher on each node, which starts its ranks.
<#include "lib/head.ftl">

<#include "lib/meeting.ftl">
# What the runner reads; a value set by the config or the cluster profile wins.
nexa_distributed() {
  nexa_ranks
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-[=threads_per_rank]}
  export WANDB_START_METHOD=${WANDB_START_METHOD:-thread} WANDB_DIR=${WANDB_DIR:-$NEXA_RUN_DIR/tracking/$NEXA_TASK}
  mkdir -p "$WANDB_DIR"
  export TOKENIZERS_PARALLELISM=${TOKENIZERS_PARALLELISM:-false}
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
  export CUDA_LAUNCH_BLOCKING=1 # slow
</#if>
<#if nodes gt 1>
<@meeting_point/>
  # A requeued job keeps its id: its ranks must not meet those of the attempt before.
  export NEXA_RENDEZVOUS=$SLURM_JOB_ID.$NEXA_RESTART
</#if>
}
<#if nodes gt 1>

<@port_is_free/>
</#if>

<#include "lib/main.ftl">
<#if checkpoint_seconds gt 0>
<#include "lib/checkpoints.ftl">
<@checkpoint_functions/>
</#if>
# Runs on each node, where alone its number is known.
nexa_launch() {
<#if container_step && watchdog_seconds gt 0>
  : >"$NEXA_ATTEMPT.began"
</#if>
<#if python_alone>
  # One process on each node, which nothing but this shell numbers.
  export RANK=$SLURM_NODEID LOCAL_RANK=0 WORLD_SIZE=[=nodes] LOCAL_WORLD_SIZE=1
</#if>
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
 <@sampled/><@prefix/><@words/> || status=$?
  if [[ -n $told && $status != 0 ]]; then
    echo "$status" >"$NEXA_ATTEMPT.stopped"
    status=0
  fi
  return "$status"
<#else>
  exec<@sampled/><@prefix/><@words/>
</#if>
}

<#if all_reduce>
<@all_reduce_function/>
</#if>
nexa_main() {
<@begin/>
  nexa_distributed
  nexa_check_nodes
<@workplace>
  cd "$NEXA_RUN_DIR"
</@workplace>
<#if all_reduce>
<@adds_up/>
</#if>
<#if checkpoint_seconds gt 0>
  nexa_bring_checkpoints
</#if>
<#if watchdog_seconds gt 0>
  NEXA_GUARDED=1
  export PYTHONFAULTHANDLER=${PYTHONFAULTHANDLER-1}
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
