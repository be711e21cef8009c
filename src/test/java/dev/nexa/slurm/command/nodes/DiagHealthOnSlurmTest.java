package dev.nexa.slurm.command.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.command.PrivateSlurm;
import dev.nexa.slurm.command.PrivateSlurm.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The program of {@code diag install} as the HealthCheckProgram of a real slurmctld. */
@Tag("long")
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class DiagHealthOnSlurmTest {
  @Test
  void itDrainsByItsOwnReasonOnlyAndNeverMoreThanItsShare() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    try (PrivateSlurm slurm = PrivateSlurm.prepare(cluster())) {
      slurm.letAllThrough();
      Path program = slurm.folder.resolve("diag");
      slurm.person().says("diag", "install", "--to", program.toString());
      settings(program, "yes", slurm.folder.resolve("scratch"));
      Files.createDirectory(slurm.folder.resolve("scratch"));
      slurm.start();

      // A folder that all nodes lack: the first is drained, the others are over the share.
      Files.delete(slurm.folder.resolve("scratch"));
      // Nodes that look at the same moment agree within seconds.
      await(slurm, 1, "nexa-slurm: scratch:");
      Thread.sleep(10_000);
      String drained = await(slurm, 1, "nexa-slurm: scratch:");
      Thread.sleep(7000);
      assertThat(reasons(slurm)).isEqualTo(drained);

      // Somebody else's reason stays, on a node that is well, too.
      String other = drained.contains("p1 nexa-slurm:") ? "p2" : "p1";
      slurm.root("scontrol", "update", "NodeName=" + other, "State=DRAIN", "Reason=fans by ada");
      Files.createDirectory(slurm.folder.resolve("scratch"));
      endOfTheseThatRun(slurm, program);
      await(slurm, 0, "nexa-slurm: scratch:");
      assertThat(reasons(slurm)).contains(other + " fans by ada");

      // One line switches it off.
      settings(program, "no", slurm.folder.resolve("scratch"));
      endOfTheseThatRun(slurm, program);
      Files.delete(slurm.folder.resolve("scratch"));
      Thread.sleep(7000);
      assertThat(reasons(slurm)).doesNotContain("nexa-slurm:").contains("fans by ada");
    }
  }

  private static Layout cluster() {
    return new Layout(
        Map.of("p1", "", "p2", "", "p3", ""),
        """
        HealthCheckProgram=FOLDER/diag/diag_health.sh
        HealthCheckInterval=2
        HealthCheckNodeState=ANY
        NodeName=p1 AT CPUs=4 RealMemory=1000
        NodeName=p2 AT CPUs=4 RealMemory=1000
        NodeName=p3 AT CPUs=4 RealMemory=1000
        PartitionName=cpu Default=YES Nodes=p[1-3]
        """);
  }

  private static void settings(Path program, String enabled, Path scratch) throws IOException {
    Files.writeString(
        program.resolve("diag.conf"),
        Files.readString(program.resolve("diag.conf"))
            .replaceFirst("enabled=.*", "enabled=" + enabled)
            .replaceFirst("NEXA_SCRATCH=.*", "NEXA_SCRATCH=" + scratch));
  }

  /** Waits for the checks that began before now: they still act on what they have seen. */
  private static void endOfTheseThatRun(PrivateSlurm slurm, Path program) throws Exception {
    String pids = slurm.root("pgrep", "-f", program + "/diag_health.sh").out();
    for (String pid : pids.lines().toList()) {
      for (int i = 0; Files.exists(Path.of("/proc", pid)); i++) {
        assertThat(i).as("tenths of a second that %s still runs", pid).isLessThan(600);
        Thread.sleep(100);
      }
    }
  }

  private static String reasons(PrivateSlurm slurm) throws IOException {
    return slurm.root("sh", "-c", "sinfo -h -N -o '%N %E' | sort").out();
  }

  /** Waits until so many nodes have a reason with this beginning. */
  private static String await(PrivateSlurm slurm, int nodes, String reason) throws Exception {
    String reasons = "";
    for (int i = 0; i < 300; i++) {
      reasons = reasons(slurm);
      if (reasons.lines().filter(line -> line.contains(reason)).count() == nodes) {
        return reasons;
      }
      Thread.sleep(200);
    }
    throw new AssertionError(nodes + " nodes with " + reason + ", got: " + reasons + slurm.log());
  }
}
