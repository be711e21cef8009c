package dev.nexa.slurm.scheduler;

import java.time.Instant;
import java.util.List;

/**
 * Which jobs accounting is asked for: by id, or by name where no id is known.
 *
 * @param jobIds array job ids; may be empty
 * @param names job names (submission keys); may be empty, but not both
 * @param since no job of interest was submitted before this; guards against reused ids
 */
public record AccountingQuery(List<Long> jobIds, List<String> names, Instant since) {
  public AccountingQuery {
    jobIds = List.copyOf(jobIds);
    names = List.copyOf(names);
    if (jobIds.isEmpty() == names.isEmpty()) {
      throw new IllegalArgumentException("ask by job id or by name");
    }
  }

  public static AccountingQuery byIds(List<Long> jobIds, Instant since) {
    return new AccountingQuery(jobIds, List.of(), since);
  }

  public static AccountingQuery byNames(List<String> names, Instant since) {
    return new AccountingQuery(List.of(), names, since);
  }
}
