"""Reads the options of the runners from the source of their releases. dev/runner-options starts it and explains it.

A file per runner: a key or flag, a tab and its declared type, sorted. `a.b` is key b below a, `a.*` any key below a.
A second tab and words: the texts that the release takes there, and no others.
In place of a type may stand `deprecated` (read, with a warning) or `refused` (taken only where it is empty)
or `ignored` (dropped, but in the release's own examples).
"""
import argparse
import ast
import datetime
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PINS = {
    "trl": "1.13.0",
    "transformers": "5.18.0",  # the newest that was there for trl 1.13.0, which asks for 4.56.2 or newer
    "axolotl": "0.18.0",
    "accelerate": "1.15.0",
    "vllm": "0.24.0",
    "lm-eval": "0.4.13",
    "torch": "2.14.1",
    "torch-1.13": "1.13.1",  # Debian's python3-torch, which dev/install brings
}
TOO_LARGE = ("vllm", "torch")  # wheels of hundreds of megabytes
DEBIAN_PACKAGES = "/usr/lib/python3/dist-packages"

# Keys that must be there: one that is gone means that the list, or a file we write, is no longer right.
EXPECTED = {
    "trl-sft": "model_name_or_path dataset_name output_dir learning_rate max_length packing use_peft lora_r"
    " gradient_checkpointing fsdp_config.transformer_layer_cls_to_wrap deepspeed warmup_steps datasets.path env.*",
    "trl-distill": "model_name_or_path teacher_model_name_or_path teacher_model_revision teacher_model_init_kwargs.*"
    " temperature beta max_completion_length use_vllm vllm_mode vllm_server_base_url learning_rate output_dir",
    "axolotl": "base_model datasets.path datasets.logprobs_field sequence_len micro_batch_size learning_rate adapter"
    " lora_r fsdp_version fsdp_config.offload_params fsdp_config.transformer_layer_cls_to_wrap deepspeed deepspeed.*"
    " kd_trainer kd_alpha kd_ce_alpha kd_temperature plugins output_dir trl.beta vllm.port model_type",
    "accelerate": "compute_environment distributed_type mixed_precision num_machines num_processes machine_rank"
    " main_process_ip main_process_port rdzv_backend same_network fsdp_config.fsdp_version"
    " fsdp_config.fsdp_reshard_after_forward fsdp_config.fsdp_activation_checkpointing_offload"
    " deepspeed_config.zero_stage deepspeed_config.deepspeed_multinode_launcher"
    " parallelism_config.parallelism_config_tp_size",
    "accelerate-launch": "--config_file --num_processes --num_machines --machine_rank --main_process_ip -m"
    " --main_process_port --rdzv_backend --rdzv_conf --same_network --fsdp_version --zero_stage --mixed_precision",
    "vllm-serve": "--host --port --api-key --served-model-name --tensor-parallel-size --pipeline-parallel-size"
    " --data-parallel-size --max-model-len --gpu-memory-utilization --nnodes --node-rank --master-addr --headless",
    "vllm-run-batch": "-i -o --input-file --output-file --model --tensor-parallel-size --max-model-len --dtype"
    " --enable-metrics --output-tmp-dir --distributed-timeout-seconds --enable-prefix-caching",
    "lm-eval": "--model --model_args --tasks --num_fewshot --batch_size --device --gen_kwargs --limit --output_path"
    " --log_samples --seed --include_path --config --predict_only --confirm_run_unsafe_code --trackio_args",
    "lm-eval-config": "model model_args.* tasks num_fewshot batch_size device gen_kwargs.* limit output_path"
    " log_samples seed",
    "torchrun": "--nnodes --nproc-per-node --rdzv-id --rdzv-backend --rdzv-endpoint --rdzv-conf --max-restarts"
    " --node-rank --master-addr --master-port --numa-binding --log-dir --tee --local-ranks-filter",
    "torchrun-1.13": "--nnodes --nproc_per_node --rdzv_id --rdzv_backend --rdzv_endpoint --rdzv_conf --max_restarts"
    " --node_rank --master_addr --master_port --log_dir",
}


class Missing(Exception):
    """Something that a release no longer has, by name."""


# ---- releases: where source text comes from

class Release:
    """The files of one release of a package: a wheel, an sdist, a folder, or a commit of a git repository."""

    def __init__(self, name, path):
        self.name, self.version, self.note = name, PINS[name], ""
        self.others = {}  # further releases, by the name that they are imported under
        self.trees = {}
        commit = ""
        if not pathlib.Path(path).exists():
            path, _, commit = str(path).rpartition("@")
        if commit and pathlib.Path(path).is_dir():
            self.open_git(path, commit)
        elif pathlib.Path(path).is_dir():
            self.files, self.read = pathlib.Path(path), lambda file: (self.files / file).read_text("utf-8")
            self.exists = lambda file: (self.files / file).is_file()
        elif zipfile.is_zipfile(path):
            archive = zipfile.ZipFile(path)
            self.open_list(archive.namelist(), lambda file: archive.read(file).decode("utf-8"))
            self.check_version("METADATA")
        elif pathlib.Path(path).is_file():
            archive = tarfile.open(path)
            top = archive.getnames()[0].split("/")[0] + "/"
            self.open_list([file.removeprefix(top) for file in archive.getnames()],
                           lambda file: archive.extractfile(top + file).read().decode("utf-8"))
            self.check_version("PKG-INFO")
        else:
            raise Missing(f"{name}: no {path or commit}")

    def open_list(self, files, read):
        self.files, self.read = set(files), read
        self.exists = lambda file: file in self.files

    def open_git(self, path, commit):
        def git(*arguments):
            done = subprocess.run(["git", "-C", path, *arguments], capture_output=True, text=True)
            if done.returncode:
                raise Missing(f"{self.name}: {path}: {done.stderr.strip()}")
            return done.stdout

        commit = git("rev-parse", commit + "^{commit}").strip()
        self.note = f" (git {commit[:12]})"
        self.open_list(git("ls-tree", "-r", "--name-only", commit).splitlines(),
                       lambda file: git("show", f"{commit}:{file}"))
        if self.exists("VERSION") and self.read("VERSION").strip() != self.version:
            raise Missing(f"{self.name} {self.version}: {path} holds {self.read('VERSION').strip()}")

    def check_version(self, metadata):
        file = min((f for f in self.files if f.endswith(metadata)), key=len)
        line = next(line for line in self.read(file).splitlines() if line.startswith("Version: "))
        if line.removeprefix("Version: ") != self.version:
            raise Missing(f"{self.name} {self.version}: the package says {line}")

    def __str__(self):
        return f"{self.name.partition('-1.')[0]} {self.version}{self.note}"

    def place(self, file):
        """The place of a file, which stands under src/ in some repositories."""
        return next((place for place in (file, "src/" + file) if self.exists(place)), None)

    def below(self, folder):
        """The Python files below a folder."""
        if isinstance(self.files, pathlib.Path):
            files = (str(f.relative_to(self.files)) for f in self.files.glob(f"**/{folder}/**/*.py"))
        else:
            files = (file for file in self.files if file.endswith(".py"))
        return sorted(f.removeprefix("src/") for f in files if f.removeprefix("src/").startswith(folder + "/"))

    def tree(self, file):
        if file not in self.trees:
            place = self.place(file)
            if not place:
                raise Missing(f"{self} has no {file}")
            self.trees[file] = ast.parse(self.read(place))
        return self.trees[file]

    def module(self, name):
        """The release and the file of a module, or none where it is in no release that we have."""
        release = self.others.get(name.split(".")[0], self)
        base = name.replace(".", "/")
        return next(((release, f) for f in (base + ".py", base + "/__init__.py") if release.place(f)), (None, None))


def release(name, sources, downloads):
    """The release of a package: from the path that was given, or downloaded by pip."""
    if name in sources:
        return Release(name, sources[name])
    if name == "torch-1.13":
        found = Release(name, DEBIAN_PACKAGES)
        found.note = " (Debian python3-torch)"
        return found
    if name in TOO_LARGE:
        raise Missing(f"{name}: too large to download for a list; --source {name}=PATH names its wheel or repository")
    folder = pathlib.Path(downloads) / name
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--prefer-binary", "--ignore-requires-python",
                   "-d", str(folder), f"{name}=={PINS[name]}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"{name} {PINS[name]}: pip can't download it; --source {name}=PATH names its files\n"
                          + done.stderr.strip().splitlines()[-1])
    return Release(name, next(folder.iterdir()))


# ---- names and types

WORDS = {"int": "int", "float": "float", "str": "str", "bool": "bool", "Path": "str", "Any": "any", "object": "any"}
LISTS = ("list", "List", "tuple", "Tuple", "set", "Set", "Sequence", "Iterable", "Collection")
DICTS = ("dict", "Dict", "Mapping", "OrderedDict")
WRAPPERS = ("Optional", "Annotated", "SkipValidation", "InitVar", "Final")
PLAIN_BASES = ("BaseModel", "ABC", "Generic", "Protocol", "object", "MutableMapping")


def statements(nodes):
    """The statements of a module with those below its if and try statements."""
    for node in nodes:
        yield node
        for part in ("body", "orelse", "handlers", "finalbody"):
            if isinstance(node, (ast.If, ast.Try, ast.ExceptHandler)):
                yield from statements(getattr(node, part, []))


def find(source, file, name):
    """Where a name is defined: release, file and its class or the expression it stands for; None where it isn't ours."""
    for node in statements(source.tree(file).body):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return source, file, node
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return source, file, node.value
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return source, file, node.value
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    package = file.removesuffix(".py").split("/")[:-node.level] if node.level else []
                    module = ".".join(package + (node.module.split(".") if node.module else []))
                    there, path = source.module(module)
                    found = find(there, path, alias.name) if there else None
                    if there and not found:
                        raise Missing(f"{there}: no {alias.name} in {path}, where {file} takes it from")
                    return found
    return None


def class_of(source, file, name):
    found = find(source, file, name)
    if not found or not isinstance(found[2], ast.ClassDef):
        raise Missing(f"{source}: no class {name} in {file}")
    return found


def last(node):
    """The last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def parts(source, file, node):
    """A type as a list of its simple parts: ("int", None), or ("dict", (release, file, class)) for a class with fields."""
    if node is None or isinstance(node, ast.Constant) and node.value is None:
        return []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return parts(source, file, ast.parse(node.value, mode="eval").body)
    if isinstance(node, ast.BinOp):
        return parts(source, file, node.left) + parts(source, file, node.right)
    if isinstance(node, ast.Subscript):
        name = last(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Literal":
            return [(type(c.value).__name__, None) for c in inner if isinstance(c, ast.Constant) and c.value is not None]
        if name in WRAPPERS:
            return parts(source, file, inner[0])
        if name == "Union":
            return [part for one in inner for part in parts(source, file, one)]
        if name in LISTS:
            simple = parts(source, file, inner[0])
            plain = [("open list", None)] if ("dict", None) in simple else []
            return [("list", c) for w, c in simple if c] or [("list", None), *plain]
        return parts(source, file, node.value)
    name = last(node)
    if name in WORDS or name in LISTS or name in DICTS:
        return [(WORDS.get(name) or ("list" if name in LISTS else "dict"), None)]
    found = find(source, file, name) if name else None
    if not found:
        return []  # another package's class, as torch.dtype
    if not isinstance(found[2], ast.ClassDef):
        return parts(*found)
    if any("Enum" in last(base) for base in found[2].bases):
        return [("int" if "Int" in last(found[2].bases[0]) else "str", None)]
    return [("dict", found)] if fields(*found) else []


def texts(source, file, node):
    """The texts that a type takes, if they are few: of Literal and of enumerations; None if it takes any text."""
    if node is None or isinstance(node, ast.Constant) and not isinstance(node.value, str):
        return []
    if isinstance(node, ast.Constant):
        return texts(source, file, ast.parse(node.value, mode="eval").body)
    if isinstance(node, ast.BinOp):
        inner = [node.left, node.right]
    elif isinstance(node, ast.Subscript):
        name = last(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Literal":
            return [c.value for c in inner if isinstance(c, ast.Constant) and isinstance(c.value, str)]
        if name in WRAPPERS:
            inner = inner[:1]
        elif name != "Union":
            return None
    else:
        name = last(node)
        if name in ("bool", "int", "float"):
            return []
        found = find(source, file, name) if name and name not in WORDS else None
        if not found:
            return None
        if not isinstance(found[2], ast.ClassDef):
            return texts(*found)
        return members(found[2]) if any("Enum" in last(base) for base in found[2].bases) else None
    all_of = [texts(source, file, one) for one in inner]
    return None if None in all_of else [text for one in all_of for text in one]


def members(enum):
    """The texts of an enumeration; None if a member is no text."""
    values = [s.value for s in enum.body if isinstance(s, ast.Assign)]
    plain = all(isinstance(v, ast.Constant) and isinstance(v.value, str) for v in values)
    return [v.value for v in values] if plain else None


def constant(source, file, name):
    """The texts of a constant of a module."""
    return ast.literal_eval(find(source, file, name)[2])


def with_texts(options, closed):
    """Adds texts to the words of options that are there."""
    for key, known in closed.items():
        if key not in options:
            raise Missing(f"there is no option {key}")
        options[key] = options[key].partition("\t")[0] + "\t" + " ".join(dict.fromkeys(known))


def word(simple):
    words = {w for w, _ in simple} - {"open list"}
    if not words or "any" in words:
        return "any"
    return "|".join(sorted(words - {"int"} if "float" in words else words))


def fields(source, file, node):
    """The fields of a dataclass or pydantic class with those it inherits: name -> (release, file, annotation, value)."""
    found = {}
    for base in reversed(node.bases):
        name = last(base.value if isinstance(base, ast.Subscript) else base)
        if name in PLAIN_BASES or "Enum" in name:
            continue
        parent = find(source, file, name)
        if not parent:
            raise Missing(f"{source}: {node.name} in {file} has the base {name}, which can't be found")
        found.update(fields(*parent))
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        options = keywords(statement.value)
        hidden = "init" in options and options["init"].value is False
        if hidden or statement.target.id.startswith("_") or "ClassVar" in ast.unparse(statement.annotation):
            continue
        found[statement.target.id] = (source, file, statement.annotation, statement.value)
    return found


def keywords(node):
    return {k.arg: k.value for k in node.keywords} if isinstance(node, ast.Call) else {}


def strings(node):
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def keys(found, prefix="", above=()):
    """The keys of a config class, with those of the classes of its fields below them: key -> word."""
    source, _, node = found
    if not fields(*found):
        raise Missing(f"{source}: {node.name} has no fields")
    result = {}
    for name, (where, file, annotation, value) in fields(*found).items():
        options = keywords(value)
        if "deprecated" in options:
            result[prefix + name] = "deprecated"  # read, with a warning: what it holds is the release's to check
            continue
        simple = parts(where, file, annotation)
        aliases = [a for k in ("alias", "validation_alias") if k in options for a in strings(options[k])]
        for key in dict.fromkeys([name, *aliases]):
            known = texts(where, file, annotation)
            result[prefix + key] = word(simple) + ("\t" + " ".join(known) if known else "")
            below = [c for _, c in simple if c and c[2].name not in above]
            for one in below:
                for name_below, what in keys(one, f"{prefix}{key}.", (*above, node.name)).items():
                    before = result.get(name_below, what)
                    known = [w.partition("\t")[2] for w in (before, what)]
                    both = " ".join(dict.fromkeys(" ".join(known).split())) if all(known) else ""
                    result[name_below] = what.partition("\t")[0] + ("\t" + both if both else "")
            if (("dict", None) in simple or ("open list", None) in simple) and not below:
                result[f"{prefix}{key}.*"] = "any"
    return result


def keys_read(source, file, *holders):
    """The keys that code takes from a dict: d["k"], d.get("k"), d.setdefault("k") and "k" in d."""
    found = set()
    for node in ast.walk(source.tree(file)):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in holders:
            found.update(strings(node.slice))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if ast.unparse(node.func.value) in holders and node.func.attr in ("get", "setdefault", "pop"):
                found.update(strings(node.args[0]))
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) in holders:
            found.update(strings(node.left))
    if not found:
        raise Missing(f"{source}: {file} reads no key of {' or '.join(holders)}")
    return found


def must_hold(source, file, text):
    if text not in strings(source.tree(file)):
        raise Missing(f'{source}: {file} no longer holds "{text}"')


# ---- command-line flags

FLAG_TYPES = {"str_to_bool": "bool", "upper": "str", "loads": "dict"}


def function_of(source, file, name, owner=None):
    body = class_of(source, file, owner)[2].body if owner else source.tree(file).body
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise Missing(f"{source}: no function {owner + '.' if owner else ''}{name} in {file}")


def flags(source, file, function, receiver=None, spread=None):
    """The flags that a function adds to a parser: flag -> word. spread explains a `**kwargs` by a word."""
    found = {}
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") != "add_argument":
            continue
        if receiver and ast.unparse(call.func.value) != receiver:
            continue
        if not all(isinstance(a, ast.Constant) for a in call.args):
            raise Missing(f"{source}: {file}:{call.lineno} names its flag in a way that can't be read")
        names = [a.value for a in call.args if a.value.startswith("-")]
        found.update(flag(names, keywords(call), spread))
    if not found:
        raise Missing(f"{source}: {function.name} in {file} adds no flag")
    return found


def flag(names, options, spread):
    action = options.get("action")
    kind = action.value if isinstance(action, ast.Constant) else last(action) if action else ""
    if kind in ("help", "version"):
        return {}
    if None in options and not action:
        what = spread(options[None])
    elif kind in ("store_true", "store_false", "check_env", "BooleanOptionalAction"):
        what = "bool"
    elif kind == "MergeDictAction":
        what = "dict"
    elif kind in ("append", "SplitArgs") or getattr(options.get("nargs"), "value", None) in ("+", "*"):
        what = "list"
    elif "type" in options:
        name = last(options["type"])
        what = WORDS.get(name) or FLAG_TYPES.get(name, "any")
    else:
        what = "str"
    found = dict.fromkeys(names, what)
    if kind == "BooleanOptionalAction" or None in options and what == "bool":
        found.update({"--no-" + name[2:]: "bool" for name in names if name.startswith("--")})
    if what == "dict" and None in options:
        found.update({name + ".*": "any" for name in names if name.startswith("--")})
    return found


# ---- the runners: each returns its options and what they were read from

def trl_script(script, config, get):
    """The keys of the YAML file of a script of trl: `trl NAME --config FILE`."""
    trl, transformers = get("trl"), get("transformers")
    trl.others["transformers"] = transformers
    file = f"trl/scripts/{script}.py"
    make_parser = function_of(trl, file, "make_parser")
    classes = [node.id for assign in ast.walk(make_parser) if isinstance(assign, ast.Assign)
               and last(assign.targets[0]) == "dataclass_types" for node in assign.value.elts]
    if config not in classes:
        raise Missing(f"{trl}: {file} takes no {config}")
    options = {}
    for name in classes:
        options.update(keys(class_of(trl, "trl/__init__.py", name)))
    del options["accelerator_config.*"], options["fsdp_config.*"]
    options.update(keys(class_of(transformers, "transformers/trainer_pt_utils.py", "AcceleratorConfig"),
                        "accelerator_config."))
    for key in keys_read(transformers, "transformers/training_args.py", "self.fsdp_config", "fsdp_config"):
        options["fsdp_config." + key] = "any"
    notes = [f"accelerate_config, and any key that is not here, goes to accelerate launch by `trl {script}`;"
             f" `-m trl.scripts.{script}` drops it in silence"]
    main_script = function_of(trl, file, "main")
    read = {node.attr for node in ast.walk(main_script) if isinstance(getattr(node, "ctx", None), ast.Load)
            and ast.unparse(node).startswith("training_args.")}
    for node in ast.walk(main_script):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("training_args."):
            if node.targets[0].attr not in read:
                notes.append(f"{node.targets[0].attr} does nothing: the script sets it itself")
        if isinstance(node, ast.Call) and ast.unparse(node) == "trainer.train()":
            notes.append("resume_from_checkpoint does nothing: the script calls trainer.train() without it")
    must_hold(trl, "trl/scripts/utils.py", "env")
    must_hold(trl, "trl/cli/accelerate_config.py", "--accelerate_config")
    options.update({"env": "dict", "env.*": "str", "accelerate_config": "str"})
    with_texts(options, hugging_face(transformers))
    return options, trl, f"{file} ({', '.join(classes)}), {transformers}: TrainingArguments", notes


def hugging_face(transformers):
    """What TrainingArguments makes of its two names, which are declared as texts as well."""
    return {"optim": members(class_of(transformers, "transformers/training_args.py", "OptimizerNames")[2]),
            "lr_scheduler_type": members(class_of(transformers, "transformers/trainer_utils.py", "SchedulerType")[2])}


def trl_sft(get):
    return trl_script("sft", "SFTConfig", get)


def trl_distill(get):
    return trl_script("distillation", "DistillationConfig", get)


def raising(node):
    """The fields of a pydantic class whose validator raises: the release takes them only where they hold nothing."""
    found = set()
    for function in (n for n in node.body if isinstance(n, ast.FunctionDef)):
        if any(isinstance(n, ast.Raise) for n in ast.walk(function)):
            for decorator in (d for d in function.decorator_list if isinstance(d, ast.Call)):
                found.update(strings(decorator))
    return found


def carried(source, options):
    """Keys that the release drops in silence although several of its own examples hold them, one or two levels deep."""
    files = {}
    for file in (f for f in source.files if f.startswith("examples/") and f.endswith((".yml", ".yaml"))):
        above, text = "", source.read(file)
        for line in text.splitlines() if re.search("^base_model *:", text, re.M) else ():
            found = re.match(r"( *)([a-z][a-z0-9_]*) *:(\s|$)", line)
            if found and len(found[1]) in (0, 2):
                above = above if found[1] else found[2]
                files.setdefault(f"{above}.{found[2]}" if found[1] else found[2], set()).add(file)
    sections = {key.rpartition(".")[0] for key in options}
    return [key for key, holders in files.items() if len(holders) > 1 and key not in options
            and ("." not in key or key.partition(".")[0] in sections and options[key.partition(".")[0]] == "dict"
                 and key.partition(".")[0] + ".*" not in options)]


def axolotl(get):
    """The keys of axolotl's YAML file, with those of its plugins (read only where `plugins` names the plugin)."""
    source = get("axolotl")
    config = "axolotl/utils/schemas/config.py"
    found = class_of(source, config, "AxolotlInputConfig")
    options = keys(found)
    old = class_of(source, "axolotl/utils/schemas/deprecated.py", "DeprecatedParameters")
    options.update(dict.fromkeys(fields(*old), "deprecated"))
    options.update(dict.fromkeys(raising(old[2]), "refused"))
    must_hold(source, "axolotl/utils/schemas/validation.py", "fsdp_")  # a check that takes the old prefix off
    below = [key.removeprefix("fsdp_config.") for key in options if key.startswith("fsdp_config.")]
    options.update({f"fsdp_config.fsdp_{key}": "deprecated" for key in below
                    if not key.startswith("fsdp_") and "." not in key})
    plugins = []
    for file in source.below("axolotl/integrations"):
        for node in ast.walk(source.tree(file)):
            if isinstance(node, ast.FunctionDef) and node.name == "get_input_args":
                for name in strings(ast.Module([n for n in node.body if isinstance(n, ast.Return)], [])):
                    module, _, args = name.rpartition(".")
                    options.update(keys(class_of(source, source.module(module)[1], args)))
                    plugins.append(args)
    if "KDArgs" not in plugins:
        raise Missing(f"{source}: no plugin with KDArgs")
    known = hugging_face(get("transformers"))
    own = members(class_of(source, "axolotl/utils/schemas/enums.py", "CustomSupportedOptimizers")[2])
    must_hold(source, "axolotl/core/builders/base.py", "rex")  # with one_cycle: two schedulers of its own
    must_hold(source, "axolotl/utils/schemas/peft.py", "llama-adapter")
    must_hold(source, "axolotl/integrations/mora/plugin.py", "mora")
    with_texts(options, {"adapter": ["lora", "qlora", "llama-adapter", "mora"], "optimizer": own + known["optim"],
                         "lr_scheduler": known["lr_scheduler_type"] + ["one_cycle", "rex"]})
    if not isinstance(source.files, pathlib.Path):
        options.update(dict.fromkeys(carried(source, options), "ignored"))
    return options, source, f"{config} (AxolotlInputConfig), plugins: {', '.join(sorted(plugins))}", [
        "axolotl drops a key that is not here in silence",
        "deprecated: read with a warning; refused: the release takes it only where it is empty;"
        " ignored: dropped in silence, but several of the release's own examples hold it"]


def accelerate_config(get):
    """The keys of accelerate's config file: its sections' keys are those that its launcher has a flag for, or reads."""
    source = get("accelerate")
    config, launch, use = (f"accelerate/{file}.py" for file in ("commands/config/config_args", "commands/launch",
                                                                 "utils/launch"))
    options = keys(class_of(source, config, "ClusterConfig"))
    parser = function_of(source, launch, "launch_command_parser")
    known = {name.lstrip("-"): what for name, what in flags(source, launch, parser).items()}
    for node in ast.walk(source.tree(use)):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "args":
            known.setdefault(node.attr, "any")
    deepspeed = {name.lstrip("-"): what for name, what in flags(source, launch, parser, "deepspeed_args").items()}
    for section in ("fsdp", "parallelism", "fp8", "dynamo", "megatron_lm", "mpirun", "deepspeed"):
        del options[f"{section}_config.*"]
        prefix = "parallelism_config_" if section == "parallelism" else section + "_"
        below = deepspeed if section == "deepspeed" else {k: w for k, w in known.items() if k.startswith(prefix)}
        if not below:
            raise Missing(f"{source}: {launch} has no flag that begins with --{prefix}")
        for key, what in below.items():
            options[f"{section}_config.{key}"] = what
            if section in ("fp8", "dynamo"):  # its questions write these keys without the prefix
                options[f"{section}_config.{key.removeprefix(prefix)}"] = what
    for name in ("auto_wrap_policy", "sharding_strategy", "backward_prefetch", "state_dict_type"):
        known = constant(source, "accelerate/utils/constants.py", "FSDP_" + name.upper())
        with_texts(options, {f"fsdp_config.fsdp_{name}": known})
    return options, source, f"{config} (ClusterConfig), {launch}, {use}", [
        "accelerate refuses any other key at the top, and drops any other key of a section in silence"]


def accelerate_launch(get):
    source = get("accelerate")
    file = "accelerate/commands/launch.py"
    options = flags(source, file, function_of(source, file, "launch_command_parser"))
    return options, source, f"{file} (launch_command_parser)", ["each _ may be a - as well"]


def vllm_words(source, file, function):
    """Explains `**kwargs` of vLLM's add_argument calls: kwargs come from the fields of its config classes."""
    classes, single = {}, {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last(node.value.func) == "get_kwargs":
            classes[node.targets[0].id] = fields(*class_of(source, file, node.value.args[0].id))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and last(node.targets[0]):
            single[node.targets[0].id] = node.value

    def explain(node):
        node = single.get(last(node), node)
        if isinstance(node, ast.Dict):
            node = next(value for key, value in zip(node.keys, node.values) if key is None)
        name = node.slice.value
        if name not in classes[node.value.id]:
            raise Missing(f"{source}: {file}:{node.lineno} takes the type of {name} from a class that has no such field")
        return vllm_word(*classes[node.value.id][name][:3])

    return explain


def vllm_word(source, file, annotation):
    """The word of a field as vLLM turns it into a flag: any type with bool, other than bool|str, is an on/off flag."""
    simple = parts(source, file, annotation)
    words = {w for w, _ in simple}
    return "dict" if any(c and w == "dict" for w, c in simple) else \
        "bool" if "bool" in words and "str" not in words else word(simple)


def vllm_frontend(source, file, name):
    """The flags of a frontend class: one a field, with what its _customize_cli_kwargs changes."""
    changes = {}
    for node in ast.walk(function_of(source, file, "_customize_cli_kwargs", name)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            changes.setdefault(strings(target.value)[0], {})[target.slice.value] = node.value
    options = {}
    for field, where in fields(*class_of(source, file, name)).items():
        change = changes.get(field, {})
        names = ["--" + field.replace("_", "-"), *(strings(change["flags"]) if "flags" in change else [])]
        action = {"action": change["action"]} if isinstance(change.get("action"), ast.Constant) else {}
        options.update(flag(names, {None: where, **action}, lambda w: vllm_word(*w[:3])))
    return options


def vllm_flags(command, frontend_file, frontend, get):
    source = get("vllm")
    engine = "vllm/engine/arg_utils.py"
    options = {}
    for owner in ("EngineArgs", "AsyncEngineArgs"):
        function = function_of(source, engine, "add_cli_args", owner)
        options.update(flags(source, engine, function, spread=vllm_words(source, engine, function)))
    options.update(vllm_frontend(source, frontend_file, frontend))
    return options, source, f"{frontend_file} ({frontend}), {engine} (EngineArgs, AsyncEngineArgs)", [
        f"vllm {command}; each - may be a _ as well; a platform's plugin may add flags"]


def vllm_serve(get):
    file = "vllm/entrypoints/openai/cli_args.py"
    options, source, origin, notes = vllm_flags("serve", file, "FrontendArgs", get)
    options.update(flags(source, file, function_of(source, file, "make_arg_parser")))
    return options, source, origin, notes


def vllm_run_batch(get):
    return vllm_flags("run-batch", "vllm/entrypoints/openai/run_batch.py", "BatchFrontendArgs", get)


def lm_eval(get):
    source = get("lm-eval")
    file = "lm_eval/_cli/run.py"
    return flags(source, file, function_of(source, file, "_add_args", "Run")), source, f"{file} (Run)", []


def lm_eval_config(get):
    source = get("lm-eval")
    file = "lm_eval/config/evaluate_config.py"
    return keys(class_of(source, file, "EvaluatorConfig")), source, f"{file} (EvaluatorConfig)", [
        "lm-eval run --config refuses any other key"]


def torchrun(get, name="torch"):
    source = get(name)
    file = "torch/distributed/run.py"
    return flags(source, file, function_of(source, file, "get_args_parser")), source, f"{file} (get_args_parser)", []


def torchrun_debian(get):
    return torchrun(get, "torch-1.13")


RUNNERS = {
    "trl-sft": trl_sft, "trl-distill": trl_distill, "axolotl": axolotl, "accelerate": accelerate_config,
    "accelerate-launch": accelerate_launch, "vllm-serve": vllm_serve, "vllm-run-batch": vllm_run_batch,
    "lm-eval": lm_eval, "lm-eval-config": lm_eval_config, "torchrun": torchrun, "torchrun-1.13": torchrun_debian,
}


def write(runner, folder, get):
    options, source, origin, notes = RUNNERS[runner](get)
    gone = [key for key in EXPECTED[runner].split() if key not in options]
    if gone:
        raise Missing(f"{source}: no longer has {', '.join(gone)}")
    head = [f"{source}: {origin}", f"made by dev/runner-options on {datetime.datetime.now(datetime.timezone.utc):%F}"]
    text = "".join(f"# {line}\n" for line in head + notes)
    text += "".join(f"{key}\t{options[key]}\n" for key in sorted(options))
    (folder / f"{runner}.txt").write_bytes(text.encode("utf-8"))
    print(f"{runner}: {len(options)} options, {source}")


def main():
    parser = argparse.ArgumentParser(prog="dev/runner-options")
    parser.add_argument("--only", default=",".join(RUNNERS))
    parser.add_argument("--source", action="append", default=[])
    home = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("folder", nargs="?", default=home / "src/main/resources/dev/nexa/slurm/job/backend/options")
    arguments = parser.parse_args()
    sources = dict(source.split("=", 1) for source in arguments.source if "=" in source)
    wrong = [w for w in arguments.source if w.partition("=")[0] not in PINS] + [
        w for w in arguments.only.split(",") if w not in RUNNERS]
    if wrong:
        parser.error("no such package or runner: " + ", ".join(wrong))
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    with tempfile.TemporaryDirectory() as downloads:
        for runner in arguments.only.split(","):
            try:
                write(runner, folder, lambda name: release(name, sources, downloads))
            except Missing as error:
                print(f"dev/runner-options: {runner}: {error}", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
