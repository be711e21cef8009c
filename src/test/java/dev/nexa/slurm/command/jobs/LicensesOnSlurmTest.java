package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.PrivateSlurm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code resources.licenses} on a Slurm that has two licences. */
@Tag("slurm")
class LicensesOnSlurmTest {
  private static final PrivateSlurm.Layout TWO_LICENCES =
      new PrivateSlurm.Layout(
          Map.of("p1", ""),
          """
          SelectTypeParameters=CR_CPU_Memory
          Licenses=matlab:2
          NodeName=p1 AT CPUs=8 RealMemory=8000
          PartitionName=debug Default=YES Nodes=p1
          """);

  @Test
  void aRunWaitsUntilItsLicencesAreFreeAndStatusSaysSo() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    try (PrivateSlurm slurm = PrivateSlurm.prepare(TWO_LICENCES)) {
      Files.writeString(
          slurm.folder.resolve("job_submit.lua"),
          """
          function slurm_job_submit(job, partitions, uid) return slurm.SUCCESS end
          function slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end
          """);
      slurm.start();
      Path workspace = workspace(slurm);

      assertThat(type(slurm, workspace, "submit", "run.yaml")).startsWith("0 ");
      assertThat(type(slurm, workspace, "submit", "run.yaml")).startsWith("0 ");

      String status = "";
      Instant deadline = Instant.now().plus(Duration.ofSeconds(60));
      while (!status.contains("licences") && Instant.now().isBefore(deadline)) {
        Thread.sleep(500);
        status = type(slurm, workspace, "status");
      }
      assertThat(status).contains("waits until enough of its licences are free");
      assertThat(slurm.root("scontrol", "--oneliner", "show", "licenses").out())
          .contains("LicenseName=matlab Total=2 Used=2 Free=0");
    }
  }

  private static Path workspace(PrivateSlurm slurm) throws Exception {
    Path workspace = Files.createDirectory(slurm.folder.resolve("workspace"));
    Files.createDirectories(workspace.resolve("configs/clusters"));
    Files.writeString(
        workspace.resolve("configs/clusters/default.yaml"),
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: /tmp, durable: /tmp, shared: /tmp}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10}
        """);
    Files.writeString(
        workspace.resolve("run.yaml"),
        """
        stage: data
        backend: shell
        run: sleep 300
        resources: {memory: 50M, time: 5m, licenses: "matlab:2"}
        """);
    return workspace;
  }

  private static String type(PrivateSlurm slurm, Path workspace, String... command) {
    Map<String, String> environment = new TreeMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    environment.put("SLURM_CONF", slurm.folder.resolve("slurm.conf").toString());
    String[] words = command.clone();
    for (int i = 0; i < words.length; i++) {
      words[i] = words[i].equals("run.yaml") ? workspace.resolve("run.yaml").toString() : words[i];
    }
    StringWriter out = new StringWriter();
    PrintWriter writer = new PrintWriter(out, true);
    return Main.run(words, environment, writer, writer) + " " + out;
  }
}
