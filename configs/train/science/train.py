"""Trains a small byte-level GPT with PyTorch DDP: torchrun ... train.py --config CONFIG.json

Checkpoints go to NEXA_CHECKPOINTS, in durable storage, and a run that is started again goes on from the newest one.
"""

import argparse
import contextlib
import io
import json
import math
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

KEYS = {  # of CONFIG.json, as far as this trainer honours them
    "model_name": str, "dataset_path": str, "lr": float, "batch_size": int, "epochs": int,
    "grad_accumulation": int, "use_kd": bool, "save_steps": int, "eval_steps": int, "fp16": bool,
}  # fmt: skip
ENVIRONMENT = "RANK", "LOCAL_RANK", "NEXA_RANKS_SCRATCH", "NEXA_CHECKPOINTS", "NEXA_METRICS"
BYTES, CONTEXT, WIDTH, HEADS, LAYERS = 256, 128, 192, 6, 2
SEED, HELD_OUT_SHARE, HELD_OUT_WINDOWS = 20251101, 0.05, 16
GradScaler = getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)  # moved in torch 2.3


def fail(message):
    sys.exit(f"train.py: {message}")


def log(message):
    if os.environ["RANK"] == "0":
        print(message, flush=True)


def read_config(path):
    try:
        values = dict(json.loads(Path(path).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        fail(f"cannot read a JSON object from {path}: {error}")
    for key, kind in KEYS.items():
        value, above = values.get(key), " above 0" if kind in (int, float) else ""
        if type(value) is not kind or above and not 0 < value < math.inf:
            found = json.dumps(value) if key in values else "no such key"
            fail(f"{path} needs {key}: {kind.__name__}{above}, and has {found}")
    if values["use_kd"]:
        fail(f"{path}: use_kd needs a teacher, and this example trainer has none: set it to false")
    return argparse.Namespace(**values)


def read_text(dataset):
    path = Path(dataset)
    try:
        if path.is_dir():
            parts = [part.read_text("utf-8") for part in sorted(path.glob("*.jsonl"))]
            records = [json.loads(line) for line in "".join(parts).split("\n") if line]
            return "".join(f"{record['question']}\n{record['answer']}\n\n" for record in records)
        if dataset == "builtin:science" and not path.exists():
            return builtin_text()
        return path.read_text("utf-8")
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"cannot read text, or .jsonl with question and answer, from {path}: {error!r}")


def builtin_text():
    draw, sentences = random.Random(SEED), []
    things = ["electron", "photon", "molecule", "planet", "comet", "enzyme", "cell", "crystal"]
    traits = ["energy", "mass", "charge", "momentum", "temperature", "frequency", "entropy"]
    for _ in range(800):
        thing, trait, value = map(draw.choice, (things, traits, range(2, 100)))
        sentences.append(f"The {trait} of a {thing} doubled: twice {value} is {2 * value}.\n")
    return "".join(sentences)


def split(text):
    """Windows to train on and windows to hold out; each has one byte more than the context."""
    data = torch.frombuffer(bytearray(text.ljust(2 * CONTEXT + 1), "utf-8"), dtype=torch.uint8)
    windows = data.unfold(0, CONTEXT + 1, CONTEXT)
    cut = len(windows) - max(1, int(len(windows) * HELD_OUT_SHARE))
    return windows[:cut], windows[cut:][:HELD_OUT_WINDOWS]


def write_whole(path, content):
    """Writes a file that appears under its name only once it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


class Gpt(nn.Module):
    """Takes windows of bytes and gives the mean loss of guessing each byte from those before."""

    def __init__(self):
        super().__init__()
        self.byte, self.place = nn.Embedding(BYTES, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        options = {"dropout": 0.0, "batch_first": True, "norm_first": True}
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, **options)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.guess = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, BYTES))

    def forward(self, windows):
        future = torch.full((CONTEXT, CONTEXT), -math.inf, device=windows.device).triu(1)
        x = self.layers(self.byte(windows[:, :-1]) + self.place.weight, mask=future)
        return nn.functional.cross_entropy(self.guess(x).flatten(0, 1), windows[:, 1:].flatten())


class Trainer:
    def __init__(self, config, folder, device):
        self.config, self.folder, self.device = config, folder, device
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.windows, self.held_out = split(read_text(config.dataset_path))
        self.share = config.batch_size * config.grad_accumulation  # windows of one rank and step
        torch.manual_seed(SEED)
        self.model = Gpt().to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)
        self.scaler = GradScaler(enabled=config.fp16 and device.type == "cuda")
        self.step, self.initial_loss = 0, self.held_out_loss(self.model)
        self.signalled = self.stopping = False  # only this rank; all of them, after the same step
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "signalled", True))

    def held_out_loss(self, model):
        with torch.no_grad():
            return model(self.held_out.long().to(self.device)).item()

    def saved_steps(self):
        return sorted(int(path.stem[len("step_") :]) for path in self.folder.glob("step_*.pt"))

    def save(self, name):
        states = [part.state_dict() for part in (self.model, self.optimizer, self.scaler)]
        torch.save((self.step, self.initial_loss, states), content := io.BytesIO())
        write_whole(self.folder / name, content.getvalue())
        for old in self.saved_steps()[:-2]:
            (self.folder / f"step_{old}.pt").unlink()

    def load(self, name):
        safe = not torch.__version__.startswith("1.")  # the safe loader of torch 1 knows no floats
        return torch.load(self.folder / name, map_location="cpu", weights_only=safe)

    def resume(self):
        newest = torch.tensor([max(self.saved_steps(), default=0)], device=self.device)
        dist.broadcast(newest, 0)  # another node may not see the newest file yet
        if newest.item() > 0:
            self.step, self.initial_loss, states = self.load(f"step_{newest.item()}.pt")
            for part, state in zip((self.model, self.optimizer, self.scaler), states):
                part.load_state_dict(state)
            log(f"resumed after step {self.step}")

    def train(self):
        torch.manual_seed(SEED)  # every rank, and every restart, shuffles alike
        order = torch.cat([torch.randperm(len(self.windows)) for _ in range(self.config.epochs)])
        steps = len(order) // (self.share * self.ranks)
        if steps == 0:
            fail(f"the dataset is too small for one step of {self.share * self.ranks} windows")
        ddp = nn.parallel.DistributedDataParallel(self.model, broadcast_buffers=False)
        while self.step < steps and not self.stopping:
            began = time.monotonic()
            mine = order[(self.step * self.ranks + self.rank) * self.share :][: self.share]
            sums = torch.tensor([self.update(ddp, mine), self.signalled], device=self.device)
            dist.all_reduce(sums)
            loss, self.stopping = sums[0].item() / self.ranks, sums[1].item() > 0
            self.step += 1
            if not math.isfinite(loss):
                fail(f"the loss is {loss} after step {self.step}: try a smaller lr")
            if self.rank == 0 and self.step % self.config.eval_steps == 0:
                speed = self.share * self.ranks * CONTEXT / (time.monotonic() - began)
                losses = f"loss {loss:.3f} held-out {self.held_out_loss(self.model):.3f}"
                log(f"step {self.step}/{steps} {losses} {speed:.0f} tokens/s")
            if self.rank == 0 and (self.stopping or self.step % self.config.save_steps == 0):
                self.save(f"step_{self.step}.pt")

    def update(self, ddp, windows):
        """One step of the optimizer; gradients travel between ranks with the last batch only."""
        self.optimizer.zero_grad()
        losses, batches = [], windows.split(self.config.batch_size)
        for number, batch in enumerate(batches, 1):
            with ddp.no_sync() if number < len(batches) else contextlib.nullcontext():
                with torch.autocast(self.device.type, enabled=self.scaler.is_enabled()):
                    loss = ddp(self.windows[batch].long().to(self.device)) / len(batches)
                self.scaler.scale(loss).backward()
            losses.append(loss.item())
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return sum(losses)

    def finish(self):
        """Saves the model, proves that it loads again, and returns the figures of the run."""
        for name in (f"step_{self.step}.pt", "final.pt"):
            self.save(name)
        loss, copy = self.held_out_loss(self.model), Gpt()
        copy.load_state_dict(self.load("final.pt")[2][0])
        if abs(self.held_out_loss(copy.to(self.device)) - loss) > 1e-4:
            fail(f"the model in {self.folder}/final.pt has another loss than the one saved")
        return {
            "parameters": sum(weights.numel() for weights in copy.parameters()),
            "ranks": self.ranks, "initial_loss": self.initial_loss, "final_loss": loss,
            "loss_drop": 1 - loss / self.initial_loss, "steps": self.step,
            "tokens": self.step * self.share * self.ranks * CONTEXT,
            "checkpoint": f"{self.folder}/final.pt", "checkpoint_loads": True,
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--config", required=True)
    config = read_config(parser.parse_args().config)
    if missing := [name for name in ENVIRONMENT if not os.environ.get(name)]:
        fail(f"{', '.join(missing)} not set: torchrun and the job script of nexa-slurm do that")
    rank, local_rank, scratch, checkpoints, metrics = map(os.environ.get, ENVIRONMENT)
    cuda = torch.cuda.is_available() and os.environ.get("NEXA_DEVICE") != "cpu"
    device = torch.device("cuda", int(local_rank)) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    else:
        log("warning: no GPU is used: this trains on the CPU in fp32 with gloo, to try things out")
        torch.set_num_threads(1)
    place = {"rank": int(rank), "host": os.uname().nodename, "device": str(device)}
    write_whole(Path(scratch, f"rank_{rank}", "rank.json"), json.dumps(place).encode())
    dist.init_process_group("nccl" if cuda else "gloo")
    trainer = Trainer(config, Path(checkpoints), device)
    trainer.resume()
    trainer.train()
    figures = trainer.finish() if trainer.rank == 0 and not trainer.stopping else {}
    seen = [torch.tensor([-1], device=device) for _ in range(trainer.ranks)]
    dist.all_gather(seen, torch.tensor([trainer.rank], device=device))  # after rank 0 has saved
    assert [other.item() for other in seen] == list(range(trainer.ranks)), "a rank is missing"
    if trainer.stopping:
        log(f"stopped by SIGTERM after step {trainer.step}, which is saved")
        sys.exit(143)
    if trainer.rank == 0:
        write_whole(Path(metrics), json.dumps(figures).encode())
        log(f"{config.model_name}: {json.dumps(figures)}")
    dist.destroy_process_group()


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        fail(error)
