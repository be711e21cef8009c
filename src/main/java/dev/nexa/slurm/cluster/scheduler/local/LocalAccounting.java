package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Answers accounting queries from the jobs' folders, in sacct's text format. */
final class LocalAccounting {
  /** Equal to the grace of our sacct call, for clocks that differ. */
  private static final Duration GRACE = Duration.ofDays(1);

  private final StateDirectory state;
  private final RunnerStarter supervisors;

  LocalAccounting(StateDirectory state, RunnerStarter supervisors) {
    this.state = state;
    this.supervisors = supervisors;
  }

  void answer(AccountingQuery query, Consumer<AccountingRecord> rows) {
    long since = query.since().minus(GRACE).getEpochSecond();
    for (JobDirectory directory : asked(query)) {
      if (state.isOpen(directory)) {
        supervisors.see(directory);
      }
      Job job = directory.job();
      long now = Instant.now().getEpochSecond();
      read(AccountingText.of(job, directory.history(job).all(), since, now), rows);
    }
  }

  private List<JobDirectory> asked(AccountingQuery query) {
    List<JobDirectory> asked = new ArrayList<>();
    for (long id : query.jobIds()) {
      if (state.has(id) && !state.job(id).isOfAnotherUser()) {
        asked.add(state.job(id));
      }
    }
    if (!query.names().isEmpty()) {
      Set<String> names = Set.copyOf(query.names());
      for (JobDirectory directory : state.allJobs()) {
        if (!directory.isOfAnotherUser() && names.contains(directory.job().name())) {
          asked.add(directory);
        }
      }
    }
    return asked;
  }

  private static void read(String text, Consumer<AccountingRecord> rows) {
    try (SacctText reader = new SacctText(rows, LocalAccounting::unreadable)) {
      reader.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static void unreadable(String row) {
    throw new IllegalStateException("the local scheduler wrote a row that can't be read: " + row);
  }
}
