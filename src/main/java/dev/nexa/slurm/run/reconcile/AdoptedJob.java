package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A job that was not submitted by nexa-slurm, from accounting's rows: an array with its tasks or a
 * heterogeneous job with its components, with all attempts. Immutable.
 *
 * @param identity identifies the job
 * @param indices the array indices of the tasks, in order; task 0 of the run is the first. For a
 *     job that is not an array, a zero for each component
 * @param rows every attempt, with the run's task numbers
 */
public record AdoptedJob(Identity identity, List<Integer> indices, List<AccountingRecord> rows) {
  /**
   * Identifies a job in later queries of accounting. Slurm reuses job ids, but no other job of this
   * id was submitted in the same second under the same name.
   *
   * @param cluster the cluster's name in accounting
   * @param jobId the array's job id, or the job's own id
   * @param submit when the job was first submitted
   */
  public record Identity(
      @Codec.Key("slurm_cluster") String cluster,
      long jobId,
      Instant submit,
      String name,
      String user,
      String account) {}

  /** The stage of imported runs. */
  public static final String STAGE = "imported";

  private record Group(String cluster, long jobId, String name, String user, String account) {}

  /**
   * Groups rows into jobs, in the order of their first rows. A row that sacct prints twice counts
   * once.
   */
  public static List<AdoptedJob> of(List<AccountingRecord> rows) {
    Map<Group, List<AccountingRecord>> groups = new LinkedHashMap<>();
    for (AccountingRecord row : new LinkedHashSet<>(rows)) {
      Group group =
          new Group(row.cluster(), row.arrayJobId(), row.name(), row.user(), row.account());
      groups.computeIfAbsent(group, none -> new ArrayList<>()).add(row);
    }
    List<AdoptedJob> jobs = new ArrayList<>();
    for (List<AccountingRecord> group : groups.values()) {
      List<List<AccountingRecord>> apart = apart(group);
      (apart.size() == 1 ? List.of(group) : apart).forEach(job -> jobs.add(one(job)));
    }
    return jobs;
  }

  /**
   * Splits rows of one id and name into jobs, because slurmctld reuses ids. A row is a further
   * attempt of its task only if the previous attempt's end state allows another attempt.
   */
  private static List<List<AccountingRecord>> apart(List<AccountingRecord> rows) {
    List<AccountingRecord> bySubmit = new ArrayList<>(rows);
    bySubmit.sort(Comparator.comparing(AccountingRecord::submit));
    List<List<AccountingRecord>> jobs = new ArrayList<>();
    Map<String, AccountingRecord> last = new HashMap<>();
    for (AccountingRecord row : bySubmit) {
      List<String> tasks = tasks(row);
      if (jobs.isEmpty()
          || tasks.stream()
              .flatMap(task -> Optional.ofNullable(last.get(task)).stream())
              .anyMatch(before -> before.ended() && !before.state().mayGoOn())) {
        jobs.add(new ArrayList<>());
        last.clear();
      }
      jobs.get(jobs.size() - 1).add(row);
      tasks.forEach(task -> last.put(task, row));
    }
    return jobs;
  }

  /** Returns the row's array indices, or the job id if it has none. */
  private static List<String> tasks(AccountingRecord row) {
    return row.tasks().indices().isEmpty()
        ? List.of("job " + row.rawJobId())
        : row.tasks().indices().stream().map(index -> "task " + index).toList();
  }

  private static AdoptedJob one(List<AccountingRecord> rows) {
    boolean array = rows.stream().anyMatch(row -> !row.tasks().indices().isEmpty());
    // A task is an array index, or a component's own job id.
    TreeMap<Long, Integer> places = new TreeMap<>();
    rows.forEach(row -> places(row, array).forEach(place -> places.put(place, 0)));
    List<Integer> indices = new ArrayList<>();
    for (Map.Entry<Long, Integer> place : places.entrySet()) {
      place.setValue(indices.size());
      indices.add(array ? place.getKey().intValue() : 0);
    }
    List<AccountingRecord> renumbered = new ArrayList<>();
    for (AccountingRecord row : rows) {
      List<Integer> tasks = places(row, array).stream().map(places::get).toList();
      // An array has a row without an index until its tasks have rows.
      if (!tasks.isEmpty()) {
        renumbered.add(row.of(new IndexRange(tasks), row.name()));
      }
    }
    AccountingRecord first = rows.get(0);
    return new AdoptedJob(
        new Identity(
            first.cluster(),
            first.arrayJobId(),
            rows.stream().map(AccountingRecord::submit).min(Comparator.naturalOrder()).get(),
            first.name(),
            first.user(),
            first.account()),
        indices,
        renumbered);
  }

  private static List<Long> places(AccountingRecord row, boolean array) {
    return array
        ? row.tasks().indices().stream().map(index -> (long) index).toList()
        : List.of(row.rawJobId());
  }

  /** Returns the end of the last row; {@link Instant#MAX} while a row is open. */
  public Instant ended() {
    return rows.stream()
        .map(row -> row.ended() ? row.end().orElseThrow() : Instant.MAX)
        .max(Comparator.naturalOrder())
        .orElse(Instant.MIN);
  }

  /** Returns the first event of the run's journal. */
  Event created(RunId id, Instant now) {
    String tasks = IndexRange.upTo(indices.size()).toString();
    JsonObject data = new JsonObject().with("imported", true).with("key", key(id));
    Codec.write(identity, data.with("tasks", tasks));
    String array = new IndexRange(indices).toString();
    if (!array.equals(tasks)) {
      data.with("array", array);
    }
    return new Event(Event.Type.CREATED, now, data);
  }

  /** Returns the key of an imported run's only submission. No job in Slurm has this name. */
  static String key(RunId id) {
    return id + ".import";
  }

  /** Returns whether a journal's first event belongs to this job. */
  static boolean tells(JsonObject created, Identity identity) {
    return created.members().containsKey("imported")
        && created.text("slurm_cluster").equals(identity.cluster())
        && created.number("job_id") == identity.jobId()
        && created.instant("submit").equals(identity.submit())
        && created.text("name").equals(identity.name());
  }
}
