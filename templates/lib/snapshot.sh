#!/bin/bash
# shellcheck disable=SC2153
# What a run runs on (docs/summary.md lists the names):
#   snapshot.sh UV CONTAINER ENV_FILE [SECONDS...] in a job, beside its command: looks at the node at once, at the process after so
#                                                 many seconds
#   snapshot.sh end PID                           lets that one share what it has, and waits up to five seconds for it
#   snapshot.sh here [PYTHON [FOLDER|LIBRARY]...] prints what is known of this machine
# It fails no job: what it cannot know is absent. Names that begin with `run.` are of the one run; the others are equal for all
# runs on like nodes, and kept once, in runs/snapshots/.
set -u -o pipefail
shopt -s nullglob
export LC_ALL=C PATH=${PATH:-}:/usr/local/bin:/usr/bin:/bin
declare -A facts=() digests=()

if [[ ${1:-} == end ]]; then
  trap '' TERM
  # Another process may have its number by now.
  grep -qs snapshot.sh "/proc/${2:-none}/cmdline" && kill "$2" || exit 0
  exec {never}<> <(:) # to wait without a process: nothing is ever read from it
  for ((try = 0; try < 100; try++)); do
    kill -0 "$2" 2>/dev/null || exit 0
    read -rt 0.05 -u "$never"
  done
  kill -KILL "$2"
  rm -f -- "${NEXA_ATTEMPT:-/none}.snapshot.tsv."*
  exit 0
fi

# NAME VALUE: in one line, without tabs.
put() {
  local value=${2//[^[:print:]]/?}
  [[ -z $value ]] || facts[${1//[^A-Za-z0-9._+-]/_}]=${value:0:2000}
}

try() {
  timeout -s KILL 60 "$@" 2>/dev/null
}

digest() {
  local sum
  sum=$(try sha256sum) && echo "${sum%% *}"
}

node() {
  local line
  read -r line </proc/sys/kernel/osrelease && put kernel "$line"
  while IFS= read -r line; do
    [[ ! $line =~ ^PRETTY_NAME=\"?([^\"]*) ]] || put os "${BASH_REMATCH[1]}"
  done </etc/os-release
  put glibc "$(getconf GNU_LIBC_VERSION)"
  while IFS= read -r line; do
    [[ $line != "model name"* ]] || { put cpu "${line#*: }" && break; }
  done </proc/cpuinfo
  put cpus "$(getconf _NPROCESSORS_ONLN)"
  # Nodes of one kind differ by some KiB.
  read -r _ line _ </proc/meminfo && put memory "$(((line + 524288) / 1048576)) GiB"
}

# Programs that may take long.
services() {
  local text driver model uuid serial
  local -A count=()
  # Without the lines that change by themselves, or from node to node.
  if text=$(try scontrol show config) && [[ $text == *SLURM_VERSION* ]]; then
    text=$(printf '%s\n' "$text" | grep -vE '^(Configuration data|BOOT_TIME|HASH_VAL|NEXT_JOB_ID|SLURM_CONF |Slurmctld\()')
    [[ ! $text =~ SLURM_VERSION\ *=\ *([^[:space:]]*) ]] || put slurm.version "${BASH_REMATCH[1]}"
    [[ ! $text =~ ClusterName\ *=\ *([^[:space:]]*) ]] || put slurm.cluster "${BASH_REMATCH[1]}"
    put slurm.config "$(printf '%s\n' "$text" | digest)"
  fi
  [[ ! -r /proc/driver/nvidia/version ]] || put nvidia.driver "$(sed -nE 's/^NVRM.*[[:space:]]([0-9]{3,}\.[0-9.]+)[[:space:]].*/\1/p' /proc/driver/nvidia/version 2>/dev/null)"
  text=
  while IFS=, read -r driver model uuid serial; do
    [[ $driver =~ ^[0-9]+\.[0-9.]+$ ]] || continue
    put nvidia.driver "$driver"
    model=${model//[^A-Za-z0-9 ._-]/_} model=${model# }
    count[$model]=$((${count[$model]:-0} + 1))
    text+="${text:+; }${uuid# }$([[ $serial != *[0-9]* ]] || echo " (${serial# })")"
  done < <(try nvidia-smi --query-gpu=driver_version,name,uuid,serial --format=csv,noheader,nounits)
  put run.gpus "$text"
  ((${#count[@]})) || return 0
  text=
  for model in "${!count[@]}"; do text+="${count[$model]} x $model"$'\n'; done
  put gpus "$(printf '%s' "$text" | sort | paste -sd ';')"
}

# Names of the run, its job or its node. Short numbers are no sign of a job.
job=${SLURM_JOB_ID:-0}
((${#job} > 3)) || job=${NEXA_RUN_ID:-none}
of_run="(^|[^A-Za-z0-9])(${NEXA_RUN_ID:-none}|$job|${SLURMD_NODENAME:-$HOSTNAME})([^A-Za-z0-9]|\$)"

# NAME VALUE: of the one run if the value names it.
put_path() {
  if [[ $2 =~ $of_run ]]; then put "run.$1" "$2"; else put "$1" "$2"; fi
}

secret_words='[^ ]*:[^ ]*@|(hf_|sk-|sk_|ghp_|gho_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA)[A-Za-z0-9_-]{8}|eyJ[A-Za-z0-9_-]{8}|-----BEGIN|[Bb]earer |[Bb]asic |([Pp]ass(word|wd)?|[Tt]oken|[Ss]ecret|[Aa]pi_?[Kk]ey|[Aa]uth)[a-z]*"?[ =:]'

# FILE: the variables of a process that decide how it computes and talks; never a secret.
variables() {
  local line name value
  while IFS= read -r -d '' line; do
    name=${line%%=*} value=${line#*=}
    case $name in
    *[Pp][Ww] | *[Pp][Ww][Dd]* | *[Jj][Ww][Tt]* | *[Bb][Ee][Aa][Rr]* | *[Tt][Oo][Kk][Ee][Nn]* | *[Kk][Ee][Yy]* | *[Ss][Ee][Cc][Rr][Ee][Tt]* | *[Pp][Aa][Ss][Ss]* | *[Aa][Uu][Tt][Hh]* | *[Cc][Rr][Ee][Dd]*) continue ;;
    OMPI_ARGV | OMPI_COMMAND) continue ;; # the command's own words
    NCCL_* | CUDA_* | TORCH_* | PYTORCH_* | OMP_* | UCX_* | FI_* | VLLM_* | OMPI_* | HF_HUB_OFFLINE | LD_LIBRARY_PATH) ;;
    *) continue ;;
    esac
    # What comes from the config's env_file is the user's secret, whatever its name is.
    [[ ! -r ${secrets:-} ]] || ! grep -qE "^[[:space:]]*(export[[:space:]]+)?$name=" -- "$secrets" || continue
    [[ ! $value =~ $secret_words ]] || value='left out: it looks like a secret'
    case $name in
    CUDA_VISIBLE_DEVICES | VLLM_HOST_IP | OMPI_COMM_* | OMPI_FILE_LOCATION | OMPI_MCA_orte_* | OMPI_MCA_ess_* | OMPI_MCA_pmix*) put "run.env.$name" "$value" ;;
    *) put_path "env.$name" "$value" ;;
    esac
  done 2>/dev/null <"$1"
}

# What is looked at: the root of its file system, its Python, folders with packages, libraries that it has mapped.
root='' python='' folders=() libraries=()

# PREFIX...: a virtual environment's folder.
environments() {
  local prefix folder
  for prefix; do
    [[ -n $prefix ]] || continue
    for folder in "$root$prefix"/lib/python3*/site-packages; do folders+=("${folder#"$root"}"); done
  done
}

of_process() {
  local path text
  root=/proc/$1/root folders=() libraries=()
  python=$(readlink "/proc/$1/exe") || python=
  while IFS= read -r path; do
    path=${path% (deleted)}
    [[ ! $path =~ ^(/.*/(site|dist)-packages)/ ]] || folders+=("${BASH_REMATCH[1]}")
    [[ ! ${path##*/} =~ ^lib(nccl|cuda|cudart|cudnn|nvidia-ml|mpi|torch[a-z_]*)(-[0-9a-f]+)?\.so || $path =~ /cudnn_ ]] || libraries+=("$path")
  done < <(sed -nE 's|^[^/]*(/.*)|\1|p' "/proc/$1/maps" | sort -u)
  text=$(tr '\0' '\n' <"/proc/$1/environ" | sed -nE 's/^(VIRTUAL_ENV|CONDA_PREFIX)=//p')
  while IFS= read -r path; do environments "$path"; done <<<"$text"
  variables "/proc/$1/environ"
}

# [PYTHON [FOLDER|LIBRARY]...]: without a process.
of_machine() {
  local path
  if (($# == 0)); then
    python=$(readlink -f "$(command -v python3)") || python=
    environments "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}"
    [[ $python != /usr/bin/* ]] || ((${#folders[@]})) || folders=(/usr/local/lib/python3*/dist-packages /usr/lib/python3/dist-packages)
  else
    python=$1
    for path in "${@:2}"; do
      if [[ -d $path ]]; then folders+=("$path"); elif [[ -f $path ]]; then libraries+=("$path"); fi
    done
  fi
  variables "/proc/$$/environ"
}

packages() {
  local folder path name version
  local -A listed=()
  for folder in "${folders[@]+"${folders[@]}"}"; do
    for path in "$root$folder"/*.dist-info "$root$folder"/*.egg-info; do
      path=${path##*/} path=${path%.*-info}
      [[ $path == *-* ]] || continue
      name=${path%%-*} version=${path#*-}
      name=${name,,} name=${name//[_.]/-} version=${version%-py[0-9]*}
      # One that was installed twice has two versions.
      [[ ", ${listed[$name]:-}, " == *", $version, "* ]] || listed[$name]+=${listed[$name]:+, }$version
    done
    path=$root$folder/torch/version.py
    [[ -r $path ]] || continue
    put torch.version "$(sed -nE "s/^__version__ = '(.*)'.*/\1/p" "$path")"
    put torch.cuda "$(sed -nE "s/^cuda(: [^=]*)? = '(.*)'.*/\2/p" "$path")"
    put torch.hip "$(sed -nE "s/^hip(: [^=]*)? = '(.*)'.*/\2/p" "$path")"
  done
  for name in "${!listed[@]}"; do put "package.$name" "${listed[$name]}"; done
}

mapped() {
  local path name version size
  local -A count=()
  for path in "${libraries[@]+"${libraries[@]}"}"; do
    name=${path##*/} version=${name#*.so} name=${name%%.so*}
    [[ ! $name =~ ^(.*)-[0-9a-f]{8}$ ]] || name=${BASH_REMATCH[1]}
    count[$name]=$((${count[$name]:-0} + 1))
    ((count[$name] == 1)) || name+=.${count[$name]}
    if [[ $name == libnccl* ]] && size=$(try grep -aoEm1 'NCCL version [0-9]+(\.[0-9]+)+' "$root$path" | head -n 1); then
      version=${size##* }
    fi
    put "mapped.$name.version" "${version#.}"
    put_path "mapped.$name.path" "$path"
    size=$(stat -L -c %s -- "$root$path" 2>/dev/null) || continue
    # A digest of half a GiB takes some seconds.
    ((size < 1 << 29)) || { put "mapped.$name.bytes" "$size" && continue; }
    [[ -n ${digests[$path]:-} ]] || digests[$path]=$(digest <"$root$path")
    put "mapped.$name.sha256" "${digests[$path]}"
  done
}

# Whether the package list names the NCCL that is mapped: wheels for two versions of CUDA write the same file.
nccl() {
  local name is=${facts[mapped.libnccl.version]:-} said='' wrong=''
  [[ -n $is ]] || return 0
  for name in "${!facts[@]}"; do
    [[ $name == package.nvidia-nccl-cu* ]] || continue
    said+=${facts[$name]}$'\n'
    [[ ${facts[$name]} == "$is" || ${facts[$name]} == "$is".post* ]] || wrong=1
  done
  [[ -z $wrong ]] || put disagrees.nccl "mapped $is, the package list says $(printf '%s' "$said" | sort -uV | paste -sd '/' | sed 's|/| and |g')"
}

inspect() {
  local short path found
  if [[ ${python##*/} =~ ^python([0-9]+\.[0-9]+) ]]; then
    short=${BASH_REMATCH[1]}
    put python.version "$short"
    for path in "$root$python" "$root${python%/bin/*}/lib/libpython$short.so.1.0"; do
      found=$(try grep -aoEm1 "${short/./\\.}\.[0-9]+[a-z0-9+]*" "$path" | head -n 1) || continue
      put python.version "$found" && break
    done
    put_path python.path "$python"
    mapfile -t folders < <(printf '%s\n' "${folders[@]+"${folders[@]}"}" | sed '/^$/d' | sort -u)
    put_path python.folders "$(IFS=: && echo "${folders[*]}")"
  fi
  packages
  mapped
  nccl
}

lines() {
  local name
  for name in "${!facts[@]}"; do printf '%s\t%s\n' "$name" "${facts[$name]}"; done | sort
}

if [[ ${1:-} == here ]]; then
  node
  services
  of_machine "${@:2}"
  inspect
  lines
  exit
fi

exec </dev/null >/dev/null 2>&1
[[ -n ${NEXA_SUBMISSION:-} && -n ${NEXA_ATTEMPT:-} ]] || exit 0
trap '' HUP INT QUIT ABRT USR1 USR2
# Bash hangs now and then if a trap does more.
stop=''
trap 'stop=1' TERM
uv=$1 container=$2 secrets=$3
file=$NEXA_ATTEMPT.snapshot.tsv
shift 3
renice -n 19 -p $$
ionice -c 3 -p $$

# All of it, until `share` moves a part: nobody reads half a file.
keep() {
  { lines >"$file.tmp" && mv -f -- "$file.tmp" "$file"; } || rm -f -- "$file.tmp"
}

# What is equal for like nodes goes under its digest. Whatever has that name already counts only if it is that.
share() {
  local folder=${NEXA_RUN_DIR%/*}/snapshots sha
  [[ -d $folder ]] || { mkdir -- "$folder" && chmod --reference="${NEXA_RUN_DIR%/*}" -- "$folder"; }
  grep -v '^run\.' "$file" >"$file.shared" && sha=$(digest <"$file.shared") && [[ ! -L $folder ]] &&
    { [[ -e $folder/$sha.tsv ]] || mv -n -- "$file.shared" "$folder/$sha.tsv"; } &&
    [[ $(digest <"$folder/$sha.tsv") == "$sha" ]] &&
    { grep '^run\.' "$file" && printf 'run.shared\t%s\n' "$sha"; } | sort >"$file.tmp" && mv -f -- "$file.tmp" "$file"
  rm -f -- "$file.shared" "$file.tmp"
}

# The process of rank 0, else the one with the most libraries that matter: those of the command have this attempt's name.
look() {
  local path pid count most=0 best='' name
  while IFS= read -r path; do
    pid=${path#/proc/} pid=${pid%/environ}
    count=$(grep -cE '/lib(nccl|cuda|cudart|cudnn|nvidia-ml|mpi|torch)[^/]*\.so|/(site|dist)-packages/' "/proc/$pid/maps")
    [[ $(readlink "/proc/$pid/exe") != */python* ]] || ((count += 1))
    ((count == 0)) || ! grep -qzxF RANK=0 "$path" || ((count += 1000000))
    ((count <= most)) || most=$count best=$pid
  done < <(grep -lzsxF "NEXA_ATTEMPT=$NEXA_ATTEMPT" /proc/[0-9]*/environ)
  [[ -n $best ]] || return
  # An earlier look may have seen another one, such as a check of the network.
  for name in "${!facts[@]}"; do
    [[ ! $name =~ ^(run\.)?(mapped|disagrees|torch|python|package|env)\. ]] || unset "facts[$name]"
  done
  of_process "$best"
  put run.process "$(<"/proc/$best/comm") after $SECONDS s"
  inspect
}

node
put run.job "$NEXA_JOB"
put run.nodes "${SLURM_JOB_NODELIST:-$HOSTNAME}"
put run.time "$(TZ=UTC0 printf '%(%Y-%m-%dT%H:%M:%SZ)T' -1)"
put container "$container"
[[ ! $container =~ sha256:[0-9a-f]{64} ]] || put container.digest "${BASH_REMATCH[0]}"
[[ ! -f $container ]] || put container.bytes "$(stat -L -c %s -- "$container")"
[[ -z $uv || ! -r $uv/uv.lock ]] || put uv.lock "$(digest <"$uv/uv.lock")"
keep
services
keep
(($#)) || set -- 5 20 60 300 1200
for at; do
  while [[ -z $stop ]] && ((SECONDS < at)); do
    sleep $((at - SECONDS < 5 ? at - SECONDS : 5)) &
    wait $!
    read -r _ _ _ parent _ <"/proc/$$/stat"
    [[ $parent == "$PPID" ]] || stop=1 # the job's shell is gone
  done
  [[ -z $stop ]] || break
  look && keep && ((at >= 60)) && break
done
share
