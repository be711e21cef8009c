package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The keys of a run's config that people look for under other names: the options of sbatch, and the
 * keys of Hydra, Hugging Face, Axolotl and Lightning. Loaded only for a config with an unknown key.
 */
final class KeyHomes {
  /** The mark of a home whose value has another form than the user's. */
  private static final String OTHER_FORM = "~";

  /**
   * One home a line: the names, our key, and a remark. A mark before the key says that the value
   * has another form there. A line without a key only has a remark. Names are written with {@code
   * _}.
   */
  private static final String TABLE =
      """
      # sbatch
      ntasks n | resources.ntasks | it is for scripts that call srun; array.shards runs independent tasks
      ntasks_per_node | resources.ntasks_per_node | it is for scripts that call srun
      cpus cpu ncpus num_cpus | resources.cpus_per_task | it counts the CPUs on each node
      cpus_per_node | resources.cpus_per_task |
      gpus num_gpus n_gpus ngpus | resources.gpus_per_node | it counts the GPUs on each node
      gpu | ~resources.gpus_per_node | it counts the GPUs on each node; resources.gpu_type names their type
      gres | ~resources.gpus_per_node | gres: gpu:h100:4 is gpus_per_node: 4 with gpu_type: h100
      accelerators | ~resources.gpus_per_node | accelerators: H100:4 is gpus_per_node: 4 with gpu_type: h100
      accelerator | ~resources.gpu_type |
      gpu_model | resources.gpu_type |
      mem ram | resources.memory | it is the memory on each node
      mem_per_node memory_per_node | resources.memory |
      mem_gb | ~resources.memory | it is the memory on each node, with a unit
      mem_per_cpu | resources.memory_per_cpu |
      mem_per_gpu | resources.memory_per_gpu |
      num_nodes nnodes n_nodes | resources.nodes |
      time_limit timelimit timeout timeout_min walltime duration | resources.time |
      queue | resources.partition |
      feature features | resources.constraint |
      w hosts | resources.nodelist |
      exclude exclude_nodes | resources.exclude |
      job_name | name |
      output error | | the run's folder keeps what the job prints, and `nexa-slurm logs` shows it
      mail_user email | mail.user |
      mail_type | mail.type |
      chdir cwd working_dir | workdir |
      dependency | | it is an option: nexa-slurm submit --dependency TYPE:RUN
      requeue | ~requeues | it is a number, such as 1
      retries max_retries max_requeues | requeues |
      comment | ~tags | it is a list of words
      export | ~env | it is a mapping of names to values
      # the program
      program main file | entrypoint.script |
      entry_point | ~entrypoint.script |
      command cmd | run | run is for backend: shell
      commands | ~run | it is one text; write it after run: |
      environment envs env_vars | env |
      dotenv | env_file |
      secrets | ~env_file | it names a file of yours that holds the secrets
      image container_image docker_image | software.container |
      virtualenv | software.venv |
      conda_env | software.conda |
      requirements | ~software.venv | nexa-slurm installs no packages; name the environment that holds them
      mount | ~software.mounts |
      volumes | software.mounts |
      num_shards array_size | array.shards |
      concurrency max_concurrent | array.max_parallel |
      grid matrix search_space | sweep |
      parameters | ~sweep |
      job_type kind | stage |
      runner | backend |
      framework | ~backend |
      project project_name | ~tags | write tags: [project:NAME]
      wandb_project | ~env | write env: {WANDB_PROJECT: NAME}
      run_name experiment experiment_name title | name |
      defaults | | Hydra composes configs; write the keys of one run, and vary them with --set or sweep
      # sync
      delete | | a job deletes nothing in S3; a person can type nexa-slurm sync push --delete
      overwrite | | a job replaces only what was sent from the same folder; a person can type nexa-slurm sync push --overwrite
      bucket | ~sync.to | it is an address, such as s3://bucket/prefix
      # training: Hugging Face, TRL, Axolotl, LLaMA-Factory, Lightning
      learning_rate max_lr | lr |
      num_train_epochs num_epochs max_epochs n_epochs | epochs |
      per_device_train_batch_size micro_batch_size | batch_size |
      train_batch_size | batch_size | it is the batch of one GPU
      gradient_accumulation_steps gradient_accumulation | grad_accumulation |
      accumulate_grad_batches grad_accum | grad_accumulation |
      save_every checkpoint_every | save_steps |
      val_check_interval | ~eval_steps |
      precision | ~bf16 | write bf16: true or fp16: true
      max_seq_length max_seq_len seq_len seq_length sequence_len sequence_length | max_length |
      cutoff_len context_length | max_length |
      random_seed seed_everything | seed |
      model model_id model_path model_name_or_path pretrained_model_name_or_path | model_name |
      base_model | model_name |
      teacher teacher_model_name_or_path | teacher_model |
      temperature | ~kd_temperature |
      data_path train_file | dataset_path |
      dataset_name | ~dataset_path | dataset is its name in reports
      datasets | ~dataset_path | Axolotl's own list goes into options.datasets or options_file
      lora_rank | lora_r |
      peft use_peft | ~adapter | write adapter: lora
      load_in_4bit | ~adapter | write adapter: qlora
      deepspeed | ~strategy | write strategy: zero1, zero2 or zero3
      distributed | ~strategy | write strategy: ddp, fsdp, zero1, zero2 or zero3
      devices | ~resources.gpus_per_node | it counts the GPUs on each node
      warmup_steps warmup_ratio weight_decay | ~options | a runner's own options go under options
      lr_scheduler_type lr_scheduler | ~options | a runner's own options go under options
      logging_steps lora_target_modules | ~options | a runner's own options go under options
      micro_batches | ~options | a runner's own options go under options
      output_dir | | each run has its own folder, and NEXA_DURABLE is storage that is kept
      logging_dir | | each run has its own folder, and `nexa-slurm logs` shows what the job prints
      """;

  /** Sections whose keys people write at the top level, or in another section. */
  private static final List<String> SECTIONS =
      List.of("resources", "entrypoint", "software", "array", "mail", "estimate");

  private static final Map<String, Home> HOMES = homes();

  /**
   * Where an unknown key belongs.
   *
   * @param key the path of our key; an empty text if we have none
   * @param remark what to know about it; may be empty
   * @param sameValue whether the user's value fits there
   */
  record Home(String key, String remark, boolean sameValue) {
    /** Returns the last part of the key. */
    String name() {
      return key.substring(key.lastIndexOf('.') + 1);
    }
  }

  private KeyHomes() {}

  private static Map<String, Home> homes() {
    Map<String, Home> homes = new LinkedHashMap<>();
    for (String line : TABLE.split("\n", -1)) {
      String[] cells = line.split("\\|", 3);
      if (line.startsWith("#") || cells.length < 3) {
        continue;
      }
      String key = cells[1].strip();
      boolean same = !key.isEmpty() && !key.startsWith(OTHER_FORM);
      Home home = new Home(key.replace(OTHER_FORM, ""), cells[2].strip(), same);
      List.of(cells[0].strip().split(" ", -1)).forEach(name -> homes.put(name, home));
    }
    return homes;
  }

  /** Returns all names of the table, each with its home. */
  static Map<String, Home> all() {
    return Map.copyOf(HOMES);
  }

  /**
   * Returns where an unknown key belongs.
   *
   * @param section the path of the section where it was written; an empty text for the top level
   * @param name the key as written
   * @return empty if the name is not known
   */
  static Optional<Home> of(String section, String name) {
    String plain = name.toLowerCase(Locale.ROOT).replace('-', '_');
    List<String> siblings = keys(section);
    if (siblings.contains(plain)) {
      return Optional.of(new Home(YamlNode.child(section, plain), "", true));
    }
    Home known = HOMES.get(plain);
    if (known != null) {
      boolean here = !known.key().isEmpty() && siblings.contains(known.name());
      return Optional.of(
          here
              ? new Home(YamlNode.child(section, known.name()), known.remark(), known.sameValue())
              : known);
    }
    Map<String, String> elsewhere = elsewhere(section);
    return Optional.ofNullable(elsewhere.get(plain))
        .or(() -> Nearest.to(name, siblings).map(near -> YamlNode.child(section, near)))
        .or(() -> Nearest.to(plain, elsewhere.keySet()).map(elsewhere::get))
        .map(key -> new Home(key, "", true));
  }

  /** Returns where a name belongs that was not written in a config; empty if it is mistyped. */
  static Optional<Home> known(String name) {
    String plain = name.toLowerCase(Locale.ROOT).replaceFirst("^-+", "").replace('-', '_');
    String below = elsewhere("").get(plain);
    return below == null
        ? Optional.ofNullable(HOMES.get(plain))
        : Optional.of(new Home(below, "", true));
  }

  /** Returns the paths of keys of other sections, by their names. */
  private static Map<String, String> elsewhere(String section) {
    Map<String, String> paths = new LinkedHashMap<>();
    for (String other : SECTIONS) {
      keys(other).forEach(key -> paths.putIfAbsent(key, YamlNode.child(other, key)));
    }
    keys("").forEach(key -> paths.put(key, key));
    keys(section).forEach(paths::remove);
    return paths;
  }

  /** Returns the names of a section's keys; empty if the path is no section with known keys. */
  private static List<String> keys(String path) {
    Section section = RunConfig.SPEC;
    for (String step : path.isEmpty() ? List.<String>of() : Overrides.path(path)) {
      Optional<Section> below = Optional.empty();
      for (KnownKey key : section.keys()) {
        if (key.name().equals(step) && key.shape() instanceof Section found) {
          below = Optional.of(found);
        }
      }
      if (below.isEmpty()) {
        return List.of();
      }
      section = below.get();
    }
    return section.keys().stream().map(KnownKey::name).toList();
  }
}
