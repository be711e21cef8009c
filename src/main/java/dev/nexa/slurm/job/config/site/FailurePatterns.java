package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The lines that {@code why} recognizes failures by, from configs/failures.yaml. The first
 * signature that matches a line counts.
 *
 * @param list the signatures, in the order of the file
 */
public record FailurePatterns(List<FailurePattern> list) {

  public static final Section SPEC =
      section(
          required(
              "signatures",
              mapOf(
                  ValueType.NAME_WORD,
                  section(
                      required(
                          "class",
                          ValueType.NAME_WORD,
                          "The class of the failure, such as gpu-memory; none for a line that only follows a failure."),
                      required(
                          "role",
                          ValueType.choice("verdict", "root", "confirmation", "cascade"),
                          "verdict: the line is the cause, whatever else the logs show. root: the line shows the cause. confirmation: it supports a cause, but proves nothing alone. cascade: it follows from another failure."),
                      required(
                          "pattern",
                          ValueType.TEXT,
                          "A regular expression of Java. It is searched in each line of the log."),
                      optional(
                          "unless",
                          ValueType.TEXT,
                          "A regular expression. A line that contains it does not count."),
                      required("means", ValueType.TEXT, "A sentence that names the failure."),
                      optional("advice", ValueType.TEXT, "A sentence that says what to do."),
                      optional(
                          "key", ValueType.TEXT, "The key of the run's config to change first."),
                      required("matches", ValueType.TEXT, "A line that the signature must match."),
                      optional(
                          "rejects",
                          ValueType.TEXT,
                          "A line that looks alike and that the signature must not match."),
                      optional(
                          "thread",
                          ValueType.TEXT,
                          "The address of a public thread in which somebody met the line."))),
              "By the name of the signature. The first one that matches a line counts. A workspace's file adds signatures before the jar's; one with the name of the jar's replaces it."));

  /** Makes the signatures of one file, and adds a problem for each that contradicts its lines. */
  public static FailurePatterns from(Values values) {
    List<FailurePattern> list = new ArrayList<>();
    Values all = values.section("signatures");
    for (String name : all.names()) {
      Values one = all.section(name);
      Optional<Pattern> pattern = pattern(one, "pattern");
      Optional<Pattern> unless = pattern(one, "unless");
      if (pattern.isPresent()) {
        FailurePattern signature =
            new FailurePattern(
                name,
                one.text("class"),
                FailurePattern.Role.of(one.text("role")),
                pattern.get(),
                unless,
                one.text("means"),
                one.optionalText("advice"),
                one.optionalText("key"));
        if (!signature.matches(one.text("matches"))) {
          one.report("matches", "the signature does not match this line");
        }
        if (one.has("rejects") && signature.matches(one.text("rejects"))) {
          one.report("rejects", "the signature matches this line");
        }
        list.add(signature);
      }
    }
    return new FailurePatterns(List.copyOf(list));
  }

  private static Optional<Pattern> pattern(Values one, String key) {
    if (!one.has(key)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Pattern.compile(one.text(key)));
    } catch (PatternSyntaxException wrong) {
      String why = wrong.getDescription() + " at character " + Math.max(0, wrong.getIndex());
      one.report(key, "expected a regular expression of Java: " + why);
      return Optional.empty();
    }
  }

  /** Returns these signatures, and after them the others that have other names. */
  public FailurePatterns before(FailurePatterns others) {
    Map<String, FailurePattern> all = new LinkedHashMap<>();
    list.forEach(signature -> all.put(signature.id(), signature));
    others.list().forEach(signature -> all.putIfAbsent(signature.id(), signature));
    return new FailurePatterns(List.copyOf(all.values()));
  }

  /** Returns the first signature that matches the line; empty if none does. */
  public Optional<FailurePattern> of(String line) {
    return list.stream().filter(signature -> signature.matches(line)).findFirst();
  }
}
