package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.costs.SlurmBudget;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** {@code policy plan}: the policy's budgets as limits that Slurm itself would hold. */
public final class PlanPolicy {
  private final Nexa nexa;

  public PlanPolicy(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What would hold the budgets; nothing of it is done.
   *
   * @param cluster slurm.conf's ClusterName, or CLUSTER where it could not be asked
   * @param book the price book's name
   * @param slurmConf what slurm.conf needs
   */
  public record Plan(
      String policy,
      String cluster,
      String book,
      List<SlurmBudget> budgets,
      List<String> slurmConf) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      return new JsonObject()
          .with("schema_version", 1)
          .with("policy", policy)
          .with("cluster", cluster)
          .with("price_book", book)
          .with("budgets", budgets.stream().map(SlurmBudget::toJson).toList())
          .with("slurm_conf", slurmConf)
          .with("differences", budgets.isEmpty() ? List.of() : SlurmBudget.DIFFERENCES);
    }

    /** A shell script whose comments say where it differs. */
    public String text() {
      if (budgets.isEmpty()) {
        return "The policy has no budgets; `budgets:` in configs/policy.yaml gives some.\n";
      }
      StringBuilder text =
          new StringBuilder(
              "# The budgets of "
                  + policy
                  + " in Slurm, at the prices of "
                  + book
                  + ". Nothing was changed.\n");
      text.append("# slurm.conf needs, then `scontrol reconfigure`:\n");
      slurmConf.forEach(line -> text.append("#   ").append(line).append('\n'));
      for (SlurmBudget one : budgets) {
        Policy.Budget budget = one.budget();
        text.append("\n# ").append(budget.scope());
        text.append(budget.name().isEmpty() ? "" : " " + budget.name());
        text.append(": ").append(budget.amount()).append(" a ").append(budget.period());
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

  /** For a cluster profile, the workspace's usual one where none is named. */
  public Plan plan(Optional<String> named) {
    String name = named.isPresent() ? named.get() : Prepared.clusterName(nexa);
    ClusterProfile profile = nexa.configs().cluster(name);
    Policy policy = nexa.configs().policy();
    PriceBook book = nexa.configs().prices(profile);
    String cluster =
        nexa.slurm().map(SlurmScheduler::cluster).map(told -> told.name()).orElse("CLUSTER");
    List<SlurmBudget> budgets = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      budgets.add(SlurmBudget.of(budget, book, gpuTypes(profile), cluster));
    }
    return new Plan(
        policy.name(), cluster, book.name(), budgets, SlurmBudget.slurmConf(policy.budgets()));
  }

  private static Set<String> gpuTypes(ClusterProfile profile) {
    Set<String> types = new TreeSet<>();
    profile.gpuType().ifPresent(types::add);
    profile.partitions().values().forEach(partition -> partition.gpuType().ifPresent(types::add));
    return types;
  }
}
