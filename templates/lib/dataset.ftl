<#-- The datasets of the plan, which the policy asks for: checked before the command starts. -->
# The files below a path, a line each: type, size, name below the path; in the order of the list.
nexa_dataset_files() {
  if [[ -d $1 && ! -L $1 ]]; then
    (cd -- "$1" && find . ! -type d -printf '%y %s %P\n' | LC_ALL=C sort -t ' ' -k 3)
  else
    find "$1" -maxdepth 0 -printf '%y %s %f\n'
  fi
}

# NAME@VERSION PATH ROOT NEWEST CHECK: the list of files is the registered one, and the files are those of the list.
nexa_require_dataset() {
  local list=$NEXA_DURABLE/manifests/datasets/$1.json own=$NEXA_TASK_SCRATCH/.dataset folder=$2 tool=find status=2 wrong=
  local line='^\{"path":"([^"\\]+)","bytes":([0-9]+),"sha256":"([0-9a-f]{64})".*$'
  [[ -d $2 ]] || folder=${2%/*}
  if ! sed -nE "s/$line/\\3 \\2 \\1/p" "$list" >"$own" ||
    [[ $({ echo nexa-dataset-1 && cat -- "$own"; } | sha256sum) != "$3  -" ]]; then
    echo "nexa-slurm: $list is not the list of files that was registered as $1; the command was not started" >&2
    return 1
  fi
  # 0: the files are those of the list. 1: they are not. Anything else is no answer: a tool is missing, or was killed.
  if nexa_dataset_files "$2" >"$own.found" && sed -E 's/^[0-9a-f]{64} /f /' "$own" >"$own.listed"; then
    tool=diff status=0
    diff -a -- "$own.listed" "$own.found" >"$own.wrong" 2>&1 || status=$?
    if [[ $status == 0 && $5 == sha256 ]]; then
      tool=sha256sum
      (cd -- "$folder" && sed -E 's/^([0-9a-f]{64}) [0-9]+ /\1  /' "$own" | sha256sum --check --quiet --strict) >"$own.wrong" 2>&1 || status=$?
    elif [[ $status == 0 ]]; then
      tool=find
      find "$2" -type f -newermt "@$4" -printf '%p was written later\n' >"$own.wrong" 2>&1 || status=2
      [[ $status != 0 || ! -s $own.wrong ]] || status=1
    fi
    wrong=$(grep -v '^[0-9][0-9,]*[acd][0-9]' "$own.wrong" | head -n 5 | cut -c -200) || true
  fi
  rm -f -- "$own" "$own.found" "$own.listed" "$own.wrong"
  case $status in
  0) return 0 ;;
  1) printf 'nexa-slurm: the files in %s are not %s (< is registered, > is found); the command was not started\n%s\n' "$2" "$1" "$wrong" >&2 ;;
  *) printf 'nexa-slurm: the files in %s could not be checked against %s: %s ended with %s; the command was not started\n%s\n' "$2" "$1" "$tool" "$status" "$wrong" >&2 ;;
  esac
  return 1
}
