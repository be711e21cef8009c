package dev.nexa.slurm.app;

import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.report.ServerRow;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.serve.Probe;
import dev.nexa.slurm.serve.Registration;
import dev.nexa.slurm.serve.ServerCost;
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

/** {@code serve list}: what is registered, whether its job is there, and whether it answers. */
public final class ListServers {
  private final Nexa nexa;
  private final Probe probe = new Probe(Duration.ofSeconds(2));
  private final Map<String, Optional<List<QueueEntry>>> queues = new HashMap<>();

  public ListServers(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * A row for each server in the shared folders of the cluster and of the unfinished runs.
   *
   * @param cluster the profile named on the command line
   * @param problems told of what can't be read or asked
   */
  public List<ServerRow> rows(Optional<String> cluster, List<String> problems) {
    List<ServerRow> rows = new ArrayList<>();
    for (Path shared : sharedFolders(cluster)) {
      for (Registration server : Registration.all(shared, problems)) {
        Instant now = Instant.now();
        rows.add(
            ServerRow.of(server, state(server, problems), ServerCost.of(server.runDir()), now));
      }
    }
    return rows;
  }

  private Set<Path> sharedFolders(Optional<String> cluster) {
    String name = cluster.isPresent() ? cluster.get() : Prepared.clusterName(nexa);
    Set<Path> folders = new TreeSet<>();
    folders.add(Path.of(nexa.configs().cluster(name).storage().shared()));
    for (RunId id : nexa.workspace().openRuns()) {
      if (Files.exists(nexa.workspace().run(id).plan())) {
        folders.add(AwaitServer.sharedFolder(nexa.workspace().run(id)));
      }
    }
    return folders;
  }

  /** A server whose job is gone is not asked: its port may be another's by now. */
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
      return Optional.of(nexa.scheduler(scheduler).queue());
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
