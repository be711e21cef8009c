package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.sacct.AttemptUsage;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.records.runs.RunId;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Adds up attempts of jobs that ended in a period. It needs a few bytes for each: a million fit
 * into a small heap. Not thread-safe.
 */
public final class AddUpJobs {
  /** Jobs of further names count in all sums, and suggest no change. */
  private static final int MOST_NAMES = 20_000;

  private static final int MOST_USERS = 10;
  private static final int MOST_CHANGES = 3;
  private static final BigDecimal HALF = new BigDecimal("0.5");
  private static final Duration WORTH_A_CHANGE = Duration.ofHours(1);
  private static final Comparator<JobTotals> DEAREST =
      Comparator.comparing(JobTotals::cost).thenComparing(JobTotals::jobs).reversed();

  private final LookPrices prices;
  private final Map<String, JobTotals> ended = new TreeMap<>();
  private final Map<String, JobTotals> users = new TreeMap<>();
  private final Map<Loss, JobTotals> lost = new EnumMap<>(Loss.class);
  private final Map<Name, Loss.Held> names = new HashMap<>();
  private final Map<Key, Group> groups = new HashMap<>();
  private final Waits.Collector gpuWaits = new Waits.Collector();
  private final Waits.Collector cpuWaits = new Waits.Collector();
  private JobTotals total = JobTotals.NOTHING;
  private Instant first = Instant.MAX;
  private Instant last = Instant.MIN;
  private long open;
  private long unknown;
  private long withoutSize;

  /** The user of jobs, and their name with # for digits. */
  private record Name(String user, String pattern) {
    static Name of(JobUsage job) {
      String name = Objects.requireNonNullElse(job.names().name(), "");
      // Our jobs are named after their submission; the run's id says what they are.
      String known = RunId.ofKey(name).map(RunId::value).orElse(name);
      String user = Objects.requireNonNullElse(job.names().user(), "");
      return new Name(user, known.replaceAll("\\d+", "#"));
    }
  }

  private record Key(Loss loss, Name name) {}

  /** The loss of one kind of the jobs of one name, and their dearest job. */
  private record Group(JobTotals spent, Loss.Held held, String title, String id, BigDecimal most) {
    static Group of(JobUsage job, JobTotals spent, Loss.Held held) {
      String title = Objects.requireNonNullElse(job.names().name(), "");
      return new Group(spent, held, title, job.id(), spent.cost());
    }

    Group plus(Group other) {
      Group dearest = other.most.compareTo(most) > 0 ? other : this;
      return new Group(
          spent.plus(other.spent),
          held.orMore(other.held),
          dearest.title,
          dearest.id,
          dearest.most);
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
      if (state == JobState.UNRECOGNIZED || (state.endsAttempt() && end == null)) {
        unknown++;
      } else if (!state.endsAttempt() || end == null) {
        open += isLast && newest ? tasks(job) : 0;
      } else if (!end.isBefore(from) && end.isBefore(to)) {
        first = end.isBefore(first) ? end : first;
        last = end.isAfter(last) ? end : last;
        try {
          count(job, attempt, state, isLast);
        } catch (ArithmeticException absurd) {
          unknown++;
        }
      }
    }
  }

  /** A range of tasks that never split waits as so many jobs. */
  private static int tasks(JobUsage job) {
    String range = job.subject().tasks();
    try {
      return range == null ? 1 : IndexRange.parse(range).indices().size();
    } catch (IllegalArgumentException cutShort) {
      return 1;
    }
  }

  private void count(JobUsage job, AttemptUsage attempt, JobState state, boolean isLast) {
    Map<String, Long> gpus = Objects.requireNonNullElse(attempt.gpus(), Map.of());
    long count = gpus.values().stream().mapToLong(Long::longValue).reduce(0, Math::addExact);
    long seconds = orZero(attempt.elapsedSeconds());
    long cpus = orZero(attempt.cpus());
    long memory = orZero(job.memoryBytes());
    // A job that was resized goes on: it is counted when it ends.
    int jobs = state == JobState.RESIZING ? 0 : 1;
    JobTotals spent =
        new JobTotals(
            jobs,
            Math.multiplyExact(count, seconds),
            Math.multiplyExact(cpus, seconds),
            prices.cost(gpus, cpus, memory, seconds));
    withoutSize +=
        attempt.gpus() == null || attempt.cpus() == null || attempt.elapsedSeconds() == null
            ? 1
            : 0;
    total = total.plus(spent);
    ended.merge(state.name(), spent, JobTotals::plus);
    users.merge(
        Objects.requireNonNullElse(job.names().user(), "(unknown)"), spent, JobTotals::plus);
    boolean started = seconds > 0 || state != JobState.CANCELLED;
    if (attempt.submit() != null && attempt.start() != null && started) {
      long wait = Duration.between(attempt.submit(), attempt.start()).toSeconds();
      (count > 0 ? gpuWaits : cpuWaits).add(wait);
    }
    Loss.Held held = held(job, attempt, state);
    Name name = Name.of(job);
    if (names.size() < MOST_NAMES || names.containsKey(name)) {
      names.merge(name, held, Loss.Held::orMore);
    }
    Loss.of(state).ifPresent(loss -> lose(loss, job, name, spent, held));
    if (state == JobState.COMPLETED && isLast) {
      idle(job, attempt, name, spent, held);
    }
  }

  /** Counts what a completed job held and did not use. */
  private void idle(
      JobUsage job, AttemptUsage attempt, Name name, JobTotals spent, Loss.Held held) {
    Map<String, Long> gpus = Objects.requireNonNullElse(attempt.gpus(), Map.of());
    long seconds = orZero(attempt.elapsedSeconds());
    long cpus = orZero(attempt.cpus());
    long memory = orZero(job.memoryBytes());
    BigDecimal gpu = job.efficiency().gpu();
    if (isIdle(gpu)) {
      BigDecimal idle = BigDecimal.ONE.subtract(gpu);
      BigDecimal cost = prices.cost(gpus, 0, 0, seconds).multiply(idle);
      lose(
          Loss.IDLE_GPUS,
          job,
          name,
          new JobTotals(1, part(spent.gpuSeconds(), idle), 0, cost),
          held);
    }
    BigDecimal cpu = job.efficiency().cpu();
    if (isIdle(cpu) && spent.gpuSeconds() == 0 && cpus > 1) {
      BigDecimal idle = BigDecimal.ONE.subtract(cpu);
      BigDecimal cost = prices.cost(Map.of(), cpus, 0, seconds).multiply(idle);
      lose(
          Loss.IDLE_CPUS,
          job,
          name,
          new JobTotals(1, 0, part(spent.cpuSeconds(), idle), cost),
          held);
    }
    BigDecimal ofMemory = job.efficiency().memory();
    if (ofMemory != null && isIdle(ofMemory)) {
      BigDecimal needed = prices.cost(gpus, cpus, part(memory, ofMemory), seconds);
      lose(
          Loss.IDLE_MEMORY, job, name, new JobTotals(1, 0, 0, spent.cost().subtract(needed)), held);
    }
    if (held.limit() > 4 * seconds && held.limit() - seconds > WORTH_A_CHANGE.toSeconds()) {
      lose(Loss.LONG_LIMIT, job, name, new JobTotals(1, 0, 0, BigDecimal.ZERO), held);
    }
  }

  private static boolean isIdle(@Nullable BigDecimal share) {
    return share != null && share.compareTo(HALF) < 0;
  }

  private static long part(long whole, BigDecimal share) {
    return BigDecimal.valueOf(whole)
        .multiply(share)
        .setScale(0, RoundingMode.HALF_EVEN)
        .longValueExact();
  }

  private static Loss.Held held(JobUsage job, AttemptUsage attempt, JobState state) {
    long memory = orZero(job.memoryBytes()) / nodes(attempt);
    BigDecimal used = job.efficiency().memory();
    long seconds = orZero(attempt.elapsedSeconds());
    long limit = orZero(attempt.limitSeconds());
    return new Loss.Held(
        memory,
        used == null || state == JobState.OUT_OF_MEMORY ? memory : part(memory, used),
        limit,
        state == JobState.TIMEOUT ? Math.max(limit, seconds) : seconds);
  }

  private static int nodes(AttemptUsage attempt) {
    String nodes = attempt.nodes();
    try {
      return nodes == null ? 1 : Math.max(1, HostList.names(nodes).size());
    } catch (IllegalArgumentException unreadable) {
      return 1;
    }
  }

  private static long orZero(@Nullable Long number) {
    return number == null ? 0 : number;
  }

  private void lose(Loss loss, JobUsage job, Name name, JobTotals spent, Loss.Held held) {
    lost.merge(loss, spent, JobTotals::plus);
    if (names.containsKey(name)) {
      groups.merge(new Key(loss, name), Group.of(job, spent, held), Group::plus);
    }
  }

  /**
   * Returns the sums.
   *
   * @param user the user whose jobs were added; empty for all users
   * @param source the price book in words
   * @param since the begin of the period; empty for the first end of a job
   * @param until the end of the period; empty for the last end of a job
   * @param notes what the reader of the jobs has to say
   */
  public FirstLook look(
      String user,
      String source,
      Optional<Instant> since,
      Optional<Instant> until,
      List<String> notes) {
    boolean some = total.jobs() > 0;
    return new FirstLook(
        new FirstLook.Period(
            user,
            since.or(() -> some ? Optional.of(first) : Optional.empty()),
            until.or(() -> some ? Optional.of(last) : Optional.empty())),
        new FirstLook.Prices(prices.currency(), source),
        total,
        open,
        lines(ended),
        lost.entrySet().stream()
            .map(entry -> new FirstLook.Lost(entry.getKey(), entry.getValue()))
            .sorted(Comparator.comparing(FirstLook.Lost::spent, DEAREST))
            .toList(),
        gpuWaits.waits(),
        cpuWaits.waits(),
        users(),
        changes(),
        notes(notes));
  }

  private List<String> notes(List<String> ofReader) {
    List<String> notes = new ArrayList<>(ofReader);
    if (unknown > 0) {
      notes.add(
          Plural.of(unknown, "attempt")
              + (unknown == 1 ? " is" : " are")
              + " left out: State, End or a number is not known");
    }
    if (withoutSize > 0) {
      notes.add(
          "of "
              + Plural.of(withoutSize, "attempt")
              + " the CPUs, the GPUs or the time are not known: what is not known counts as none");
    }
    if (!prices.assumed().isEmpty()) {
      notes.add(
          "the price book has no price for GPUs of the type "
              + String.join(", ", prices.assumed())
              + ": they count as "
              + prices.otherwise()
              + ", unless you type --gpu-type TYPE");
    }
    return notes;
  }

  private List<FirstLook.Line> users() {
    List<FirstLook.Line> all = lines(users);
    if (all.size() <= MOST_USERS + 1) {
      return all.size() < 2 ? List.of() : all;
    }
    List<FirstLook.Line> most = new ArrayList<>(all.subList(0, MOST_USERS));
    List<FirstLook.Line> others = all.subList(MOST_USERS, all.size());
    most.add(
        new FirstLook.Line(
            "(" + others.size() + " others)",
            others.stream().map(FirstLook.Line::spent).reduce(JobTotals.NOTHING, JobTotals::plus)));
    return most;
  }

  private static List<FirstLook.Line> lines(Map<String, JobTotals> sums) {
    return sums.entrySet().stream()
        .map(entry -> new FirstLook.Line(entry.getKey(), entry.getValue()))
        .sorted(Comparator.comparing(FirstLook.Line::spent, DEAREST))
        .toList();
  }

  private List<Change> changes() {
    return groups.entrySet().stream()
        .filter(entry -> entry.getKey().loss().helps(most(entry), entry.getValue().held()))
        .sorted(
            Comparator.comparing((Map.Entry<Key, Group> entry) -> entry.getValue().spent(), DEAREST)
                .thenComparing(entry -> entry.getKey().toString()))
        .limit(MOST_CHANGES)
        .map(this::change)
        .toList();
  }

  private Loss.Held most(Map.Entry<Key, Group> entry) {
    return names.getOrDefault(entry.getKey().name(), Loss.Held.NOTHING);
  }

  private Change change(Map.Entry<Key, Group> entry) {
    Key key = entry.getKey();
    Group group = entry.getValue();
    boolean explained = key.loss() == Loss.FAILED && RunId.ofKey(group.title()).isPresent();
    return new Change(
        key.loss(),
        group.spent().jobs() == 1 ? group.title() : key.name().pattern(),
        key.name().user(),
        group.spent(),
        group.id(),
        explained ? "nexa-slurm why " + group.id() : key.loss().command(most(entry), group.id()),
        explained
            ? "names the line that failed; type it in that workspace"
            : key.loss().effect(most(entry)));
  }
}
