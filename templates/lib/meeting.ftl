<#-- Macros for the processes of one task: where they meet, and whether nodes can add up a number. -->
<#macro meeting_point>
  # Here, outside any container, and no fallback: a missing scontrol would make one world for each node.
  local -a hosts=()
  mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
  if [[ -z ${hosts[0]:-} ]]; then
    echo "nexa-slurm: scontrol show hostnames named no host for '$SLURM_JOB_NODELIST'" >&2
    return 1
  fi
  export MASTER_ADDR=${hosts[0]}
<@meeting_port/>
</#macro>
<#macro meeting_port>
  # Each array task has its own job id; below the ephemeral range of Linux.
  local try
  for try in {0..19}; do
    export MASTER_PORT=$((15000 + (SLURM_JOB_ID + try * 701) % 14000))
    nexa_port_is_free "$MASTER_PORT" && break
  done
</#macro>
<#macro only_rank>
<@port_is_free/>
# A script that asks for its rank is the only one.
nexa_only_rank() {
  export RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1
<@meeting_port/>
}

</#macro>
<#macro port_is_free>
# The batch script runs on the first node, where the port is needed: a bind tells, or where there is no Python a connect.
nexa_port_is_free() {
  if command -v python3 >/dev/null; then
    python3 -c 'import socket, sys; socket.socket().bind(("", int(sys.argv[1])))' "$1" 2>/dev/null
  elif (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
    return 1
  fi
}
</#macro>
<#macro all_reduce_function>
nexa_all_reduce() {
  RANK=$SLURM_NODEID WORLD_SIZE=[=nodes] exec<@prefix/> timeout 120 python3 "$NEXA_RUN_DIR/runner/all_reduce.py"
}

</#macro>
<#macro adds_up>
  export -f nexa_all_reduce
  if ! nexa_run nexa_on_each_node --overlap<@step/> bash -c nexa_all_reduce; then
    sleep 1 || true # a cancelled job's signal may come to this shell a moment after the step's end, and says enough
    [[ -n $NEXA_SIGNALLED ]] ||
      echo "nexa-slurm: Nodes $SLURM_JOB_NODELIST could not talk to each other (the all-reduce test failed). Set debug: true and submit again." >&2
    return 1
  fi
</#macro>
