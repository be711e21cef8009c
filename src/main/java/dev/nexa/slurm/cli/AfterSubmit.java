package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.AwaitRun;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.Submitted;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import java.io.PrintWriter;
import picocli.CommandLine.Model.OptionSpec;

/** What submit and rerun print, and what they wait for. */
final class AfterSubmit {
  private final Subcommand command;
  private final OptionSpec wait;
  private final OptionSpec json;

  AfterSubmit(Subcommand command) {
    this.command = command;
    wait =
        command.flag(
            "--wait", "Waits until the run has ended; exit status 5 if it did not end well.");
    json = command.flag("--json", "Prints one JSON document.");
  }

  boolean json() {
    return Subcommand.given(json);
  }

  /** The command's exit status. */
  Integer report(Nexa nexa, Submitted submitted) {
    PrintWriter out = command.out();
    boolean waits = Subcommand.given(wait);
    if (json() && !waits) {
      out.print(Json.pretty(submitted.json()));
      if (!(submitted.answer() instanceof SubmitAnswer.Submitted)) {
        tell(submitted, command.err());
      }
    } else {
      tell(submitted, json() ? command.err() : out);
    }
    tellOwnFiles(submitted, command.err());
    boolean refused = submitted.answer() instanceof SubmitAnswer.Refused;
    boolean unknown = submitted.answer() instanceof SubmitAnswer.Unknown;
    if (refused || (unknown && !waits)) {
      return ExitCode.SCHEDULER.status();
    }
    return waits ? await(nexa, submitted, out) : ExitCode.OK.status();
  }

  static void tellOwnFiles(Submitted submitted, PrintWriter err) {
    if (!submitted.ownFiles().isEmpty()) {
      err.println("from the workspace: " + String.join(", ", submitted.ownFiles()));
    }
  }

  static void tell(Submitted submitted, PrintWriter out) {
    String run = submitted.run().id().value();
    out.println(submitted.run().id() + ": at most " + submitted.total());
    for (String note : submitted.notes()) {
      out.println(note);
    }
    StringBuilder jobs = new StringBuilder();
    for (SubmitAnswer answer : submitted.answers()) {
      if (answer instanceof SubmitAnswer.Submitted job) {
        jobs.append(jobs.length() == 0 ? "" : ", ").append(job.jobId());
      }
    }
    if (jobs.length() > 0) {
      int tasks = submitted.tasks().indices().size();
      out.println(
          (submitted.answers().size() == 1 ? "job " : "jobs ")
              + jobs
              + (tasks == 1 ? "" : ", " + tasks + " tasks"));
    }
    if (submitted.answer() instanceof SubmitAnswer.Refused refused) {
      out.println(
          "refused" + (jobs.length() > 0 ? "" : ", no job was made") + ": " + refused.message());
      return;
    } else if (submitted.answer() instanceof SubmitAnswer.Unknown unknown) {
      out.println("it is not known whether there is a job: " + unknown.message());
      out.println("  nexa-slurm reconcile    finds out by the job's name; do not submit again");
      return;
    }
    out.println("  nexa-slurm status " + run);
    out.println("  nexa-slurm logs -f " + run);
    out.println("  nexa-slurm cancel " + run);
  }

  private Integer await(Nexa nexa, Submitted submitted, PrintWriter out) {
    PrintWriter err = command.err();
    out.flush();
    Thread goesOn =
        new Thread(
            () ->
                err.println(
                    "\nstopped waiting; "
                        + submitted.run().id()
                        + " goes on; `nexa-slurm status` and `nexa-slurm logs -f` follow it"),
            "interrupted");
    Runtime.getRuntime().addShutdownHook(goesOn);
    JsonObject manifest = new AwaitRun(nexa).await(submitted.run(), err::println);
    Runtime.getRuntime().removeShutdownHook(goesOn);
    if (json()) {
      JsonObject document = submitted.json();
      out.print(
          Json.pretty(
              document
                  .with("status", manifest.text("status"))
                  .with("state", manifest.text("state"))));
    } else {
      out.println(
          manifest.text("state")
              + ", cost "
              + manifest.text("cost")
              + " "
              + manifest.text("currency"));
      out.println("  manifest  " + submitted.run().manifest().normalize());
      out.println("  cost      " + submitted.run().cost().normalize());
    }
    boolean well = manifest.text("status").equals("completed");
    return well ? ExitCode.OK.status() : ExitCode.RUN_FAILED.status();
  }
}
