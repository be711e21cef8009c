package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.records.runs.RunId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The folders of a run on the durable tier. All can be moved into the trash, or none.
 *
 * @param durable the tier's folder, with all links resolved
 * @param name the run's name on the tier
 * @param folders its folders; empty if it has none, or if they must stay
 * @param kept why they must stay, a clause without a full stop; empty if they can go
 */
public record WholeRun(
    RunId run, Path durable, String name, List<Candidate> folders, Optional<String> kept) {
  /** Returns the run without its folders, which must stay for this reason. */
  public WholeRun keptBecause(String why) {
    return new WholeRun(run, durable, name, List.of(), Optional.of(why));
  }

  /** Returns the bytes of all folders. */
  public long bytes() {
    return folders.stream().mapToLong(Candidate::bytes).sum();
  }

  /** Returns the number of files and links in all folders. */
  public long files() {
    return folders.stream().mapToLong(Candidate::files).sum();
  }
}
