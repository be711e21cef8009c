package dev.nexa.slurm.job.config.shared;

import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.Set;

/** The name of a stage, as runs and cluster profiles have it. */
public final class StageName {
  /** The form of a stage's name. */
  public static final ValueType TYPE =
      ValueType.text("a stage name such as data, train or eval", "[a-z][a-z0-9-]{0,30}");

  /** Names that would clash with the names of files beside the runs. */
  private static final Set<String> RESERVED = Set.of("cost", "infra", "estimate", "pipeline");

  private StageName() {}

  /** Adds a problem if the key {@code stage} has a reserved name. */
  public static void check(Values values) {
    String stage = values.optionalText("stage").orElse("");
    if (RESERVED.contains(stage)) {
      values.report(
          "stage", "'" + stage + "' is taken by files beside the runs; choose another name");
    }
  }
}
