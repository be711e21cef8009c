package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.PrivateSlurm;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A slurmctld that keeps no accounting: numbers that have no value are printed as 4294967294, and
 * no such number may stop a pass over the other runs.
 */
@Tag("slurm")
class WithoutAccountingOnSlurmTest {
  private static PrivateSlurm slurm;
  private static Path workspace;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    slurm = PrivateSlurm.prepare();
    slurm.letAllThrough();
    slurm.start();
    workspace = Files.createDirectory(slurm.folder.resolve("workspace"));
    Files.createDirectories(workspace.resolve("configs/clusters"));
    Files.writeString(
        workspace.resolve("configs/policy.yaml"),
        "approval_over: {amount: 1000, currency: USD}\nsettle_window_seconds: 2\n");
    Files.writeString(
        workspace.resolve("configs/clusters/default.yaml"),
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: /tmp, durable: /tmp, shared: /tmp}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10}
        """);
    Files.writeString(
        workspace.resolve("work.yaml"),
        """
        stage: work
        backend: shell
        run: "true"
        array: {shards: 3}
        resources: {memory: 50M, time: 5m}
        """);
  }

  @AfterAll
  static void tidyUp() throws IOException {
    if (slurm != null) {
      slurm.close();
    }
  }

  @Test
  void anArrayThatWasCancelledWhileItWaitedEndsAndHoldsUpNobodyElse() throws Exception {
    assertThat(slurm.root("scontrol", "update", "PartitionName=gpu", "State=DOWN").exit()).isZero();
    StringBuilder shown = new StringBuilder();
    for (String how : List.of("ID", "ID_[0-2]", "ID_0 ID_1 ID_2", "ID_1", "--name=KEY ID")) {
      assertThat(type("submit", "work.yaml")).startsWith("0 ");
      String[] job =
          slurm
              .root("squeue", "--noheader", "--sort=-V", "--states=PD", "--format=%F %j")
              .out()
              .lines()
              .findFirst()
              .orElseThrow()
              .split(" ", -1);
      List<String> scancel = new ArrayList<>(List.of("scancel"));
      String words = how.replace("ID", job[0]).replace("KEY", job[1]);
      scancel.addAll(List.of(words.split(" ", -1)));
      assertThat(slurm.root(scancel.toArray(String[]::new)).exit()).isZero();
      shown.append(slurm.root("scontrol", "--oneliner", "show", "job", job[0]).out());
    }
    assertThat(shown).contains("ArrayTaskId=4294967294");
    assertThat(slurm.root("scontrol", "update", "PartitionName=gpu", "State=UP").exit()).isZero();
    assertThat(type("submit", "work.yaml")).startsWith("0 ");

    Instant deadline = Instant.now().plus(Duration.ofSeconds(90));
    String runs;
    do {
      Thread.sleep(500);
      assertThat(type("reconcile")).startsWith("0 ");
      runs = type("runs", "list");
      assertThat(Instant.now()).as(runs).isBefore(deadline);
    } while (runs.contains("running") || runs.contains("pending") || runs.contains("unconfirmed"));

    assertThat(runs).contains("cancelled").contains("completed");
    assertThat(type("status")).startsWith("0 ");
    assertThat(type("audit")).startsWith("0 ");
  }

  private static String type(String... command) {
    StringWriter out = new StringWriter();
    Map<String, String> environment = new TreeMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    environment.put("SLURM_CONF", slurm.folder.resolve("slurm.conf").toString());
    String[] absolute = command.clone();
    for (int i = 0; i < absolute.length; i++) {
      absolute[i] =
          absolute[i].equals("work.yaml") ? workspace.resolve("work.yaml").toString() : absolute[i];
    }
    PrintWriter writer = new PrintWriter(out, true);
    return Main.run(absolute, environment, writer, writer) + " " + out;
  }
}
