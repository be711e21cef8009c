package dev.nexa.slurm.cluster.scheduler;

import java.time.Instant;
import java.util.List;

/**
 * Selects the jobs whose accounting rows are read: by job id, or by job name for a submission whose
 * id is not known.
 *
 * @param jobIds array job ids; empty if the query selects by name
 * @param names job names (submission keys); empty if the query selects by id
 * @param since no wanted job was submitted before this time; keeps out older jobs that had a reused
 *     id
 */
public record AccountingQuery(List<Long> jobIds, List<String> names, Instant since) {
  /**
   * Creates a query.
   *
   * @throws IllegalArgumentException if both lists are empty, or neither is
   */
  public AccountingQuery {
    jobIds = List.copyOf(jobIds);
    names = List.copyOf(names);
    if (jobIds.isEmpty() == names.isEmpty()) {
      throw new IllegalArgumentException("ask by job id or by name");
    }
  }

  /**
   * Selects by job id.
   *
   * @throws IllegalArgumentException if the list is empty
   */
  public static AccountingQuery byIds(List<Long> jobIds, Instant since) {
    return new AccountingQuery(jobIds, List.of(), since);
  }

  /**
   * Selects by job name.
   *
   * @throws IllegalArgumentException if the list is empty
   */
  public static AccountingQuery byNames(List<String> names, Instant since) {
    return new AccountingQuery(List.of(), names, since);
  }
}
