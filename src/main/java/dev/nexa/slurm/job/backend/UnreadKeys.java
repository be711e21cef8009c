package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Sweep;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.plan.Plan;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Finds the training keys of a config that have no effect on what runs. It asks the backend for the
 * launch with another value of the key. If that launch is the same, no program reads the key.
 */
final class UnreadKeys {
  /** Keys that the manifest and the rules for large models read, whatever runs. */
  private static final Set<String> RECORDED = Set.of("model_name", "model_size", "dataset_path");

  /** Keys that the estimate of a training reads, also if the program does not. */
  private static final Set<String> ESTIMATED = Set.of("max_length", "adapter");

  /** Further keys that it reads, which a shell stage sets for the estimate alone. */
  private static final Set<String> OF_MODEL =
      Set.of(
          "batch_size epochs lora_r fp16 bf16 mixed_precision strategy fsdp offload fsdp_offload_params use_kd"
              .split(" ", -1));

  private static final Pattern VARIABLES = Pattern.compile("NEXA_(SWEEP|POINT|TASK)|ARRAY_TASK_ID");

  private static final List<String> PRECISION = List.of(Training.PRECISION.split(" ", -1));
  private static final List<String> OFFLOAD = List.of("offload", "fsdp_offload_params");

  /** Values that leave the key's part out, as if it was not written. */
  private static final List<Object> OFF = List.of(false, "none", "no", "ddp");

  private UnreadKeys() {}

  /**
   * Returns whether the program of a sweep may read its variables: its text names one, or not all
   * of its text is known here.
   */
  static boolean mayReadVariables(Plan plan) {
    boolean known =
        plan.payload().code().isEmpty()
            && plan.payload()
                .entrypoint()
                .filter(given -> !given.config() && given.script().isPresent())
                .isPresent();
    return !known || namesVariables(plan);
  }

  private static boolean namesVariables(Plan plan) {
    StringBuilder text = new StringBuilder(plan.payload().run().orElse(""));
    plan.payload()
        .files()
        .forEach(file -> text.append(new String(file.content(), StandardCharsets.UTF_8)));
    return VARIABLES.matcher(text).find();
  }

  /** Returns the notes on a plan's keys; empty if all of them are read. */
  static List<String> notes(Plan plan, Backend backend) {
    List<JsonObject> points = plan.shape().array().points();
    Plan one = points.isEmpty() ? plan : plan.at(0);
    Set<String> swept = points.isEmpty() ? Set.of() : points.get(0).members().keySet();
    boolean shell =
        plan.payload().run().isPresent()
            && plan.stage().equals("train")
            && plan.allocation().gpusPerNode() > 0;
    boolean unconfigured = plan.payload().entrypoint().filter(given -> !given.config()).isPresent();
    List<String> unread = new ArrayList<>();
    List<String> variables = new ArrayList<>();
    Training written = one.training().written();
    Launch now = backend.launch(one);
    for (String key : swept) {
      if (!key.startsWith("options.") && (unconfigured || isUnnamed(plan))) {
        variables.add(Sweep.variable(key));
      }
    }
    for (String key : written.given().keySet()) {
      boolean skipped =
          RECORDED.contains(key)
              || (plan.stage().equals("train") && ESTIMATED.contains(key))
              || (shell && OF_MODEL.contains(key))
              || OFF.contains(written.given().get(key))
              || now.notes().stream().anyMatch(note -> note.startsWith(key + ":"));
      if (!skipped && !swept.contains(key) && !isRead(one, key, backend, now)) {
        unread.add(key);
      }
    }
    List<String> notes = new ArrayList<>();
    if (!unread.isEmpty()) {
      String keys = String.join(", ", unread);
      String options = plan.options().isEmpty() ? "" : ", or its options say otherwise";
      notes.add(
          unconfigured
              ? "the program does not get "
                  + keys
                  + ", because entrypoint.config is false: write them into entrypoint.args, or write"
                  + " config: true, which gives it --config FILE"
              : "nothing that runs reads %s: backend %s has no use for them in this config%s"
                  .formatted(keys, plan.backend(), options));
    }
    if (!variables.isEmpty()) {
      String names = String.join(", ", variables);
      notes.add(
          unconfigured
              ? "the program gets the sweep's values only as variables, because entrypoint.config is false: "
                  + names
                  + "; to give it --NAME, write options.NAME in the sweep"
              : "no text of this run names %s: if its programs do not read these variables either, all points do the same work"
                  .formatted(names));
    }
    return notes;
  }

  /** Returns whether a shell's text reads no variable of the sweep, as far as we know the text. */
  private static boolean isUnnamed(Plan plan) {
    return plan.payload().run().isPresent() && !namesVariables(plan);
  }

  private static boolean isRead(Plan plan, String key, Backend backend, Launch now) {
    try {
      Launch other = backend.launch(plan.with(other(plan.training(), key)));
      return !now.command().equals(other.command())
          || !now.teacher().equals(other.teacher())
          || !now.notes().equals(other.notes())
          || !digests(now).equals(digests(other));
    } catch (ConfigException refused) {
      return true;
    }
  }

  private static Map<String, String> digests(Launch launch) {
    Map<String, String> digests = new LinkedHashMap<>();
    launch.files().forEach(file -> digests.put(file.name(), file.digest()));
    return digests;
  }

  /** Returns the training keys with another value of a key, and of the key's other names. */
  private static Training other(Training training, String key) {
    Map<String, Object> given = new LinkedHashMap<>(training.given());
    if (PRECISION.contains(key)) {
      given.keySet().removeAll(PRECISION);
      given.put("mixed_precision", training.precision().equals("bf16") ? "fp16" : "bf16");
    } else if (OFFLOAD.contains(key)) {
      given.keySet().removeAll(OFFLOAD);
      given.put("offload", training.offload().equals("cpu") ? "none" : "cpu");
    } else {
      given.computeIfPresent(key, UnreadKeys::otherValue);
    }
    return new Training(given, training.fromOptions());
  }

  private static Object otherValue(String key, Object value) {
    if (value instanceof Boolean flag) {
      return !flag;
    }
    if (value instanceof Integer number) {
      return number == 1 ? 2 : number - 1;
    }
    if (value instanceof BigDecimal number) {
      return number.add(BigDecimal.ONE);
    }
    return switch (key) {
      case "strategy" -> value.equals("fsdp") ? "zero3" : "fsdp";
      case "fsdp" -> value.equals("full_shard") ? "shard_grad_op" : "full_shard";
      case "fsdp_state_dict_type" ->
          value.equals("FULL_STATE_DICT") ? "SHARDED_STATE_DICT" : "FULL_STATE_DICT";
      case "adapter" -> value.equals("lora") ? "qlora" : "lora";
      default -> value + "x";
    };
  }
}
