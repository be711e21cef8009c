package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.shared.ArchivePlaces;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Done;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Planned;
import dev.nexa.slurm.storage.cleanup.KeptPath;
import dev.nexa.slurm.storage.cleanup.Settings;
import dev.nexa.slurm.storage.cleanup.TrashedPath;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The cleanup that passes of reconcile do once a day, with the defaults of {@code cleanup}. */
record DailyCleanup(Context context, Progress progress) {
  private static final long PRUNE_OVER = 2L << 30;
  private static final Duration GRACE = Duration.ofDays(3);

  /**
   * Cleans up, and returns a line for each thing that was done, failed, or must be fixed. A tier
   * that is not on this host is named only beside something that was done: cron mails each line.
   */
  List<String> clean(int days) {
    CleanTiers clean = ArchivePlaces.cleaning(context, Optional.empty(), progress);
    Planned planned =
        clean.plan(
            new Settings(Duration.ofDays(days), PRUNE_OVER, GRACE, Optional.empty()),
            TierRoot.of(context.configs(), context.workspace().root(), Optional.empty()),
            Instant.now());
    List<String> lines = new ArrayList<>();
    List<String> notes = planned.isEmpty() ? planned.plan().problems() : planned.plan().notes();
    notes.forEach(note -> lines.add("cleanup: note: " + note));
    planned.lastCopies().forEach(last -> lines.add(line(last)));
    if (planned.isEmpty()) {
      return lines;
    }
    Done done = clean.run(planned);
    add(lines, done.deleted(), " from the trash for good", "deleted ");
    add(lines, done.moved(), " into the trash of " + done.id().orElse(null), "moved ");
    done.failed().forEach(failed -> lines.add(line(failed)));
    return lines;
  }

  private static String line(KeptPath kept) {
    return "cleanup: " + kept.path() + ": " + kept.reason();
  }

  private static void add(List<String> lines, List<TrashedPath> paths, String where, String what) {
    long bytes = paths.stream().mapToLong(TrashedPath::bytes).sum();
    if (!paths.isEmpty()) {
      String count = what + Plural.of(paths.size(), "path") + " (";
      lines.add("cleanup: " + count + Memory.plain(bytes) + ")" + where);
    }
  }
}
