package dev.nexa.slurm.command.monitor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.telemetry.LossCurve;
import dev.nexa.slurm.records.telemetry.NodeTelemetry;
import dev.nexa.slurm.records.telemetry.Telemetry;
import dev.nexa.slurm.records.telemetry.UseNotes;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm monitor}. */
public final class MonitorCommand extends CommandGroup {
  public MonitorCommand() {
    super(
        "monitor",
        "Shows what was sampled while a run's tasks ran: GPUs, CPUs, memory, disk, network, and the loss.",
        "`monitor show`",
        "nexa-slurm monitor show latest");
    spec().addSubcommand("show", new MonitorShowCommand().spec());
  }

  /** The command {@code nexa-slurm monitor show}. */
  private static final class MonitorShowCommand extends Subcommand {
    private final PositionalParamSpec reference = runOrLatest();
    private final OptionSpec task = number("--task N", "The task to show. Default: 0.");
    private final OptionSpec gpu = number("--gpu N", "Shows only this GPU of each node.");
    private final OptionSpec csv = flag("--csv", "Prints the samples as CSV, one value a line.");
    private final OptionSpec json = jsonFlag();

    MonitorShowCommand() {
      super(
          "show",
          "Draws what was sampled in a task, with P50 and P95 of each quantity, and the task's loss.",
          "nexa-slurm monitor show",
          "nexa-slurm monitor show train_20251101_143200 --task 3 --gpu 0",
          "nexa-slurm monitor show latest --csv");
    }

    @Override
    protected void work() {
      if (given(csv) && given(json)) {
        throw new ParameterException(spec().commandLine(), "--csv and --json exclude each other");
      }
      RunLookup.Found found = new RunLookup(existing().workspace()).find(reference.getValue());
      RunFolder run = found.run();
      int number = found.taskOr(task.getValue()).orElse(0);
      if (Files.exists(run.plan())) {
        RunLookup.requireTask(run, number);
      }
      List<NodeTelemetry> nodes = new ArrayList<>();
      List<LossCurve> curves = List.of();
      if (run.hasJournal() && Files.exists(run.plan())) {
        nodes.addAll(Telemetry.read(run, number));
        curves = LossCurve.of(run, number);
      }
      nodes.replaceAll(this::ofGpu);
      nodes.removeIf(node -> node.before().isEmpty());
      if (nodes.isEmpty() && curves.isEmpty()) {
        throw nothing(run, number);
      }
      if (nodes.stream().allMatch(node -> node.series().isEmpty()) && curves.isEmpty()) {
        throw noGpu(run);
      }
      MonitorText text = new MonitorText(run.id().value(), number, nodes, curves);
      if (given(json)) {
        print(text.json());
      } else if (given(csv)) {
        print(text.csv());
      } else {
        String heights = isUnicode() ? MonitorText.Sparkline.BLOCKS : MonitorText.Sparkline.ASCII;
        print(text.drawing(heights, style().width()));
        printTable(text.table(style()));
        text.problems().forEach(this::note);
        UseNotes.of(run).forEach(note -> say("use: " + note));
      }
    }

    private NodeTelemetry ofGpu(NodeTelemetry node) {
      Integer wanted = gpu.getValue();
      if (wanted == null) {
        return node;
      }
      Optional<Integer> only = Optional.of(wanted);
      return node.with(node.series().stream().filter(series -> series.gpu().equals(only)).toList());
    }

    private static NexaException nothing(RunFolder run, int task) {
      return ErrorCode.LOGS_MISSING.error(
          "%s has no samples of task %s: the task has not started, or the run is not sampled"
              .formatted(run.id(), task),
          Advice.command("", "nexa-slurm", "explain", "monitor"));
    }

    private NexaException noGpu(RunFolder run) {
      return ErrorCode.LOGS_MISSING.error(
          run.id() + " has no samples of GPU " + gpu.<Integer>getValue(),
          Advice.command("", "nexa-slurm", "monitor", "show", run.id().value()));
    }

    /** Returns whether the user's locale can show block characters. */
    private boolean isUnicode() {
      return Stream.of("LC_ALL", "LC_CTYPE", "LANG")
          .map(name -> environment().getOrDefault(name, ""))
          .filter(locale -> !locale.isEmpty())
          .findFirst()
          .filter(locale -> locale.toUpperCase(Locale.ROOT).replace("-", "").contains("UTF8"))
          .isPresent();
    }
  }
}
