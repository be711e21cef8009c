package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.AwaitRun;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.SubmitRun;
import dev.nexa.slurm.app.SubmitRun.Submitted;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm submit}. */
final class SubmitCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec dryRun =
      flag("--dry-run", "Prints the script and sbatch's arguments, and submits nothing.");
  private final OptionSpec wait =
      flag("--wait", "Waits until the run has ended; exit status 5 if it did not end well.");
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  SubmitCommand() {
    super(
        "submit",
        "Says what a run can cost, and submits it exactly once.",
        "nexa-slurm submit configs/train/science.yaml",
        "nexa-slurm submit configs/train/science.yaml --set resources.nodes=2 --dry-run",
        "nexa-slurm submit configs/data/quickstart.yaml --local --wait");
  }

  @Override
  public Integer call() {
    Nexa nexa = nexa();
    PrintWriter out = out();
    if (given(dryRun)) {
      return RenderCommand.print(nexa, config.request(), given(json), out);
    }
    Submitted submitted = new SubmitRun(nexa).submit(config.request());
    if (given(json) && !given(wait)) {
      out.print(Json.pretty(submitted.json()));
      if (!(submitted.answer() instanceof SubmitAnswer.Submitted)) {
        tell(submitted, err());
      }
    } else {
      tell(submitted, given(json) ? err() : out);
    }
    List<String> own = submitted.prepared().ownFiles(nexa);
    if (!own.isEmpty()) {
      err().println("from the workspace: " + String.join(", ", own));
    }
    boolean refused = submitted.answer() instanceof SubmitAnswer.Refused;
    boolean unknown = submitted.answer() instanceof SubmitAnswer.Unknown;
    if (refused || (unknown && !given(wait))) {
      return ExitCode.SCHEDULER.status();
    }
    return given(wait) ? await(nexa, submitted, out) : ExitCode.OK.status();
  }

  static void tell(Submitted submitted, PrintWriter out) {
    String run = submitted.run().id().value();
    out.println(submitted.run().id() + ": at most " + submitted.prepared().estimate().total());
    Optional<String> reason = submitted.prepared().plan().partitionReason();
    if (reason.isPresent()) {
      out.println(reason.get());
    }
    if (submitted.answer() instanceof SubmitAnswer.Submitted job) {
      int tasks = submitted.prepared().plan().tasks();
      out.println("job " + job.jobId() + (tasks == 1 ? "" : ", " + tasks + " tasks"));
    } else if (submitted.answer() instanceof SubmitAnswer.Refused refused) {
      out.println("refused, no job was made: " + refused.message());
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
    PrintWriter err = err();
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
    if (given(json)) {
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
