package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.sacct.Delimiter;
import dev.nexa.slurm.cluster.sacct.DumpText;
import dev.nexa.slurm.cluster.sacct.Problems;
import dev.nexa.slurm.cluster.sacct.RequestRow;
import dev.nexa.slurm.cluster.sacct.RequestRows;
import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Implements {@code policy replay}: what the policy in force would have refused of the jobs in
 * accounting. Each rule is judged by itself, as if no other rule had refused anything.
 */
public final class ReplayPolicy {
  private final Context context;
  private final Policy policy;
  private final ClusterProfile profile;
  private final PriceBook prices;
  private final Problems problems = new Problems();
  private final List<String> notes = new ArrayList<>();
  private final Map<String, List<RequestRow>> rows = new LinkedHashMap<>();

  /**
   * The jobs to judge.
   *
   * @param since the first time of submission
   * @param until the time before which they were submitted
   * @param file sacct's output; empty to ask sacct
   * @param zone the zone of the file's times
   */
  public record Asked(Instant since, Instant until, Optional<Path> file, ZoneId zone) {}

  /**
   * A job, or an array with all its tasks.
   *
   * @param cost the cost of all attempts by the price book
   * @param most the highest possible cost of a single attempt of each task
   * @param gpuHours the most GPU-hours that it could have used; empty if it had no time limit
   * @param unlimited whether it had no time limit
   * @param refusedBy the rules that it breaks
   */
  public record Job(
      String id,
      String user,
      String account,
      Instant submit,
      Instant end,
      BigDecimal cost,
      BigDecimal most,
      Optional<BigDecimal> gpuHours,
      boolean unlimited,
      Set<String> refusedBy) {}

  /** One line of the report: a rule, or a user with an account. */
  public record Line(
      String rule,
      String user,
      String account,
      int jobs,
      BigDecimal cost,
      int approval,
      int budget,
      int gpuHours,
      int refused,
      BigDecimal refusedCost) {}

  /**
   * The result.
   *
   * @param rules one line for each rule of the policy, and one for all rules together
   * @param users one line for each user and account
   * @param accounts one line for each account
   */
  public record Replayed(
      Asked asked,
      String currency,
      Line all,
      List<Line> rules,
      List<Line> users,
      List<Line> accounts,
      List<String> notes,
      List<String> problems) {}

  public ReplayPolicy(Context context, Optional<String> cluster) {
    this.context = context;
    policy = context.configs().policy();
    profile = context.configs().cluster(cluster.orElseGet(() -> Prepared.clusterName(context)));
    prices = context.configs().prices(profile);
  }

  /** Reads the jobs and judges them. */
  public Replayed replay(Asked asked) {
    read(asked);
    List<Job> jobs = new ArrayList<>();
    Map<String, Integer> unpriced = new TreeMap<>();
    for (List<RequestRow> job : rows.values()) {
      try {
        jobs.add(job(job));
      } catch (NexaException noPrice) {
        unpriced.merge(String.valueOf(noPrice.getMessage()), 1, Integer::sum);
      }
    }
    unpriced.forEach((why, count) -> notes.add(count + " jobs are left out: " + why));
    jobs.removeIf(job -> job.submit.isBefore(asked.since) || !job.submit.isBefore(asked.until));
    jobs.sort(Comparator.comparing(Job::submit));
    List<String> rules = new ArrayList<>();
    judgeOneByOne(jobs, rules);
    for (Policy.Budget budget : policy.budgets()) {
      judgeBudget(budget, jobs, rules);
    }
    List<Line> byRule = new ArrayList<>();
    for (String rule : rules) {
      byRule.add(line(rule, jobs.stream().filter(job -> job.refusedBy.contains(rule)).toList()));
    }
    byRule.add(line("any of them", jobs.stream().filter(job -> !job.refusedBy.isEmpty()).toList()));
    return new Replayed(
        asked,
        prices.currency(),
        line("", jobs),
        byRule,
        groups(jobs, true),
        groups(jobs, false),
        notes,
        problems.list().stream().map(Problems.Problem::toString).toList());
  }

  private void read(Asked asked) {
    RequestRows requests =
        new RequestRows(
            asked.zone,
            problems,
            row ->
                rows.computeIfAbsent(row.jobId() + " " + row.user(), none -> new ArrayList<>())
                    .add(row));
    String delimiter = asked.file.isPresent() ? null : Delimiter.unguessable();
    try (DumpText reader = new DumpText(delimiter, requests, problems)) {
      if (asked.file.isPresent()) {
        readFile(asked.file.get(), reader);
      } else {
        context
            .requireSlurm("or read what sacct printed there: --from FILE")
            .usage(
                RequestRows.FIELDS,
                List.of(),
                "",
                Optional.of(asked.since),
                Optional.empty(),
                reader);
      }
    }
    if (asked.file.isPresent() && !requests.missing().isEmpty()) {
      throw ErrorCode.ACCOUNTING_FILE_UNUSABLE.error(
          asked.file.get() + " lacks the columns " + String.join(", ", requests.missing()),
          "write the file with: " + takes());
    }
    if (!requests.hasLimits()) {
      notes.add(
          "there is no column TimelimitRaw: each job is judged by what it used, not by what it"
              + " could have used");
    }
  }

  private static void readFile(Path file, DumpText reader) {
    try (InputStream in = Files.newInputStream(file)) {
      in.transferTo(reader);
    } catch (IOException failed) {
      throw ErrorCode.FILE_UNREADABLE.error(
          "cannot read " + file + ": " + DurableFiles.reason(failed),
          failed,
          Advice.step("write the file with: " + takes()));
    }
  }

  private static String takes() {
    String columns = String.join(",", RequestRows.FIELDS);
    return "sacct -a -X -P -D --noconvert --format=" + columns + " -S 2026-10-01 >FILE";
  }

  /** Adds up the rows of one job. */
  private Job job(List<RequestRow> attempts) {
    RequestRow first = attempts.get(0);
    Instant submit = first.submit();
    Instant end = Instant.MIN;
    BigDecimal cost = BigDecimal.ZERO;
    BigDecimal most = BigDecimal.ZERO;
    BigDecimal gpuHours = BigDecimal.ZERO;
    boolean unlimited = false;
    Set<String> seen = new LinkedHashSet<>();
    for (RequestRow row : attempts) {
      Rates rates = rates(row);
      submit = row.submit().isBefore(submit) ? row.submit() : submit;
      Instant ended = row.end().orElse(Instant.MAX);
      end = ended.isAfter(end) ? ended : end;
      cost = cost.add(price(rates, row, row.elapsed()));
      if (seen.add(row.task())) {
        Optional<Duration> limit = limit(row);
        unlimited |= limit.isEmpty();
        Duration could = limit.orElse(row.elapsed());
        most = most.add(price(rates, row, could).multiply(BigDecimal.valueOf(row.tasks())));
        long gpus = row.tres().gpusBy("gpu", 0).values().stream().mapToLong(Long::longValue).sum();
        gpuHours =
            gpuHours.add(
                BigDecimal.valueOf(gpus * could.toMinutes() * row.tasks())
                    .divide(BigDecimal.valueOf(60), 4, RoundingMode.HALF_EVEN));
      }
    }
    boolean gated = gated(first);
    Optional<BigDecimal> hours =
        unlimited && gpuHours.signum() > 0 ? Optional.empty() : Optional.of(gpuHours);
    return new Job(
        first.jobId(),
        first.user(),
        first.account(),
        submit,
        end,
        cost,
        most.max(cost),
        gated ? hours : Optional.of(BigDecimal.ZERO),
        unlimited,
        new LinkedHashSet<>());
  }

  /** Returns whether the rule on GPU-hours applies to the job's user and partition. */
  private boolean gated(RequestRow row) {
    return policy.gate().isPresent()
        && !row.user().equals("root")
        && !policy.gate().get().exemptUsers().contains(row.user())
        && !policy.gate().get().exemptPartitions().contains(row.partition());
  }

  private Rates rates(RequestRow row) {
    LocalDate day = LocalDate.ofInstant(row.submit(), ZoneOffset.UTC);
    String first = row.partition().split(",", -1)[0];
    Optional<String> partition = Optional.of(first).filter(name -> !name.isEmpty());
    Optional<String> account = Optional.of(row.account()).filter(name -> !name.isEmpty());
    List<String> gpus = List.copyOf(row.tres().gpusBy(gpuType(row), 0).keySet());
    return Rates.of(prices, PriceKey.of(profile, partition, account, day, gpus));
  }

  private String gpuType(RequestRow row) {
    ClusterProfile.Partition partition = profile.partitions().get(row.partition());
    Optional<String> own = partition == null ? Optional.empty() : partition.gpuType();
    return own.or(profile.usual()::gpuType).orElse("gpu");
  }

  private BigDecimal price(Rates rates, RequestRow row, Duration time) {
    return rates.unrounded(
        rates.usage(
            row.tres().gpusBy(gpuType(row), 0),
            row.tres().cpus(),
            row.tres().memoryBytes(),
            row.nodes(),
            time.toSeconds()));
  }

  /** Returns the time limit; empty if there is none. Without a column, the elapsed time. */
  private Optional<Duration> limit(RequestRow row) {
    return switch (row.limit().kind()) {
      case SET -> Optional.of(row.limit().time());
      case UNKNOWN -> Optional.of(row.elapsed());
      default ->
          Optional.ofNullable(profile.partitions().get(row.partition()))
              .flatMap(ClusterProfile.Partition::maxTime);
    };
  }

  /** Applies the rules that look at one job only. */
  private void judgeOneByOne(List<Job> jobs, List<String> rules) {
    Money over = policy.approvalOver();
    if (over.currency().equals(prices.currency())) {
      String rule = "approval_over " + over;
      rules.add(rule);
      jobs.stream()
          .filter(job -> job.unlimited || job.most.compareTo(over.amount()) > 0)
          .forEach(job -> job.refusedBy.add(rule));
    } else {
      notes.add("approval_over is in " + over.currency() + ", the prices in " + prices.currency());
    }
    if (policy.gate().isPresent()) {
      BigDecimal most = policy.gate().get().gpuHoursOver();
      String rule = "slurm.gpu_hours_over " + most.toPlainString();
      rules.add(rule);
      jobs.stream()
          .filter(job -> job.gpuHours.isEmpty() || job.gpuHours.get().compareTo(most) > 0)
          .forEach(job -> job.refusedBy.add(rule));
    }
  }

  /**
   * Goes through the jobs in the order of their submission. A job is refused if its reservation,
   * the reservations of jobs that had not ended, and the cost of jobs that ended in the period
   * exceed the budget together. A refused job takes nothing.
   */
  private void judgeBudget(Policy.Budget budget, List<Job> jobs, List<String> rules) {
    String rule =
        "budget " + budget.runs() + " " + budget.amount().rounded() + " a " + budget.period();
    if (budget.scope() == BudgetScope.PROJECT) {
      notes.add(rule + " is not judged: accounting does not know the project of a job");
      return;
    }
    if (!budget.amount().currency().equals(prices.currency())) {
      notes.add(rule + " is not judged: the prices are in " + prices.currency());
      return;
    }
    rules.add(rule);
    PriorityQueue<Job> open = new PriorityQueue<>(Comparator.comparing(Job::end));
    Map<String, BigDecimal> spent = new HashMap<>();
    BigDecimal reserved = BigDecimal.ZERO;
    for (Job job : jobs) {
      if (!budget.scope().counts(budget.name(), null, job.account, job.user)) {
        continue;
      }
      while (!open.isEmpty() && !open.peek().end.isAfter(job.submit)) {
        Job ended = open.remove();
        reserved = reserved.subtract(ended.most);
        spent.merge(period(budget, ended.end), ended.cost, BigDecimal::add);
      }
      BigDecimal used =
          spent.getOrDefault(period(budget, job.submit), BigDecimal.ZERO).add(reserved);
      if (used.add(job.most).compareTo(budget.amount().amount()) > 0) {
        job.refusedBy.add(rule);
      } else {
        reserved = reserved.add(job.most);
        open.add(job);
      }
    }
  }

  private static String period(Policy.Budget budget, Instant time) {
    LocalDate day = LocalDate.ofInstant(time, ZoneOffset.UTC);
    return switch (budget.period()) {
      case "month" -> day.getYear() + "-" + day.getMonthValue();
      case "quarter" -> day.getYear() + "-Q" + (day.getMonthValue() + 2) / 3;
      default -> "" + day.getYear();
    };
  }

  private List<Line> groups(List<Job> jobs, boolean byUser) {
    return jobs.stream()
        .collect(Collectors.groupingBy(job -> (byUser ? job.user + "\n" : "") + job.account))
        .values()
        .stream()
        .map(group -> line("", group))
        .sorted(
            Comparator.comparing(Line::refusedCost)
                .thenComparing(Line::cost)
                .reversed()
                .thenComparing(line -> line.user + "\n" + line.account))
        .toList();
  }

  private Line line(String rule, List<Job> jobs) {
    List<Job> refused = jobs.stream().filter(job -> !job.refusedBy.isEmpty()).toList();
    String user = jobs.isEmpty() ? "" : jobs.get(0).user;
    String account = jobs.isEmpty() ? "" : jobs.get(0).account;
    return new Line(
        rule,
        user,
        account,
        jobs.size(),
        cost(jobs),
        count(refused, "approval_over"),
        count(refused, "budget "),
        count(refused, "slurm."),
        refused.size(),
        cost(refused));
  }

  private BigDecimal cost(List<Job> jobs) {
    BigDecimal cost = jobs.stream().map(Job::cost).reduce(BigDecimal.ZERO, BigDecimal::add);
    return new Money(cost, prices.currency()).rounded().amount();
  }

  /** Returns how many of the jobs a rule refuses whose name begins so. */
  private static int count(List<Job> jobs, String rule) {
    return (int)
        jobs.stream()
            .filter(job -> job.refusedBy.stream().anyMatch(one -> one.startsWith(rule)))
            .count();
  }
}
