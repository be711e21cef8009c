package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.cluster.scheduler.ClientEnvironment;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.command.shared.AfterSubmit;
import dev.nexa.slurm.command.shared.ConfigOptions;
import dev.nexa.slurm.command.shared.DryRun;
import dev.nexa.slurm.command.shared.Failures;
import dev.nexa.slurm.command.shared.SbatchLine;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.RenderRun;
import dev.nexa.slurm.run.start.SubmitRun;
import dev.nexa.slurm.run.start.Submitted;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * {@code submit --as-sbatch}: takes sbatch's command line, and prints on stdout what sbatch prints.
 * All else goes to stderr.
 */
record AsSbatch(Subcommand command, ConfigOptions config, AfterSubmit after) {
  /** Options that sbatch itself answers. */
  private static final List<String> ANSWERED = List.of("--version", "--help", "--usage");

  /**
   * Submits the script.
   *
   * @param workspace finds the workspace
   * @param approval the approval's file, if it was typed
   * @param dry whether our own {@code --dry-run} was typed
   * @return sbatch's exit status: 1 if the job was refused; 3 if it needs an approval
   */
  int call(Supplier<Context> workspace, Optional<String> approval, boolean dry) {
    try {
      Context context = workspace.get();
      Map<String, String> typed = SbatchLine.typed(config.args());
      for (String option : ANSWERED) {
        if (typed.containsKey(option)) {
          return real(context, option);
        }
      }
      SbatchLine line = config.sbatchLine(context);
      Map<String, String> values = line.header().others();
      Optional<String> others = Optional.ofNullable(values.get("--dependency"));
      if (dry || values.containsKey("--test-only")) {
        RenderRun.Rendered rendered =
            new RenderRun(context).forSubmit(config.request(context, line), others, approval);
        return DryRun.print(rendered, false, false, command.err());
      }
      Submitted submitted =
          AfterSubmit.telling(
              command,
              context,
              () -> new SubmitRun(context).submit(config.request(context, line), others, approval),
              one -> print(one, values));
      if (!(submitted.answer() instanceof SubmitAnswer.Submitted)) {
        return refused();
      }
      return values.containsKey("--wait") ? await(context, submitted) : ExitCode.OK.status();
    } catch (NexaException failure) {
      Failures.tell(command, failure);
      boolean asks = failure.exitCode() == ExitCode.NEEDS_APPROVAL;
      return asks ? failure.exitCode().status() : refused();
    }
  }

  /** Prints what the installed sbatch prints. */
  private int real(Context context, String option) {
    try {
      Map<String, String> variables = ClientEnvironment.forClients(context.environment());
      Path here = Path.of("").toAbsolutePath();
      Command sbatch =
          new Command(List.of("sbatch", option), variables, here, Duration.ofMinutes(1));
      CommandResult result = new CommandRunner().run(sbatch);
      command.out().print(result.out());
      command.err().print(result.err());
      command.err().flush();
      return result.exit();
    } catch (IOException missing) {
      throw new UncheckedIOException(missing);
    }
  }

  private void print(Submitted submitted, Map<String, String> values) {
    boolean made = submitted.answer() instanceof SubmitAnswer.Submitted;
    if (!made || !values.containsKey("--quiet")) {
      AfterSubmit.tell(command, submitted, command.err());
    }
    for (SubmitAnswer answer : submitted.answers()) {
      if (answer instanceof SubmitAnswer.Submitted job && !values.containsKey("--quiet")) {
        String cluster = job.cluster().isEmpty() ? "" : ";" + job.cluster();
        command.say(
            values.containsKey("--parsable")
                ? job.jobId() + cluster
                : "Submitted batch job " + job.jobId());
      }
    }
    command.out().flush();
  }

  /** Waits, and returns the highest exit status of the tasks; 1 for the end by a signal. */
  private int await(Context context, Submitted submitted) {
    int ended = after.await(context, submitted, command.err());
    if (ended == ExitCode.OK.status()) {
      return ended;
    }
    Map<Long, Integer> last = new HashMap<>();
    last.put(-1L, 1);
    for (CostFile.Attempt attempt :
        CostFile.parse(DurableFiles.read(submitted.run().cost()), "cost").attempts()) {
      String[] code = attempt.exitCode().split(":", -1);
      last.put(attempt.task(), code[1].equals("0") ? Integer.parseInt(code[0]) : 1);
    }
    return Collections.max(last.values());
  }

  /** Returns the exit status of an error, as sbatch has it. */
  private int refused() {
    String own = command.environment().getOrDefault("SLURM_EXIT_ERROR", "");
    return own.matches("[1-9]\\d{0,2}") ? Integer.parseInt(own) : 1;
  }
}
