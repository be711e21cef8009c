package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.units.Money;
import java.nio.file.FileSystems;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.Optional;

/**
 * The limits of an approval for a family of runs. An empty list allows any value.
 *
 * @param name a name for people
 * @param configs glob patterns of paths below the workspace, such as {@code configs/train/*.yaml}
 * @param stages allowed stages
 * @param clusters allowed clusters
 * @param accounts allowed Slurm accounts
 * @param users allowed submitters
 * @param projects allowed projects; a run's projects are its tags {@code project:NAME}
 * @param maxMonth the highest cost of all its runs in one calendar month (UTC); empty for no limit
 */
@Codec.WithNulls
public record ApprovalEnvelope(
    String name,
    List<String> configs,
    List<String> stages,
    List<String> clusters,
    List<String> accounts,
    List<String> users,
    List<String> projects,
    Optional<Money> maxMonth)
    implements Approval.Scope {

  /**
   * Checks the patterns.
   *
   * @throws IllegalArgumentException if a pattern of {@code configs} is not valid
   */
  public ApprovalEnvelope {
    configs.forEach(ApprovalEnvelope::matcher);
  }

  /**
   * Returns the matcher of a pattern of {@code configs}.
   *
   * @throws IllegalArgumentException if the pattern is not valid
   */
  static PathMatcher matcher(String glob) {
    return FileSystems.getDefault().getPathMatcher("glob:" + glob);
  }

  /** An envelope names users, not one submitter. */
  @Override
  public Optional<UnixUser> submitter() {
    return Optional.empty();
  }
}
