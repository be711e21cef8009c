"""The scenarios of dev/gpu-check: submits real runs, looks at what became of them, and prints one table.

gpu_check.py run TYPE:COUNT HOME CHECKOUT    without GPUs: none:0
gpu_check.py unpack ARCHIVE                  below /, only files that are not there
gpu_check.py without JAR WORD...             takes the entries out whose names begin with a word
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

WORDS = "the a cat dog runs sits on under red blue mat tree and then it".split()


class Skipped(Exception):
    pass


class Failed(Exception):
    pass


def demand(true, what):
    if not true:
        raise Failed(what)


class Check:
    def __init__(self, gpus, home, checkout):
        self.type, self.count = gpus.split(":")
        self.gpu = self.count != "0"
        # Without a GPU the runs still ask for one, and the profile of a CPU cluster lets its ranks run on CPUs.
        self.gpu_type = self.type if self.gpu else "h100"
        self.home, self.checkout = Path(home), Path(checkout)
        self.work = Path("/var/tmp/nexa-gpu-check")
        # A rehearsal on few CPUs may take longer than the check on the real machine.
        self.patience = 1 if self.gpu else 4
        self.seconds = 8 * 60 * self.patience
        self.until = time.monotonic() + self.seconds
        self.submitted = None
        shutil.rmtree(self.work, ignore_errors=True)
        self.models = {}
        self.prepare()

    def write(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def prepare(self):
        """A workspace whose profile is this machine; torchrun and accelerate where pip made no programs of them."""
        programs = self.work / "bin"
        programs.mkdir(parents=True)
        for name, module in {"torchrun": "torch.distributed.run", "accelerate": "accelerate.commands.accelerate_cli"}.items():
            if shutil.which(name) is None:
                (programs / name).write_text(f'#!/bin/sh\nexec python3 -m {module} "$@"\n')
                (programs / name).chmod(0o755)
        accelerator = f"gpu_type: {self.type}" if self.gpu else "accelerator: cpu"
        self.write(
            "configs/clusters/default.yaml",
            f"""scheduler: slurm
{accelerator}
storage: {{scratch: {self.work}/scratch, durable: {self.work}/durable, shared: {self.work}/shared}}
env: {{PYTHONPATH: "{os.environ.get('PYTHONPATH', '')}", HF_HUB_OFFLINE: "1", GLOO_SOCKET_IFNAME: lo}}
slurm: {{kill_wait_seconds: 5, message_timeout_seconds: 10}}
""",
        )
        price = "{price: 1, source: a test}"
        self.write(
            "configs/prices/default.yaml",
            f"currency: USD\nas_of: 2026-01-01\ngpu_hour: {{{self.gpu_type}: {price}}}\ncpu_hour: {price}\nmemory_gib_hour: {price}\n",
        )
        self.write("configs/policy.yaml", "approval_over: {amount: 100000, currency: USD}\nsettle_window_seconds: 2\n")
        self.environment = dict(os.environ, NEXA_WORKSPACE=str(self.work))
        self.environment["PATH"] = f"{programs}:{os.environ['PATH']}"

    def nexa(self, *words, most=60):
        jar = ["java/bin/java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", "nexa-slurm.jar"]
        command = [str(self.home / word) if word.startswith(("java", "nexa")) else word for word in jar] + list(words)
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=most)
        if done.returncode not in (0, 1) or not done.stdout:
            raise Failed(f"{' '.join(words)}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
        return done.stdout

    def submit(self, config, *words):
        self.submitted = json.loads(self.nexa("submit", "--json", config, *words))["run_id"]
        return self.submitted

    def manifest(self, run):
        return json.loads((self.work / f"runs/manifests/{run}.json").read_text())

    def finish(self, run, status, seconds):
        seconds *= self.patience
        until = min(self.until, time.monotonic() + seconds)
        while time.monotonic() < until:
            self.nexa("reconcile")
            found = self.manifest(run)
            if found["status"] not in ("running", "retry"):
                if found["status"] != status:
                    raise Failed(f"{run} is {found['status']}, expected {status}: {self.end_of_log(run)}")
                return found
            time.sleep(1)
        raise Failed(f"{run} did not end in {seconds} s: {self.end_of_log(run)}")

    def give_up(self):
        """What a scenario left running would hold up the next."""
        try:
            if self.submitted and self.manifest(self.submitted)["status"] in ("running", "retry"):
                self.nexa("cancel", self.submitted)
                self.finish(self.submitted, "cancelled", 30)
        except Exception as why:
            print(f"  {self.submitted} could not be cancelled: {why}", file=sys.stderr)

    def log(self, run):
        return "\n".join(path.read_text(errors="replace") for path in sorted((self.work / "runs" / run / "logs").glob("*.out")))

    def end_of_log(self, run):
        return " | ".join(line.strip() for line in self.log(run).splitlines()[-3:])[-300:]

    def resources(self, memory="8G"):
        return f"resources: {{nodes: 1, gpus_per_node: 1, gpu_type: {self.gpu_type}, cpus_per_task: {min(4, os.cpu_count() or 1)}, memory: {memory}, time: 6m}}\n"

    def needs(self, *modules, gpu=False):
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            raise Skipped(f"python3 has no {', '.join(missing)}")
        if gpu and not self.gpu:
            raise Skipped("this machine has no NVIDIA GPU")

    def model(self):
        """A folder with a random model of Qwen2.5-0.5B's shape, and a file with rows; without a GPU a tiny model."""
        if not self.models:
            size = dict(hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2)
            if not self.gpu:
                size = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2)
            size["vocab_size"] = 151936 if self.gpu else 64
            make = [sys.executable, "-c", MAKE_MODEL, str(self.work), json.dumps(size), json.dumps(WORDS), "2048" if self.gpu else "64"]
            done = subprocess.run(make, capture_output=True, text=True, timeout=120 * self.patience)
            demand(done.returncode == 0, f"no model: {done.stderr[-300:]}")
            self.models = {"model": f"{self.work}/model", "rows": f"{self.work}/rows.jsonl"}
        return self.models

    # --- the scenarios: each returns a few words about what it saw ---------------------------------

    def science(self):
        self.needs("torch")
        run = self.submit(self.science_config(epochs=1))
        found = self.finish(run, "completed", 90)
        demand(found["metrics"]["checkpoint_loads"] is True, f"metrics: {found['metrics']}")
        demand(("no GPU is used" in self.log(run)) != self.gpu, "the log says that the GPU was not used")
        return f"{found['metrics']['steps']} steps, loss down by {100 * found['metrics']['loss_drop']:.0f} %"

    def science_config(self, epochs):
        shutil.copy(self.checkout / "configs/train/science/train.py", self.work / "train.py")
        return self.write(
            f"science_{epochs}.yaml",
            f"""stage: train
name: science
backend: python
entrypoint: {{script: train.py}}
model_name: science-tiny
dataset_path: builtin:science
lr: 2e-3
batch_size: 2
grad_accumulation: 1
epochs: {epochs}
use_kd: false
save_steps: 10
eval_steps: 10
fp16: false
requeues: 1
monitor: 2s
{self.resources()}""",
        )

    def interrupted(self):
        self.needs("torch")
        run = self.submit(self.science_config(epochs=24 if self.gpu else 2))
        until = time.monotonic() + 60 * self.patience
        while "step 100/" not in self.log(run):
            demand(time.monotonic() < until, f"step 100 did not come: {self.end_of_log(run)}")
            time.sleep(0.5)
        self.nexa("interrupt", run)
        found = self.finish(run, "completed", 150)
        demand(found["attempts"] == 2, f"{found['attempts']} attempts, expected 2")
        resumed = [line for line in self.log(run).splitlines() if line.startswith("resumed after step")]
        demand(resumed, "the second attempt did not resume")
        self.nexa("monitor", "show", run)
        self.sampled = found
        return f"{resumed[0]} of {found['metrics']['steps']}"

    def sampler(self):
        found = getattr(self, "sampled", None)
        if found is None:
            raise Skipped("the run that was interrupted did not end")
        telemetry = found["telemetry"]
        demand(telemetry["samples"] > 2 and telemetry["broken_lines"] == 0 and telemetry["hangs"] == 0, f"telemetry: {telemetry}")
        if self.gpu:
            demand(telemetry["source"] == "nvidia-smi" and telemetry["gpu_memory"]["peak"] > 0, f"telemetry: {telemetry}")
            return f"{telemetry['samples']} samples, GPU {telemetry['gpu_utilization']['mean']:.0f} %, {telemetry['gpu_power']['mean']:.0f} W"
        return f"{telemetry['samples']} samples, CPU {telemetry['cpu_utilization']['mean']:.0f} %; no GPU to sample"

    def trl(self, adapter):
        self.needs("torch", "transformers", "trl", "datasets", *(["peft"] if adapter else []))
        files = self.model()
        bf16 = "bf16: true\n" if self.gpu else ""
        config = self.write(
            f"sft_{adapter or 'full'}.yaml",
            f"""stage: train
name: sft-{adapter or 'full'}
backend: hf
model_name: {files['model']}
dataset_path: {files['rows']}
batch_size: {4 if self.gpu else 2}
lr: 1e-4
epochs: 1
max_length: {2048 if self.gpu else 64}
save_steps: 1000
monitor: 1s
{'adapter: ' + adapter if adapter else ''}
{bf16}options: {{max_steps: {40 if self.gpu else 4}, report_to: none}}
{self.resources('48G' if self.gpu else '4G')}""",
        )
        run = self.submit(config)
        found = self.finish(run, "completed", 150)
        demand(found["checkpoint"], "the manifest names no checkpoint")
        return run

    def trl_full(self):
        self.full = self.trl(None)
        return self.trained(self.full)

    def trl_lora(self):
        return self.trained(self.trl("lora"))

    def trained(self, run):
        ended = [line for line in self.log(run).splitlines() if "train_runtime" in line]
        demand(ended, f"the log has no train_runtime: {self.end_of_log(run)}")
        return ended[-1].strip()[:120]

    def predicted(self):
        self.needs(gpu=True)
        if not hasattr(self, "full"):
            raise Skipped("TRL's full training did not end here")
        said = json.loads((self.work / f"runs/{self.full}/estimate.json").read_text())["memory"]["per_gpu_bytes"]
        peak = self.manifest(self.full)["telemetry"]["gpu_memory"]["peak"]
        words = f"predicted {said / 2**30:.1f} GiB, measured {peak / 2**30:.1f} GiB"
        demand(0.75 < said / peak < 1.4, words)
        return words

    def fsdp(self):
        self.needs("torch", "accelerate", gpu=True)
        self.write("fsdp.py", FSDP)
        config = self.write(
            "fsdp.yaml",
            f"""stage: train
name: fsdp
backend: accelerate
entrypoint: {{script: fsdp.py, config: false}}
strategy: fsdp
bf16: true
{self.resources('32G')}""",
        )
        run = self.submit(config)
        self.finish(run, "completed", 90)
        said = [line for line in self.log(run).splitlines() if line.startswith("fsdp: ")]
        demand(said and "FSDP" in said[0] and "saved" in said[-1], f"the log: {self.end_of_log(run)}")
        return said[0][len("fsdp: "):]

    def breaks(self, name, text, *sentences, gpu=True):
        """A program that fails; returns what `why` says, which has one of the sentences."""
        self.needs("torch", gpu=gpu)
        self.write(f"{name}.py", text)
        config = self.write(
            f"{name}.yaml",
            f"stage: train\nname: {name}\nbackend: python\nentrypoint: {{script: {name}.py, config: false}}\n{self.resources()}",
        )
        run = self.submit(config)
        self.finish(run, "failed", 60)
        said = json.loads(self.nexa("why", run, "--json"))["headline"]
        demand(any(one in said for one in sentences), f"why says: {said}")
        return said

    def out_of_memory(self):
        text = "import torch\nkept = []\nwhile True:\n    kept.append(torch.ones(2**30, device='cuda'))\n"
        return self.breaks("oom", text, "memory was not enough")

    def device_assert(self):
        text = "import torch\ntable = torch.nn.Embedding(4, 4).cuda()\nprint(table(torch.tensor([9]).cuda()).sum().item())\n"
        return self.breaks("index", text, "index", "label", "out of range")

    def exception(self):
        """This needs no GPU."""
        said = "the labels of batch 7 do not fit"
        return self.breaks("broken", f"import torch\nraise ValueError('{said}')\n", said, gpu=False)

    def run(self):
        scenarios = [
            ("science, trained and loaded again", self.science, 40),
            ("an exception, and why", self.exception, 20),
            ("GPU out of memory, and why", self.out_of_memory, 30),
            ("device-side assert, and why", self.device_assert, 30),
            ("interrupt and resume", self.interrupted, 90),
            ("sampler", self.sampler, 0),
            ("TRL, all weights", self.trl_full, 90),
            ("predicted against measured memory", self.predicted, 0),
            ("TRL, LoRA", self.trl_lora, 60),
            ("accelerate with FSDP", self.fsdp, 45),
        ]
        rows = []
        for name, scenario, seconds in scenarios:
            began = time.monotonic()
            try:
                if self.until - began < seconds:
                    raise Skipped(f"it takes {seconds} s, and {self.until - began:.0f} s of {self.seconds} are left")
                result, words = "ok", scenario()
            except Skipped as why:
                result, words = "skipped", why
            except Exception as why:  # a fault of one scenario must not hide the others
                result, words = "failed", f"{type(why).__name__}: {why}" if not isinstance(why, Failed) else why
            if result == "failed":
                self.give_up()
            rows.append((name, result, round(time.monotonic() - began), str(words).replace("\n", " ")))
            print(f"  {result} {name}", file=sys.stderr, flush=True)
        print(f"\n| scenario | result | seconds | what was seen |\n|---|---|---:|---|")
        for row in rows:
            print("| " + " | ".join(str(cell).replace("|", "/") for cell in row) + " |")
        return 1 if any(row[1] == "failed" for row in rows) else 0


MAKE_MODEL = """
import json, sys
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
work, size, words, length = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
names = ["<pad>", "<eos>", "<unk>", *words]
tokenizer = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
torch.manual_seed(1)
Qwen2ForCausalLM(Qwen2Config(**size, tie_word_embeddings=True, pad_token_id=0, eos_token_id=1, bos_token_id=1)).save_pretrained(work + "/model")
fast.save_pretrained(work + "/model")
with open(work + "/rows.jsonl", "w") as file:
    for i in range(256):
        file.write(json.dumps({"text": " ".join(words[(i * 3 + j * (i % 4 + 1)) % len(words)] for j in range(length))}) + "\\n")
"""

FSDP = """
import os
import torch
from accelerate import Accelerator
accelerator = Accelerator()
layers = [torch.nn.Linear(1024, 1024) for _ in range(8)]
model = torch.nn.Sequential(*layers)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer = accelerator.prepare(model, optimizer)
print("fsdp:", accelerator.distributed_type, accelerator.mixed_precision, accelerator.num_processes, "process", flush=True)
for step in range(50):
    loss = model(torch.ones(16, 1024, device=accelerator.device)).float().pow(2).mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
accelerator.save_state(os.environ["NEXA_CHECKPOINTS"] + "/end")
print("fsdp: saved, loss", loss.item(), flush=True)
accelerator.end_training()
"""


def unpack(archive):
    """Debian and Ubuntu have most libraries themselves: those stay as they are."""
    with tarfile.open(archive) as packed:
        for member in packed:
            target = os.path.join("/", member.name)
            if not member.isdir() and not os.path.lexists(target):
                packed.extract(member, "/")


def without(jar, words):
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(jar + ".new", "w") as new:
        for entry in old.infolist():
            if not entry.filename.startswith(tuple(words)):
                new.writestr(entry, old.read(entry))
    os.replace(jar + ".new", jar)


def main(words):
    if words[:1] == ["unpack"]:
        unpack(words[1])
    elif words[:1] == ["without"]:
        without(words[1], words[2:])
    elif words[:1] == ["run"] and len(words) == 4:
        return Check(*words[1:]).run()
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
