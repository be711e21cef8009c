#!/bin/bash
# Rendered by nexa-slurm from java.sbatch.ftl of a plugin: each array task runs one Java program.
<#include "lib/directives.ftl">
# Values are quoted as they are meant: a dollar sign in one is a dollar sign.
# shellcheck disable=SC2016,SC2209

<#include "lib/preamble.ftl">

<#include "lib/health.ftl">

<#include "lib/exit.ftl">

<#include "lib/container.ftl">
nexa_main() {
  nexa_preamble "$@"
  nexa_claim
  nexa_watch
<#if requeues gt 0 && scheduler == "slurm">
  nexa_limit_requeues
</#if>
  nexa_software
  nexa_check_nodes
  cd "$NEXA_TASK_SCRATCH"
  # What the other templates don't do: one heap of the C library for each CPU, or they count against the task's memory.
  export MALLOC_ARENA_MAX=[=cpus_per_task]
  nexa_run<#if container_step> nexa_on_each_node --nodes=1 --ntasks=1<@step/></#if><@prefix/><@words/>
}

# On the last line and in braces: half a script does nothing.
{ nexa_main "$@"; }
