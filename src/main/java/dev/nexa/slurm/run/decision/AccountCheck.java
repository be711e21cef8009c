package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.run.Context;
import java.util.Optional;

/**
 * Looks for an account in Slurm's accounting. Where Slurm does not enforce accounts
 * (AccountingStorageEnforce in slurm.conf(5)), it takes a job of an account that does not exist.
 */
public final class AccountCheck {
  private AccountCheck() {}

  /**
   * Returns a sentence about an account that does not exist; empty if it exists, or if that is not
   * known. It takes one call of sacctmgr.
   */
  public static Optional<String> of(Context context, Optional<String> account) {
    Optional<SlurmScheduler> slurm = context.slurm();
    try {
      return account
          .filter(name -> slurm.isPresent() && !slurm.get().knowsAccount(name))
          .map(
              ("Slurm's accounting has no account '%s': Slurm refuses the job if it enforces"
                      + " accounts, and else takes it; `sacctmgr show account` lists the accounts")
                  ::formatted);
    } catch (SchedulerUnavailable unknown) {
      return Optional.empty();
    }
  }
}
