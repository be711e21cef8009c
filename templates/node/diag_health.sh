#!/bin/bash
# Slurm's HealthCheckProgram and Epilog, from `nexa-slurm diag install`: checks this node with the rows of diag_checks.sh beside
# it. A node with a critical finding is drained, and one that it drained is resumed when it is well again. It never touches a
# node with somebody else's reason, never drains more than a share of the nodes, and always ends with 0: Slurm would drain the
# node for a fault of this script. diag.conf beside it says enabled=yes or no, the share, and where the storage is.
set -uo pipefail
export LC_ALL=C
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
node=${SLURMD_NODENAME:-${HOSTNAME%%.*}}
mark=nexa-slurm:
enabled=no most_percent=10
# shellcheck disable=SC1091
[[ ! -r $here/diag.conf ]] || source "$here/diag.conf"
[[ $enabled == yes ]] || exit 0

# One at a time: slurmd starts the next one although this one has not ended.
if [[ -w /run ]]; then
  exec 9>"/run/nexa-diag.$node.lock"
  flock -n 9 || exit 0
fi

tell() { logger -t nexa-diag -- "$node: $1" 2>/dev/null || true; }

shown=$(timeout 5 scontrol --oneliner show node "$node") || { tell "scontrol gives no answer"; exit 0; }
reason='' state='' gpus=$(bash "$here/diag.sh" gres <<<"$shown")
# Slurm kills this program after 60 s.
# What hangs for ever must not hold the lock.
found=$(timeout -k 1 45 bash "$here/diag.sh" node quick "$gpus" 9>&-) || tell "the checks did not end in 45 s"
bad=$(grep $'\tcritical\t' <<<"$found" | bash "$here/diag.sh" words)
[[ ! $shown =~ \ State=([^ ]+) ]] || state=${BASH_REMATCH[1]}
[[ ! $shown =~ \ Reason=(.*) ]] || reason=${BASH_REMATCH[1]}

if [[ -z $bad ]]; then
  # A runner that did not come to its end proves nothing.
  if [[ $state == *DRAIN* && $reason == "$mark"* ]] && grep -q $'\tanswer\tok' <<<"$found"; then
    timeout 5 scontrol update NodeName="$node" State=RESUME && tell "resumed"
  fi
  exit 0
fi
if [[ -n $reason || $state == *DRAIN* ]]; then
  exit 0
fi
read -r all ours < <(timeout 5 sinfo --noheader --Node --format='%N %E' | sort -u |
  awk -v mark="$mark" '!seen[$1]++ { all++ } $2 == mark && !bad[$1]++ { ours++ } END { print all + 0, ours + 0 }')
if ((all == 0 || (ours > 0 && (ours + 1) * 100 > all * most_percent))); then
  tell "not drained, because $ours of $all nodes are: $bad"
  exit 0
fi
timeout 5 scontrol update NodeName="$node" State=DRAIN Reason="$mark ${bad:0:200}" || exit 0
# Others may have looked at the same moment: of all together, those that came last go back.
sleep 3
if timeout 5 sinfo --noheader --Node --format='%H %N %E' | sort -u |
  awk -v mark="$mark" -v node="$node" -v most="$((all * most_percent / 100))" '$3 == mark && ++n > (most > 1 ? most : 1) && $2 == node { found = 1 } END { exit !found }'; then
  timeout 5 scontrol update NodeName="$node" State=RESUME && tell "not drained, because others are: $bad"
else
  tell "drained: $bad"
fi
exit 0
