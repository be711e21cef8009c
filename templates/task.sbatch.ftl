#!/bin/bash
# Rendered by nexa-slurm from templates/task.sbatch.ftl: one command for each task.
<#include "lib/head.ftl">

<#if program_sha256??>
<#include "lib/program.ftl">

</#if>
<#include "lib/main.ftl">
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
<@begin/>
<#if python_alone>
  nexa_only_rank
</#if>
  nexa_check_nodes
<@workplace>
  cd "$NEXA_TASK_SCRATCH"
</@workplace>
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
