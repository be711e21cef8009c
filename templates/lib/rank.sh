#!/bin/sh
# torchrun and accelerate start each rank through this file (PYTHON_EXEC), in place of their own Python. The rank's output
# goes to a log of its own; what rank 0 prints is in the task's log too. The shell becomes the program: signals and exit
# statuses are the program's.
python=${NEXA_PYTHON:-}
[ -n "$python" ] || python=$(tr '\0' '\n' <"/proc/$PPID/cmdline" | head -n 1)
command -v "$python" >/dev/null 2>&1 || python=python3
if [ -z "${RANK:-}" ] || [ ! -w "${NEXA_RANK_LOGS:-/none}" ]; then
  exec "$python" "$@"
fi
if [ -n "${NEXA_TRACKED:-}" ]; then
  # One W&B run for each rank that starts one; another attempt goes on with it.
  [ "$NEXA_TRACKED" != "${WANDB_NAME:-}" ] || export WANDB_NAME="${NEXA_TRACKED}_rank_$RANK"
  [ "$RANK" = 0 ] || [ -z "${WANDB_RUN_ID:-}" ] || export WANDB_RUN_ID="${WANDB_RUN_ID}_rank_$RANK"
fi
log=$NEXA_RANK_LOGS/rank_$RANK.log
echo "nexa-slurm: attempt $((NEXA_RESTART + 1)), rank $RANK (local ${LOCAL_RANK:-0}) on ${SLURMD_NODENAME:-$(uname -n)} (pid $$)" >>"$log"
if [ "$RANK" = 0 ]; then
  pipe=$NEXA_RANKS_SCRATCH/rank_0/output.$$
  if mkdir -p "${pipe%/*}" && mkfifo "$pipe"; then
    # In a shell of its own: it is no child of the program, and signals to the step do not end it before the program.
    (
      trap '' HUP INT TERM USR1 USR2
      tee -a "$log" <"$pipe" >&2 & # torchrun keeps stdout for itself
    )
    exec >"$pipe" 2>&1
    rm -f "$pipe"
  fi
else
  exec >>"$log" 2>&1
fi
exec "$python" "$@"
