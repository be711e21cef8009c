package dev.nexa.slurm.report;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.serve.Probe;
import dev.nexa.slurm.serve.Registration;
import dev.nexa.slurm.serve.ServerCost;
import dev.nexa.slurm.units.Money;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One registered server.
 *
 * @param state {@link Probe#READY}, {@link #STALE}, or what it answers instead
 * @param perHour what it costs; empty where its run can't be read
 * @param soFar since this attempt began; 0 of a stale one, whose end is not known here
 */
public record ServerRow(
    Registration server, String state, Optional<Money> perHour, Optional<Money> soFar) {

  /** Its job is gone, and could not remove its registration. */
  public static final String STALE = "stale";

  public static ServerRow of(
      Registration server, String state, Optional<ServerCost> cost, Instant now) {
    Duration up = state.equals(STALE) ? Duration.ZERO : Duration.between(server.started(), now);
    return new ServerRow(
        server, state, cost.map(ServerCost::perHour), cost.map(known -> known.during(up)));
  }

  public JsonObject toJson() {
    return new JsonObject()
        .with("run_id", server.runId().value())
        .with("model", server.model())
        .with("endpoint", server.endpoint())
        .with("base_url", server.endpoint() + "/v1")
        .with("node", server.node())
        .with("port", server.port())
        .with("job_id", server.jobId())
        .with("started", server.started().toString())
        .with("healthy", state.equals(Probe.READY))
        .with("stale", state.equals(STALE))
        .with("answer", state)
        .with("cost_per_hour", amount(perHour))
        .with("cost_so_far", amount(soFar))
        .with("currency", perHour.isPresent() ? perHour.get().currency() : null)
        .with("api_key_file", server.apiKeyFile().toString());
  }

  private static @org.jspecify.annotations.Nullable String amount(Optional<Money> money) {
    return money.isPresent() ? money.get().amount().toPlainString() : null;
  }

  /** All of them as a table. */
  public static String table(List<ServerRow> rows) {
    if (rows.isEmpty()) {
      return "No servers. `nexa-slurm serve CONFIG` starts one.\n";
    }
    Table table =
        new Table("RUN", "MODEL", "ENDPOINT", "NODE", "UP SINCE", "AN HOUR", "SO FAR", "STATE");
    for (ServerRow row : rows) {
      table.row(
          row.server.runId(),
          row.server.model(),
          row.server.endpoint(),
          row.server.node(),
          row.server.started(),
          row.perHour.map(Money::toString).orElse("-"),
          row.soFar.map(Money::toString).orElse("-"),
          row.state);
    }
    return table.toString();
  }
}
