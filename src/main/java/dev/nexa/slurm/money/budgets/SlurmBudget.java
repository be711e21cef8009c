package dev.nexa.slurm.money.budgets;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.site.Policy.Budget;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PricedUnit;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A budget as a limit in Slurm: the GPU-minutes and CPU-minutes that its money buys at the highest
 * price, so that Slurm stops jobs no later than the budget would (sacctmgr(1), GrpTRESMins). Pure.
 *
 * @param budget the budget
 * @param gpuType the GPU type with the highest price; empty if the book prices none
 * @param gpuMinutes GPU-minutes that the money buys; empty if the book prices no GPU
 * @param cpuMinutes CPU-minutes that the money buys; empty if the book prices no CPU
 * @param commands the commands of sacctmgr; empty if Slurm cannot express the budget
 * @param differences sentences that say how Slurm's limit differs from the budget
 */
public record SlurmBudget(
    Budget budget,
    Optional<String> gpuType,
    Optional<BigDecimal> gpuMinutes,
    Optional<BigDecimal> cpuMinutes,
    List<String> commands,
    List<String> differences) {

  private static final BigDecimal MINUTES = BigDecimal.valueOf(60);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._@-]+");

  /** The differences between Slurm's limits and our budgets that hold for every budget. */
  public static final List<String> DIFFERENCES =
      List.of(
          "minutes of TRES, not money: a cheaper GPU uses up as many minutes as the dearest",
          "GPUs and CPUs are two limits: each alone may use up the whole budget",
          "Slurm counts every job of the account, user or cluster, whoever submitted it; a budget counts the runs of this workspace",
          "Slurm knows no months: with PriorityUsageResetPeriod usage starts anew for all limits of the cluster at once, on its own clock",
          "usage fades with PriorityDecayHalfLife unless that is 0, or the limit is a QOS's with Flags=NoDecay",
          "over the limit jobs wait with the reason AssocGrp…Minutes or QOSGrp…Minutes, and running ones are killed unless AccountingStorageEnforce has `safe`; a budget refuses before anything is submitted",
          "no approval lifts Slurm's limit; storage, egress, energy, API tokens and credits are not in it");

  /** Returns the lines that slurm.conf needs so that Slurm enforces the limits. */
  public static List<String> slurmConf(Collection<Budget> budgets) {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "AccountingStorageEnforce=limits,safe",
                "AccountingStorageTRES=gres/gpu",
                "PriorityDecayHalfLife=0"));
    List<String> periods = budgets.stream().map(Budget::period).distinct().toList();
    lines.add(
        periods.size() == 1
            ? "PriorityUsageResetPeriod=" + reset(periods.get(0))
            : "# PriorityUsageResetPeriod: one for the whole cluster, and the budgets have "
                + String.join(", ", periods));
    return lines;
  }

  private static String reset(String period) {
    return switch (period) {
      case "month" -> "MONTHLY";
      case "quarter" -> "QUARTERLY";
      default -> "YEARLY";
    };
  }

  /**
   * Returns the Slurm limit of a budget.
   *
   * @param types the cluster's GPU types; if empty, all types of the book count
   * @param cluster slurm.conf's ClusterName
   */
  public static SlurmBudget of(
      Budget budget, PriceBook book, Collection<String> types, String cluster) {
    List<String> differences = new ArrayList<>();
    if (!book.currency().equals(budget.amount().currency())) {
      differences.add(
          "the budget is in %s, the price book in %s: the minutes are not known"
              .formatted(budget.amount().currency(), book.currency()));
      return none(budget, differences);
    }
    Optional<Map.Entry<String, PriceBook.Price>> dearest = dearest(book, types);
    Optional<BigDecimal> gpu = dearest.map(type -> minutes(budget, type.getValue().price()));
    Optional<BigDecimal> cpu =
        book.prices()
            .of(PricedUnit.CPU)
            .filter(price -> price.price().signum() > 0)
            .map(price -> minutes(budget, price.price()));
    if (gpu.isEmpty() && cpu.isEmpty()) {
      differences.add("the price book has no price for GPUs or CPUs: the minutes are not known");
      return none(budget, differences);
    }
    List<String> tres = new ArrayList<>();
    gpu.ifPresent(minutes -> tres.add("gres/gpu=" + minutes));
    cpu.ifPresent(minutes -> tres.add("cpu=" + minutes));
    List<String> commands =
        commands(budget, cluster, "GrpTRESMins=" + String.join(",", tres), differences);
    return new SlurmBudget(budget, dearest.map(Map.Entry::getKey), gpu, cpu, commands, differences);
  }

  private static SlurmBudget none(Budget budget, List<String> differences) {
    return new SlurmBudget(
        budget, Optional.empty(), Optional.empty(), Optional.empty(), List.of(), differences);
  }

  private static List<String> commands(
      Budget budget, String cluster, String limit, List<String> differences) {
    String name = budget.name();
    if (!name.isEmpty() && !NAME.matcher(name).matches()) {
      differences.add("'" + name + "' is no name of Slurm's");
      return List.of();
    }
    return switch (budget.scope()) {
      case ACCOUNT -> {
        differences.add("the accounts below it count, too");
        yield List.of(
            "sacctmgr -i modify account " + name + " where cluster=" + cluster + " set " + limit);
      }
      case USER -> {
        differences.add(
            "the limit is that of each of the user's associations: with two accounts twice as much");
        yield List.of(
            "sacctmgr -i modify user " + name + " where cluster=" + cluster + " set " + limit);
      }
      case ALL -> List.of("sacctmgr -i modify cluster " + cluster + " set " + limit);
      case PROJECT -> {
        differences.add(
            "Slurm knows no projects: a QOS stands for it, which only counts jobs that name it (resources.qos), and which must be given to the project's users");
        yield List.of(
            "sacctmgr -i add qos " + name + " set " + limit + " Flags=NoDecay",
            "sacctmgr -i modify user USER where cluster=" + cluster + " set qos+=" + name);
      }
    };
  }

  /** Rounds down, so that Slurm stops slightly early and not late. */
  private static BigDecimal minutes(Budget budget, BigDecimal hour) {
    return budget.amount().amount().multiply(MINUTES).divide(hour, 0, RoundingMode.DOWN);
  }

  private static Optional<Map.Entry<String, PriceBook.Price>> dearest(
      PriceBook book, Collection<String> types) {
    return book.prices().gpuHour().entrySet().stream()
        .filter(entry -> types.isEmpty() || types.contains(entry.getKey()))
        .filter(entry -> entry.getValue().price().signum() > 0)
        .max(Comparator.comparing(entry -> entry.getValue().price()));
  }

  /** Returns the object of {@code policy plan --json}. */
  public JsonObject toJson() {
    return new JsonObject()
        .with("scope", budget.scope().word())
        .with("name", budget.name().isEmpty() ? null : budget.name())
        .with("amount", budget.amount().amount().toPlainString())
        .with("currency", budget.amount().currency())
        .with("period", budget.period())
        .withOptional("gpu_type", gpuType)
        .with("gpu_minutes", gpuMinutes.orElse(null))
        .with("cpu_minutes", cpuMinutes.orElse(null))
        .with("commands", commands)
        .with("differences", differences);
  }
}
