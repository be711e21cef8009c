<#assign stepped = nodes gt 1 || container_step serves = true>
#!/bin/bash
# Rendered by nexa-slurm from templates/serve.sbatch.ftl: one server over all nodes, until somebody ends it.
<#include "lib/head.ftl">

<#include "lib/meeting.ftl">
# What the server reads. PYTORCH_CUDA_ALLOC_CONF is not among it: vLLM sets that up itself.
nexa_serving() {
<#if nodes gt 1>
<@meeting_point/>
</#if>
  # The server's own port, of the first node; never one that is tried for MASTER_PORT.
  local attempt
  for attempt in {20..39}; do
    export NEXA_PORT=$((15000 + (SLURM_JOB_ID + attempt * 701) % 14000))
    nexa_port_is_free "$NEXA_PORT" && break
  done
  # The key stands in no script, argument or log: who submitted made the file.
  VLLM_API_KEY=$(<"$NEXA_RUN_DIR/api_key")
  export VLLM_API_KEY
}

<@port_is_free/>

# Tells where the server is; temp and rename, so that nobody reads half of it. The key itself is not in it.
nexa_register() {
  [[ -n $NEXA_SUBMISSION ]] || return 0
  local folder=$NEXA_SHARED/active_jobs node=${SLURMD_NODENAME:-$HOSTNAME} model=[=served_model]
  mkdir -p "$folder"
  NEXA_REGISTRATION=$folder/$NEXA_RUN_ID.json
  printf '{"schema_version":1,"run_id":"%s","run_dir":%s,"scheduler":"%s","job_id":%d,"restart":%d,"node":"%s","port":%d,"endpoint":"%s","model":%s,"api_key_file":%s,"started":%d}\n' \
    "${NEXA_RUN_DIR##*/}" "$(nexa_json "$NEXA_RUN_DIR")" [=scheduler] "$SLURM_JOB_ID" "$NEXA_RESTART" "$node" "$NEXA_PORT" \
    "http://<#if on_slurm>$node<#else>localhost</#if>:$NEXA_PORT" "$(nexa_json "$model")" \
    "$(nexa_json "$NEXA_RUN_DIR/api_key")" "$NEXA_STARTED" >"$NEXA_REGISTRATION.$SLURM_JOB_ID.tmp"
  mv -f -- "$NEXA_REGISTRATION.$SLURM_JOB_ID.tmp" "$NEXA_REGISTRATION"
}

nexa_unregister() {
  [[ -z ${NEXA_REGISTRATION:-} ]] || rm -f -- "$NEXA_REGISTRATION"
}

# Bash 4.2 keeps quotes that stand in a replacement.
nexa_json() {
  local back=\\ quote='"' text
  text=${1//"$back"/$back$back}
  printf '"%s"' "${text//"$quote"/$back$quote}"
}

<#include "lib/main.ftl">
nexa_launch() {
<#if nodes gt 1>
  local -a worker=()
  [[ $SLURM_NODEID == 0 ]] || worker=(--headless)
</#if>
  exec<@sampled/><@prefix/><@words/><#if nodes gt 1> "${worker[@]}"</#if>
}

<#if all_reduce>
<@all_reduce_function/>
</#if>
nexa_main() {
<@begin/>
  nexa_serving
  nexa_check_nodes
<@workplace>
  cd "$NEXA_RUN_DIR"
</@workplace>
<#if all_reduce>
<@adds_up/>
</#if>
  nexa_register
  local status=0
<#if stepped>
  export -f nexa_launch
  nexa_run nexa_on_each_node<@step/> bash -c nexa_launch || status=$?
<#else>
  nexa_run nexa_launch || status=$?
</#if>
<#if requeues gt 0 && on_slurm>
  # A server never has finished: what ended without being told to (Slurm's TERM may come later), or out of time, goes on in the next attempt.
  if [[ -z $NEXA_SIGNALLED && $status != 0 && $(timeout 10 squeue --noheader --jobs="$NEXA_JOB" --format=%T) != @(PENDING|COMPLETING) ]]; then
    NEXA_ENDED="the server ended with exit code $status"
  elif [[ $NEXA_SIGNALLED == USR1 && $status == 0 ]] && ((NEXA_RESTART < [=requeues])); then
    status=1
  fi
</#if>
  return "$status"
}

# On the last line and in braces: half a script does nothing.
{ nexa_main "$@"; }
