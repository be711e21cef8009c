#!/bin/bash
# Rendered by nexa-slurm from templates/task.sbatch.ftl: one command for each task.
<#include "lib/directives.ftl">
# Values are quoted as they are meant: a dollar sign in one is a dollar sign.
# shellcheck disable=SC1091,SC2016,SC2209

<#include "lib/preamble.ftl">

<#include "lib/health.ftl">

<#include "lib/exit.ftl">
<#if code_sha256??>

<#include "lib/code.ftl">
</#if>

<#if program_sha256??>
<#include "lib/program.ftl">

</#if>
<#if has_datasets>
<#include "lib/dataset.ftl">

</#if>
<#include "lib/container.ftl">
<#if grouped>
<#include "lib/groups.ftl">
</#if>
<#if python_alone>
<#include "lib/meeting.ftl">
<@only_rank/>
</#if>
<#if checkpoint_seconds gt 0>
<#include "lib/checkpoints.ftl">
<@checkpoint_functions/>
</#if>
nexa_main() {
  nexa_preamble "$@"
<#if grouped>
  export NEXA_GPUS=[=gpus_per_node]
</#if>
  nexa_claim
  nexa_watch
<#if chain gt 1>
  nexa_leave_if_done
</#if>
<#if has_inputs>
  nexa_require_inputs<#list filled as file> [=file]</#list>
</#if>
<#if requeues gt 0 && scheduler == "slurm">
  nexa_limit_requeues
</#if>
  nexa_software
<#if python_alone>
  nexa_only_rank
</#if>
  nexa_check_nodes
<#list datasets as dataset>
  nexa_run nexa_require_dataset [=dataset.reference] [=dataset.path] [=dataset.root] [=dataset.newest] [=dataset.check]
</#list>
<#list judged>
  nexa_run nexa_models<#items as model> [=model]</#items> >"$NEXA_ATTEMPT.models"
</#list>
<#if code_sha256??>
<@unpacked/>
</#if>
<#if program_sha256??>
  nexa_run nexa_require_program
</#if>
<#if workdir??>
  cd [=workdir]
<#elseif code_sha256??>
  cd "$NEXA_CODE"
<#else>
  cd "$NEXA_TASK_SCRATCH"
</#if>
<#if checkpoint_seconds gt 0>
  nexa_bring_checkpoints
</#if>
<#if watchdog_seconds gt 0>
  NEXA_GUARDED=1
  export PYTHONFAULTHANDLER=${PYTHONFAULTHANDLER-1}
</#if>
<#if grouped>
  nexa_groups
</#if>
  nexa_run<#if packed> bash "$NEXA_RUN_DIR/runner/pack.sh" [=pack_size] [=pack_parallel]<#elseif container_step> nexa_on_each_node --nodes=1 --ntasks=1<@step/></#if><@prefix/><@words/>
}

# On the last line and in braces: half a script does nothing.
{ nexa_main "$@"; }
