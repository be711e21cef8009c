package dev.nexa.slurm.command.serve;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.Subcommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm serve list}. */
final class ServeListCommand extends Subcommand {
  private final OptionSpec cluster =
      option("--cluster", "NAME", "The profile whose NEXA_SHARED is looked at, too.");
  private final OptionSpec json = jsonFlag();

  ServeListCommand() {
    super(
        "list",
        "Lists the registered servers: address, start, cost, and whether they answer.",
        "nexa-slurm serve list");
  }

  @Override
  public Integer call() {
    List<String> problems = new ArrayList<>();
    List<ServerRow> rows =
        new ListServers(existing()).rows(Optional.ofNullable(cluster.getValue()), problems);
    problems.forEach(err()::println);
    return answer(
        json,
        () ->
            JsonObject.ofVersion(1)
                .with("servers", ServerRow.json(rows))
                .with("problems", problems),
        () -> printTable(ServerRow.table(rows, style())));
  }
}
