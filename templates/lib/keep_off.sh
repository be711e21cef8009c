#!/bin/bash
# Which nodes does the next attempt keep off? The config's, and the newest of those that were not well: a tenth of the
# partition's at most, but one, and none that the job needs.
#   keep_off.sh NODES UNFIT EXCLUDE
# NODES: how many the job needs; UNFIT: those that were not well, the newest last; EXCLUDE: the config's. Prints a list.
nodes=$1 unfit=$2 exclude=$3
all=$(sinfo --noheader --partition="$SLURM_JOB_PARTITION" --format=%D | awk '{ n += $1 } END { print n + 0 }')
most=$((all > 20 ? all / 10 : 1))
((most <= all - nodes)) || most=$((all - nodes))
# With those that nexa-slurm left out when it submitted the job.
before=$(squeue --noheader --jobs="$NEXA_JOB" --format=%x)
{
  [[ -z $exclude ]] || scontrol show hostnames "$exclude" | sed 's/^/0 /'
  tr , '\n' <<<"$unfit" | tac | sed 's/^/1 /'
  [[ -z $before ]] || scontrol show hostnames "$before" | sed 's/^/1 /'
} | awk -v most="$most" '!seen[$2]++ && ($1 == 0 || most-- > 0) { printf "%s%s", comma, $2; comma = "," }'
