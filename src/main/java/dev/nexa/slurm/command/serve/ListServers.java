package dev.nexa.slurm.command.serve;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.server.Probe;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.server.ServerCost;
import dev.nexa.slurm.run.serving.AwaitServer;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Implements {@code serve list}: the registered servers, whether their jobs exist, and whether they
 * answer.
 */
public final class ListServers {
  private final Context context;
  private final Probe probe = new Probe(Duration.ofSeconds(2));
  private final Map<String, Optional<List<QueueEntry>>> queues = new HashMap<>();

  public ListServers(Context context) {
    this.context = context;
  }

  /**
   * Returns a row for each server that is registered in the shared folders of the cluster and of
   * the unfinished runs.
   *
   * @param cluster the profile named on the command line; empty for the default profile
   * @param problems receives a line for each file or scheduler that cannot be read
   */
  public List<ServerRow> rows(Optional<String> cluster, List<String> problems) {
    List<ServerRow> rows = new ArrayList<>();
    for (Path shared : sharedFolders(cluster, problems)) {
      for (Registration server : Registration.all(shared, problems)) {
        Instant now = Instant.now();
        String state = state(server, problems);
        boolean stale = state.equals(ServerRow.STALE);
        Duration up = stale ? Duration.ZERO : Duration.between(server.started(), now);
        rows.add(new ServerRow(server, state, ServerCost.of(server.runDir(), problems), up));
      }
    }
    return rows;
  }

  private Set<Path> sharedFolders(Optional<String> cluster, List<String> problems) {
    String name = cluster.orElseGet(() -> Prepared.clusterName(context));
    Set<Path> folders = new TreeSet<>();
    folders.add(Path.of(context.configs().cluster(name).storage().shared()));
    for (RunId id : context.workspace().openRuns()) {
      if (Files.exists(context.workspace().run(id).plan())) {
        try {
          folders.add(AwaitServer.sharedFolder(context.workspace().run(id)));
        } catch (RuntimeException unreadable) {
          problems.add(id + ": " + unreadable.getMessage());
        }
      }
    }
    return folders;
  }

  /**
   * Returns the server's state. A server without a job is not asked, because another process may
   * have its port.
   */
  private String state(Registration server, List<String> problems) {
    Optional<List<QueueEntry>> queue =
        queues.computeIfAbsent(server.scheduler(), name -> queue(name, problems));
    if (server.own() && queue.isPresent() && !hasJob(server, queue.get())) {
      return ServerRow.STALE;
    }
    return probe.ask(server);
  }

  private Optional<List<QueueEntry>> queue(String scheduler, List<String> problems) {
    try {
      return Optional.of(context.scheduler(scheduler).queue());
    } catch (SchedulerUnavailable outage) {
      problems.add(String.valueOf(outage.getMessage()));
      return Optional.empty();
    }
  }

  private static boolean hasJob(Registration server, List<QueueEntry> queue) {
    return queue.stream()
        .filter(entry -> entry.rawJobId() == server.jobId())
        .filter(entry -> entry.name().startsWith(server.runId() + "."))
        .anyMatch(entry -> entry.active() && entry.state() != JobState.PENDING);
  }

  /**
   * One registered server.
   *
   * @param state {@link Probe#READY}, {@link #STALE}, or the failed answer in words
   * @param cost its cost; empty if the run cannot be read
   * @param up the time since this attempt began; zero for a stale server, whose end is unknown here
   */
  record ServerRow(Registration server, String state, Optional<ServerCost> cost, Duration up) {

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
            .money("cost_per_hour", row -> row.cost.map(ServerCost::perHour).orElse(null))
            .as("AN HOUR")
            .money("cost_so_far", row -> row.cost.map(of -> of.during(row.up)).orElse(null))
            .as("SO FAR")
            .text("currency", row -> row.cost.map(of -> of.perHour().currency()).orElse(null))
            .text("api_key_file", row -> row.server.apiKeyFile().toString());

    private static final Columns<ServerRow> TABLE =
        COLUMNS
            .select("run_id", "model", "endpoint", "node")
            .and(
                new Columns<ServerRow>()
                    .text("up_since", row -> PlainTime.utc(row.server.started())))
            .and(COLUMNS.select("cost_per_hour", "cost_so_far", "answer"));

    /** Returns a table of servers. */
    public static String table(List<ServerRow> rows, TableStyle style) {
      return rows.isEmpty()
          ? "No servers. `nexa-slurm serve CONFIG` starts one.\n"
          : TABLE.of(rows).table(style);
    }

    /** Returns the servers as the document of {@code --json} has them. */
    public static List<JsonObject> json(List<ServerRow> rows) {
      return COLUMNS.of(rows).json();
    }
  }
}
