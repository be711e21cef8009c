package dev.nexa.slurm.run.start;

import dev.nexa.slurm.job.config.run.SyncStage;
import dev.nexa.slurm.job.estimate.Egress;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.storage.sync.Filters;
import dev.nexa.slurm.storage.sync.SyncPlan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Looks how much a sync stage would send, if its folder is on this host already. */
final class ExpectEgress {
  /** Counting more would hold up a submit. */
  private static final int MOST_FILES = 100_000;

  private ExpectEgress() {}

  static Egress of(Plan plan, SyncStage sync) {
    String from = plan.atTiers(sync.from());
    if (from.contains("${")) {
      return Egress.unknown(sync.from(), "an earlier stage has to make it first");
    }
    try {
      SyncPlan.Count size = SyncPlan.ofSource(Path.of(from), filters(sync), MOST_FILES);
      return Egress.of(from, size.files(), size.bytes());
    } catch (IOException unreadable) {
      return Egress.unknown(from, String.valueOf(unreadable.getMessage()));
    }
  }

  /** Returns the filters of the job's push. */
  private static Filters filters(SyncStage sync) {
    List<Filters.Rule> rules = new ArrayList<>(List.of(Filters.UNFINISHED));
    sync.exclude().forEach(glob -> rules.add(new Filters.Rule(false, glob)));
    sync.include().forEach(glob -> rules.add(new Filters.Rule(true, glob)));
    return new Filters(rules);
  }
}
