"""Each node adds 1 to a sum, as training will do for weeks: within two minutes, or not at all."""

import datetime
import sys

try:
    import torch
    import torch.distributed as dist
except ImportError:
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
