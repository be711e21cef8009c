"""Each node adds 1 to a sum, as training will do for weeks: within two minutes, or not at all."""

import datetime
import os
import shutil
import sys


def python_of_torchrun():
    """The interpreter in torchrun's first line; None where there is none, or torchrun is no Python script."""
    launcher = shutil.which("torchrun")
    if launcher is None:
        return None
    with open(launcher, "rb") as file:
        first = file.readline(500).decode("utf-8", "replace").strip()
    python = first[2:].strip()
    return python if first.startswith("#!/") and os.path.basename(python).startswith("python") else None


try:
    import torch
    import torch.distributed as dist
except ImportError:
    # The command's Python may be another one than the first on the path.
    python = python_of_torchrun()
    if python and os.path.exists(python) and "NEXA_TORCHRUN_PYTHON" not in os.environ:
        os.environ["NEXA_TORCHRUN_PYTHON"] = python
        os.execv(python, [python, *sys.argv])
    print("nexa-slurm: no torch, so no all-reduce was tried")
    sys.exit()
device = "cuda" if torch.cuda.is_available() else "cpu"
backend = "nccl" if device == "cuda" else "gloo"
dist.init_process_group(backend, timeout=datetime.timedelta(seconds=60))
one = torch.ones(1, device=device)
dist.all_reduce(one)
if one.item() != dist.get_world_size():
    sys.exit(f"nexa-slurm: {dist.get_world_size()} nodes add up to {one.item()}")
if dist.get_rank() == 0:
    print(f"nexa-slurm: {dist.get_world_size()} nodes added up a number over {backend}")
