package dev.nexa.slurm.command.serve;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.run.server.Probe;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.server.ServerCost;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One registered server.
 *
 * @param state {@link Probe#READY}, {@link #STALE}, or the failed answer in words
 * @param perHour the cost of an hour; empty if the run cannot be read
 * @param soFar the cost since this attempt began; zero for a stale server, whose end is unknown
 *     here
 */
public record ServerRow(
    Registration server, String state, Optional<Money> perHour, Optional<Money> soFar) {

  /** The state of a server whose job is gone and left its registration behind. */
  public static final String STALE = "stale";

  private static final Columns<ServerRow> COLUMNS =
      new Columns<ServerRow>()
          .text("run_id", row -> row.server.runId().value())
          .as("RUN")
          .text("model", row -> row.server.model())
          .text("endpoint", row -> row.server.endpoint())
          .text("base_url", row -> row.server.endpoint() + "/v1")
          .text("node", row -> row.server.node())
          .text("port", row -> row.server.port())
          .text("job_id", row -> row.server.jobId())
          .text("started", row -> row.server.started().toString())
          .text("healthy", row -> row.state.equals(Probe.READY))
          .text("stale", row -> row.state.equals(STALE))
          .state("answer", ServerRow::state)
          .as("STATE")
          .money("cost_per_hour", row -> row.perHour.orElse(null))
          .as("AN HOUR")
          .money("cost_so_far", row -> row.soFar.orElse(null))
          .as("SO FAR")
          .text("currency", row -> row.perHour.map(Money::currency).orElse(null))
          .text("api_key_file", row -> row.server.apiKeyFile().toString());

  private static final Columns<ServerRow> TABLE =
      COLUMNS
          .select("run_id", "model", "endpoint", "node")
          .and(
              new Columns<ServerRow>().text("up_since", row -> PlainTime.utc(row.server.started())))
          .and(COLUMNS.select("cost_per_hour", "cost_so_far", "answer"));

  /**
   * Makes a row.
   *
   * @param cost the server's cost; empty if its run cannot be read
   * @param now the end of the time that is charged so far
   */
  public static ServerRow of(
      Registration server, String state, Optional<ServerCost> cost, Instant now) {
    Duration up = state.equals(STALE) ? Duration.ZERO : Duration.between(server.started(), now);
    return new ServerRow(
        server, state, cost.map(ServerCost::perHour), cost.map(known -> known.during(up)));
  }

  /** Returns a table of servers. */
  public static String table(List<ServerRow> rows, TableStyle style) {
    if (rows.isEmpty()) {
      return "No servers. `nexa-slurm serve CONFIG` starts one.\n";
    }
    return TABLE.of(rows).table(style);
  }

  /** Returns the servers as the document of {@code --json} has them. */
  public static List<JsonObject> json(List<ServerRow> rows) {
    return COLUMNS.of(rows).json();
  }
}
