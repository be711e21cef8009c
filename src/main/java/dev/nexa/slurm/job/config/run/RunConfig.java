package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.inferable;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.shared.StageName;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A run's config: one YAML file that describes a job.
 *
 * <pre>
 * stage: train
 * backend: python
 * entrypoint: {script: train.py}
 * model_name: mistral-7b-instruct
 * lr: 2e-5
 * resources: {nodes: 2, gpus_per_node: 4, gpu_type: h100, time: 12h}
 * </pre>
 *
 * @param written the file that the config was read from, and the positions of its keys
 * @param cluster the cluster profile's name; empty for the usual one
 * @param notes remarks for the user on how the file was read
 */
public record RunConfig(
    ConfigPositions written,
    String stage,
    String backend,
    Optional<String> cluster,
    Labels labels,
    Resources resources,
    TaskArray array,
    Supervision supervision,
    Environment environment,
    Work work,
    ModelKeys model,
    List<String> notes) {

  /** All keys of the file. */
  public static final Section SPEC = section(keys());

  private static KnownKey[] keys() {
    List<KnownKey> keys = new ArrayList<>();
    keys.add(
        inferable(
            "stage",
            StageName.TYPE,
            "The kind of work: data, generate, filter, train, eval, serve, sync, or a name of your own."));
    keys.add(
        inferable(
            "backend",
            ValueType.NAME_WORD,
            "The backend that runs inside the job: `shell`, `python`, `hf`, `axolotl`, `accelerate`, `vllm`,"
                + " `lm_eval`, `data` or `sync`."));
    keys.add(
        optional(
            "cluster", ValueType.NAME_WORD, "The cluster profile, configs/clusters/NAME.yaml."));
    keys.addAll(Labels.keys());
    keys.addAll(ModelKeys.keys());
    keys.add(inferable("resources", section(Resources.keys()), "The resources of each task."));
    keys.addAll(TaskArray.keys());
    keys.addAll(Supervision.keys());
    keys.addAll(Work.keys());
    keys.addAll(Environment.keys());
    return keys.toArray(new KnownKey[0]);
  }

  /** Returns the run's name in tables and tags: the config's name, else its stage. */
  public String title() {
    return labels.name().orElse(stage);
  }

  /** Returns the file that the config was read from. */
  public ConfigSource.Found source() {
    return written.source();
  }

  /** Returns the training keys, as {@link #model} has them. */
  public Training training() {
    return model.training();
  }

  /** Returns a copy that begins with other resources, and grows from there. */
  public RunConfig beginning(Resources first, Optional<Growth> growth, String note) {
    List<String> all = new ArrayList<>(notes);
    all.add(note);
    return with(written, first, supervision.growing(growth), environment, work, all);
  }

  /** Returns the config of the first group of the job, with its own variables. */
  public RunConfig leading(Groups.Group group) {
    return with(written, resources, supervision, environment.with(group.env()), work, notes);
  }

  /** Returns the config of another group of the job. */
  public RunConfig with(Groups.Group group) {
    return with(
        written.ofGroup(group.name()),
        group.resources(),
        supervision,
        environment.with(group.env()),
        work.of(group),
        List.of());
  }

  private RunConfig with(
      ConfigPositions written,
      Resources resources,
      Supervision supervision,
      Environment environment,
      Work work,
      List<String> notes) {
    return new RunConfig(
        written,
        stage,
        backend,
        cluster,
        labels,
        resources,
        array,
        supervision,
        environment,
        work,
        model,
        notes);
  }

  public static RunConfig from(
      ConfigSource.Found source,
      Values values,
      Optional<NativeOptions> optionsFile,
      List<String> notes) {
    JsonObject options = values.section("options").json();
    Training training = Training.from(values);
    Resources resources = Resources.from(values.section("resources"));
    if (NativeKeys.areReadBy(values.text("backend"))
        && !(options.isEmpty() && optionsFile.isEmpty())) {
      NativeKeys keys =
          new NativeKeys(values.text("backend"), options, optionsFile, values.has("entrypoint"));
      training = keys.training(training);
      notes = keys.overridden(notes);
      if (optionsFile.isPresent()) {
        resources = keys.resources(resources, values.section("resources"));
        notes = keys.noted(notes, training, resources);
      }
    }
    return new RunConfig(
        new ConfigPositions(
            source,
            values.positions(),
            List.of(),
            optionsFile.isPresent() ? optionsFile.get().positions() : Map.of()),
        values.text("stage"),
        values.text("backend"),
        values.optionalText("cluster"),
        Labels.from(values, training),
        resources,
        TaskArray.from(values),
        Supervision.from(values, resources),
        Environment.from(values),
        Work.from(values, optionsFile),
        ModelKeys.from(values, training),
        notes);
  }

  /** Adds problems that concern several keys. */
  public static void check(Values values) {
    StageName.check(values);
    // The meaning of a stage's keys is not known while its stage or backend is wrong.
    if (!values.isWrong("stage") && !values.isWrong("backend")) {
      Work.check(values);
      Serving.check(values);
    }
    TaskArray.check(values);
    Supervision.check(values);
    if (!values.has("options_file")) {
      Resources.check(values.section("resources"));
    }
    Environment.check(values);
    Entrypoint.check(values);
  }
}
