package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.Lines;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures of runs, money and notifications for Prometheus. */
class PrometheusFiguresTest {
  @TempDir Path folder;

  private static JsonObject line(String run, String project, String cost, int wait) {
    return new LedgerLine.Draft(run)
        .with(LedgerKey.VERSION, 1)
        .with(LedgerKey.STATUS, "completed")
        .with(LedgerKey.TAGS, List.of("project:" + project))
        .with(LedgerKey.CURRENCY, "USD")
        .with(LedgerKey.COST, cost)
        .with(LedgerKey.QUEUE_SECONDS, wait)
        .json();
  }

  @Test
  void aMonthInFigures() throws Exception {
    Files.createDirectories(folder.resolve("runs/manifests"));
    Files.createDirectories(folder.resolve("configs"));
    Files.writeString(
        folder.resolve("configs/policy.yaml"),
        """
        approval_over: {amount: 1, currency: USD}
        budgets:
        - {scope: project, name: 'a "b"', amount: 100, currency: USD, period: month}
        - {scope: project, name: 'a "b"', amount: 200, currency: USD, period: month}
        """);
    for (int i = 0; i < 10; i++) {
      String run = "train_20251101_12000" + i;
      Lines.write(folder, "2025-11", line(run, "a \"b\"", "1.50", 10 * i));
    }
    Lines.write(folder, "2025-10", line("train_20251001_120000", "c", "99.00", 5));
    Context context = new Context(folder, Map.of());
    new Outbox(context.workspace())
        .record(Notice.of(NoticeKind.HALTED, "x", Optional.empty(), "x", List.of()));

    String text =
        MetricsText.of("/w", PrometheusFigures.of(context, Instant.parse("2025-11-30T23:59:59Z")));

    assertThat(text)
        .contains("nexa_slurm_month_runs_ended{workspace=\"/w\",status=\"completed\"} 10\n")
        .contains("nexa_slurm_month_queue_wait_seconds{workspace=\"/w\",share=\"0.5\"} 40\n")
        .contains("nexa_slurm_month_queue_wait_seconds{workspace=\"/w\",share=\"0.9\"} 80\n")
        .contains("nexa_slurm_month_queue_wait_seconds{workspace=\"/w\",share=\"1\"} 90\n")
        .contains(
            "nexa_slurm_month_cost{workspace=\"/w\",project=\"a \\\"b\\\"\",currency=\"USD\"} 15.00\n")
        .contains(
            "nexa_slurm_budget_spent{workspace=\"/w\",budget=\"project a"
                + " \\\"b\\\"\",period=\"month\",currency=\"USD\"} 15.00\n")
        .contains("nexa_slurm_budget_limit{workspace=\"/w\"", "currency=\"USD\"} 100\n")
        .contains("nexa_slurm_notifications{workspace=\"/w\",state=\"waiting\"} 1\n")
        .contains("nexa_slurm_notifications{workspace=\"/w\",state=\"failed\"} 0\n")
        .doesNotContain("99.00");
    Set<String> series = new HashSet<>();
    text.lines()
        .filter(one -> !one.startsWith("#"))
        .forEach(one -> assertThat(series.add(one.replaceFirst(" [^ ]*$", ""))).as(one).isTrue());
  }

  @Test
  void manyProjectsAreFewSeries() {
    Map<List<String>, BigDecimal> spent = new HashMap<>();
    for (int i = 0; i < 1000; i++) {
      spent.put(List.of("p" + i, "USD"), BigDecimal.valueOf(i));
    }
    List<PrometheusFigures.Spent> kept = PrometheusFigures.bounded(spent);
    assertThat(kept).hasSize(51);
    assertThat(kept.get(0).project()).isEqualTo("p999");
    assertThat(kept.get(50).project()).isEqualTo("(others)");
    assertThat(
            kept.stream()
                .map(PrometheusFigures.Spent::amount)
                .reduce(BigDecimal.ZERO, BigDecimal::add))
        .isEqualByComparingTo("499500");
  }
}
