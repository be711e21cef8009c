package dev.nexa.slurm.command;

import dev.nexa.slurm.cluster.scheduler.slurm.SqueueText;
import dev.nexa.slurm.command.shared.Stdout;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the commands that people wait for, in one JVM, so that this JVM can write an archive of the
 * classes that they load. The script {@code nexa-slurm} starts it, in an empty folder, with
 * programs of Slurm that print a number or a line.
 */
final class ArchiveTraining {
  private static final String CONFIG = "configs/data/quickstart.yaml";
  private static final List<String> COMMANDS =
      List.of(
          "submit " + CONFIG,
          "submit configs/train/science.yaml --json",
          "status",
          "reconcile",
          "runs list",
          "estimate " + CONFIG,
          "pipeline run pipeline.yaml",
          "pipeline status",
          "--help");

  private ArchiveTraining() {}

  public static void main(String[] args) throws IOException {
    Files.createDirectories(Path.of(".nexa"));
    Files.writeString(
        Path.of("pipeline.yaml"),
        "stages: {one: {config: %s}, two: {config: %s, after: [one]}}\n".formatted(CONFIG, CONFIG));
    // A submit asks the cluster for this: a partition and its node.
    print("scontrol", "PartitionName=p Default=YES MaxTime=UNLIMITED DefMemPerCPU=1000");
    print(
        "sinfo", String.join(SqueueText.DELIMITER, "p", "n1", "2", "8000", "gpu:h100:1", "1:1:2"));
    SubmitRun.loadEarly();
    PrintWriter out = new PrintWriter(new Stdout(), false, StandardCharsets.UTF_8);
    for (String command : COMMANDS) {
      Main.run(command.split(" "), System.getenv(), out, out);
    }
  }

  /** Lets a program of Slurm print a line. */
  private static void print(String program, String line) throws IOException {
    Files.writeString(Path.of("bin", program), "#!/bin/sh\necho '" + line + "'\n");
  }
}
