"""Starts a script of TRL, which goes on from the newest complete checkpoint of its output folder.

    trl_resume.py [--save-on-term] sft --config trl.yaml --output_dir FOLDER

TRL's scripts call trainer.train() without a checkpoint: started again they begin at step 0. This program runs the
script as `python -m trl.scripts.sft` does, but gives train() the checkpoint. With --save-on-term SIGTERM makes all
ranks save after the step they are at and end with 1, so that the task is queued again.
"""
import json
import os
import re
import runpy
import signal
import struct
import sys
import zipfile

WARNED = []


def is_whole(path):
    """Whether a file of weights or states has the length that its own head or end asks for."""
    if path.endswith(".safetensors"):
        with open(path, "rb") as file:
            head = file.read(8)
            length = struct.unpack("<Q", head)[0] if len(head) == 8 else -1
            if not 0 < length < os.path.getsize(path):
                return False
            tensors = json.loads(file.read(length))
        ends = [tensor["data_offsets"][1] for name, tensor in tensors.items() if name != "__metadata__"]
        return os.path.getsize(path) == 8 + length + max(ends, default=0)
    if os.path.basename(path) in ("optimizer.pt", "scheduler.pt", "pytorch_model.bin"):
        return zipfile.is_zipfile(path)
    return True


def is_complete(folder, step):
    """Trainer writes trainer_state.json last: a checkpoint without it, or with a part of it, was interrupted."""
    try:
        with open(os.path.join(folder, "trainer_state.json"), encoding="utf-8") as file:
            if json.load(file)["global_step"] != step:
                return False
        names = os.listdir(folder)
        return "checkpoint-is-incomplete.txt" not in names and all(is_whole(os.path.join(folder, n)) for n in names)
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return False


def newest(output):
    """The newest complete checkpoint; None where there is none."""
    try:
        found = [re.fullmatch(r"checkpoint-(\d+)", name) for name in os.listdir(output)]
    except OSError:
        return None
    for step in sorted((int(match[1]) for match in found if match), reverse=True):
        folder = os.path.join(output, f"checkpoint-{step}")
        if is_complete(folder, step):
            return folder
        print(f"nexa-slurm: {folder} is not complete; an older checkpoint is looked for", flush=True)
    return None


def group():
    """torch.distributed where ranks work together; None else."""
    torch = sys.modules.get("torch")
    together = torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed if together else None


def of_first_rank(value):
    """The first rank's value on every rank: a shared folder may look different from each node."""
    ranks = group()
    if ranks is None:
        return value
    values = [value]
    ranks.broadcast_object_list(values, src=0)
    return values[0]


def warned_anywhere(device):
    """Whether any rank was warned: all must stop after the same step."""
    ranks = group()
    if ranks is None:
        return bool(WARNED)
    flag = sys.modules["torch"].tensor([len(WARNED)], device=device)
    ranks.all_reduce(flag)
    return flag.item() > 0


def main():
    arguments = sys.argv[1:]
    saves = arguments[0] == "--save-on-term"
    command, *rest = arguments[1:] if saves else arguments
    if saves:
        signal.signal(signal.SIGTERM, lambda number, frame: WARNED.append(number))

    from transformers import Trainer, TrainerCallback

    stopped = []

    class SaveOnTerm(TrainerCallback):
        def on_step_end(self, args, state, control, **others):
            if warned_anywhere(args.device):
                stopped.append(state.global_step)
                control.should_save = control.should_training_stop = True
            return control

    train = Trainer.train

    def train_on(self, resume_from_checkpoint=None, *others, **named):
        checkpoint = of_first_rank(newest(self.args.output_dir))
        checkpoint = checkpoint or resume_from_checkpoint or getattr(self.args, "resume_from_checkpoint", None)
        if checkpoint in ("True", "true"):
            checkpoint = None  # There is none yet, and Trainer would refuse to begin.
        print(f"nexa-slurm: training begins {'from ' + str(checkpoint) if checkpoint else 'at step 0'}", flush=True)
        if saves:
            self.add_callback(SaveOnTerm())
        done = train(self, checkpoint, *others, **named)
        if stopped and self.state.global_step < self.state.max_steps:
            print(f"nexa-slurm: warned; saved at step {self.state.global_step} of {self.state.max_steps}", flush=True)
            sys.exit(1)
        return done

    Trainer.train = train_on
    module = "trl.scripts." + command
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
