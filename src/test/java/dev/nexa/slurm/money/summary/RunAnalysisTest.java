package dev.nexa.slurm.money.summary;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.Lines;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

class RunAnalysisTest {

  @Test
  void percentilesAreValuesThatWereThere() {
    Percentiles<Integer> values = new Percentiles<>();
    assertThat(values.of(50)).isEmpty();
    for (int value : new int[] {30, 10, 20}) {
      values.add(value);
    }

    assertThat(values.of(50)).contains(20);
    assertThat(values.of(90)).contains(30);
    assertThat(values.of(34)).contains(20);
    assertThat(values.of(33)).contains(10);
    for (int value = 40; value <= 100; value += 10) {
      values.add(value);
    }
    assertThat(values.of(50)).contains(50);
    assertThat(values.of(90)).contains(90);
  }

  @Test
  void howRunsWentIsToldInNumbers() {
    RunAnalysis analysis = new RunAnalysis(GroupBy.parse("model"), RunFilter.all());
    analysis.add(run("m", "completed", 10, 100, 3600, 0, "0.50"));
    analysis.add(run("m", "completed", 20, 300, 3600, 0, "0.40"));
    analysis.add(run("m", "failed", 30, 200, 2800, 2800, "null"));
    analysis.add(Lines.run("'model': 'n', 'status': 'failed', 'gpu_seconds': 0, 'cpu_seconds': 0"));

    RunAnalysis.Group m = analysis.groups().get(0);
    assertThat(m.key()).containsExactly("m");
    assertThat(m.runs()).isEqualTo(3);
    assertThat(m.successRatio()).contains(new BigDecimal("0.6667"));
    assertThat(m.runSeconds(50)).contains(200L);
    assertThat(m.runSeconds(90)).contains(300L);
    assertThat(m.queueSeconds(50)).contains(20L);
    assertThat(m.gpuSeconds()).isEqualTo(10_000);
    assertThat(m.efficiency()).contains(new BigDecimal("0.7200"));
    assertThat(m.loss(50)).contains(new BigDecimal("0.40"));
    RunAnalysis.Group n = analysis.groups().get(1);
    assertThat(n.runSeconds(50)).isEmpty();
    assertThat(n.efficiency()).isEmpty();
    assertThat(n.loss(50)).isEmpty();
    assertThat(analysis.total().runs()).isEqualTo(4);
  }

  @Test
  void withoutGpusEfficiencyIsOfCpus() {
    RunAnalysis analysis = new RunAnalysis(GroupBy.parse("stage"), RunFilter.all());
    analysis.add(
        Lines.run(
            "'gpu_seconds': 0, 'gpu_seconds_wasted': 0,"
                + " 'cpu_seconds': 100, 'cpu_seconds_wasted': 25"));

    assertThat(analysis.total().efficiency()).contains(new BigDecimal("0.7500"));
  }

  @Test
  void estimatesAreHeldAgainstWhatCompletedRunsCost() {
    Accuracy accuracy = new Accuracy(GroupBy.parse("model,stage"), RunFilter.all());
    accuracy.add(estimated("completed", "5.00", "10.00", "'4.00'"));
    accuracy.add(estimated("completed", "9.00", "10.00", "'10.00'"));
    accuracy.add(estimated("completed", "11.00", "10.00", "null"));
    accuracy.add(estimated("failed", "1.00", "10.00", "'4.00'"));

    Accuracy.Group group = accuracy.groups().get(0);
    assertThat(group.key()).containsExactly("m", "train");
    assertThat(group.runs()).isEqualTo(3);
    assertThat(group.reservation()).isEqualTo("30.00");
    assertThat(group.cost()).isEqualTo("25.00");
    assertThat(group.ofReservation(50)).contains(new BigDecimal("0.9000"));
    assertThat(group.over()).isEqualTo(1);
    assertThat(group.expectedRuns()).isEqualTo(2);
    assertThat(group.ofExpected()).contains(new BigDecimal("1.0000"));
    assertThat(group.error(50)).contains(new BigDecimal("0.1000"));
    assertThat(group.error(90)).contains(new BigDecimal("0.2500"));
  }

  private static LedgerLine estimated(
      String status, String cost, String reserved, String expected) {
    return Lines.run(
        "'model': 'm', 'stage': 'train', 'currency': 'USD', 'status': '"
            + status
            + "', 'cost': '"
            + cost
            + "', 'reservation': '"
            + reserved
            + "', 'expected': "
            + expected);
  }

  private static LedgerLine run(
      String model, String status, long queue, long seconds, long gpu, long wasted, String loss) {
    String minutes = String.format("%02d:%02d", seconds / 60, seconds % 60);
    return Lines.run(
        "'model': '"
            + model
            + "', 'status': '"
            + status
            + "', 'queue_seconds': "
            + queue
            + ", 'started': '2025-11-01T00:00:00Z', 'ended': '2025-11-01T00:"
            + minutes
            + "Z', 'gpu_seconds': "
            + gpu
            + ", 'gpu_seconds_wasted': "
            + wasted
            + ", 'loss': "
            + loss);
  }
}
