# nexa_heavy: nexa_light's runners, DeepSpeed and Axolotl, for models over 20B. Where each pin was read: docs/images.md
# devel: DeepSpeed compiles what it offloads with, where it runs, and needs nvcc for that.
FROM nvidia/cuda:13.0.2-cudnn-devel-ubuntu24.04

# Ubuntu's archive as it was on that day; NVIDIA's, which has no such days, is left out.
# gcc and Python's headers: Triton compiles its launchers where it runs. ibverbs: NCCL over InfiniBand.
ARG APT_SNAPSHOT=20261101T000000Z
RUN rm -f /etc/apt/sources.list.d/cuda* \
 && apt-get update --snapshot "$APT_SNAPSHOT" \
 && apt-get install -y --no-install-recommends --snapshot "$APT_SNAPSHOT" \
      g++ gcc git ibverbs-providers libc6-dev python3.12 python3.12-dev \
 && rm -rf /var/lib/apt/lists/*

# Uid 1000, as most people's on their own machine; Ubuntu's image gives it to `ubuntu`.
RUN { ! id -u ubuntu >/dev/null 2>&1 || userdel --remove ubuntu; } \
 && useradd --create-home --shell /bin/bash --uid 1000 runner \
 && mkdir -p /home/runner/.cache/huggingface /mnt/nexa_durable /mnt/nvme \
      /workspace/nexa_compute /workspace/shared /workspace/tmp \
 && chown -R runner:runner /home/runner /mnt/nexa_durable /mnt/nvme /workspace

COPY --from=ghcr.io/astral-sh/uv:0.13.8 /uv /usr/local/bin/uv

ARG TORCH=2.14.1
RUN uv venv --python=/usr/bin/python3.12 /opt/venv \
 && uv pip install --no-cache --python=/opt/venv --torch-backend=cu130 "torch==$TORCH"

# Axolotl 0.18.0 takes torch up to 2.12.1 and pins other releases than ours: an environment of its own.
ARG AXOLOTL_TORCH=2.12.1
RUN uv venv --python=/usr/bin/python3.12 /opt/axolotl \
 && uv pip install --no-cache --python=/opt/axolotl --torch-backend=cu130 "torch==$AXOLOTL_TORCH"

# What the pins pull in is of that day too, or older.
ARG PINS_DATE=2026-11-21T00:00:00Z
COPY docker/pins/ /opt/pins/
RUN uv pip install --no-cache --python=/opt/venv --exclude-newer="$PINS_DATE" -r /opt/pins/build.txt \
 && uv pip install --no-cache --python=/opt/venv --exclude-newer="$PINS_DATE" --no-build-isolation-package=deepspeed \
      -r /opt/pins/trl.txt -r /opt/pins/deepspeed.txt \
 && uv pip check --python=/opt/venv
RUN uv pip install --no-cache --python=/opt/axolotl --exclude-newer="$PINS_DATE" -r /opt/pins/build.txt \
 && uv pip install --no-cache --python=/opt/axolotl --exclude-newer="$PINS_DATE" --no-build-isolation-package=deepspeed \
      -r /opt/pins/axolotl.txt \
 && uv pip check --python=/opt/axolotl

COPY --chmod=755 docker/entrypoints/axolotl docker/entrypoints/shell_entry.sh /usr/local/bin/

# Nothing else is set: under Pyxis an image's variables win over the job's.
ENV LANG=C.UTF-8 PATH=/opt/venv/bin:$PATH

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="nexa_heavy" \
      org.opencontainers.image.description="Axolotl, DeepSpeed and FSDP for models over 20B and several nodes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"

USER runner
WORKDIR /workspace/nexa_compute
ENTRYPOINT ["/usr/local/bin/shell_entry.sh"]
