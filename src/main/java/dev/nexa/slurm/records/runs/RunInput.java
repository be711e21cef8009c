package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.plan.PlanFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * An earlier run that a run uses. On disk it is the folder {@code inputs/<name>}, which the job
 * reads (templates/lib/inputs.sh).
 *
 * @param name the earlier stage's name, or the name that {@code --from} gives
 * @param run the earlier run
 * @param output the folder of its output
 * @param checkpoints the folder of its checkpoints
 * @param tasks the number of its tasks
 * @param task the task whose checkpoint is used; empty for the run's
 */
public record RunInput(
    String name, RunId run, String output, String checkpoints, int tasks, OptionalInt task) {
  private static final String READ_ONLY = "r--------";

  /** Returns what a later run uses of a run with this plan. */
  public static RunInput of(String name, RunId run, PlanFile plan, OptionalInt task) {
    String durable = plan.storage().durable();
    return new RunInput(
        name,
        run,
        durable + "/" + plan.outputs() + "/" + run,
        durable + "/checkpoints/" + run,
        plan.tasks(),
        task);
  }

  /** Writes the folder: links to the run, its output and its checkpoints, and two numbers. */
  void write(Path inputs, DurableFiles files) {
    Path folder = inputs.resolve(name);
    files.directories(folder);
    files.link(folder.resolve("run"), Path.of("../../..", run.value()), folder);
    files.link(folder.resolve("output"), Path.of(output), folder);
    files.link(folder.resolve("checkpoints"), Path.of(checkpoints), folder);
    files.create(folder.resolve("tasks"), number(tasks), READ_ONLY);
    if (task.isPresent()) {
      files.create(folder.resolve("task"), number(task.getAsInt()), READ_ONLY);
    }
    files.force(folder);
  }

  private static byte[] number(int number) {
    return (number + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns the inputs of a run, by name.
   *
   * @param inputs the run's folder {@code inputs}; it need not exist
   */
  static List<RunInput> readAll(Path inputs) {
    return DurableFiles.list(inputs, "*").stream()
        .map(folder -> DurableFiles.attempt("read", folder, () -> read(folder)))
        .toList();
  }

  private static RunInput read(Path folder) throws IOException {
    Path run = Files.readSymbolicLink(folder.resolve("run"));
    Path task = folder.resolve("task");
    return new RunInput(
        folder.getFileName().toString(),
        new RunId(run.getFileName().toString()),
        Files.readSymbolicLink(folder.resolve("output")).toString(),
        Files.readSymbolicLink(folder.resolve("checkpoints")).toString(),
        Integer.parseInt(DurableFiles.read(folder.resolve("tasks")).strip()),
        Files.exists(task)
            ? OptionalInt.of(Integer.parseInt(DurableFiles.read(task).strip()))
            : OptionalInt.empty());
  }
}
