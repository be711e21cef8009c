package dev.nexa.slurm.command.serve;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.server.ServerCost;

/** Formats what a user needs to call a ready server. Never prints the key. */
public final class ServerText {
  private ServerText() {}

  /** Returns the model, the cost, the address, the key's file and an example call. */
  public static String ready(Registration server, ServerCost cost) {
    String ask =
        "curl -H \"Authorization: Bearer $(cat %s)\" %s/v1/models"
            .formatted(Advice.word(server.apiKeyFile().toString()), server.endpoint());
    return """
        ready: %s, %s an hour while it stands
          base URL  %s/v1
          API key   %s
          try it    %s
          tunnel    %s
          nexa-slurm serve list
          nexa-slurm serve stop %s
        """
        .formatted(
            server.model(),
            cost.perHour(),
            server.endpoint(),
            server.apiKeyFile(),
            ask,
            tunnel(server),
            server.runId());
  }

  /** The document that {@code --json} prints. */
  public static JsonObject json(Registration server, ServerCost cost) {
    Money perHour = cost.perHour();
    return JsonObject.ofVersion(1)
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

  /**
   * Returns the ssh command for a tunnel, to be typed on the user's own machine. This host is the
   * login node.
   */
  private static String tunnel(Registration server) {
    return "ssh -N -L %s:%s:%s %s@%s"
        .formatted(
            server.port(),
            server.scheduler().equals(ClusterProfile.LOCAL) ? "localhost" : server.node(),
            server.port(),
            System.getProperty("user.name", "USER"),
            ProcessIdentity.localHost());
  }
}
