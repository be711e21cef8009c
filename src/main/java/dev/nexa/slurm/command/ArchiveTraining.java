package dev.nexa.slurm.command;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.slurm.SqueueText;
import dev.nexa.slurm.command.shared.Stdout;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;

/**
 * Runs the commands that people wait for, in one JVM, so that this JVM can write an archive of the
 * classes that they load. The script {@code nexa-slurm} starts it, in an empty folder, with a PATH
 * of {@code bin/}. This class writes Slurm's programs there: they describe one job that waits and
 * then fails.
 *
 * <p>The archive lacks the classes of a command that fails here. Such a command starts in twice the
 * time.
 */
final class ArchiveTraining {
  private static final String CONFIG = "configs/data/quickstart.yaml";

  private final PrintWriter out = new PrintWriter(new Stdout(), false, StandardCharsets.UTF_8);

  private ArchiveTraining() {}

  public static void main(String[] args) throws IOException {
    new ArchiveTraining().run();
  }

  private void run() throws IOException {
    Files.createDirectories(Path.of(".nexa"));
    Files.createDirectory(Path.of("bin"));
    Files.writeString(
        Path.of("pipeline.yaml"),
        "stages: {one: {config: %s}, two: {config: %s, after: [one]}}\n".formatted(CONFIG, CONFIG));
    // A submit asks the cluster for this: a partition and its node.
    answer("scontrol", "PartitionName=p Default=YES MaxTime=UNLIMITED DefMemPerCPU=1000");
    answer("sinfo", row("p", "n1", "2", "8000", "gpu:h100:1", "1:1:2"));
    for (String silent : List.of("squeue", "sacct", "scancel", "sacctmgr")) {
      answer(silent, "");
    }
    answer("sbatch", "1");
    SubmitRun.loadEarly();
    type("submit configs/train/science.yaml --json");

    Path submissions = Path.of("runs/latest/submissions");
    String name = DurableFiles.list(submissions, "*").get(0).getFileName().toString();
    answer("squeue", row("1", "1", "N/A", "PENDING", "Resources", "N/A", "N/A", name));
    type("status", "why");
    answer("sbatch", "2");
    type("submit " + CONFIG, "estimate " + CONFIG, "--help");
    type("pipeline run pipeline.yaml", "pipeline status");

    long now = Instant.now().getEpochSecond();
    answer("squeue", "");
    program(
        "sacct",
        """
        for word; do case $word in --delimiter=*) end=${word#*=} ;; esac; done
        printf "%%s$end" 1 1 slurm user account p FAILED 1:0 %d %d %d 60 1 n1 cpu=1,node=1 %s None cpu=1,node=1 00:00:00
        echo 1
        """
            .formatted(now, now, now + 60, name));
    String run = name.split("\\.", 2)[0];
    Files.writeString(Path.of("runs", run, "logs/1_0.out"), "an error\n");
    type("reconcile", "status", "runs list", "costs", "doctor");
    type("runs show " + run, "costs show " + run, "why " + run, "logs " + run);
    // There is a past run like it now.
    type("submit configs/train/science.yaml");
  }

  private void type(String... commands) {
    for (String command : List.of(commands)) {
      Main.run(command.split(" "), System.getenv(), out, out);
    }
    out.flush();
  }

  private static String row(String... fields) {
    return String.join(SqueueText.DELIMITER, fields);
  }

  /** Lets a program of Slurm print a line; an empty text is no line. */
  private static void answer(String program, String line) throws IOException {
    program(program, line.isEmpty() ? "" : "echo '" + line + "'\n");
  }

  private static void program(String name, String script) throws IOException {
    Path file = Files.writeString(Path.of("bin", name), "#!/bin/sh\n" + script);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
