package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.cluster.sacct.JobNames;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.sacct.UsageId;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

class UsageTextTest {
  private static final String NAME = "a-name-that-is-rather-long_20261101_120000.k3x9q1";

  @Test
  void aTableThatIsTooWideKeepsTheIdAndPutsTheRestBelow() {
    String text = text(new TableStyle(80, false));

    assertThat(text.lines()).allMatch(line -> line.length() <= 80);
    assertThat(text)
        .startsWith("JOB ")
        .contains("1234567_89 ")
        .contains("\n    user ada, attempts 0, mem 8G\n    name " + NAME + "\n")
        .endsWith("1 job                  1-00:00:00  24.00   8.00\n");
  }

  @Test
  void aPipeGetsOneLineForEachJob() {
    assertThat(text(TableStyle.PLAIN).lines()).hasSize(3).anyMatch(line -> line.endsWith(NAME));
  }

  private static String text(TableStyle style) {
    UsageText text = new UsageText(style);
    text.measure(JOB);
    return text.heading() + text.line(JOB) + text.sum();
  }

  private static final JobUsage JOB =
      new JobUsage(
          new UsageId(null, 1234567, 89, UsageId.NONE, null),
          null,
          new JobNames(NAME, "ada", "nlp"),
          "COMPLETED",
          "0:0",
          List.of(),
          new JobUsage.Time(86_400L, 86_400L, 28_800L, null),
          null,
          8L << 30,
          null,
          new JobUsage.Efficiency(new BigDecimal("0.5"), null, null),
          null);
}
