"""Two nodes add up numbers: prints the bandwidth in GB/s. diag_pair.py MEETING, as two tasks of one step.

MEETING is a file that both see. With torch and GPUs, NCCL's all-reduce on one GPU of each (bus bandwidth); with torch alone,
gloo's; else both send and receive over TCP at the same time.
"""

import os
import socket
import statistics
import subprocess
import sys
import threading
import time

rank, meeting = int(os.environ["SLURM_PROCID"]), sys.argv[1]
MIB = 1 << 20
DEADLINE = time.monotonic() + 60


def address():
    """The address under which Slurm knows this node."""
    name = os.environ["SLURMD_NODENAME"]
    shown = subprocess.run(["scontrol", "show", "node", name], capture_output=True, text=True, check=True).stdout
    return next((word[9:] for word in shown.split() if word.startswith("NodeAddr=")), name)


def meet():
    """Connects the two: the first listens, and says where."""
    if rank == 0:
        server = socket.create_server(("", 0))
        server.settimeout(60)
        with open(meeting + ".new", "w") as file:
            file.write(f"{address()} {server.getsockname()[1]}")
        os.replace(meeting + ".new", meeting)
        return server.accept()[0]
    while not os.path.exists(meeting):
        os.listdir(os.path.dirname(meeting))  # a network file system may remember that it was missing
        if time.monotonic() > DEADLINE:
            sys.exit("the other node did not come within 60 s")
        time.sleep(0.05)
    with open(meeting) as file:
        host, port = file.read().split()
    return socket.create_connection((host, int(port)), timeout=60)


def exchange(peer, size):
    """Sends and receives so many bytes at the same time."""
    data, left = memoryview(bytearray(size)), memoryview(bytearray(size))
    sender = threading.Thread(target=peer.sendall, args=(data,))
    sender.start()
    got = 0
    while got < size:
        read = peer.recv_into(left[got:])
        if read == 0:
            sys.exit("the other node ended")
        got += read
    sender.join()


def over_torch(torch, peer):
    """Returns a function that adds up, and the bytes that it moves."""
    import torch.distributed as dist

    cuda = torch.cuda.is_available()
    if rank == 0:
        free = socket.create_server(("", 0))
        port = free.getsockname()[1]
        free.close()
        peer.sendall(f"{address()} {port}\n".encode())
        where = f"tcp://{address()}:{port}"
    else:
        host, port = peer.makefile().readline().split()
        where = f"tcp://{host}:{port}"
    dist.init_process_group("nccl" if cuda else "gloo", init_method=where, rank=rank, world_size=2)
    numbers = torch.ones((256 if cuda else 16) * MIB // 4, device="cuda" if cuda else "cpu")

    def add():
        dist.all_reduce(numbers)
        if cuda:
            torch.cuda.synchronize()
        numbers.fill_(1)

    # Bus bandwidth of two ranks: each sends all bytes once.
    return add, numbers.numel() * 4


peer = meet()
try:
    import torch

    work, size = over_torch(torch, peer)
except ImportError:
    work, size = (lambda: exchange(peer, 16 * MIB)), 16 * MIB
work()
rates = []
for _ in range(5):
    began, done = time.monotonic(), 0
    # Both do the same number of rounds: the first says whether there is another.
    while True:
        work()
        done += 1
        more = rank == 0 and time.monotonic() - began < 0.4
        if rank == 0:
            peer.sendall(b"1" if more else b"0")
        else:
            more = peer.recv(1) == b"1"
        if not more:
            break
    rates.append(done * size / (time.monotonic() - began) / 1e9)
if rank == 0:
    print(f"{statistics.median(rates):.3f}")
