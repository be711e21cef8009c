package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.cluster.sacct.AttemptUsage;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.records.runs.RunId;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Adds up attempts of jobs that ended in a period. It needs a few bytes for each: a million fit
 * into a small heap. Not thread-safe.
 */
public final class AddUpJobs {
  private static final int MOST_GROUPS = 20_000;
  private static final int MOST_USERS = 10;
  private static final int MOST_CHANGES = 3;
  private static final BigDecimal HALF = new BigDecimal("0.5");
  private static final Duration WORTH_A_CHANGE = Duration.ofHours(1);

  private final LookPrices prices;
  private final Map<String, JobTotals> ended = new TreeMap<>();
  private final Map<String, JobTotals> users = new TreeMap<>();
  private final Map<Loss, JobTotals> lost = new EnumMap<>(Loss.class);
  private final Map<Key, Group> groups = new HashMap<>();
  private final Waits.Collector gpuWaits = new Waits.Collector();
  private final Waits.Collector cpuWaits = new Waits.Collector();
  private JobTotals total = JobTotals.NOTHING;
  private Instant first = Instant.MAX;
  private Instant last = Instant.MIN;
  private long open;

  private record Key(Loss loss, String user, String name) {}

  /** What jobs of one name lost in one way. */
  private record Group(JobTotals spent, Loss.Held held, String example, BigDecimal most) {
    static final Group NOTHING =
        new Group(JobTotals.NOTHING, Loss.Held.NOTHING, "", BigDecimal.ONE.negate());

    Group plus(JobTotals more, Loss.Held other, String id) {
      boolean larger = more.cost().compareTo(most) > 0;
      return new Group(
          spent.plus(more), held.orMore(other), larger ? id : example, more.cost().max(most));
    }
  }

  public AddUpJobs(LookPrices prices) {
    this.prices = prices;
  }

  /**
   * Adds the attempts of a job that ended in a period. Periods of several calls must not overlap.
   *
   * @param newest whether the period is the newest one: its jobs that have not ended are counted
   */
  public void add(JobUsage job, Instant from, Instant to, boolean newest) {
    List<AttemptUsage> attempts = job.attempts();
    for (int i = 0; i < attempts.size(); i++) {
      AttemptUsage attempt = attempts.get(i);
      boolean isLast = i == attempts.size() - 1;
      JobState state = JobState.parse(Objects.requireNonNullElse(attempt.state(), ""));
      Instant end = attempt.end();
      if (!state.endsAttempt() || end == null) {
        open += isLast && newest ? 1 : 0;
      } else if (!end.isBefore(from) && end.isBefore(to)) {
        first = end.isBefore(first) ? end : first;
        last = end.isAfter(last) ? end : last;
        count(job, attempt, state, isLast);
      }
    }
  }

  private void count(JobUsage job, AttemptUsage attempt, JobState state, boolean isLast) {
    Map<String, Long> gpus = Objects.requireNonNullElse(attempt.gpus(), Map.of());
    long count = gpus.values().stream().mapToLong(Long::longValue).sum();
    long seconds = orZero(attempt.elapsedSeconds());
    long cpus = orZero(attempt.cpus());
    long memory = orZero(job.memoryBytes());
    // A job that was resized goes on: it is counted when it ends.
    int jobs = state == JobState.RESIZING ? 0 : 1;
    JobTotals spent =
        new JobTotals(
            jobs, count * seconds, cpus * seconds, prices.cost(gpus, cpus, memory, seconds));
    total = total.plus(spent);
    ended.merge(state.name(), spent, JobTotals::plus);
    users.merge(Objects.requireNonNullElse(job.names().user(), "-"), spent, JobTotals::plus);
    if (attempt.submit() != null && attempt.start() != null && seconds > 0) {
      long wait = Duration.between(attempt.submit(), attempt.start()).toSeconds();
      (count > 0 ? gpuWaits : cpuWaits).add(wait);
    }
    Loss.Held held = held(job, attempt);
    Loss.of(state).ifPresent(loss -> lose(loss, job, spent, held));
    if (state == JobState.COMPLETED && isLast) {
      idle(job, attempt, spent, held);
    }
  }

  /** Counts what a completed job held and did not use. */
  private void idle(JobUsage job, AttemptUsage attempt, JobTotals spent, Loss.Held held) {
    Map<String, Long> gpus = Objects.requireNonNullElse(attempt.gpus(), Map.of());
    long seconds = orZero(attempt.elapsedSeconds());
    long cpus = orZero(attempt.cpus());
    BigDecimal gpu = job.efficiency().gpu();
    if (isIdle(gpu)) {
      BigDecimal without = prices.cost(Map.of(), cpus, held.memory(), seconds);
      BigDecimal ofGpus = spent.cost().subtract(without).max(BigDecimal.ZERO);
      BigDecimal idle = BigDecimal.ONE.subtract(gpu);
      lose(
          Loss.IDLE_GPUS,
          job,
          new JobTotals(1, part(spent.gpuSeconds(), idle), 0, ofGpus.multiply(idle)),
          held);
    }
    BigDecimal cpu = job.efficiency().cpu();
    if (isIdle(cpu) && spent.gpuSeconds() == 0 && cpus > 1) {
      BigDecimal idle = BigDecimal.ONE.subtract(cpu);
      BigDecimal cost = prices.cost(Map.of(), cpus, 0, seconds).multiply(idle);
      lose(Loss.IDLE_CPUS, job, new JobTotals(1, 0, part(spent.cpuSeconds(), idle), cost), held);
    }
    if (isIdle(job.efficiency().memory())) {
      BigDecimal needed = prices.cost(gpus, cpus, held.memoryUsed(), seconds);
      lose(Loss.IDLE_MEMORY, job, new JobTotals(1, 0, 0, spent.cost().subtract(needed)), held);
    }
    if (held.limit() > 4 * seconds && held.limit() - seconds > WORTH_A_CHANGE.toSeconds()) {
      lose(Loss.LONG_LIMIT, job, new JobTotals(1, 0, 0, BigDecimal.ZERO), held);
    }
  }

  private static boolean isIdle(@Nullable BigDecimal share) {
    return share != null && share.compareTo(HALF) < 0;
  }

  private static long part(long seconds, BigDecimal share) {
    return BigDecimal.valueOf(seconds)
        .multiply(share)
        .setScale(0, RoundingMode.HALF_EVEN)
        .longValueExact();
  }

  private static Loss.Held held(JobUsage job, AttemptUsage attempt) {
    long memory = orZero(job.memoryBytes());
    BigDecimal cpu = job.efficiency().cpu();
    BigDecimal used = job.efficiency().memory();
    return new Loss.Held(
        memory,
        used == null ? 0 : part(memory, used),
        cpu == null
            ? 0
            : cpu.multiply(BigDecimal.valueOf(orZero(attempt.cpus())))
                .setScale(0, RoundingMode.UP)
                .longValueExact(),
        orZero(attempt.limitSeconds()),
        orZero(attempt.elapsedSeconds()));
  }

  private static long orZero(@Nullable Long number) {
    return number == null ? 0 : number;
  }

  private void lose(Loss loss, JobUsage job, JobTotals spent, Loss.Held held) {
    lost.merge(loss, spent, JobTotals::plus);
    String name = Objects.requireNonNullElse(job.names().name(), "");
    // Our jobs are named after their submission; the run's id says what they are.
    name = RunId.ofKey(name).map(RunId::value).orElse(name).replaceAll("\\d+", "#");
    String user = Objects.requireNonNullElse(job.names().user(), "");
    groups.merge(
        new Key(loss, user, name),
        Group.NOTHING.plus(spent, held, job.id()),
        (before, one) -> before.plus(spent, held, job.id()));
    if (groups.size() > MOST_GROUPS) {
      forgetHalf();
    }
  }

  /** Forgets the groups that lost least. */
  private void forgetHalf() {
    List<Key> least =
        groups.entrySet().stream()
            .sorted(Comparator.comparing(entry -> entry.getValue().spent().cost()))
            .limit(MOST_GROUPS / 2)
            .map(Map.Entry::getKey)
            .toList();
    least.forEach(groups::remove);
  }

  /**
   * Returns the sums.
   *
   * @param user the user whose jobs were added; empty for all users
   * @param source the price book in words
   * @param since the begin of the period; null for the first end of a job
   * @param until the end of the period; null for the last end of a job
   */
  public FirstLook look(
      String user, String source, @Nullable Instant since, @Nullable Instant until) {
    Instant begin = since != null ? since : total.jobs() == 0 ? Instant.EPOCH : first;
    Instant end = until != null ? until : total.jobs() == 0 ? Instant.EPOCH : last;
    return new FirstLook(
        new FirstLook.Period(user, begin, end),
        new FirstLook.Prices(prices.currency(), source, prices.assumed()),
        total,
        open,
        lines(ended),
        lost.entrySet().stream()
            .map(entry -> new FirstLook.Line(entry.getKey().words(), entry.getValue()))
            .sorted(BY_COST)
            .toList(),
        gpuWaits.waits(),
        cpuWaits.waits(),
        users.size() < 2 ? List.of() : lines(users).stream().limit(MOST_USERS).toList(),
        changes());
  }

  private static final Comparator<FirstLook.Line> BY_COST =
      Comparator.comparing((FirstLook.Line line) -> line.spent().cost())
          .thenComparing(line -> line.spent().jobs())
          .reversed();

  private static List<FirstLook.Line> lines(Map<String, JobTotals> sums) {
    return sums.entrySet().stream()
        .map(entry -> new FirstLook.Line(entry.getKey(), entry.getValue()))
        .sorted(BY_COST)
        .toList();
  }

  private List<Change> changes() {
    Set<Loss> decided = EnumSet.of(Loss.CANCELLED);
    return groups.entrySet().stream()
        .filter(entry -> !decided.contains(entry.getKey().loss()))
        .sorted(
            Comparator.comparing((Map.Entry<Key, Group> entry) -> entry.getValue().spent().cost())
                .thenComparing(entry -> entry.getValue().spent().jobs())
                .reversed()
                .thenComparing(entry -> entry.getKey().toString()))
        .limit(MOST_CHANGES)
        .map(
            entry ->
                new Change(
                    entry.getKey().loss(),
                    entry.getKey().name(),
                    entry.getKey().user(),
                    entry.getValue().spent(),
                    entry.getValue().example(),
                    entry.getKey().loss().command(entry.getValue().held()),
                    entry.getKey().loss().effect()))
        .toList();
  }
}
