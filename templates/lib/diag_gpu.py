"""What torch sees of this node's GPUs: diag_gpu.py see|copy|matmul prints VALUE|TEXT, of the slowest GPU."""

import ctypes
import sys
import time

try:
    import torch
except ImportError as missing:
    sys.exit(f"no torch for {sys.executable}: {missing}")


def driver_cuda():
    """The newest CUDA that the driver knows, such as 12.6; empty if it cannot be asked."""
    try:
        number = ctypes.c_int()
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number)) == 0:
            return f"{number.value // 1000}.{number.value % 1000 // 10}"
    except OSError:
        pass
    return ""


def timed(work, device):
    work()
    torch.cuda.synchronize(device)
    began = time.monotonic()
    for _ in range(10):
        work()
    torch.cuda.synchronize(device)
    return (time.monotonic() - began) / 10


if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
    sys.exit(f"torch {torch.__version__} is built for CPUs only")
if sys.argv[1] == "see":
    text = f"torch {torch.__version__} for CUDA {torch.version.cuda}; the driver has {driver_cuda() or 'no'} CUDA"
    print(f"{torch.cuda.device_count() if torch.cuda.is_available() else 0}|{text}")
    sys.exit()
if not torch.cuda.is_available():
    sys.exit("torch sees no GPU")
worst = None
for device in range(torch.cuda.device_count()):
    with torch.cuda.device(device):
        if sys.argv[1] == "copy":
            host = torch.empty(256 << 20, dtype=torch.uint8, pin_memory=True)
            figure = (256 << 20) / timed(lambda: host.to("cuda", non_blocking=True), device) / 1e9
        else:
            one = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
            figure = 2 * 8192**3 / timed(lambda: one @ one, device) / 1e12
    if worst is None or figure < worst[0]:
        worst = (figure, device)
print(f"{worst[0]:.1f}|GPU {worst[1]} is the slowest")
