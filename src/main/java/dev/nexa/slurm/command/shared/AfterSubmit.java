package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.telemetry.UseNotes;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.start.Submitted;
import dev.nexa.slurm.run.status.AwaitRun;
import dev.nexa.slurm.run.submit.Interruption;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine.Model.OptionSpec;

/** Prints the result of submit and rerun, and waits for the run if requested. */
public final class AfterSubmit {
  private final Subcommand command;
  private final OptionSpec wait;
  private final OptionSpec json;
  private final OptionSpec verbose;

  public AfterSubmit(Subcommand command) {
    this.command = command;
    wait =
        command.flag(
            "--wait", "Waits until the run has ended; exit status 5 if it did not end well.");
    json = command.jsonFlag();
    verbose = verbose(command);
  }

  /** Adds the flag {@code --verbose} to a command that submits. */
  public static OptionSpec verbose(Subcommand command) {
    return command.flag(
        "--verbose",
        "Names on stderr the profiles, price books, policies, templates and plugins of the workspace that replace the built-in ones.");
  }

  /** Returns whether {@code --json} was typed. */
  public boolean json() {
    return Subcommand.given(json);
  }

  /**
   * Submits, and prints the result. A signal prints what is known of the run.
   *
   * @return the command's exit status
   */
  public Integer report(Context context, Supplier<Submitted> submit) {
    Submitted submitted = telling(command, context, submit, this::print);
    boolean waits = Subcommand.given(wait);
    boolean made = submitted.answer() instanceof SubmitAnswer.Submitted;
    // The end shows whether a job exists that is not known now.
    boolean decided = !waits || submitted.answer() instanceof SubmitAnswer.Refused;
    if (!made && decided) {
      return ExitCode.SCHEDULER.status();
    }
    return waits ? await(context, submitted, command.out()) : ExitCode.OK.status();
  }

  /**
   * Submits a run and prints its result. If a signal ends the process before that, prints what is
   * known of the run. The next pass of reconcile then ends a run whose job is not known.
   *
   * @return the submitted run
   */
  public static Submitted telling(
      Subcommand command, Context context, Supplier<Submitted> submit, Consumer<Submitted> print) {
    Interruption interruption = context.interruption();
    try {
      return command.saying(
          () -> interrupted(interruption),
          () -> {
            Submitted submitted = submit.get();
            print.accept(submitted);
            if (command.out().checkError()) {
              // Main says why. Without this line, the user would not know that there is a job.
              command.err().println(command.advised(unwritten(submitted)));
            }
            return submitted;
          });
    } finally {
      interruption.forget();
    }
  }

  /** Returns the lines about a run whose result could not be printed. */
  private static String unwritten(Submitted submitted) {
    String run = submitted.run().id().value();
    if (submitted.answer() instanceof SubmitAnswer.Refused) {
      return run + " was refused: " + ((SubmitAnswer.Refused) submitted.answer()).message();
    }
    String jobs = jobs(submitted);
    String known = jobs.isEmpty() ? "its job is not known" : "job " + jobs;
    return ("%s was submitted (%s), but the result could not be printed. Do not"
            + " submit it again.\n  nexa-slurm status %s")
        .formatted(run, known, run);
  }

  private void print(Submitted submitted) {
    if (json() && !Subcommand.given(wait)) {
      command.print(submitted.json());
      if (!(submitted.answer() instanceof SubmitAnswer.Submitted)) {
        tell(command, submitted, command.err());
      }
    } else {
      tell(command, submitted, json() ? command.err() : command.out());
    }
    if (Subcommand.given(verbose)) {
      tellOwnFiles(submitted.ownFiles(), command.err());
    }
  }

  /** Prints which of the workspace's own files the run was made from. */
  public static void tellOwnFiles(List<String> ownFiles, PrintWriter err) {
    err.println(
        ownFiles.isEmpty()
            ? "from the workspace: nothing; all profiles, prices and templates are built in"
            : "from the workspace: " + String.join(", ", ownFiles));
  }

  /** Prints the result of a submit as text. */
  public static void tell(Subcommand command, Submitted submitted, PrintWriter out) {
    String run = submitted.run().id().value();
    String asks = submitted.asks().isEmpty() ? "" : ": " + submitted.asks();
    out.println(submitted.run().id() + ": " + submitted.atMost() + asks);
    submitted.notes().forEach(out::println);
    String jobs = jobs(submitted);
    if (!jobs.isEmpty()) {
      int tasks = submitted.tasks().indices().size();
      out.println(
          (submitted.answers().size() == 1 ? "job " : "jobs ")
              + jobs
              + (tasks == 1 ? "" : ", " + tasks + " tasks"));
    }
    if (!(submitted.answer() instanceof SubmitAnswer.Submitted)) {
      out.println(command.advised(withoutJob(submitted.answer(), !jobs.isEmpty())));
      return;
    }
    out.println(command.advised("  nexa-slurm status " + run));
    out.println(command.advised("  nexa-slurm logs -f " + run));
    out.println(command.advised("  nexa-slurm cancel " + run));
  }

  private static String jobs(Submitted submitted) {
    List<String> jobs = new ArrayList<>();
    for (SubmitAnswer answer : submitted.answers()) {
      if (answer instanceof SubmitAnswer.Submitted job) {
        jobs.add("" + job.jobId());
      }
    }
    return String.join(", ", jobs);
  }

  /** Returns the lines about an answer that is not a job. */
  private static String withoutJob(SubmitAnswer answer, boolean others) {
    return answer instanceof SubmitAnswer.Refused refused
        ? "refused" + (others ? "" : ", no job was made") + ": " + refused.message()
        : "it is not known whether there is a job: "
            + ((SubmitAnswer.Unknown) answer).message()
            + "\n  nexa-slurm reconcile  # finds out by the job's name; do not submit again";
  }

  /** A single task is not counted: its line says how long the wait has been. */
  private static Phase phase(int tasks) {
    String doing = "waiting for the end";
    return tasks > 1 ? Phase.of(doing, "tasks", tasks) : Phase.of(doing);
  }

  /** Waits until the run has ended, and prints how; returns the exit status of {@code --wait}. */
  public Integer await(Context context, Submitted submitted, PrintWriter out) {
    out.flush();
    ManifestFile manifest =
        ProgressBar.waiting(
            command,
            "stopped waiting; "
                + submitted.run().id()
                + " goes on; `nexa-slurm status` and `nexa-slurm logs -f` follow it",
            phase(submitted.tasks().indices().size()),
            (lines, tasks) -> new AwaitRun(context).await(submitted.run(), lines, tasks));
    if (json()) {
      JsonObject document = submitted.json();
      out.print(
          Json.pretty(
              document.with("status", manifest.status().text()).with("state", manifest.state())));
    } else {
      Money cost = manifest.cost().orElseThrow();
      out.println(manifest.state() + ", cost " + CostFile.text(submitted.run(), cost));
      if (manifest.status() == RunStatus.FAILED) {
        new ExplainRun(context)
            .headline(submitted.run())
            .ifPresent(why -> out.println("  why       " + why));
      }
      out.println("  manifest  " + submitted.run().manifest().normalize());
      out.println("  cost      " + submitted.run().cost().normalize());
      UseNotes.of(submitted.run()).forEach(note -> out.println("  use       " + note));
    }
    return (manifest.status() == RunStatus.COMPLETED ? ExitCode.OK : ExitCode.RUN_FAILED).status();
  }

  /** Stops the thread that submits, and returns the lines about its run. */
  private static String interrupted(Interruption interruption) {
    try {
      return interrupted(interruption.interrupt());
    } catch (RuntimeException unreadable) {
      return "interrupted: it is not known whether a run was submitted: "
          + unreadable.getMessage()
          + "\nDo not submit it again before you have looked for it.\n  nexa-slurm status";
    }
  }

  /** Returns the lines; empty for a signal before anything was submitted says just that. */
  private static String interrupted(Optional<Interruption.Found> found) {
    if (found.isEmpty()) {
      return "interrupted: nothing was submitted";
    }
    Interruption.Found at = found.get();
    String run = at.run().id().value();
    List<String> lines = new ArrayList<>();
    String jobs = jobsOf(at.state());
    if (at.submitted()) {
      lines.add("interrupted: " + run + " was submitted" + jobs + ", and goes on");
      lines.add("Do not submit it again.");
    } else {
      lines.add("interrupted: it is not known whether there is a job of " + run + jobs);
      lines.add("Do not submit it again.");
      lines.add(
          at.stopped()
              ? "The run is to end: the next `nexa-slurm reconcile` cancels a job if there is one,"
                  + " and submits nothing."
              : "The next `nexa-slurm reconcile` looks for the job by its name. If there is none, it"
                  + " submits the run.");
    }
    lines.add("  nexa-slurm status " + run);
    lines.add("  nexa-slurm cancel " + run);
    return String.join("\n", lines);
  }

  /** Returns the known jobs since the last rerun, in words. */
  private static String jobsOf(RunState state) {
    List<String> ids = new ArrayList<>();
    for (Submission submission : state.sinceRerun()) {
      submission.jobId().ifPresent(id -> ids.add("" + id));
    }
    return ids.isEmpty()
        ? ""
        : (ids.size() == 1 ? " (job " : " (jobs ") + String.join(", ", ids) + ")";
  }
}
