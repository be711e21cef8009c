package dev.nexa.slurm.run.control;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.program.PackedFile;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Implements {@code shell}: a command or a shell in a running task, with the variables, in the
 * folder and in the container of the task's newest process.
 */
public record OpenShell(Context context) {
  private static final String ENTER = "enter.sh";

  /**
   * Returns the command line that enters the task. On Slurm it is a step of the job that shares the
   * job's resources ({@code srun --overlap}, since Slurm 20.11).
   *
   * @param task the task; empty for the first task that runs
   * @param node the node; empty for the first node of the task
   * @param terminal whether the user types at a terminal
   * @param command the command; empty for a shell
   * @throws NexaException with {@link ExitCode#USAGE} if the task does not run, or not on this node
   */
  public List<String> commandLine(
      RunFolder run,
      OptionalInt task,
      Optional<String> node,
      boolean terminal,
      List<String> command) {
    Scheduler scheduler = context.scheduler(RunLookup.scheduler(run));
    RunState state = RunState.of(run.journal().read());
    Running found = running(run, state, scheduler.queue(), task);
    node.ifPresent(name -> requireNode(run, found, scheduler, name));
    List<String> argv = new ArrayList<>();
    if (!scheduler.name().equals(ClusterProfile.LOCAL)) {
      argv.addAll(
          List.of("srun", "--jobid=" + found.jobId(), "--overlap", "--nodes=1", "--ntasks=1"));
      node.ifPresent(name -> argv.add("--nodelist=" + name));
      if (terminal) {
        argv.add("--pty");
      }
    }
    String script = PackedFile.text(OpenShell.class, ENTER);
    argv.addAll(List.of("bash", "-c", script, "enter", run.id().value(), "" + found.task()));
    argv.addAll(command);
    return argv;
  }

  /** A running task, and its own job id. */
  private record Running(int task, long jobId) {}

  private static Running running(
      RunFolder run, RunState state, List<QueueEntry> queue, OptionalInt task) {
    for (Submission submission : state.submissions()) {
      for (QueueEntry entry : queue) {
        int number = entry.task() + submission.offset();
        boolean meant = task.isEmpty() || number == task.getAsInt();
        if (meant && entry.name().equals(submission.key()) && entry.state() == JobState.RUNNING) {
          return new Running(number, entry.rawJobId());
        }
      }
    }
    throw ErrorCode.RUN_NOT_SUITABLE.error(
        (task.isEmpty() ? "no task of " + run.id() : "task " + task.getAsInt() + " of " + run.id())
            + " is running at this moment",
        Advice.command("says why", "nexa-slurm", "why", run.id()));
  }

  private static void requireNode(RunFolder run, Running found, Scheduler scheduler, String node) {
    if (scheduler.name().equals(ClusterProfile.LOCAL)) {
      throw ErrorCode.OPTIONS_CONFLICT.error(
          "--node " + node + ": " + run.id() + " runs on this machine, without Slurm",
          Advice.command("opens the shell", "nexa-slurm", "shell", run.id()));
    }
    String nodes =
        scheduler.remembered(found.jobId()).stream()
            .map(ControllerJob::row)
            .filter(row -> row.rawJobId() == found.jobId())
            .reduce("", (before, row) -> row.nodes(), (before, last) -> last);
    List<String> names = HostList.names(nodes);
    // Without an answer srun itself decides.
    if (nodes.isEmpty() || names.contains(node)) {
      return;
    }
    throw ErrorCode.OPTION_INVALID.error(
        "--node %s: task %s of %s%s%s%s"
            .formatted(
                node,
                found.task(),
                run.id(),
                names.size() == 1 ? " runs on the node " : " runs on the nodes ",
                nodes,
                Nearest.hint(node, names)),
        Advice.command(
            "opens a shell on that node",
            "nexa-slurm",
            "shell",
            run.id(),
            "--task",
            found.task(),
            "--node",
            names.get(0)));
  }
}
