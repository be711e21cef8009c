package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.plan.Allocation;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.job.plan.JobGroup;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The reservation: the most that a plan can cost.
 *
 * <p>It is {@code tasks x attempts x (time limit + OverTimeLimit + KillWait + 60 s) x TRES}, and
 * the tokens of a paid API that the run may use. Attempts that grow count with the size that each
 * can reach. Attempts do not multiply the tokens, because a run pays for an answer once. {@link
 * Outlook} has the expected cost.
 *
 * @param configDigest digest of the plan
 * @param tasks the number of array tasks
 * @param attempts the most attempts of a task: 1 + requeues, for each link of a chain
 * @param timeLimitSeconds the time limit of one attempt
 * @param longestAttemptSeconds the longest time that an attempt can hold its allocation
 * @param usage the resources of all tasks and attempts
 * @param apiTokens the most tokens of a paid API that the run may use; empty if it uses none
 * @param reservation the priced lines
 * @param total the sum of the lines, which an approval covers
 */
public record Estimate(
    String configDigest,
    Rates rates,
    int tasks,
    int attempts,
    long timeLimitSeconds,
    long longestAttemptSeconds,
    Usage usage,
    Optional<ApiTokens> apiTokens,
    List<CostLine> reservation,
    Money total) {

  /**
   * Returns the reservation of a plan at the given rates.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if the usage exceeds a long
   */
  public static Estimate of(Plan plan, Rates rates) {
    if (!plan.shape().groups().isEmpty()) {
      return ofGroups(plan, rates);
    }
    long seconds = plan.longestAttempt().toSeconds();
    int attempts = plan.attempts();
    long limit = plan.allocation().timeLimit().toSeconds();
    List<AttemptSize> grown = plan.shape().grown();
    long once = (long) plan.tasks() * plan.shape().array().chain();
    Usage usage =
        held(plan, rates, seconds, grown.isEmpty() ? (long) plan.tasks() * attempts : once);
    if (!grown.isEmpty()) {
      int nodes = plan.allocation().nodes();
      usage = usage.plus(grown(grown, rates, gpus(plan), nodes, seconds - limit).times(once));
      seconds += longest(grown, limit) - limit;
    }
    Optional<ApiTokens> tokens = plan.payload().apiTokens();
    return priced(plan.digest(), rates, plan.tasks(), attempts, limit, seconds, usage, tokens);
  }

  /** Each group of a heterogeneous job holds its resources for at most its own time limit. */
  private static Estimate ofGroups(Plan plan, Rates rates) {
    Usage usage = Usage.NONE;
    long limit = 0;
    long longest = 0;
    for (Plan group : plan.each()) {
      long seconds = group.longestAttempt().toSeconds();
      usage = usage.plus(held(group, rates, seconds, plan.attempts()));
      limit = Math.max(limit, group.allocation().timeLimit().toSeconds());
      longest = Math.max(longest, seconds);
    }
    return priced(
        plan.digest(),
        rates,
        plan.tasks(),
        plan.attempts(),
        limit,
        longest,
        usage,
        Optional.empty());
  }

  /**
   * Returns the reservation for repeating some tasks of a recorded plan.
   *
   * @param plan the content of plan.json
   * @param digest the digest in the earlier estimate
   * @param tasks the number of tasks that are repeated
   * @param links the number of links of its chain that are repeated
   * @return the estimate, with all API tokens that the run may use: nexa-slurm does not know which
   *     of them the repeated tasks still need
   */
  public static Estimate again(PlanFile plan, String digest, Rates rates, int tasks, int links) {
    int attempts = links * (1 + plan.requeues());
    long limit = plan.timeLimit().toSeconds();
    long seconds = plan.longestAttempt().toSeconds();
    List<AttemptSize> grown = plan.grown();
    List<PlanFile> groups = plan.groups();
    if (!groups.isEmpty()) {
      Usage all = Usage.NONE;
      for (PlanFile group : groups) {
        limit = Math.max(limit, group.timeLimit().toSeconds());
        long held = group.longestAttempt().toSeconds();
        seconds = Math.max(seconds, held);
        all =
            all.plus(
                rates
                    .usage(
                        group.gpusByType(), group.cpus(), group.memoryBytes(), group.nodes(), held)
                    .times(attempts));
      }
      return priced(digest, rates, tasks, attempts, limit, seconds, all, Optional.empty());
    }
    Usage usage =
        rates
            .usage(plan.gpusByType(), plan.cpus(), plan.memoryBytes(), plan.nodes(), seconds)
            .times((long) tasks * (grown.isEmpty() ? attempts : links));
    if (!grown.isEmpty()) {
      usage =
          usage.plus(
              grown(grown, rates, plan.gpusByType(), plan.nodes(), seconds - limit)
                  .times((long) tasks * links));
      seconds += longest(grown, limit) - limit;
    }
    return priced(digest, rates, tasks, attempts, limit, seconds, usage, plan.apiTokens());
  }

  /** Returns the estimate that reserves more money. */
  public Estimate orMore(Estimate other) {
    return other.total.amount().compareTo(total.amount()) > 0 ? other : this;
  }

  /**
   * Returns the usage of the attempts after the first of one task, each at its size.
   *
   * @param over the seconds that an attempt may hold its allocation beyond its time limit
   */
  static Usage grown(
      List<AttemptSize> sizes, Rates rates, Map<String, Long> gpus, long nodes, long over) {
    Usage usage = Usage.NONE;
    for (int i = 0; i < sizes.size(); i++) {
      AttemptSize size = sizes.get(i);
      long seconds = size.timeLimitSeconds() + over;
      Usage one = rates.usage(gpus, size.cpus(), size.memoryBytes(), nodes, seconds);
      usage = i == 0 ? one : usage.plus(one);
    }
    return usage;
  }

  /** Returns the longest time limit of an attempt, whose first attempt has the given limit. */
  static long longest(List<AttemptSize> sizes, long limit) {
    long longest = limit;
    for (AttemptSize size : sizes) {
      longest = Math.max(longest, size.timeLimitSeconds());
    }
    return longest;
  }

  /** Returns the total for people: {@code at most 5.12 USD}, {@code less than 0.01 USD}. */
  public String atMost() {
    return total.atMost(CostLine.unrounded(reservation));
  }

  /** Returns the estimate of the same usage at other rates, such as an approval's rates. */
  public Estimate at(Rates other) {
    return priced(
        configDigest,
        other,
        tasks,
        attempts,
        timeLimitSeconds,
        longestAttemptSeconds,
        usage,
        apiTokens);
  }

  static Estimate priced(
      String digest,
      Rates rates,
      int tasks,
      int attempts,
      long limit,
      long longest,
      Usage usage,
      Optional<ApiTokens> tokens) {
    List<CostLine> lines = new ArrayList<>(rates.price(usage));
    tokens.ifPresent(used -> lines.addAll(rates.tokens(used)));
    return new Estimate(
        digest, rates, tasks, attempts, limit, longest, usage, tokens, lines, rates.total(lines));
  }

  /**
   * Returns what the estimate is for, in words: {@code 1 task, 2 nodes with 4 h100, 8 CPUs and 16
   * GiB each, 30 minutes, partition gpu}.
   *
   * <p>Of a heterogeneous job: {@code 2 groups: trainer: 1 node with 4 h100 ...; servers: ...}.
   */
  public String words(Plan plan) {
    String times = attempts == 1 ? "" : ", up to " + attempts + " attempts";
    if (!plan.shape().groups().isEmpty()) {
      List<String> groups = new ArrayList<>();
      for (JobGroup group : plan.shape().groups()) {
        groups.add(group.name() + ": " + group.plan().allocation().words());
      }
      return groups.size() + " groups" + times + "\n  " + String.join("\n  ", groups);
    }
    Allocation each = plan.allocation();
    return tasks == 1
        ? "1 task" + times + ", " + each.words()
        : tasks + " tasks" + times + ", each " + each.words();
  }

  /** Returns the cost of the tokens of a paid API; zero if the run uses none. */
  public Money tokensCost() {
    return rates.total(apiTokens.map(rates::tokens).orElse(List.of()));
  }

  private static Map<String, Long> gpus(Plan plan) {
    return plan.billed().gpus() == 0
        ? Map.of()
        : Map.of(plan.billed().gpuType().orElse("unknown"), (long) plan.billed().gpus());
  }

  /** Returns the usage of {@code times} allocations that are held for {@code seconds} each. */
  static Usage held(Plan plan, Rates rates, long seconds, long times) {
    Map<String, Long> gpus = gpus(plan);
    try {
      int nodes = plan.allocation().nodes();
      return rates
          .usage(gpus, plan.billed().cpus(), plan.billed().memoryBytes(), nodes, seconds)
          .times(times);
    } catch (ArithmeticException tooMuch) {
      throw ErrorCode.CONFIG_INVALID_VALUE.error(
          plan.config() + ": this asks for more than can be counted",
          tooMuch,
          Advice.step("ask for fewer tasks, nodes or requeues, or a shorter time"));
    }
  }
}
