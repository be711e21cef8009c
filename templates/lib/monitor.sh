# shellcheck shell=bash disable=SC2153
# Sourced by the job script, or run in its step: starts sampler.sh beside the command, and ends it. Whatever happens to it, the command does not
# notice.

# SECONDS GPUS NODES: on this node, in the folder of the task.
nexa_monitor() {
  NEXA_SAMPLES=$NEXA_TASK_SCRATCH/telemetry.$NEXA_RESTART.${SLURMD_NODENAME:-$HOSTNAME}
  NEXA_KEPT_SAMPLES=$NEXA_ATTEMPT.telemetry.${SLURMD_NODENAME:-$HOSTNAME}.csv
  rm -f -- "$NEXA_SAMPLES.pipe"
  mkfifo -m 600 -- "$NEXA_SAMPLES.pipe" 2>/dev/null || return 0
  bash "$NEXA_RUN_DIR/runner/sampler.sh" "$NEXA_SAMPLES" "$NEXA_KEPT_SAMPLES" "$1" "$2" "${SLURM_NODEID:-0}" "$3" &
  NEXA_SAMPLER=$!
}

# It needs some milliseconds. One that was killed, or hangs, leaves on scratch what it has.
nexa_end_monitor() {
  local try
  [[ -n ${NEXA_SAMPLER:-} ]] || return 0
  [[ ! -p $NEXA_SAMPLES.pipe ]] || echo stop 1<>"$NEXA_SAMPLES.pipe" || true
  for ((try = 0; try < 100; try++)); do
    kill -0 "$NEXA_SAMPLER" 2>/dev/null || break
    sleep 0.05 || true
  done
  kill -KILL "$NEXA_SAMPLER" 2>/dev/null || true
  NEXA_SAMPLER=
  if [[ $(stat -c %s -- "$NEXA_SAMPLES" 2>/dev/null || echo 0) -gt $(stat -c %s -- "$NEXA_KEPT_SAMPLES" 2>/dev/null || echo 0) ]]; then
    cp -f -- "$NEXA_SAMPLES" "$NEXA_KEPT_SAMPLES" 2>/dev/null || true
  fi
  rm -f -- "$NEXA_SAMPLES" "$NEXA_SAMPLES.pipe" || true
}

# SECONDS GPUS NODES COMMAND...: run as a script, on each of several nodes. Slurm signals the command itself; this shell only
# waits for it.
nexa_sampled() {
  local status=0
  trap : HUP INT QUIT ABRT TERM USR1 USR2
  nexa_monitor "${@:1:3}"
  "${@:4}" || status=$?
  nexa_end_monitor
  return "$status"
}
[[ ${BASH_SOURCE[0]} != "$0" ]] || nexa_sampled "$@"
