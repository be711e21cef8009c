<#-- Our own program, which lies in the workspace: checked before each start. -->
# What is checked is what starts: this user's own folder, or a copy that only this user can change.
nexa_require_program() {
  local from=${NEXA_RUN_DIR%/*/*}/programs/[=program_sha256] file
<#if program_native>
  local machine
  machine=$(uname -m)
  if [[ $machine != x86_64 ]]; then
    echo "nexa-slurm: this stage needs an x86_64 node; $(uname -n) is $machine" >&2
    return 1
  fi
</#if>
  if [[ $NEXA_PROGRAM != "$from" ]]; then
    umask 077
    # shellcheck disable=SC2043
    for file in<#list program_files as file> [=file.name]</#list>; do
      mkdir -p -- "$(dirname -- "$NEXA_PROGRAM/$file")" && cat -- "$from/$file" >"$NEXA_PROGRAM/$file" && continue
      echo "nexa-slurm: $from/$file could not be copied to $NEXA_PROGRAM; the command was not started" >&2
      return 1
    done
  fi
  if ! printf '%s  %s\n'<#list program_files as file> [=file.sha256] [=file.name]</#list> |
    (cd -- "$NEXA_PROGRAM" && sha256sum --check --quiet --strict); then
    echo "nexa-slurm: $from is not the program of this run; the command was not started" >&2
    return 1
  fi
  if ! command -v -- [=java] >/dev/null; then
    echo "nexa-slurm: $(uname -n) has no" [=java] "(17 or newer); the profile's key \`java\` names it" >&2
    return 1
  fi
}
