#!/usr/bin/env bash
# Makes a fresh Debian or Ubuntu node ready; docs/bootstrap.md tells what each step does.
# All work is on the last line: a script whose end ssh cut off does nothing.
# shellcheck disable=SC2317 # todo calls the functions
set -euo pipefail
umask 022
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

usage='usage: [VARIABLE=VALUE...] bash bootstrap.sh [--dry-run | --check]
  Does what is missing, as root. --dry-run prints what it would do; --check ends with 1 if something is missing.
  NEXA_SCRATCH NEXA_DURABLE NEXA_SHARED NEXA_REPO   the folders
  NEXA_GROUP            the group that writes to the tiers; without it, everybody does
  NEXA_S3_PREFIX NCCL_DEBUG NCCL_IB_DISABLE NCCL_P2P_DISABLE TOKENIZERS_PARALLELISM OMP_NUM_THREADS
                        values for /etc/profile.d/nexa.sh; what is not given stays as it is there
  NEXA_PACKAGE          the .deb or the .tar.gz of nexa-slurm
  TAILSCALE_KEY_FILE    a file with an auth key, mode 0600: joins the tailnet
  TAILSCALE_REPOSITORY  the address of the apt repository with Tailscale for this distribution'

profile=/etc/profile.d/nexa.sh
defaults='NEXA_SCRATCH=/workspace/tmp NEXA_DURABLE=/mnt/nexa_durable NEXA_SHARED=/workspace/shared
  NEXA_REPO=/workspace/nexa_compute NEXA_S3_PREFIX=s3://nexacompute/ML_Checkpoints NCCL_DEBUG=INFO
  NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=0 TOKENIZERS_PARALLELISM=false OMP_NUM_THREADS=8'
# The images of docker/pins hold CUDA 13.0 (docs/images.md).
driver_needed=580
mode=run
missing=0
self='bash bootstrap.sh'
[[ $0 != 'nexa-slurm bootstrap' ]] || self=$0
declare -A value

die() { echo "bootstrap: $*" >&2 && exit 1; }
line() { printf '%-13s  %s\n' "$1" "$2"; }
there() { line 'already there' "$1"; }
skipped() { line skipped "$1"; }

# todo WHAT COMMAND...: does it, or says that a run would.
todo() {
  case $mode in
    --check) line missing "$1" && missing=$((missing + 1)) ;;
    --dry-run) line 'would do' "$1" ;;
    *)
      "${@:2}" # not before &&, behind which set -e is off
      line 'done' "$1"
      ;;
  esac
}

# put WHAT FILE TEXT
put() {
  if [[ -r $2 && $(<"$2") == "$3" ]]; then there "$1: $2"; else todo "$1: $2" write "$2" "$3"; fi
}
write() {
  printf '%s\n' "$2" >"$1.new"
  mv "$1.new" "$1"
}

# --- packages --------------------------------------------------------------------------------------

# apt-get must not ask, and must not read stdin, which may be this script.
apt() {
  local said
  said=$(apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold --no-install-recommends "$@" </dev/null 2>&1) ||
    die "apt-get $* failed: $said"$'\n'"Next: apt-get $*"
}

update_and_install() {
  apt update
  apt install "$@"
}
installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
# A fresh node has no lists yet: then a package is taken to be there.
known() { [[ $(apt-cache policy "$1" 2>/dev/null) == *'Candidate: '[!\(]* || $mode != run && -z $(lists) ]]; }
lists() { compgen -G '/var/lib/apt/lists/*Packages*' || true; }

packages() {
  local name wanted=()
  for name in ca-certificates curl git jq openssh-client procps python3 rsync tmux; do
    installed "$name" || wanted+=("$name")
  done
  if ((${#wanted[@]})); then
    todo "base packages: apt-get install ${wanted[*]}" update_and_install "${wanted[@]}"
  else
    there 'base packages'
    [[ $mode != run || -n $(lists) ]] || apt update
  fi
}

# Debian 13 has only the default, and Ubuntu 22.04's default is Java 11.
java_runtime() {
  local version name=openjdk-17-jre-headless
  version=$(java -XX:-UsePerfData -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p') || true
  known "$name" || name=default-jre-headless
  if ((${version:-0} >= 17)); then there "Java $version"; else todo "Java: apt-get install $name" apt install "$name"; fi
}

# optional WHAT PACKAGE NEXT TEST...: what not every release of Debian and Ubuntu has. TEST finds what apt did not install.
optional() {
  if installed "$2" || "${@:4}" >/dev/null 2>&1; then
    there "$1"
  elif known "$2"; then
    todo "$1: apt-get install $2" apt install "$2"
  else
    skipped "$1: apt has no $2. Next: $3"
  fi
}

# --- variables and folders -------------------------------------------------------------------------

# shellcheck source=/dev/null # what an earlier run wrote
written() { [[ ! -r $profile ]] || (unset "$1" && . "$profile" && printf %s "${!1-}"); }

# What the call says, else what is there, else the default.
choose() {
  local pair name given
  for pair in $defaults; do
    name=${pair%%=*}
    given=${!name:-$(written "$name")}
    [[ $given != *[\'[:cntrl:]]* ]] || die "$name is $given: expected a value without quotes and line breaks"
    value[$name]=${given:-${pair#*=}}
  done
  for name in NEXA_SCRATCH NEXA_DURABLE NEXA_SHARED NEXA_REPO; do
    [[ ${value[$name]} == /* ]] || die "$name is ${value[$name]}: expected a path from /. Next: sudo $name=/nvme $self"
  done
}

# folder NAME OPTION...: a folder that is there keeps its mode.
folder() {
  local path=${value[$1]}
  if [[ ! -d $path ]]; then
    todo "folder $path ($1)" install -d "${@:2}" "$path"
  elif [[ $1 == NEXA_REPO || -n $(find -L "$path" -maxdepth 0 -perm /022) ]]; then
    there "folder $path ($1)"
  else
    there "folder $path ($1); only its owner writes there. Next: chmod 1777 $path"
  fi
}

folders() {
  local options=(-m 1777) name
  if [[ -n ${NEXA_GROUP:-} ]]; then
    getent group "$NEXA_GROUP" >/dev/null || die "there is no group $NEXA_GROUP. Next: groupadd $NEXA_GROUP"
    options=(-m 2775 -g "$NEXA_GROUP")
  fi
  for name in NEXA_SCRATCH NEXA_DURABLE NEXA_SHARED; do folder "$name" "${options[@]}"; done
  # git wants a checkout to belong to who uses it.
  folder NEXA_REPO -m 755 -o "${SUDO_UID:-0}" -g "${SUDO_GID:-0}"
}

variables() {
  local text="# Of nexa-slurm's bootstrap.sh. To change a value: sudo NEXA_SCRATCH=/nvme bash bootstrap.sh" pair
  for pair in $defaults; do text+=$'\n'"export ${pair%%=*}='${value[${pair%%=*}]}'"; done
  put 'variables for the next login' "$profile" "$text"
  [[ ${value[NCCL_IB_DISABLE]} != 1 ]] || ! compgen -G '/sys/class/infiniband/*' >/dev/null ||
    line note "NCCL_IB_DISABLE=1 leaves this node's InfiniBand unused. Next: sudo NCCL_IB_DISABLE=0 $self"
}

# --- GPUs, network, nexa-slurm ---------------------------------------------------------------------

nvidia() {
  local said driver
  if ! command -v nvidia-smi >/dev/null; then
    skipped 'NVIDIA driver: there is no nvidia-smi, and a node without GPUs needs none'
  elif ! said=$(timeout 60 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>&1); then
    skipped "NVIDIA driver: nvidia-smi fails: ${said%%$'\n'*}. Next: nvidia-smi"
  else
    driver=${said%%$'\n'*}
    if [[ $driver =~ ^[0-9]+ ]] && ((BASH_REMATCH >= driver_needed)); then
      there "NVIDIA driver $driver, $(wc -l <<<"$said") GPUs"
    else
      skipped "NVIDIA driver $driver: the images hold CUDA 13.0, which needs $driver_needed or newer. Next: install driver $driver_needed"
    fi
  fi
}

# Not tailscale's own installer: what apt installs is signed.
add_tailscale() {
  local key=/usr/share/keyrings/tailscale-archive-keyring.gpg codename
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  curl -fsSL "$TAILSCALE_REPOSITORY/$codename.noarmor.gpg" -o "$key" ||
    die "there is no key $TAILSCALE_REPOSITORY/$codename.noarmor.gpg. Next: look up the address for $codename"
  write /etc/apt/sources.list.d/tailscale.list "deb [signed-by=$key] $TAILSCALE_REPOSITORY $codename main"
  update_and_install tailscale
}

# tailscale reads the key itself: no argument and no line of a log holds it.
tailscale_up() {
  tailscale up --auth-key="file:$TAILSCALE_KEY_FILE" >/dev/null </dev/null || die 'Tailscale does not join. Next: tailscale status'
}

tailnet() {
  local how="sudo TAILSCALE_KEY_FILE=FILE TAILSCALE_REPOSITORY=ADDRESS $self"
  if [[ -z ${TAILSCALE_KEY_FILE:-} ]]; then
    skipped "Tailscale: TAILSCALE_KEY_FILE is not given. Next, if you use it: $how"
    return
  fi
  [[ -s $TAILSCALE_KEY_FILE && -r $TAILSCALE_KEY_FILE ]] || die "TAILSCALE_KEY_FILE: expected a file with a key, and $TAILSCALE_KEY_FILE is none"
  [[ -z $(find -L "$TAILSCALE_KEY_FILE" -perm /077) ]] || die "others can read the key. Next: chmod 600 $TAILSCALE_KEY_FILE"
  if command -v tailscale >/dev/null; then
    there Tailscale
  elif [[ -n ${TAILSCALE_REPOSITORY:-} ]]; then
    todo "Tailscale: apt-get install tailscale from $TAILSCALE_REPOSITORY" add_tailscale
  else
    skipped "Tailscale: TAILSCALE_REPOSITORY is not given. Next: $how"
    return
  fi
  if tailscale status >/dev/null 2>&1; then there 'joined the tailnet'; else todo 'joins the tailnet' tailscale_up; fi
}

unpack() {
  tar -xzf "$NEXA_PACKAGE" -C /opt --no-same-owner
  ln -sfn "/opt/$1/nexa-slurm" /usr/local/bin/nexa-slurm
}

nexa_slurm() {
  local file=${NEXA_PACKAGE:-} name version
  [[ -z $file || -r $file ]] || die "NEXA_PACKAGE: there is no file $file"
  case $file in
    '')
      if command -v nexa-slurm >/dev/null; then
        there nexa-slurm
      else
        skipped "nexa-slurm: NEXA_PACKAGE is not given. Next: sudo NEXA_PACKAGE=nexa-slurm_1.0.0_all.deb $self"
      fi
      ;;
    *.deb)
      # Not dpkg-deb -f, which works in /tmp: a second run changes nothing.
      version=$(dpkg-deb --ctrl-tarfile "$file" | tar -xO ./control | sed -n 's/^Version: //p') || die "$file is no Debian package"
      if [[ $(dpkg-query -W -f '${Version}' nexa-slurm 2>/dev/null) == "$version" ]]; then
        there "nexa-slurm $version"
      else
        todo "nexa-slurm: apt-get install $file" apt install "$(realpath "$file")"
      fi
      ;;
    *.tar.gz)
      name=$(basename "$file" .tar.gz)
      if tar -xOzf "$file" "$name/nexa-slurm.jar" | cmp -s - "/opt/$name/nexa-slurm.jar"; then
        there "nexa-slurm: /opt/$name"
      else
        todo "nexa-slurm: /opt/$name, and /usr/local/bin/nexa-slurm" unpack "$name"
      fi
      ;;
    *) die "NEXA_PACKAGE is $file: expected nexa-slurm_VERSION_all.deb or nexa-slurm-VERSION.tar.gz" ;;
  esac
}

main() {
  case $#:${1:-} in
    0:) ;;
    1:--dry-run | 1:--check) mode=$1 ;;
    1:-h | 1:--help) echo "$usage" && exit ;;
    *) echo "$usage" >&2 && exit 2 ;;
  esac
  command -v apt-get >/dev/null || die 'expected Debian or Ubuntu, and there is no apt-get. Next: nexa-slurm explain docs/bootstrap.md'
  [[ $mode != run || $EUID == 0 ]] || die "must run as root. Next: sudo $self"
  choose
  packages
  java_runtime
  optional 'AWS CLI' awscli 'install it as AWS says; nexa-slurm sync does without it' command -v aws
  optional pynvml python3-pynvml 'pip install nvidia-ml-py, in the environment of your training' python3 -Bc 'import pynvml'
  folders
  variables
  nvidia
  tailnet
  nexa_slurm
  ((missing == 0)) || die "steps that are missing: $missing. Next: sudo $self"
  [[ $mode == run ]] || return 0
  printf '\nNext: log in again, for the variables. Then type:\n'
  printf '  %s\n' 'aws configure          # or give the node a role' 'nexa-slurm init' 'nexa-slurm storage init'
}
{
  main "$@"
  exit
}
