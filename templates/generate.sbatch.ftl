<#assign stepped = false outside = true>
#!/bin/bash
# Rendered by nexa-slurm from templates/generate.sbatch.ftl: each array task runs a server, and our own program that asks it.
<#include "lib/directives.ftl">
# Values are quoted as they are meant: a dollar sign in one is a dollar sign.
# shellcheck disable=SC1091,SC2016,SC2209

<#include "lib/preamble.ftl">

<#include "lib/health.ftl">

<#include "lib/exit.ftl">
<#if code_sha256??>

<#include "lib/code.ftl">
</#if>

<#include "lib/program.ftl">

<#include "lib/meeting.ftl">
<@port_is_free/>

# Only this task knows the server's port and key. The key stands in no script, argument or log.
nexa_meet_teacher() {
  local try
  for try in {20..39}; do
    export NEXA_PORT=$((15000 + (SLURM_JOB_ID + try * 701) % 14000))
    nexa_port_is_free "$NEXA_PORT" && break
  done
  VLLM_API_KEY=$(od -An -v -N 32 -t x1 /dev/urandom | tr -d ' \n')
  export VLLM_API_KEY
}

<#if has_datasets>
<#include "lib/dataset.ftl">

</#if>
<#include "lib/container.ftl">
nexa_teacher() {
  umask "${NEXA_UMASK:-22}" # the user's own
<#if container_step>
  nexa_on_each_node --nodes=1 --ntasks=1<@step/><#list teacher as word> [=word]</#list>
<#else>
  exec<@prefix/><#list teacher as word> [=word]</#list>
</#if>
}

# The answers are kept, whatever becomes of the server now.
nexa_dismiss_teacher() {
  local try
  kill -s TERM "$NEXA_TEACHER" 2>/dev/null || true
  for ((try = 0; try < 50; try++)); do
    kill -0 "$NEXA_TEACHER" 2>/dev/null || return 0
    sleep 0.2
  done
  kill -s KILL "$NEXA_TEACHER" 2>/dev/null || true
}

nexa_main() {
  nexa_preamble "$@"
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
  nexa_run nexa_require_program
<#if workdir??>
  cd [=workdir]
<#elseif code_sha256??>
  cd "$NEXA_CODE"
<#else>
  cd "$NEXA_TASK_SCRATCH"
</#if>
<#if watchdog_seconds gt 0>
  NEXA_GUARDED=1
</#if>
  local status=0
  nexa_meet_teacher
  nexa_teacher &
  NEXA_TEACHER=$!
  nexa_run<@words/> --url "http://127.0.0.1:$NEXA_PORT/v1" --server "$NEXA_TEACHER" || status=$?
  nexa_dismiss_teacher
  return "$status"
}

# On the last line and in braces: half a script does nothing.
{ nexa_main "$@"; }
