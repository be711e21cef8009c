package dev.nexa.slurm.records.diagnostics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.diagnostics.NodeCheck.Result;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DiagnosisTest {
  @Test
  void aLineOfAnotherFormIsLeftOut() {
    assertThat(
            NodeCheck.read(
                "n1\tgpus\tok\t8\t==8\tGPUs\t0.1\t\nsrun: a notice\nn1\tx\tgood\t1\t==1\t-\t0\t\n\n"))
        .extracting(NodeCheck::check)
        .containsExactly("gpus");
  }

  /** 80 % of the median of its own last ten. */
  @ParameterizedTest
  @CsvSource({
    "80, '100,100,100', ok",
    "79.9, '100,100,100', warning",
    "1, '100,100', ok",
    "50, '60,60,60,60,60,60,60,60,60,60,900,900,900', ok",
    "80, '100,100,100,1,1', ok",
  })
  void aFigureIsJudgedByTheNodesOwnPast(double now, String before, String result) {
    List<Diagnosis> earlier = new ArrayList<>();
    int second = 59;
    for (String figure : before.split(",", -1)) {
      earlier.add(
          diagnosis(
              "diag_20261101_1200" + second--, "n1\tcpu\tok\t" + figure + "\t>=-\tMiB/s\t1\t\n"));
    }
    // Another node's, and a later one of this node's, do not count.
    earlier.add(0, diagnosis("diag_20261102_120000", "n2\tcpu\tok\t9000\t>=-\tMiB/s\t1\t\n"));
    earlier.add(0, diagnosis("diag_20261103_120000", "n1\tcpu\tok\t9000\t>=-\tMiB/s\t1\t\n"));

    NodeCheck judged =
        diagnosis("diag_20261102_130000", "n1\tcpu\tok\t" + now + "\t>=-\tMiB/s\t1\t\n")
            .against(earlier)
            .checks()
            .get(0);

    assertThat(judged.result().text()).isEqualTo(result);
    if (result.equals("warning")) {
      assertThat(judged.words()).isEqualTo("cpu: 79.9 MiB/s below its own median of 100.0");
    }
  }

  @Test
  void aFolderThatIsNoRunIsPassedOver(@TempDir Path root) throws IOException {
    Files.createDirectories(root.resolve("runs/diag_notes"));
    Path results = root.resolve("runs/diag_20261101_120000/submissions/k/results");
    Files.writeString(
        Files.createDirectories(results).resolve("0.0.diag.tsv"), "n1\tgpus\tok\t8\t==8\t-\t0\t\n");

    assertThat(Diagnosis.newestFirst(new Workspace(root, DurableFiles.onDisk())))
        .extracting(Diagnosis::run)
        .containsExactly("diag_20261101_120000");
  }

  @Test
  void aThousandNodesAreJudged() {
    List<Diagnosis> earlier = new ArrayList<>();
    for (int run = 9; run >= 0; run--) {
      earlier.add(diagnosis("diag_20261101_12000" + run, nodes(1000, run, -1)));
    }

    Diagnosis judged = diagnosis("diag_20261102_120000", nodes(1000, 3, 417)).against(earlier);

    assertThat(judged.byNode()).hasSize(1000);
    assertThat(judged.findings())
        .extracting(NodeCheck::node, NodeCheck::check, NodeCheck::result)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("n417", "cpu", Result.WARNING));
  }

  private static String nodes(int count, int run, int slow) {
    StringBuilder lines = new StringBuilder();
    for (int node = 0; node < count; node++) {
      int cpu = node == slow ? 100 : 300 + (node * 7 + run * 13) % 40;
      for (int check = 0; check < 20; check++) {
        lines.append("n%d\tc%d\tok\t0\t==0\tGPUs\t0.01\t\n".formatted(node, check));
      }
      lines.append("n%d\tcpu\tok\t%d\t>=-\tMiB/s\t1\t\n".formatted(node, cpu));
    }
    return lines.toString();
  }

  private static Diagnosis diagnosis(String run, String lines) {
    return new Diagnosis(run, NodeCheck.read(lines));
  }
}
