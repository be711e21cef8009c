package dev.nexa.slurm.job.config.site;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kind of runs that a budget counts. */
public enum BudgetScope {
  PROJECT,
  ACCOUNT,
  USER,
  ALL;

  /** Returns the scope of a word of a checked file. */
  public static BudgetScope of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  /** Returns the word of the policy, such as {@code project}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns whether a budget of this name counts a run. Slurm takes an account in any case, and
   * keeps it in lower case.
   *
   * @param project of the run; null if it has none, as the other two
   */
  public boolean counts(
      String name, @Nullable String project, @Nullable String account, @Nullable String user) {
    return switch (this) {
      case PROJECT -> name.equals(project);
      case ACCOUNT -> name.equalsIgnoreCase(account);
      case USER -> name.equals(user);
      case ALL -> true;
    };
  }
}
