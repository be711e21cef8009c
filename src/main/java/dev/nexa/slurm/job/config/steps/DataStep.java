package dev.nexa.slurm.job.config.steps;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.Checker;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;
import java.util.function.ObjIntConsumer;

/**
 * A step that a data stage can do: a section of {@code data}, and a command {@code data NAME}.
 *
 * @param name the section's name and the command's
 * @param doc the section's description
 * @param keys its keys
 * @param paths the keys whose values are paths in the job, and the options that take them
 * @param rules checks what concerns several keys
 */
record DataStep(
    String name, String doc, Section keys, List<PathKey> paths, ObjIntConsumer<Values> rules) {
  /**
   * A key with paths. The job script replaces the placeholders in them, so they become words of the
   * command and are not in the settings.
   *
   * @param section the section of the key below the step's; empty if it is the step's own
   * @param key the key; a path or a list of paths
   * @param option the option that gets each path
   * @param word a word that may stand instead of a path; empty for none
   */
  record PathKey(String section, String key, String option, String word) {
    PathKey(String section, String key, String option) {
      this(section, key, option, "");
    }

    Values of(Values step) {
      return section.isEmpty() ? step : step.section(section);
    }

    /** Returns the paths; empty if the key is missing. */
    List<String> texts(Values step) {
      Values values = of(step);
      return values.optional(key, Object.class).filter(String.class::isInstance).isPresent()
          ? List.of(values.text(key))
          : values.texts(key);
    }

    /** Adds a problem for each relative path: a job starts in another folder. */
    void requireAbsolute(Values step) {
      for (String text : texts(step)) {
        boolean taken = !word.isEmpty() && text.equals(word);
        if (!taken && !text.startsWith("/") && !text.startsWith("${")) {
          String message =
              ("expected an absolute path%s, got '%s'; begin it with ${workspace}/,"
                      + " ${shared}/ or ${env:HOME}/")
                  .formatted(word.isEmpty() ? "" : " or " + word, text);
          of(step).report(key, message);
        }
      }
    }
  }

  /** Returns the keys of a section that are settings, and not paths. */
  List<KnownKey> settings(String section, Section below) {
    return below.keys().stream()
        .filter(
            key ->
                paths.stream()
                    .noneMatch(
                        path -> path.section().equals(section) && path.key().equals(key.name())))
        .toList();
  }

  /** Returns the settings of a section, with the defaults of the keys that they lack. */
  JsonObject withDefaults(String section, Section below, JsonObject given) {
    JsonObject all = new JsonObject().with(given);
    for (KnownKey key : settings(section, below)) {
      Object value = given.members().get(key.name());
      if (key.shape() instanceof Section inner
          && (value == null ? isComplete(key.name(), inner) : value instanceof JsonObject)) {
        JsonObject written = given.optionalObject(key.name()).orElseGet(JsonObject::new);
        all.with(key.name(), withDefaults(key.name(), inner, written));
      } else if (value == null && !key.fallback().isEmpty()) {
        all.with(key.name(), Checker.fallback(key));
      }
    }
    return all;
  }

  /** Returns whether a section that is not written has a value for each setting that must be. */
  private boolean isComplete(String name, Section section) {
    return settings(name, section).stream().noneMatch(KnownKey::required);
  }
}
