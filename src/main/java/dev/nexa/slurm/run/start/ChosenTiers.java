package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The tiers that a command looks at. It says if the newest run wrote to another durable tier, as
 * when its shell lacks the NEXA_DURABLE of the submit.
 */
public final class ChosenTiers {
  /** How many runs are looked at: the newest may be of other profiles. */
  private static final int NEWEST = 20;

  private ChosenTiers() {}

  /**
   * Returns the tiers of a profile.
   *
   * @param cluster the profile; empty for the workspace's default profile
   * @param tell receives the sentence of {@link #note}
   */
  public static Storage of(Context context, Optional<String> cluster, Consumer<String> tell) {
    String profile = cluster.orElseGet(() -> Prepared.clusterName(context));
    Storage tiers = context.configs().cluster(profile).storage();
    note(context, Optional.of(profile), List.of(Path.of(tiers.durable()))).ifPresent(tell);
    return tiers;
  }

  /**
   * Returns a sentence about the newest run, if its durable tier is none of these.
   *
   * @param profile the profile that the run must have; empty for any
   * @param tiers the durable tiers that the command looks at
   */
  public static Optional<String> note(
      Context context, Optional<String> profile, Collection<Path> tiers) {
    for (RunId id : context.workspace().allRuns().stream().limit(NEWEST).toList()) {
      try {
        PlanFile plan = context.workspace().run(id).shownPlan();
        if (profile.isEmpty() || profile.get().equals(plan.cluster())) {
          Path durable = Path.of(plan.storage().durable());
          String here = String.join(", ", tiers.stream().map(Path::toString).toList());
          return Optional.of(
                  "note: the newest run, %s, keeps its files on %s, and this command looks at %s;"
                          .formatted(id, durable, here)
                      + " if NEXA_DURABLE was set for the submit, set it here, too")
              .filter(note -> tiers.stream().noneMatch(tier -> real(tier).equals(real(durable))));
        }
      } catch (IllegalArgumentException | NexaException | UncheckedIOException unreadable) {
        // The next run's files may be readable.
      }
    }
    return Optional.empty();
  }

  private static Path real(Path tier) {
    try {
      return tier.toRealPath();
    } catch (IOException absent) {
      return tier.toAbsolutePath().normalize();
    }
  }
}
