"""Fits a line by gradient descent, in plain Python. It stands for a training: reads its keys, prints a loss, writes metrics."""
import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("--config", help="the training keys, as nexa-slurm writes them")
parser.add_argument("--steps", type=int, default=50)
arguments = parser.parse_args()
keys = {}
if arguments.config:
    with open(arguments.config) as file:
        keys = json.load(file)
rate = float(keys.get("lr", 0.01))

slope = 0.0
for step in range(1, arguments.steps + 1):
    loss = sum((slope * x - 3 * x) ** 2 for x in range(1, 5)) / 4
    slope -= rate * sum(2 * (slope * x - 3 * x) * x for x in range(1, 5)) / 4
    if step % 10 == 0:
        print(f"step {step} loss {loss:.4f}", flush=True)

folder = os.path.join(os.environ["NEXA_CHECKPOINTS"], "final")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "model.json"), "w") as file:
    json.dump({"slope": slope}, file)
with open(os.environ["NEXA_METRICS"], "w") as file:
    json.dump({"loss": loss, "checkpoint": folder}, file)
