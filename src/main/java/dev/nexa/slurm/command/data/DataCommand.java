package dev.nexa.slurm.command.data;

import dev.nexa.slurm.command.shared.Subcommand;
import java.util.List;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm data}. */
public final class DataCommand extends Subcommand {
  public DataCommand() {
    super(
        "data",
        "Runs one step of a data stage on this machine. Jobs of `backend: data` call it on their nodes.",
        "nexa-slurm data prepare --settings prepare.json --input 'raw/*.jsonl.gz' --output clean");
    for (Subcommand step : steps()) {
      spec().addSubcommand(step.spec().name(), step.spec());
    }
  }

  private static List<Subcommand> steps() {
    return List.of(
        new PrepareCommand(),
        new GenerateCommand(),
        new CollectCommand(),
        new FilterCommand(),
        new BucketsCommand(),
        new ClustersCommand(),
        new JudgeCommand(),
        new ScoreCommand(),
        new GateCommand());
  }

  @Override
  public Integer call() {
    String names = String.join("`, `data ", spec().subcommands().keySet());
    throw new ParameterException(spec().commandLine(), "give a step: `data " + names + "`");
  }
}
