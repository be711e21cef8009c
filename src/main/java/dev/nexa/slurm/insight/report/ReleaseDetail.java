package dev.nexa.slurm.insight.report;

import java.time.Instant;
import java.util.List;

/**
 * The page of one release.
 *
 * @param digest SHA-256 of its document
 * @param run the run that made the model
 * @param gate {@code passed}, {@code failed} or {@code none}
 * @param inProduction whether it is deployed now
 * @param facts what it holds
 * @param history when it was deployed and rolled back, oldest first
 */
public record ReleaseDetail(
    String name,
    String digest,
    String run,
    Instant ended,
    String gate,
    long bytes,
    boolean inProduction,
    List<Fact> facts,
    List<Deployment> history) {

  /** A line of the release history. */
  public record Deployment(Instant at, String action, String by, String reason) {}
}
