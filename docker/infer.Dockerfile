# nexa_infer: vLLM. Where each pin was read: docs/images.md
# devel: FlashInfer and DeepGEMM compile kernels where they run, and need nvcc for that.
FROM nvidia/cuda:13.0.2-cudnn-devel-ubuntu24.04

# Ubuntu's archive as it was on that day; NVIDIA's, which has no such days, is left out.
# gcc and Python's headers: Triton compiles its launchers where it runs. ibverbs: NCCL over InfiniBand.
ARG APT_SNAPSHOT=20261101T000000Z
RUN rm -f /etc/apt/sources.list.d/cuda* \
 && apt-get update --snapshot "$APT_SNAPSHOT" \
 && apt-get install -y --no-install-recommends --snapshot "$APT_SNAPSHOT" \
      g++ gcc git ibverbs-providers libc6-dev libnuma1 python3.12 python3.12-dev \
 && rm -rf /var/lib/apt/lists/*

# Uid 1000, as most people's on their own machine; Ubuntu's image gives it to `ubuntu`.
RUN { ! id -u ubuntu >/dev/null 2>&1 || userdel --remove ubuntu; } \
 && useradd --create-home --shell /bin/bash --uid 1000 runner \
 && mkdir -p /home/runner/.cache/huggingface /mnt/nexa_durable /mnt/nvme \
      /workspace/nexa_compute /workspace/shared /workspace/tmp \
 && chown -R runner:runner /home/runner /mnt/nexa_durable /mnt/nvme /workspace

COPY --from=ghcr.io/astral-sh/uv:0.13.8 /uv /usr/local/bin/uv

ARG TORCH=2.11.0
RUN uv venv --python=/usr/bin/python3.12 /opt/venv \
 && uv pip install --no-cache --python=/opt/venv --torch-backend=cu130 "torch==$TORCH" torchaudio==2.11.0 torchvision==0.26.0

# What the pins pull in is of that day too, or older.
ARG PINS_DATE=2026-11-21T00:00:00Z
COPY docker/pins/ /opt/pins/
RUN uv pip install --no-cache --python=/opt/venv --exclude-newer="$PINS_DATE" \
      -r /opt/pins/vllm.txt \
 && uv pip check --python=/opt/venv

COPY --chmod=755 docker/entrypoints/shell_entry.sh docker/entrypoints/vllm_entry.sh docker/entrypoints/vllm_health.sh /usr/local/bin/

# Nothing else is set: under Pyxis an image's variables win over the job's.
ENV LANG=C.UTF-8 PATH=/opt/venv/bin:$PATH

# A large model takes long to load: 15 minutes before a failure counts.
HEALTHCHECK --start-period=15m --interval=30s --timeout=10s --retries=3 CMD ["/usr/local/bin/vllm_health.sh"]
EXPOSE 8000

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="nexa_infer" \
      org.opencontainers.image.description="vLLM, batch and OpenAI-compatible server" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"

USER runner
WORKDIR /workspace/nexa_compute
ENTRYPOINT ["/usr/local/bin/vllm_entry.sh"]
