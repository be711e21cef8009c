<#-- The packed code: each attempt gets a copy of its own, on each node. -->
# What is checked is what is unpacked: the copy, not the file in the workspace. Where nodes share the scratch, the first
# one unpacks, and the others wait.
nexa_unpack() {
  local archive=${NEXA_RUN_DIR%/*/*}/code/[=code_sha256].tar.gz expected=[=code_sha256] found try
  local turn=$NEXA_TASK_SCRATCH/.code.$SLURM_JOB_ID.$NEXA_RESTART
  if mkdir -- "$turn" 2>/dev/null; then
    nexa_unpack_here && : >"$turn/done" && return
    : >"$turn/failed"
    return 1
  fi
  for ((try = 0; try < 3000; try++)); do
    [[ ! -e $turn/done ]] || return 0
    [[ ! -e $turn/failed ]] || return 1
    ls -- "$turn" >/dev/null # another node's file may be seen only after this
    sleep 0.2
  done
  echo "nexa-slurm: code: no node unpacked it into $NEXA_CODE within ten minutes" >&2
  return 1
}

nexa_unpack_here() {
  umask "${NEXA_TIGHT:-22}" # whatever the command's is: nobody else changes what was checked
  rm -rf -- "$NEXA_CODE"
  if ! cat -- "$archive" >"$turn/tar.gz"; then
    echo "nexa-slurm: code: $archive could not be copied to $turn; the command was not started" >&2
    return 1
  fi
  found=$(sha256sum <"$turn/tar.gz") || return 1
  if [[ ${found%% *} != "$expected" ]]; then
    echo "nexa-slurm: code: $archive is not the code of this run: its SHA-256 is ${found%% *}; the command was not started" >&2
    return 1
  fi
  mkdir -- "$NEXA_CODE" && tar -xzof "$turn/tar.gz" -C "$NEXA_CODE" && rm -f -- "$turn/tar.gz" && return
  echo "nexa-slurm: code: $archive could not be unpacked into $NEXA_CODE; the command was not started" >&2
  return 1
}
<#macro unpacked>
<#if nodes gt 1>
  export -f nexa_unpack nexa_unpack_here
  nexa_run nexa_on_each_node --overlap bash -c nexa_unpack
<#else>
  nexa_run nexa_unpack
</#if>
</#macro>
