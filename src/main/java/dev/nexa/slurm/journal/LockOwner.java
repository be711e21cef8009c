package dev.nexa.slurm.journal;

import dev.nexa.slurm.process.ProcessIdentity;
import java.time.Duration;
import java.time.Instant;

/** How the workspace's locks name who holds them, and when such a holder counts as dead. */
final class LockOwner {
  /**
   * One that can't be asked, on another host, counts as dead after this: no sbatch takes so long.
   */
  private static final Duration ABANDONED = Duration.ofHours(1);

  private static final int PARTS = 4;

  private LockOwner() {}

  /** This process, now. */
  static String me() {
    ProcessIdentity me = ProcessIdentity.ofThisProcess();
    return me.host() + " " + me.pid() + " " + me.started() + " " + Instant.now();
  }

  static boolean dead(String owner) {
    String[] part = owner.split(" ", -1);
    if (part.length < PARTS) {
      return false;
    }
    ProcessIdentity holder =
        new ProcessIdentity(part[0], Long.parseLong(part[1]), Instant.parse(part[2]));
    boolean old = Instant.parse(part[3]).plus(ABANDONED).isBefore(Instant.now());
    return holder.alive().map(alive -> !alive).orElse(old);
  }
}
