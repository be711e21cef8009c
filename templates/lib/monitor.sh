# shellcheck shell=bash disable=SC2153
# Sourced by the job script, or run in its step: starts sampler.sh beside the command, and ends it. Whatever happens to it, the command does not
# notice.

# SECONDS GPUS NODES [apart]: on this node, in the folder of the task. apart: the command does not run below this shell.
nexa_monitor() {
  NEXA_SAMPLES=$NEXA_TASK_SCRATCH/telemetry.$NEXA_RESTART.${SLURMD_NODENAME:-$HOSTNAME}
  NEXA_KEPT_SAMPLES=$NEXA_ATTEMPT.telemetry.${SLURMD_NODENAME:-$HOSTNAME}.csv
  rm -f -- "$NEXA_SAMPLES.pipe"
  mkfifo -m 600 -- "$NEXA_SAMPLES.pipe" 2>/dev/null || return 0
  bash "$NEXA_RUN_DIR/runner/sampler.sh" "$NEXA_SAMPLES" "$NEXA_KEPT_SAMPLES" "$1" "$2" "${SLURM_NODEID:-0}" "$3" "${4:-}" &
  NEXA_SAMPLER=$!
  disown "$NEXA_SAMPLER" || true # else bash prints "Killed" to the log
}

# SECONDS GPUS NODES: on each node, in one step beside those of the command, which starts its own. A line, or the end of the
# input, ends the step.
nexa_monitor_nodes() {
  local pipe=$NEXA_TASK_SCRATCH/telemetry.$NEXA_RESTART.watch
  mkfifo -m 600 -- "$pipe" 2>/dev/null && exec {NEXA_WATCH}<>"$pipe" || return 0
  {
    ! declare -F nexa_own_step >/dev/null || nexa_own_step
    exec srun --overlap --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpus-per-task=1 --kill-on-bad-exit=0 --quiet \
      bash "$NEXA_RUN_DIR/runner/monitor.sh" "$@" apart
  } <"$pipe" >/dev/null 2>&1 {NEXA_WATCH}>&- &
  NEXA_WATCHER=$!
  disown "$NEXA_WATCHER" || true
}

# PID TIMES: waits so many times 50 ms for the process, then kills it.
nexa_await_end() {
  local try
  for ((try = 0; try < $2; try++)); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.05 || true
  done
  kill -KILL "$1" 2>/dev/null || true
}

# It needs some milliseconds. One that was killed, or hangs, leaves on scratch what it has.
nexa_end_monitor() {
  if [[ -n ${NEXA_WATCHER:-} ]]; then
    echo stop >&"$NEXA_WATCH"
    exec {NEXA_WATCH}>&-
    nexa_await_end "$NEXA_WATCHER" 200
    NEXA_WATCHER=
  fi
  [[ -n ${NEXA_SAMPLER:-} ]] || return 0
  [[ ! -p $NEXA_SAMPLES.pipe ]] || echo stop 1<>"$NEXA_SAMPLES.pipe" || true
  nexa_await_end "$NEXA_SAMPLER" 100
  NEXA_SAMPLER=
  if [[ $(stat -c %s -- "$NEXA_SAMPLES" 2>/dev/null || echo 0) -gt $(stat -c %s -- "$NEXA_KEPT_SAMPLES" 2>/dev/null || echo 0) ]]; then
    cp -f -- "$NEXA_SAMPLES" "$NEXA_KEPT_SAMPLES" 2>/dev/null || true
  fi
  rm -f -- "$NEXA_SAMPLES" "$NEXA_SAMPLES.pipe" || true
}

# SECONDS GPUS NODES COMMAND...: run as a script, on each of several nodes. Slurm signals the command itself; this shell only
# waits for it. Without a command (apart), for the end of its input.
nexa_sampled() {
  local status=0
  trap : HUP INT QUIT ABRT TERM USR1 USR2
  if [[ $4 == apart && $# == 4 ]]; then
    nexa_monitor "$@"
    read -r _ || true
  else
    nexa_monitor "${@:1:3}"
    "${@:4}" || status=$?
  fi
  nexa_end_monitor
  return "$status"
}
[[ ${BASH_SOURCE[0]} != "$0" ]] || nexa_sampled "$@"
