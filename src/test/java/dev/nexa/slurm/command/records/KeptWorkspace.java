package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Tree;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A workspace as a version of nexa-slurm wrote it, in src/test/resources/workspaces: a run of three
 * tasks whose failed task ran again, a run with an approval, and a run that has not ended. Its
 * folder holds what Slurm's clients print of its jobs, too.
 *
 * <p>{@code main} writes such a folder; its argument is {@link #FOLDER} with the version. Each
 * release gets a folder, which is never written again.
 */
public final class KeptWorkspace {
  /** Folders without files, which git does not keep. */
  private static final String EMPTY = "empty-folders";

  /** Where the kept workspaces were written; manifests hold the path. */
  static final String FOLDER = "/tmp/kept-";

  private static final Path KEPT = Path.of("src/test/resources/workspaces");

  private KeptWorkspace() {}

  /** Copies the workspace of that version to a folder, and sits down at a terminal there. */
  static Terminal copy(String version, Path folder) throws IOException {
    Path from = KEPT.resolve(version);
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Path to = folder.resolve(from.relativize(path).toString());
        if (!Files.isDirectory(to, LinkOption.NOFOLLOW_LINKS)) {
          Files.copy(path, to, LinkOption.NOFOLLOW_LINKS);
        }
      }
    }
    for (String empty : Files.readAllLines(folder.resolve(EMPTY))) {
      Files.createDirectories(folder.resolve(empty));
    }
    Terminal ada = new Terminal(folder).withSlurm();
    ada.program("squeue", "exec /bin/cat " + folder.resolve("squeue.txt"));
    ada.program("sacct", "exec /bin/cat " + folder.resolve("sacct.txt"));
    ada.program("sbatch", ">" + ada.bin + "/sbatch.argv; echo 9000");
    return ada;
  }

  /** Writes a workspace of today. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Files.createDirectories(Path.of(arguments[0])).toAbsolutePath();
    Path home = Files.createTempDirectory("kept-workspace");
    Path boss = Keys.make(home, "boss");
    Terminal ada = new Terminal(folder).withSlurm();
    ada.file(
            "configs/policy.yaml",
            """
            approval_over: {amount: 1.00, currency: USD}
            approvals: {directory: approvals, allowed_signers: allowed_signers}
            budgets: [{scope: all, period: month, amount: 5000, currency: USD}]
            """)
        .file("configs/clusters/default.yaml", Site.PROFILE)
        .file("allowed_signers", "boss@site " + Keys.line(boss) + "\n")
        .file("retried.yaml", config("array: {shards: 3}\n", "1h"))
        .file("approved.yaml", config("array: {shards: 8}\n", "5h"))
        .file("running.yaml", config("", "10m"));
    ada.program("ssh-keygen", "exec /usr/bin/ssh-keygen \"$@\"");
    List<String> rows = new ArrayList<>();

    job(ada, 100);
    well(ada, "submit", ada.workspace + "/retried.yaml");
    Workspace workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    String retried = end(ada, workspace, rows, "COMPLETED FAILED COMPLETED");
    job(ada, 200);
    well(ada, "rerun", retried, "--failed");
    end(ada, workspace, rows, "COMPLETED");

    job(ada, 300);
    String approved = ada.workspace + "/approved.yaml";
    if (ada.type("submit", approved).exit() != 3) {
      throw new IllegalStateException("it needs no approval");
    }
    String estimate;
    try (Stream<Path> estimates = Files.list(ada.workspace.resolve("estimates"))) {
      estimate = estimates.findFirst().orElseThrow().toString();
    }
    well(ada, "approve", "--yes", estimate, "--key", boss.toString(), "--for", "any");
    well(ada, "submit", approved);
    end(ada, workspace, rows, "COMPLETED " + "COMPLETED ".repeat(6) + "COMPLETED");

    job(ada, 400);
    well(ada, "submit", ada.workspace + "/running.yaml");
    RunFolder running = workspace.run(workspace.latest());
    String name = RunState.of(running.journal().read()).submissions().get(0).key();
    String queue = Terminal.queueRow(400, 0, "RUNNING", "None", name);
    ada.program("squeue", queue);
    // The second pass confirms it.
    well(ada, "reconcile");
    pause();
    well(ada, "reconcile");
    well(ada, "reconcile");

    print(folder.resolve("squeue.txt"), List.of(queue));
    print(folder.resolve("sacct.txt"), rows);
    List<String> empty = new ArrayList<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : (Iterable<Path>) all.sorted()::iterator) {
        if (Files.isDirectory(path) && !ada.bin.equals(path) && isEmpty(path)) {
          empty.add(folder.relativize(path).toString());
        }
      }
    }
    Files.write(folder.resolve(EMPTY), empty);
    Tree.delete(ada.bin);
    Tree.delete(home);
  }

  private static String config(String lines, String time) {
    return "stage: data\nbackend: shell\ntags: [kept]\nrun: echo kept\n"
        + lines
        + "resources: {time: "
        + time
        + ", memory: 1G}\n";
  }

  private static void job(Terminal ada, int id) {
    ada.program("sbatch", "echo " + id);
  }

  /** Lets the newest submission's tasks end in these states, and reconciles. Returns the run. */
  private static String end(Terminal ada, Workspace workspace, List<String> rows, String states) {
    RunFolder run = workspace.run(workspace.latest());
    List<Submission> submissions = RunState.of(run.journal().read()).submissions();
    Submission newest = submissions.get(submissions.size() - 1);
    String[] ends = states.split(" ", -1);
    int index = 0;
    for (int task : newest.tasks().indices()) {
      rows.add(
          Terminal.accountingRow(
              newest.jobId().orElseThrow(), task - newest.offset(), ends[index++], newest.key()));
    }
    ada.program("sacct", String.join("\n", rows));
    well(ada, "reconcile");
    return run.id().value();
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> inside = Files.list(folder)) {
      return inside.findAny().isEmpty();
    }
  }

  /** Writes what these lines of shell print. */
  private static void print(Path file, List<String> commands) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String command : commands) {
      text.append(command, command.indexOf("' '") + 3, command.length() - 1).append('\n');
    }
    Files.writeString(file, text);
  }

  private static void pause() {
    try {
      Thread.sleep(7000);
    } catch (InterruptedException stopped) {
      throw new IllegalStateException(stopped);
    }
  }

  private static void well(Terminal ada, String... arguments) {
    Screen screen = ada.type(arguments);
    if (screen.exit() != 0) {
      throw new IllegalStateException(String.join(" ", arguments) + ": " + screen);
    }
  }
}
