<#assign stepped = false outside = true>
#!/bin/bash
# Rendered by nexa-slurm from templates/generate.sbatch.ftl: each array task runs a server, and our own program that asks it.
<#include "lib/head.ftl">

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

<#include "lib/main.ftl">
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
<@begin/>
  nexa_check_nodes
<@workplace>
  cd "$NEXA_TASK_SCRATCH"
</@workplace>
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
