package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.ListServers;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.ServerRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm serve list}. */
final class ServeListCommand extends Subcommand {
  private final OptionSpec cluster =
      option("--cluster", "NAME", "The profile whose NEXA_SHARED is looked at, too.");
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  ServeListCommand() {
    super(
        "list",
        "The registered servers: where, since when, at what cost, and whether they answer.",
        "nexa-slurm serve list");
  }

  @Override
  public Integer call() {
    List<String> problems = new ArrayList<>();
    List<ServerRow> rows =
        new ListServers(existing()).rows(Optional.ofNullable(cluster.getValue()), problems);
    problems.forEach(err()::println);
    if (given(json)) {
      List<JsonObject> servers = new ArrayList<>();
      rows.forEach(row -> servers.add(row.toJson()));
      out()
          .print(
              Json.pretty(
                  new JsonObject()
                      .with("schema_version", 1)
                      .with("servers", servers)
                      .with("problems", problems)));
    } else {
      out().print(ServerRow.table(rows));
    }
    return ExitCode.OK.status();
  }
}
