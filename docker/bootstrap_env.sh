#!/usr/bin/env bash
# Makes the environment of a uv project: FOLDER/.venv from its uv.lock, then the GPU packages for this machine's CUDA.
#
#   docker/bootstrap_env.sh FOLDER [docker/pins/cuda_X.Y.txt]
#
# Without a file: the newest pins that CUDA_VERSION (an image sets it) or the driver (nvidia-smi) allows. uv must be on
# the PATH. May be typed again. FOLDER/.venv/nexa_pins.txt keeps what came beside the lock: jobs compare with it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() {
  echo "bootstrap_env.sh: $*" >&2
  exit 2
}

(($# == 1 || $# == 2)) || die "expected FOLDER [docker/pins/cuda_X.Y.txt], got $# words"
command -v uv >/dev/null || die "uv is not on the PATH; https://docs.astral.sh/uv tells how to install it"
folder=$(cd "$1" && pwd) || exit 2
[[ -r $folder/uv.lock ]] || die "$folder has no uv.lock. Next: cd $folder && uv lock"

# The newest pins that are not newer than the CUDA here.
newest_pins() {
  local cuda=${CUDA_VERSION:-} file found=
  [[ -n $cuda ]] || cuda=$(timeout 60 nvidia-smi 2>/dev/null | sed -nE 's/.*CUDA Version: *([0-9]+\.[0-9]+).*/\1/p')
  [[ -n $cuda ]] || die "this machine does not tell its CUDA (no CUDA_VERSION, no nvidia-smi): name one of" "$here"/pins/cuda_*.txt
  while read -r file; do
    [[ $(printf '%s\n' "${file//[^0-9.]/}" "$cuda." | sort -V | tail -n 1) != "$cuda." ]] || found=$file
  done < <(cd "$here/pins" && printf '%s\n' cuda_*.txt | sort -V)
  [[ -n $found ]] || die "there are no pins for CUDA $cuda or older: name one of" "$here"/pins/cuda_*.txt
  echo "$here/pins/$found"
}

pins=${2:-}
[[ -n $pins ]] || pins=$(newest_pins)
[[ -r $pins && $pins =~ (^|/)cuda_([0-9]+)\.([0-9]+)\.txt$ ]] || die "$pins: expected a file named cuda_X.Y.txt"
backend=cu${BASH_REMATCH[2]}${BASH_REMATCH[3]}
pins=$(cd "$(dirname "$pins")" && pwd)/${pins##*/}
echo "bootstrap_env.sh: $folder/.venv gets uv.lock and ${pins##*/}"

# Torch brings CUDA's libraries of its own version: those of the lock stay out too.
beside=$(sed -nE 's/^([A-Za-z0-9._-]+)==.*/\1/p' "$pins"; sed -nE 's/^name = "(nvidia-[^"]+)"$/\1/p' "$folder/uv.lock" | sort -u)
left_out=()
for name in $beside; do
  left_out+=(--no-install-package "$name")
done
cd "$folder"
export UV_PROJECT_ENVIRONMENT=$folder/.venv
# Inexact: what the last call installed beside the lock stays.
uv sync --locked --inexact "${left_out[@]}"
uv pip install --python="$folder/.venv" --torch-backend="$backend" -r "$pins"
uv pip check --python="$folder/.venv"

locked=$(awk '/^\[/ { name = "" } $1 == "name" { split($0, part, "\""); name = part[2] }
  $1 == "version" && name != "" { split($0, part, "\""); print name "==" part[2] }' uv.lock)
there=$(uv pip freeze --python="$folder/.venv")
kept=$(grep -E '^[A-Za-z0-9._-]+==' <<<"$there" | grep -vxF -e "$locked" || true)
{
  echo "# Written by docker/bootstrap_env.sh from ${pins##*/}: jobs compare these with what is installed, the rest with uv.lock."
  [[ -z $kept ]] || echo "$kept"
  for name in $beside; do
    grep -q "^$name==" <<<"$there" || echo "$name"
  done
} >.venv/nexa_pins.txt.tmp
mv -f .venv/nexa_pins.txt.tmp .venv/nexa_pins.txt
echo "bootstrap_env.sh: software: {uv: $folder}"
