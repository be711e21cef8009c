package dev.nexa.slurm.insight.html;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.insight.report.Overview;
import dev.nexa.slurm.insight.report.RedactedReport;
import dev.nexa.slurm.insight.report.Report;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A redacted report holds no text that a person or a job wrote. */
class RedactedReportTest {
  /** What our own program or Slurm writes into these fields is no name. */
  private static final Set<String> KEPT =
      Set.of(
          "gpu type",
          "gpus",
          "what",
          "unit",
          "sum",
          "pipeline state",
          "afterok",
          "its state",
          "gate");

  private static Report hostile(HostileReport made) {
    Report report = made.report(2);
    return new Report(
        report.workspace(),
        false,
        report.made(),
        Optional.of("pipeline " + made.texts().get(0)),
        report.overview(),
        report.runs(),
        report.details(),
        report.mostDetails(),
        report.pipelines(),
        report.releases(),
        report.problems());
  }

  @Test
  void noTextOfAPersonOrAJobIsLeft() {
    HostileReport made = new HostileReport("SECRET", 3);

    String html = ReportPage.html(RedactedReport.of(hostile(made)));

    String others = html;
    for (String kept : KEPT) {
      others = others.replace(kept + " SECRET", "");
    }
    List<String> left = made.texts().stream().distinct().filter(others::contains).toList();
    assertThat(left).isEmpty();
    assertThat(others).doesNotContain("SECRET");
    assertThat(html).contains("user-1", "project-1", "model-1", "was written with --redact");
    assertThat(ReportPage.html(hostile(made))).contains("user SECRET");
  }

  @Test
  void theSumsAndTheOrderOfTheRowsStay() {
    Report report = hostile(new HostileReport("SECRET", 3));

    Report redacted = RedactedReport.of(report);

    Overview before = report.overview().orElseThrow();
    Overview after = redacted.overview().orElseThrow();
    assertThat(after.months()).isEqualTo(before.months());
    assertThat(after.currencies().get(0).months()).isEqualTo(before.currencies().get(0).months());
    assertThat(redacted.runs().stream().map(run -> run.cost()).toList())
        .isEqualTo(report.runs().stream().map(run -> run.cost()).toList());
    assertThat(redacted.details().get(0).costs().attempts()).hasSize(3);
    assertThat(redacted.runs().get(0).id()).isEqualTo(HostileReport.RUN);
  }

  @Test
  void aStageThatAConfigNamesIsANameToo() {
    Report report = hostile(new HostileReport("SECRET", 1));

    Report redacted = RedactedReport.of(report);

    assertThat(redacted.runs().stream().map(run -> run.id()).toList())
        .containsExactly(HostileReport.RUN, "stage-2_20251101_143200", "stage-2_20251101_143201");
    assertThat(redacted.runs().get(0).labels().stage()).isEqualTo("stage-1");
  }

  @Test
  void twiceTheSameReportIsTheSame() {
    Report report = hostile(new HostileReport("SECRET", 3));

    assertThat(RedactedReport.of(report)).isEqualTo(RedactedReport.of(report));
  }
}
