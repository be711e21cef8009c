#!/usr/bin/env bash
# Starts a container image of docs/images.md on this node, with Docker, Podman or Apptainer: whichever is there.
set -euo pipefail

usage='usage: [VARIABLE=VALUE...] nexa-bootstrap.sh [--dry-run] [IMAGE | run train-light|train-heavy|infer] [COMMAND...]
  IMAGE       training-light by default; also training-heavy, infer, or the whole name of an image
  COMMAND     what runs in the container; without one, a shell, or the server of infer if MODEL is given
  --dry-run   prints the commands
  WORK        the folder that is /workspace/nexa_compute in there; by default this one. Its .env is read, if there is one
  NVME        the disk that is /mnt/nvme in there; by default /mnt/nvme, if it is there
  SHM_SIZE    the shared memory, such as 32g; by default 16g, and 32g for train-heavy
  REGISTRY    where the images are; by default ghcr.io/nexa
  PORT        of infer; by default 8000'
# Names, not values: nothing secret is on a command line.
passed='WANDB_API_KEY HF_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN NCCL_P2P_DISABLE NCCL_IB_DISABLE
  NCCL_DEBUG MODEL PORT TP VLLM_EXTRA_ARGS VLLM_API_KEY'

die() { echo "nexa-bootstrap.sh: $*" >&2 && exit 1; }

# name WORD: the image and the shared memory. Eight ranks of train-heavy load data and talk through /dev/shm.
name() {
  local registry=${REGISTRY:-ghcr.io/nexa}
  shm=16g
  case $1 in
    training-light | train-light) image=$registry/nexa_light:latest ;;
    training-heavy | train-heavy) image=$registry/nexa_heavy:latest shm=32g ;;
    infer) image=$registry/nexa_infer:latest ;;
    */* | *:*) image=$1 && [[ $1 != *heavy* ]] || shm=32g ;;
    *) die "$1 is no image: expected training-light, training-heavy, infer, or a name such as REGISTRY/NAME:TAG" ;;
  esac
}

runtime() {
  local found
  for found in docker podman apptainer; do
    ! command -v "$found" >/dev/null || { echo "$found" && return; }
  done
  die 'expected docker, podman or apptainer on the PATH. Next: sudo apt-get install podman'
}

# show COMMAND...: as a person would type it.
show() {
  local line
  printf -v line '%q ' "$@"
  echo "${line% }"
}

docker_words() {
  local variable
  argv=("$tool" run --rm --init "--shm-size=$shm")
  [[ ! -t 0 ]] || argv+=(-it)
  if [[ $tool == podman ]]; then
    ((EUID == 0)) || argv+=(--userns=keep-id)
    [[ $gpus == false ]] || argv+=(--device nvidia.com/gpu=all)
  else
    argv+=(--user "$(id -u):$(id -g)")
    [[ $gpus == false ]] || argv+=(--gpus all)
  fi
  for mount in "${mounts[@]}"; do argv+=(-v "$mount"); done
  [[ ! -f $work/.env ]] || argv+=(--env-file "$work/.env")
  for variable in $passed; do [[ ! -v $variable ]] || argv+=(-e "$variable"); done
  [[ $word != infer ]] || argv+=(-p "127.0.0.1:${PORT:-8000}:${PORT:-8000}")
  argv+=("$image")
}

# Apptainer uses the node's /dev/shm, network and variables.
apptainer_words() {
  argv=(apptainer run --pwd /workspace/nexa_compute)
  [[ $gpus == false ]] || argv+=(--nv)
  for mount in "${mounts[@]}"; do argv+=(--bind "$mount"); done
  [[ ! -f $work/.env ]] || argv+=(--env-file "$work/.env")
  case $image in *://* | *.sif) argv+=("$image") ;; *) argv+=("docker://$image") ;; esac
}

main() {
  local dry=false word=training-light image shm tool gpus=true work nvme argv mount mounts
  case ${1:-} in
    -h | --help) echo "$usage" && exit ;;
    --dry-run) dry=true && shift ;;
  esac
  case ${1:-} in
    -*) echo "$usage" >&2 && exit 2 ;;
    run)
      word=${2:-}
      [[ $word =~ ^(train-light|train-heavy|infer)$ ]] || die "run '$word': expected train-light, train-heavy or infer. Next: nexa-bootstrap.sh run train-light"
      shift 2
      ;;
    ?*) word=$1 && shift ;;
  esac
  name "$word"
  shm=${SHM_SIZE:-$shm}
  [[ $shm =~ ^[1-9][0-9]*[kmg]$ ]] || die "SHM_SIZE is $shm: expected a size such as 32g. Next: SHM_SIZE=32g nexa-bootstrap.sh"
  tool=$(runtime)
  work=$(realpath -e "${WORK:-.}" 2>/dev/null) || die "WORK is ${WORK:-.}: expected a folder. Next: mkdir -p ${WORK:-.}"
  nvme=${NVME:-/mnt/nvme}
  [[ -d $nvme || -z ${NVME:-} ]] || die "NVME is $nvme: expected a folder. Next: mkdir -p $nvme"
  mounts=("$HOME/.cache/huggingface:/home/runner/.cache/huggingface" "$work:/workspace/nexa_compute")
  [[ ! -d $nvme ]] || mounts+=("$nvme:/mnt/nvme")
  nvidia-smi >/dev/null 2>&1 || gpus=false
  if [[ $tool == apptainer ]]; then apptainer_words; else docker_words; fi
  argv+=("$@")
  if [[ $dry == true ]]; then
    [[ $tool == apptainer ]] || show "$tool" pull "$image"
    show "${argv[@]}"
    exit
  fi
  mkdir -p "$HOME/.cache/huggingface"
  [[ $gpus == true ]] || echo 'note: nvidia-smi finds no GPU, so the container gets none' >&2
  # An image that is there serves where its registry cannot be reached.
  [[ $tool == apptainer ]] || "$tool" pull "$image" || "$tool" image inspect "$image" >/dev/null 2>&1 ||
    die "there is no image $image. Next: build it (nexa-slurm explain docs/images.md), or set REGISTRY"
  exec "${argv[@]}"
}
main "$@"
