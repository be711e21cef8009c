#!/usr/bin/env python3
"""The quarter of a team that does not exist, for dev/example-report.

usage: example_quarter.py FOLDER

Types a team's commands from July to September 2026 in FOLDER/science, each by its own user at its own time (elsewhere.c), and
last `report` and `look`: FOLDER/report.html, FOLDER/look.txt. This file also plays Slurm for them, by links named sbatch, squeue, sacct: it says when a job began and how it ended. What nexa-slurm writes, it writes itself.
The same each time, but for random keys.
"""

import json
import math
import os
import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

BEGIN = datetime(2026, 7, 1, tzinfo=timezone.utc)
END = datetime(2026, 9, 28, 16, 30, tzinfo=timezone.utc)
HOUR = 3600

# name: user, project, stage, model, partition and GPU type, GPUs, nodes, CPUs, memory, time limit, hours, command
KINDS = {
    "chat-sft": ("amira", "assistant", "train", "Llama-3.1-8B", "h100", 8, 1, 64, "480G", 14, 7.5, "axolotl train chat-sft.yml"),
    "chat-dpo": ("bence", "assistant", "train", "Llama-3.1-8B", "h100", 4, 1, 32, "240G", 8, 4.2, "accelerate launch dpo.py"),
    "chat-70b": ("amira", "assistant", "train", "Llama-3.3-70B", "h100", 8, 2, 64, "900G", 36, 26, "axolotl train chat-70b.yml"),
    "teacher": ("bence", "assistant", "generate", "Llama-3.3-70B", "h100", 4, 1, 16, "120G", 8, 5, "vllm run-batch -i ask.jsonl -o out.jsonl"),
    "chat-eval": ("amira", "assistant", "eval", "Llama-3.1-8B", "h100", 1, 1, 8, "60G", 4, 1.4, "lm_eval --model vllm --tasks mmlu,gsm8k"),
    "detector": ("chiara", "vision", "train", "RT-DETR-L", "a100", 4, 1, 32, "200G", 16, 9, "torchrun detector.py"),
    "augment": ("chiara", "vision", "train", "RT-DETR-L", "a100", 1, 1, 8, "60G", 5, 2.4, 'python3 augment.py --lr "$NEXA_SWEEP_LR"'),
    "vision-eval": ("chiara", "vision", "eval", "RT-DETR-L", "a100", 1, 1, 8, "60G", 3, 1.1, "python3 average_precision.py"),
    "frames": ("chiara", "vision", "data", None, "cpu", 0, 1, 16, "32G", 6, 2.2, "python3 frames.py"),
    "whisper": ("dewei", "speech", "train", "whisper-large-v3", "l40s", 4, 1, 32, "180G", 20, 11, "torchrun whisper.py"),
    "asr-eval": ("dewei", "speech", "eval", "whisper-large-v3", "l40s", 1, 1, 8, "40G", 6, 0.8, "python3 word_errors.py"),
}
# How often in each of the thirteen weeks: in August, half of the team is away.
WEEKS = {
    "chat-sft": "1121210011221",
    "chat-dpo": "1011210001211",
    "chat-70b": "0000100000001",
    "teacher": "0101100001100",
    "chat-eval": "1122210112221",
    "detector": "1112110102121",
    "augment": "0010010000101",
    "frames": "1010010001010",
    "whisper": "0111210011011",
    "asr-eval": "0111010011011",
}
# By the name and its number: what goes wrong. The hours are those after which the job ends.
WRONG = {
    "chat-sft 2": ("FAILED", 0.4, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.21 GiB is free."),
    "chat-sft 8": ("NODE_FAIL", 3.1, ""),
    "chat-dpo 11": ("FAILED", 1.7, "ValueError: the loss is nan at step 420: the learning rate is too high"),
    "chat-dpo 9": ("CANCELLED", 2.2, ""),
    "teacher 2": ("FAILED", 0.1, "FileNotFoundError: [Errno 2] No such file or directory: 'ask.jsonl'"),
    "detector 14": ("TIMEOUT", 16, ""),
    "detector 6": ("FAILED", 5.6, "RuntimeError: DataLoader worker (pid 2711) is killed by signal: Killed."),
    "whisper 6": ("OUT_OF_MEMORY", 2.9, ""),
    "chat-eval 18": ("FAILED", 0.2, "ModuleNotFoundError: No module named 'lm_eval.tasks.gsm8k_cot'"),
}
# How busy the GPUs are, in percent; the others' 91.
BUSY = {"augment": 34, "asr-eval": 61, "detector": 43, "teacher": 72}
PRICES = {"h100": "3.20", "a100": "1.90", "l40s": "0.95"}
NODES = {"h100": (8, 128, 1000), "a100": (4, 64, 500), "l40s": (4, 64, 250), "cpu": (0, 96, 380)}
SOURCE = "rate card of the computing centre, 2026-07-01"


# --- Slurm, as far as it is asked -----------------------------------------------------------------


def option(name, otherwise=""):
    return next((word.split("=", 1)[1] for word in sys.argv if word.startswith(f"--{name}=")), otherwise)


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "jobs.json"
        self.jobs = json.loads(self.file.read_text()) if self.file.exists() else []
        self.now = int((folder / "now").read_text())

    def keep(self):
        self.file.write_text(json.dumps(self.jobs))

    def tasks(self):
        for job in self.jobs:
            for number, task in enumerate(job["tasks"]):
                yield job, number, task, job["id"] + (number + 1) % len(job["tasks"])

    def sbatch(self):
        name = option("job-name")
        job = json.loads((self.folder / "next.json").read_text())[name.split("_")[0]]
        job.update(id=48211 + 17 * len(self.jobs), name=name, submit=self.now, folder=sys.argv[-1])
        before = set(option("dependency").replace(",", ":").split(":"))
        ready = max([self.now] + [task["end"] for one in self.jobs if str(one["id"]) in before for task in one["tasks"]])
        for task in job["tasks"]:
            task["start"] = ready + task.pop("wait")
            task["end"] = task["start"] + task.pop("seconds")
        self.jobs.append(job)
        self.keep()
        print(job["id"])

    def squeue(self):
        if "%N" in option("format") or "%F" in option("format"):
            return
        for job, number, task, raw in self.tasks():
            if self.now < task["end"] and option("name", job["name"]) == job["name"]:
                state, reason = ("RUNNING", "None") if task["start"] <= self.now else ("PENDING", "Resources")
                start = datetime.fromtimestamp(task["start"], timezone.utc).strftime("%FT%T")
                print(raw, f"{job['id']}_{number}", number, state, reason, start, "N/A", job["name"], sep="\x1f")

    def usage(self, fields, shown):
        """What `look` asks for. The jobs have the names that people gave them."""
        shown(fields)
        begin, end = (datetime.fromisoformat(option(name) + "+00:00").timestamp() for name in ("starttime", "endtime"))
        for job, number, task, raw in self.tasks():
            limit, ended = KINDS[job["kind"]][9] * 60, min(task["end"], self.now)
            if job["submit"] > self.now or job["submit"] > end or task["end"] < begin:
                continue
            times = {name: datetime.fromtimestamp(at, timezone.utc).strftime("%FT%T") for name, at in (("Submit", job["submit"]), ("Start", task["start"]), ("End", task["end"]))}
            state = task["state"] if task["end"] <= self.now else "RUNNING"
            taken = max(0, ended - task["start"])
            row = dict(times, JobID=job["id"] if len(job["tasks"]) == 1 else f"{job['id']}_{number}", JobIDRaw=raw, JobName=job["kind"], Cluster="north", User=job["user"], Account=job["account"])
            row.update(Partition=job["partition"], State=state, ExitCode=task["exit"], ElapsedRaw=taken, Suspended="00:00:00", TimelimitRaw=limit)
            row.update(AllocCPUS=job["cpus"], NCPUS=job["cpus"], AllocTRES=job["tres"], ReqTRES=job["tres"], NodeList=task["node"])
            if state == "RUNNING":
                row["End"] = "Unknown"
            shown([row.get(field, "") for field in fields])
            gpus, busy = KINDS[job["kind"]][5] * job["nodes"], BUSY.get(job["kind"], 91)
            memory = int(KINDS[job["kind"]][8][:-1]) * job["nodes"] * 2**30
            row.update(JobID=f"{row['JobID']}.batch", JobName="batch", NTasks=1, MaxRSS=int(memory * 0.62), User="", TimelimitRaw="")
            seconds = int(taken * job["cpus"] * 0.4)
            row.update(TotalCPU=f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}")
            row.update(TRESUsageInTot=f"gres/gpuutil={gpus * busy}" if gpus else "")
            shown([row.get(field, "") for field in fields])

    def sacct(self):
        fields = option("format").split(",")
        if "--helpformat" in sys.argv:
            print("Planned")
            return
        if "--noheader" not in sys.argv:
            return self.usage(fields, lambda cells: print(option("delimiter").join(map(str, cells))))
        for job, number, task, raw in self.tasks():
            if task["start"] > self.now or not {str(job["id"]), job["name"]} & set(f"{option('jobs')},{option('name')}".split(",")):
                continue
            ended = task["end"] <= self.now
            row = dict(JobIDRaw=raw, JobID=f"{job['id']}_{number}", JobName=job["name"], Cluster="north", Reason="None", Suspended="00:00:00")
            row.update(User=job["user"], Account=job["account"], Partition=job["partition"], Submit=job["submit"], Start=task["start"])
            row.update(State=task["state"] if ended else "RUNNING", ExitCode=task["exit"] if ended else "0:0")
            row.update(End=task["end"] if ended else "Unknown", ElapsedRaw=(task["end"] if ended else self.now) - task["start"])
            row.update(NNodes=job["nodes"], NodeList=task["node"], AllocTRES=job["tres"], ReqTRES=job["tres"], AllocCPUS=job["cpus"])
            print(option("delimiter").join(str(row[field]) for field in fields))

    def scancel(self):
        for job, _, task, _ in self.tasks():
            if str(job["id"]) in sys.argv and task["end"] > self.now:
                task.update(end=self.now, state="CANCELLED by 1001", exit="0:0")
        self.keep()

    def scontrol(self):
        if "config" in sys.argv:
            print("AccountingStorageType = accounting_storage/slurmdbd\nAccountingStorageTRES = gres/gpu\nClusterName = north")
        elif "partition" in sys.argv:
            print("\n".join(f"PartitionName={name} MaxTime=UNLIMITED DefMemPerCPU=1000 TotalNodes=12" for name in NODES))
        else:
            sys.exit(1)

    def sinfo(self):
        pass

    def sacctmgr(self):
        pass


# --- the team ---------------------------------------------------------------------------------------


class Team:
    def __init__(self, folder):
        self.folder = folder
        self.science, self.state = folder / "science", folder / "state"
        self.luck = random.Random(2026)
        self.written, self.newest = set(), {}

    def file(self, name, text):
        path = self.science / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def type(self, at, who, *words, allowed=(0,)):
        (self.state / "now").write_text(str(int(at.timestamp())))
        environment = dict(os.environ, LD_PRELOAD=str(self.folder / "elsewhere.so"), CLOCK=str(int(at.timestamp())), WHO=who, USER=who, TZ="UTC")
        done = subprocess.run(["nexa-slurm", *words], cwd=self.science, env=environment, capture_output=True, text=True)
        print(at, who, *words, done.stdout, done.stderr, flush=True)
        if done.returncode not in allowed:
            sys.exit(f"nexa-slurm {' '.join(words)} ended with {done.returncode}")
        return done.stdout + done.stderr

    def begin(self):
        self.state.mkdir()
        source = Path(__file__).with_name("elsewhere.c")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", self.folder / "elsewhere.so", source, "-ldl"], check=True)
        for client in "sbatch squeue sacct scancel scontrol sinfo sacctmgr".split():
            (self.folder / "bin" / client).symlink_to(Path(__file__).resolve())
        partitions = "".join(
            f"  {name}: {{gpus_per_node: {gpus}, cpus_per_node: {cpus}, memory_per_node: {gib}G, max_time: 3-00:00:00"
            + (f", gpu_type: {name}" if gpus else "")
            + "}\n"
            for name, (gpus, cpus, gib) in NODES.items()
        )
        tiers = ", ".join(f"{tier}: {self.science}/storage/{tier}" for tier in ("scratch", "durable", "shared"))
        self.file("configs/clusters/default.yaml", f"scheduler: slurm\nstorage: {{{tiers}}}\npartitions:\n{partitions}")
        gpus = "".join(f'  {name}: {{price: {price}, source: "{SOURCE}"}}\n' for name, price in PRICES.items())
        others = "".join(f'{name}: {{price: {price}, source: "{SOURCE}"}}\n' for name, price in (("cpu_hour", "0.012"), ("memory_gib_hour", "0.0015")))
        self.file("configs/prices/default.yaml", f"currency: USD\nas_of: 2026-07-01\ngpu_hour:\n{gpus}{others}")
        key = self.folder / "boss-key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "farid@lab", "-f", key], check=True)
        self.file("configs/allowed_signers", f'farid@lab namespaces="nexa-slurm" {key.with_suffix(".pub").read_text()}')
        budget = "  - {{scope: {}, amount: {}.00, currency: USD, period: {}}}\n"
        self.file(
            "configs/policy.yaml",
            "approval_over: {amount: 750.00, currency: USD}\n"
            "approvals: {directory: approvals, allowed_signers: configs/allowed_signers}\nbudgets:\n"
            + budget.format("project, name: assistant", 3600, "month")
            + budget.format("project, name: vision", 900, "month")
            + budget.format("project, name: speech", 450, "month")
            + budget.format("all", 12000, "quarter"),
        )
        for name in KINDS:
            self.config(name)
        stages = {"prepare": "frames", "train": "detector", "score": "vision-eval"}
        lines = [f"  {stage}: {{config: {name}.yaml{after}}}" for (stage, name), after in zip(stages.items(), ("", ", after: [prepare]", ", after: [train]"))]
        self.file("detector-release.yaml", "stages:\n" + "\n".join(lines) + "\n")

    def config(self, name):
        _, project, stage, model, gpu, gpus, nodes, cpus, memory, limit, _, command = KINDS[name]
        text = f"stage: {stage}\nname: {name}\nbackend: shell\nrun: {json.dumps(command)}\ntags: [\"project:{project}\"]\n"
        text += f"model_name: {model}\n" if model else ""
        text += "adapter: lora\n" if name.startswith("chat-") and stage == "train" else ""
        text += "sweep: {lr: [5e-5, 1e-4, 2e-4, 4e-4, 8e-4, 2e-3]}\n" if name == "augment" else ""
        text += "array: {shards: 6}\n" if name == "frames" else ""
        text += f"resources: {{partition: {gpu}, nodes: {nodes}, cpus_per_task: {cpus}, memory: {memory}, time: {limit}h"
        text += f", gpus_per_node: {gpus}, gpu_type: {gpu}" if gpus else ""
        self.file(f"{name}.yaml", text + "}\n")

    def plan(self, name, number):
        """What Slurm will say of the next job."""
        user, project, stage, _, gpu, gpus, nodes, cpus, memory, limit, hours, _ = KINDS[name]
        state, after, _ = WRONG.get(f"{name} {number}", ("COMPLETED", None, ""))
        tasks = []
        for task in range(6 if name in ("augment", "frames") else 1):
            took = after or min(limit * 0.97, hours * self.luck.lognormvariate(0, 0.22))
            first = self.luck.randint(1, 9)
            node = f"{gpu}-{first:02d}" if nodes == 1 else f"{gpu}-[{first:02d}-{first + nodes - 1:02d}]"
            wait = int(self.luck.lognormvariate(6.2 if gpu == "h100" else 4.6, 1.3))
            exit_code = {"COMPLETED": "0:0", "FAILED": "1:0", "OUT_OF_MEMORY": "0:125", "NODE_FAIL": "1:0"}.get(state, "0:0")
            tasks.append(dict(wait=min(wait, 30000), seconds=int(took * HOUR), state=state, exit=exit_code, node=node))
        tres = f"billing={nodes * cpus},cpu={nodes * cpus},mem={nodes * int(memory[:-1])}G,node={nodes}"
        tres += f",gres/gpu={nodes * gpus},gres/gpu:{gpu}={nodes * gpus}" if gpus else ""
        account = {"assistant": "nlp", "speech": "nlp", "vision": "vision"}[project]
        return stage, dict(kind=name, number=number, user=user, account=account, partition=gpu, nodes=nodes, cpus=nodes * cpus, tres=tres, tasks=tasks)

    def submit(self, at, name, number):
        (self.state / "next.json").write_text(json.dumps(dict([self.plan(name, number)])))
        words = ("submit", f"{name}.yaml")
        user = KINDS[name][0]
        said = self.type(at, user, *words, allowed=(0, 3))
        if "approve " in said:
            estimate = said.split("nexa-slurm approve ")[1].split()[0]
            key = str(self.folder / "boss-key")
            self.type(at + timedelta(minutes=38), "farid", "approve", estimate, "--key", key, "--yes", "--note", "as agreed in the planning of the quarter")
            said = self.type(at + timedelta(minutes=52), user, *words)
        elif "job " not in said:
            sys.exit(f"{name} {number} was not submitted")
        self.newest[name] = said.split(":")[0].split()[-1]

    def reconcile(self, at):
        for job in Slurm(self.state).jobs if (self.state / "jobs.json").exists() else []:
            for number, task in enumerate(job["tasks"]):
                if task["end"] <= at.timestamp() and (job["id"], number) not in self.written:
                    self.written.add((job["id"], number))
                    self.outputs(job, number, task)
        self.type(at, "farid", "reconcile")

    def outputs(self, job, number, task):
        """What a job leaves in its run's folder: its exit, log, metrics and samples."""
        _, _, stage, _, gpu, gpus, nodes, cpus, *_ = KINDS[job["kind"]]
        submission = Path(job["folder"])
        run, results = submission.parent.parent, submission / "results"
        results.mkdir(exist_ok=True)
        text = WRONG.get(f"{job['kind']} {job['number']}", ("", 0, ""))[2]
        good = task["state"] == "COMPLETED"
        log = [f"step {step} loss {2.4 / (1 + step / 400):.4f}" for step in range(100, 900, 100)] if stage == "train" else ["ready", "working"]
        log += ["Traceback (most recent call last):", '  File "train.py", line 214, in <module>', "    main()", text] if text else []
        log += [] if good or text else [f"slurmstepd: error: *** JOB {job['id']} ON {task['node']} CANCELLED ***"]
        (run / "logs").mkdir(exist_ok=True)
        (run / "logs" / f"{job['id']}_{number}.out").write_text("\n".join(log) + "\n")
        if good or text:
            entry = dict(task=number, restart=0, job_id=job["id"], array_job_id=job["id"], node=task["node"], started=task["start"], ended=task["end"])
            entry.update(exit_code=0 if good else 1, signal="")
            (results / f"{number}.0.json").write_text(json.dumps(entry) + "\n")
        if good:
            (run / "done").mkdir(exist_ok=True)
            (run / "done" / str(number)).symlink_to(f"../submissions/{submission.name}/results/{number}.0.json")
            metrics = {"train": dict(loss=round(0.9 + self.luck.random() / 4, 4)), "eval": dict(score=round(0.58 + self.luck.random() / 8, 4))}
            (results / f"{number}.0.metrics.json").write_text(json.dumps(metrics.get(stage, dict(rows=48000 + self.luck.randrange(9000)))))
        if gpus:
            self.samples(results / f"{number}.0.telemetry.{task['node'].split('[')[0].rstrip('-')}.csv", task, job)
        if stage == "train" and task["end"] - task["start"] > HOUR:
            self.losses(run.name, number, job, task, text)

    def samples(self, file, task, job):
        _, _, stage, _, gpu, gpus, _, cpus, *_ = KINDS[job["kind"]]
        gib = {"h100": 80, "a100": 40, "l40s": 48}[gpu]
        busy = BUSY.get(job["kind"], 91)
        count, used = 18, 0
        lines = [f"h,1,number=0,nodes=1,interval=10,gpus={gpus},source=nvidia-smi,activity=none,cpus={cpus},memory={gib * 6 << 30}"]
        lines += [f"d,{card},GPU-{job['id']}-{card},{gib * 1024}" for card in range(gpus)]
        for sample in range(count + 1):
            at = task["start"] + 20 + sample * (task["end"] - task["start"] - 40) / count
            saves = sample % 7 == 6
            for card in range(gpus):
                use = 0 if sample == 0 else max(3, min(100, self.luck.gauss(busy * (0.3 if saves else 1), 4)))
                full = 2 if sample == 0 else (0.62 + 0.25 * (stage == "train")) * gib + self.luck.random()
                lines.append(f"g,{at:.2f},{card},{use:.0f},,{full * 1024:.0f},{90 + use * 5.6:.0f},{38 + use * 0.3:.0f}")
            used += cpus * (task["end"] - task["start"]) / count * self.luck.uniform(0.32, 0.5)
            memory = (6 if sample == 0 else gib * (0.5 + 0.04 * gpus) + self.luck.uniform(0, 4)) * 2**30
            lines.append(f"n,{at:.2f},{used * 1e6:.0f},{memory:.0f},{sample * 4 << 30},{sample << 28},{sample << 30},{sample << 29}")
        file.write_text("\n".join([*lines, f"e,{task['end'] - 20}.00,end,0"]) + "\n")

    def losses(self, run, number, job, task, text):
        history = [dict(step=step, loss=round(0.9 + 1.5 * math.exp(-step / 260) + self.luck.gauss(0, 0.04), 4)) for step in range(20, 1220, 20)]
        if task["state"] != "COMPLETED":
            history = history[:20] + [dict(step=step, loss=math.nan) for step in range(420, 440, 10)] * ("nan" in text)
        folder = f"storage/durable/checkpoints/{run}" + (f"/task_{number}" if len(job["tasks"]) > 1 else "")
        self.file(f"{folder}/checkpoint-1200/trainer_state.json", json.dumps(dict(global_step=1200, log_history=history)))

    def pipeline(self, at):
        plans = dict(self.plan(name, 100) for name in ("frames", "detector", "vision-eval"))
        (self.state / "next.json").write_text(json.dumps(plans))
        self.type(at, "chiara", "pipeline", "run", "detector-release.yaml")

    def quarter(self):
        calendar, counts = [], dict.fromkeys(WEEKS, 0)
        for week in range(13):
            for name, often in WEEKS.items():
                for _ in range(int(often[week])):
                    day, hour = self.luck.choice((0, 1, 1, 2, 2, 3)), self.luck.triangular(8, 19, 11)
                    at = BEGIN + timedelta(days=7 * week + day, seconds=int(hour * HOUR))
                    if at < END:
                        calendar.append((at, name))
        calendar += [(END - timedelta(hours=5, seconds=1312), "chat-sft"), (END - timedelta(hours=2, seconds=847), "whisper")]
        events = []
        for at, name in sorted(calendar):
            counts[name] += 1
            events.append((at, "submit", name, counts[name]))
            if WRONG.get(f"{name} {counts[name]}", ("",))[0] == "CANCELLED":
                events.append((at + timedelta(hours=3), "cancel", name, 0))
        for day in range(2, 90, 3):
            events.append((BEGIN + timedelta(days=day, hours=6), "reconcile", "", 0))
        begun = datetime(2026, 9, 21, 9, 12, 40, tzinfo=timezone.utc)
        events += [(begun, "pipeline", "", 0)] + [(begun + timedelta(hours=hours), "reconcile", "", 0) for hours in (6, 7, 24, 26, 30)]
        for at, what, name, number in sorted(events):
            if what == "submit":
                self.submit(at, name, number)
            elif what == "cancel":
                self.type(at, KINDS[name][0], "cancel", self.newest[name])
            elif what == "pipeline":
                self.pipeline(at)
            else:
                self.reconcile(at)
        for minutes in (0, 2):
            self.reconcile(END + timedelta(minutes=minutes))
        (self.folder / "look.txt").write_text(self.type(END + timedelta(minutes=4), "farid", "look", "--all"))
        self.type(END + timedelta(minutes=5), "farid", "report", "--out", str(self.folder / "report.html"), "--details", "12")


if __name__ == "__main__":
    client = Path(sys.argv[0])
    if client.suffix == ".py":
        team = Team(Path(sys.argv[1]))
        team.begin()
        team.quarter()
    else:
        getattr(Slurm(client.parent.parent / "state"), client.name)()
