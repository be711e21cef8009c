#!/bin/sh
# Usage: cost-of-change.sh BASE THRESHOLD   such as: cost-of-change.sh origin/main 20%
set -eu
base=$(git merge-base "$1" HEAD)
git worktree add --quiet --detach .base "$base"
trap 'git worktree remove --force .base' EXIT
changed=$(git diff --name-status --find-renames --diff-filter=AMR "$base" HEAD -- 'configs/*/*.yaml' \
  ':!configs/clusters/' ':!configs/prices/')
tab=$(printf '\t')
status=0
room=60000     # a comment on GitHub holds 65,536 characters
left=0
say() {
  if [ ${#1} -lt "$room" ]; then
    printf '%s\n\n' "$1"
    room=$((room - ${#1}))
  else
    left=$((left + 1))
  fi
}
while IFS=$tab read -r kind old new; do
  code=0
  case $kind in
    '') continue ;;
    A)
      text=$(java -jar nexa-slurm.jar estimate "$old" </dev/null) || code=$?
      say "$(printf '### %s: new. %s\n\n```\n%s\n```' "$old" "${text%% for *}" "$text")"
      ;;
    *)
      text=$(java -jar nexa-slurm.jar estimate --diff ".base/$old" "${new:-$old}" --markdown \
        --fail-over "$2" </dev/null) || code=$?
      say "$(printf '%s\n' "$text" | sed '1s|\.base/||')"
      ;;
  esac
  case $code in
    0) ;;
    3) status=3 ;;
    *) exit "$code" ;;
  esac
done <<EOF
$changed
EOF
[ "$left" = 0 ] || printf '%s more changed configs are left out: the comment would be too long.\n' "$left"
exit "$status"
