package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.text.Secrets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces {@code ${env:VAR}}, {@code ${env:VAR:-default}} and {@code ${workspace}}.
 *
 * <p>{@code ${scratch}}, {@code ${durable}}, {@code ${shared}}, {@code ${run_dir}} and {@code
 * ${stages.…}} stay in the text: the job script replaces them by the job's variables.
 *
 * @param environment the variables that {@code ${env:VAR}} refers to
 * @param workspace the path that replaces {@code ${workspace}}
 * @param leavesStages whether references to a pipeline's stages may stay in the text
 */
public record Expansion(Map<String, String> environment, String workspace, boolean leavesStages) {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}]*)}");
  private static final Pattern OURS = Pattern.compile("\\$\\{(env:[^}]*|workspace)}");
  private static final Pattern ENV = Pattern.compile("env:([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?");
  private static final Set<String> TIERS = Set.of("scratch", "durable", "shared", "run_dir");

  /** Returns a copy that also leaves references to a pipeline's stages in the text. */
  public Expansion inPipeline() {
    return new Expansion(environment, workspace, true);
  }

  /**
   * Replaces the references in a path.
   *
   * @throws IllegalArgumentException if a reference is unknown or has no end, a variable is unset,
   *     or a variable holds or names a secret
   */
  String expand(String path) {
    int open = path.lastIndexOf("${");
    // $${ is a text.
    if (open > path.lastIndexOf('}') && !path.startsWith("$", open - 1)) {
      throw new IllegalArgumentException("'" + path.substring(open) + "' lacks its }");
    }
    if (path.contains("{{")) {
      throw new IllegalArgumentException(YamlReader.TEMPLATE);
    }
    return expand(path, REFERENCE);
  }

  /**
   * Replaces {@code ${env:…}} and {@code ${workspace}} in a text of the job. Leaves other text in
   * braces unchanged, because the job's programs may use it.
   *
   * @throws IllegalArgumentException if a variable is unset, or holds or names a secret
   */
  String expandOurs(String text) {
    return expand(text, OURS);
  }

  private String expand(String text, Pattern references) {
    Matcher matcher = references.matcher(text);
    StringBuilder result = new StringBuilder();
    while (matcher.find()) {
      matcher.appendReplacement(result, Matcher.quoteReplacement(value(matcher.group(1))));
    }
    return matcher.appendTail(result).toString();
  }

  private String value(String reference) {
    if (reference.equals("workspace")) {
      return workspace;
    }
    if (TIERS.contains(reference) || (leavesStages && reference.startsWith("stages."))) {
      return "${" + reference + "}";
    }
    if (reference.startsWith("stages.")) {
      throw new IllegalArgumentException(
          "${"
              + reference
              + "} names a stage of a pipeline; name the run that made it with --from");
    }
    Matcher env = ENV.matcher(reference);
    if (!env.matches()) {
      throw new IllegalArgumentException(
          "unknown reference ${"
              + reference
              + "}; known are ${env:VAR}, ${env:VAR:-default}, ${workspace}, ${scratch}, ${durable}, ${shared}, ${run_dir}");
    }
    String name = env.group(1);
    if (Secrets.isNameOfOne(name)) {
      throw new IllegalArgumentException(
          "${env:" + name + "} looks like a secret; a secret never goes into a config");
    }
    String fallback = env.group(2);
    String value = environment.get(name);
    if (value != null && !value.isEmpty()) {
      for (int i = 0; i < value.length(); i++) {
        if (Character.isISOControl(value.charAt(i))) {
          String what = value.charAt(i) == '\n' ? "newline" : "control character";
          throw new IllegalArgumentException(
              "the environment variable " + name + " holds a " + what);
        }
      }
      Optional<String> secret = Secrets.inText(value);
      if (secret.isPresent()) {
        throw new IllegalArgumentException(
            ("the environment variable %s holds what looks like %s; a secret never"
                    + " goes into a config")
                .formatted(name, secret.get()));
      }
      return value;
    }
    if (fallback == null) {
      throw new IllegalArgumentException(
          "the environment variable %s is not set; set it or write ${env:%s:-default}"
              .formatted(name, name));
    }
    return fallback;
  }
}
