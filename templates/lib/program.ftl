<#-- Our own program, which lies in the workspace: checked before each start. -->
nexa_require_program() {
<#if program_native>
  local machine
  machine=$(uname -m)
  if [[ $machine != x86_64 ]]; then
    echo "nexa-slurm: this stage needs an x86_64 node; $(uname -n) is $machine" >&2
    return 1
  fi
</#if>
  if ! printf '%s  %s\n'<#list program_files as file> [=file.sha256] [=file.name]</#list> |
    (cd -- "$NEXA_PROGRAM" && sha256sum --check --quiet --strict); then
    echo "nexa-slurm: $NEXA_PROGRAM is not the program of this run; the command was not started" >&2
    return 1
  fi
  if ! command -v -- [=java] >/dev/null; then
    echo "nexa-slurm: $(uname -n) has no" [=java] "(17 or newer); the profile's key \`java\` names it" >&2
    return 1
  fi
}
