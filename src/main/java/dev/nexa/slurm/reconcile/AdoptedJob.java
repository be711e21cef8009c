package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.units.IndexRange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A job that was submitted without us, as accounting's rows tell it: an array with its tasks, a
 * heterogeneous job with its components, each with all its attempts. Pure.
 *
 * @param identity which job it is
 * @param indices the array indices of its tasks, in order: task 0 of the run is the first; of a job
 *     that is no array as many zeros as it has components
 * @param rows every attempt, under the run's numbers of its tasks
 */
public record AdoptedJob(Identity identity, List<Integer> indices, List<AccountingRecord> rows) {
  /**
   * What makes a job the same job when accounting is asked again. Ids are used again after some
   * time; no other job of that id was submitted in that second under that name.
   *
   * @param cluster its name in accounting
   * @param jobId the array's job id, or the job's own
   * @param submit when it was first submitted
   */
  public record Identity(
      String cluster, long jobId, Instant submit, String name, String user, String account) {}

  /** The stage of imported runs. */
  public static final String STAGE = "imported";

  private record Group(String cluster, long jobId, String name, String user, String account) {}

  /** The jobs that the rows tell of, in the order they first come. */
  public static List<AdoptedJob> of(List<AccountingRecord> rows) {
    Map<Group, List<AccountingRecord>> groups = new LinkedHashMap<>();
    for (AccountingRecord row : rows) {
      Group group =
          new Group(row.cluster(), row.arrayJobId(), row.name(), row.user(), row.account());
      groups.computeIfAbsent(group, none -> new ArrayList<>()).add(row);
    }
    List<AdoptedJob> jobs = new ArrayList<>();
    for (List<AccountingRecord> group : groups.values()) {
      List<List<AccountingRecord>> apart = apart(group);
      if (apart.size() == 1) {
        jobs.add(one(group));
      } else {
        apart.forEach(job -> jobs.add(one(job)));
      }
    }
    return jobs;
  }

  /**
   * An id that slurmctld gave out again is another job, also of the same name: a row is a further
   * attempt of its task only where the one before let it go on.
   */
  private static List<List<AccountingRecord>> apart(List<AccountingRecord> rows) {
    List<AccountingRecord> bySubmit = new ArrayList<>(rows);
    bySubmit.sort(Comparator.comparing(AccountingRecord::submit));
    List<List<AccountingRecord>> jobs = new ArrayList<>();
    Map<String, AccountingRecord> last = new HashMap<>();
    for (AccountingRecord row : bySubmit) {
      List<String> tasks = tasks(row);
      boolean another = jobs.isEmpty();
      for (String task : tasks) {
        AccountingRecord before = last.get(task);
        another |= before != null && before.ended() && !before.state().mayGoOn();
      }
      if (another) {
        jobs.add(new ArrayList<>());
        last.clear();
      }
      jobs.get(jobs.size() - 1).add(row);
      tasks.forEach(task -> last.put(task, row));
    }
    return jobs;
  }

  /** An array's indices, or the id of a job or a component. */
  private static List<String> tasks(AccountingRecord row) {
    if (row.tasks().indices().isEmpty()) {
      return List.of("job " + row.rawJobId());
    }
    List<String> tasks = new ArrayList<>();
    row.tasks().indices().forEach(index -> tasks.add("task " + index));
    return tasks;
  }

  private static AdoptedJob one(List<AccountingRecord> rows) {
    boolean array = false;
    Instant submit = rows.get(0).submit();
    for (AccountingRecord row : rows) {
      array |= !row.tasks().indices().isEmpty();
      submit = row.submit().isBefore(submit) ? row.submit() : submit;
    }
    // What counts as one task: an array's index, or a component's own id.
    TreeMap<Long, Integer> places = new TreeMap<>();
    for (AccountingRecord row : rows) {
      for (long place : places(row, array)) {
        places.put(place, 0);
      }
    }
    List<Integer> indices = new ArrayList<>();
    for (Map.Entry<Long, Integer> place : places.entrySet()) {
      place.setValue(indices.size());
      indices.add(array ? place.getKey().intValue() : 0);
    }
    List<AccountingRecord> renumbered = new ArrayList<>();
    for (AccountingRecord row : rows) {
      List<Integer> tasks = new ArrayList<>();
      for (long place : places(row, array)) {
        tasks.add(places.get(place));
      }
      // Before its tasks have rows an array has one without an index.
      if (!tasks.isEmpty()) {
        renumbered.add(row.of(new IndexRange(tasks), row.name()));
      }
    }
    AccountingRecord first = rows.get(0);
    return new AdoptedJob(
        new Identity(
            first.cluster(),
            first.arrayJobId(),
            submit,
            first.name(),
            first.user(),
            first.account()),
        indices,
        renumbered);
  }

  private static List<Long> places(AccountingRecord row, boolean array) {
    if (!array) {
      return List.of(row.rawJobId());
    }
    List<Long> places = new ArrayList<>();
    for (int index : row.tasks().indices()) {
      places.add((long) index);
    }
    return places;
  }

  /** When its last row closed; the far future while one is open. */
  public Instant ended() {
    Instant ended = Instant.MIN;
    for (AccountingRecord row : rows) {
      Instant end = row.ended() ? row.end().orElseThrow() : Instant.MAX;
      ended = end.isAfter(ended) ? end : ended;
    }
    return ended;
  }

  /** The first line of the run's journal. */
  Event created(RunId id, Instant now) {
    JsonObject data =
        new JsonObject()
            .with("imported", true)
            .with("key", key(id))
            .with("tasks", IndexRange.upTo(indices.size()).toString())
            .with("slurm_cluster", identity.cluster())
            .with("job_id", identity.jobId())
            .with("submit", identity.submit())
            .with("name", identity.name())
            .with("user", identity.user())
            .with("account", identity.account());
    String array = new IndexRange(indices).toString();
    if (!array.equals(data.text("tasks"))) {
      data.with("array", array);
    }
    return new Event(Event.Type.CREATED, now, data);
  }

  /** Stands where a submission's key would: no job has this name. */
  static String key(RunId id) {
    return id + ".import";
  }

  /** Whether that is this job's first line. */
  static boolean tells(JsonObject created, Identity identity) {
    return created.members().containsKey("imported")
        && created.text("slurm_cluster").equals(identity.cluster())
        && created.number("job_id") == identity.jobId()
        && created.instant("submit").equals(identity.submit())
        && created.text("name").equals(identity.name());
  }
}
