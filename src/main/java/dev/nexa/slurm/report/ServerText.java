package dev.nexa.slurm.report;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.serve.Registration;
import dev.nexa.slurm.serve.ServerCost;
import dev.nexa.slurm.units.Money;

/** What a person needs to use a server that is ready. The key itself is never printed. */
public final class ServerText {
  private ServerText() {}

  public static String ready(Registration server, ServerCost cost) {
    String ask =
        "curl -H \"Authorization: Bearer $(cat "
            + word(server.apiKeyFile().toString())
            + ")\" "
            + server.endpoint()
            + "/v1/models";
    return "ready: "
        + server.model()
        + ", "
        + cost.perHour()
        + " an hour while it stands\n"
        + "  base URL  "
        + server.endpoint()
        + "/v1\n"
        + "  API key   "
        + server.apiKeyFile()
        + "\n"
        + "  try it    "
        + ask
        + "\n"
        + "  tunnel    "
        + tunnel(server)
        + "\n"
        + "  nexa-slurm serve list\n"
        + "  nexa-slurm serve stop "
        + server.runId()
        + "\n";
  }

  /** The document that {@code --json} prints. */
  public static JsonObject json(Registration server, ServerCost cost) {
    Money perHour = cost.perHour();
    return new JsonObject()
        .with("schema_version", 1)
        .with("run_id", server.runId().value())
        .with("status", "running")
        .with("state", "running")
        .with("ready", true)
        .with("model", server.model())
        .with("endpoint", server.endpoint())
        .with("base_url", server.endpoint() + "/v1")
        .with("api_key_file", server.apiKeyFile().toString())
        .with("node", server.node())
        .with("port", server.port())
        .with("job_id", server.jobId())
        .with("started", server.started().toString())
        .with("tunnel", tunnel(server))
        .with("cost_per_hour", perHour.amount().toPlainString())
        .with("currency", perHour.currency());
  }

  /** To be typed on a person's own machine; this host is where they log in. */
  private static String tunnel(Registration server) {
    return "ssh -N -L "
        + server.port()
        + ":"
        + (server.scheduler().equals("local") ? "localhost" : server.node())
        + ":"
        + server.port()
        + " "
        + System.getProperty("user.name", "USER")
        + "@"
        + ProcessIdentity.localHost();
  }

  /** A path as one word of a shell. */
  private static String word(String path) {
    return path.matches("[A-Za-z0-9_@%+=:,./-]+") ? path : "'" + path.replace("'", "'\\''") + "'";
  }
}
