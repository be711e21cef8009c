package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.money.budgets.SlurmBudget;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Implements {@code policy plan}: translates the policy's budgets to limits in Slurm's accounting.
 */
public record PlanPolicy(Context context) {

  /**
   * The limits that would enforce the budgets. Nothing is changed.
   *
   * @param cluster ClusterName of slurm.conf(5), or CLUSTER if Slurm could not be asked
   * @param book the price book's name
   * @param slurmConf the lines that slurm.conf needs
   */
  public record Plan(
      String policy,
      String cluster,
      String book,
      List<SlurmBudget> budgets,
      List<String> slurmConf) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      return JsonObject.ofVersion(1)
          .with("policy", policy)
          .with("cluster", cluster)
          .with("price_book", book)
          .with("budgets", budgets.stream().map(SlurmBudget::toJson).toList())
          .with("slurm_conf", slurmConf)
          .with("differences", budgets.isEmpty() ? List.of() : SlurmBudget.DIFFERENCES);
    }

    /** Returns a shell script; its comments explain the differences between budgets and limits. */
    public String text() {
      if (budgets.isEmpty()) {
        return "The policy has no budgets. "
            + (policy.startsWith("jar:")
                ? "To have some, type `nexa-slurm init`, then add `budgets:` to configs/policy.yaml.\n"
                : "To have some, add `budgets:` to " + policy + ".\n");
      }
      StringBuilder text = new StringBuilder("# The budgets of " + policy + " in Slurm, at the");
      text.append(" prices of " + book + ". Nothing was changed.\n");
      text.append("# slurm.conf needs, then `scontrol reconfigure`:\n");
      slurmConf.forEach(line -> text.append("#   ").append(line).append('\n'));
      for (SlurmBudget one : budgets) {
        Policy.Budget budget = one.budget();
        text.append("\n# " + budget.runs());
        text.append(": " + budget.amount() + " a " + budget.period());
        one.gpuType().ifPresent(type -> text.append(", in ").append(type).append("s"));
        text.append('\n');
        one.differences().forEach(line -> text.append("#   ").append(line).append('\n'));
        one.commands().forEach(line -> text.append(line).append('\n'));
      }
      text.append("\n# Where Slurm's limits differ from budgets:\n");
      SlurmBudget.DIFFERENCES.forEach(line -> text.append("# - ").append(line).append('\n'));
      return text.toString();
    }
  }

  /**
   * Returns the plan for a cluster profile.
   *
   * @param named the profile; empty for the workspace's default profile
   */
  public Plan plan(Optional<String> named) {
    String name = named.orElseGet(() -> Prepared.clusterName(context));
    ClusterProfile profile = context.configs().cluster(name);
    Policy policy = context.configs().policy();
    PriceBook book = context.configs().prices(profile);
    String cluster =
        context.slurm().map(SlurmScheduler::cluster).map(told -> told.name()).orElse("CLUSTER");
    Set<String> gpuTypes = new TreeSet<>(profile.gpuTypes());
    List<SlurmBudget> budgets =
        policy.budgets().stream()
            .map(budget -> SlurmBudget.of(budget, book, gpuTypes, cluster))
            .toList();
    return new Plan(
        policy.name(), cluster, book.name(), budgets, SlurmBudget.slurmConf(policy.budgets()));
  }
}
