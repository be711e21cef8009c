package dev.nexa.slurm.command.serve;

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
        rows.add(
            ServerRow.of(
                server, state(server, problems), ServerCost.of(server.runDir(), problems), now));
      }
    }
    return rows;
  }

  private Set<Path> sharedFolders(Optional<String> cluster, List<String> problems) {
    String name = cluster.isPresent() ? cluster.get() : Prepared.clusterName(context);
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
    for (QueueEntry entry : queue) {
      if (entry.rawJobId() == server.jobId()
          && entry.name().startsWith(server.runId() + ".")
          && entry.active()
          && entry.state() != JobState.PENDING) {
        return true;
      }
    }
    return false;
  }
}
