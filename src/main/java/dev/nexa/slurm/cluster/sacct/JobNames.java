package dev.nexa.slurm.cluster.sacct;

import org.jspecify.annotations.Nullable;

/**
 * A job's name, its user and its Slurm account. A null component is unknown.
 *
 * @param name the job's name
 * @param user the user's name
 * @param account the Slurm account
 */
public record JobNames(@Nullable String name, @Nullable String user, @Nullable String account) {
  /** Returns these names, with the unknown ones taken from another row. */
  JobNames orElse(JobNames other) {
    return new JobNames(
        name != null ? name : other.name,
        user != null ? user : other.user,
        account != null ? account : other.account);
  }

  /** Returns whether name or user is known in both and differs. The account can be changed. */
  boolean contradict(JobNames other) {
    return differ(name, other.name) || differ(user, other.user);
  }

  private static boolean differ(@Nullable String a, @Nullable String b) {
    return a != null && b != null && !a.equals(b);
  }
}
