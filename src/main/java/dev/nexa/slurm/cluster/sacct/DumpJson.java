package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.JsonStream;
import dev.nexa.slurm.base.units.SlurmSize;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the output of {@code sacct --json} and of slurmrestd's {@code /slurmdb/…/jobs}.
 *
 * <p>The plugins dbv0.0.36 (21.08) to data_parser v0.0.45 (26.05) differ. A state is one word or a
 * list. A number is plain or {@code {set, infinite, number}}. A missing value is null, {@code ""}
 * or {@code {}}.
 */
public final class DumpJson {
  private final JobUsages usages;
  private final Problems problems;
  private final States states;
  private final StringPool<String> texts = new StringPool<>(text -> text);
  private boolean ofTheQueue;

  /**
   * Creates a reader.
   *
   * @param usages receives the rows
   * @param problems receives what could not be read
   */
  public DumpJson(JobUsages usages, Problems problems) {
    this.usages = usages;
    this.problems = problems;
    this.states = new States(problems);
  }

  /**
   * Reads the document up to the first place that is not valid JSON. A document that ends early, or
   * reports errors and warnings of its own, is added to the problems.
   */
  public void read(InputStream in) {
    try {
      JsonObject rest =
          JsonStream.read(new InputStreamReader(in, StandardCharsets.UTF_8), "jobs", this::job);
      String release = text(rest, "meta", "Slurm", "release");
      if (release != null && release.startsWith("21.08")) {
        // parse_job (parse.c of openapi/dbv0.0.36 and 37) prints the eligible time as the start.
        problems.add(0, "Slurm 21.08 prints as a job's start when it became eligible");
      }
      if (!rest.isEmpty() && !rest.members().containsKey("jobs")) {
        problems.add(0, "the document has no list \"jobs\", as sacct --json has");
      }
      for (String list : List.of("errors", "warnings")) {
        for (Object entry : list(rest, list)) {
          problems.add(0, "the document's " + list + " hold " + entry);
        }
      }
    } catch (IllegalArgumentException broken) {
      problems.add(0, "not JSON from here on: " + broken.getMessage());
    }
  }

  private void job(JsonObject job, int line) {
    if (job.members().containsKey("job_state") && !job.members().containsKey("state")) {
      if (!ofTheQueue) {
        problems.add(
            line,
            "the jobs are those of `squeue --json` or of slurmrestd's /slurm/…/jobs, which do not say"
                + " what a job used; pass the output of `sacct --json` or of /slurmdb/…/jobs");
      }
      ofTheQueue = true;
      return;
    }
    long number = number(job, "job_id");
    UsageId id = number <= 0 ? null : id(job, number);
    if (id == null) {
      problems.add(line, "a job without a job_id is left out");
      return;
    }
    String alloc = tres(at(job, "tres", "allocated"));
    Tres tres = Tres.parse(alloc == null ? "" : alloc);
    usages.add(
        new JobRow(
            id,
            line,
            (int) number,
            new JobRow.Times(
                (int) time(job, "time", "submission"),
                (int) time(job, "time", "start"),
                (int) time(job, "time", "end"),
                whole(number(job, "time", "elapsed")),
                limit(number(job, "time", "limit"))),
            new JobRow.Allocated(
                whole(tres.knownCpus().orElse(JobRow.UNKNOWN)),
                tres.knownMemoryBytes().orElse(JobRow.UNKNOWN),
                gpus(tres, alloc, job)),
            cpuMicros(job),
            energy(at(job, "tres", "allocated")),
            new JobNames(
                shared(text(job, "name")),
                shared(ofJobOrAssociation(job, "user")),
                shared(ofJobOrAssociation(job, "account"))),
            states.read(words(at(job, "state", "current")), line),
            exitCode(at(job, "exit_code"), words(at(job, "state", "current"))),
            shared(nodes(job)),
            null));
    for (Object step : list(job, "steps")) {
      if (step instanceof JsonObject object) {
        step(id, object, line);
      }
    }
  }

  private void step(UsageId id, JsonObject step, int line) {
    long end = time(step, "time", "end");
    long used = cpuMicros(step);
    long maxRss = measured(step, "max", "mem", null);
    long peak = measured(step, "total", "mem", null);
    long percent = measured(step, "total", "gres", "gpuutil");
    long elapsed = number(step, "time", "elapsed");
    boolean oneTask = number(step, "tasks", "count") == 1;
    usages.add(
        new StepRow(
            id,
            "",
            line,
            (int) time(step, "time", "start"),
            end > 0,
            used == 0 && end <= 0 ? JobRow.UNKNOWN : used,
            maxRss,
            peak >= 0 ? peak : oneTask ? maxRss : JobRow.UNKNOWN,
            percent < 0 || elapsed < 0 ? JobRow.UNKNOWN : percent * 10 * elapsed));
  }

  private @Nullable UsageId id(JsonObject job, long number) {
    String cluster = shared(text(job, "cluster"));
    long array = number(job, "array", "job_id");
    long het = number(job, "het", "job_id");
    if (array > 0) {
      String tasks = TaskMask.read(text(job, "array", "task"));
      long task = number(job, "array", "task_id");
      // Beside a range of tasks, a task number of 0 means that no number is set.
      return tasks != null && task <= 0
          ? UsageId.parse(cluster, array + "_[" + tasks + "]")
          : UsageId.parse(cluster, task < 0 ? "" + array : array + "_" + task);
    }
    long offset = number(job, "het", "job_offset");
    return UsageId.parse(cluster, het > 0 && offset >= 0 ? het + "+" + offset : "" + number);
  }

  private static @Nullable String ofJobOrAssociation(JsonObject job, String name) {
    String own = text(job, name);
    return own == null ? text(job, "association", name) : own;
  }

  private static @Nullable String nodes(JsonObject job) {
    String nodes = text(job, "nodes");
    return nodes == null || nodes.equals("None assigned") || LocalTimes.isNothing(nodes)
        ? null
        : nodes;
  }

  private static @Nullable Map<String, Long> gpus(
      Tres tres, @Nullable String alloc, JsonObject job) {
    if (alloc == null) {
      return null;
    }
    String requested = tres(at(job, "tres", "requested"));
    boolean tracked = Gpus.tracked(alloc);
    boolean asked = requested != null && Gpus.asked(requested);
    return asked && !tracked ? null : Gpus.of(tres, tracked);
  }

  /**
   * Returns {@code exit:signal}, such as {@code 0:9}, as sacct's tables print it. Unlike there, 128
   * is not subtracted.
   */
  private @Nullable String exitCode(@Nullable Object value, List<String> state) {
    if (!(value instanceof JsonObject code)) {
      return null;
    }
    if (state.contains("FAILED") && words(at(code, "status")).contains("SUCCESS")) {
      // 21.08 and 22.05 print 0 for every job that no signal killed (_dump_job_exit_code).
      return null;
    }
    long status = number(code, "return_code");
    long signal = number(code, "signal", "id");
    if (signal < 0) {
      signal = number(code, "signal", "signal_id");
    }
    return status < 0 && signal < 0
        ? null
        : texts.of(Math.max(0, status) + ":" + Math.max(0, signal));
  }

  /** Returns a TRES list in sacct's text form; null if the value is none. */
  private static @Nullable String tres(@Nullable Object value) {
    if (value instanceof String text) {
      return text;
    }
    if (!(value instanceof List<?> list)) {
      return null;
    }
    StringBuilder text = new StringBuilder();
    for (Object entry : list) {
      if (entry instanceof JsonObject item && text(item, "type") != null) {
        String name = text(item, "name");
        long count = number(item, "count");
        text.append(text.length() == 0 ? "" : ",")
            .append(text(item, "type"))
            .append(name == null ? "" : "/" + name)
            .append('=')
            .append(count < 0 ? "NONE" : "" + count);
      }
    }
    return text.toString();
  }

  private static long energy(@Nullable Object allocated) {
    if (allocated instanceof List<?> list) {
      for (Object entry : list) {
        if (entry instanceof JsonObject item && "energy".equals(text(item, "type"))) {
          long joules = number(item, "count");
          return joules > 0 ? joules : JobRow.UNKNOWN;
        }
      }
    }
    return JobRow.UNKNOWN;
  }

  /**
   * Returns a measured value, the largest if there are several. Slurm puts it under "requested";
   * "consumed" holds bytes written to disk.
   */
  private static long measured(JsonObject step, String of, String type, @Nullable String name) {
    long most = JobRow.UNKNOWN;
    if (at(step, "tres", "requested", of) instanceof List<?> list) {
      for (Object entry : list) {
        if (entry instanceof JsonObject item
            && type.equals(text(item, "type"))
            && (name == null || name.equals(text(item, "name")))) {
          most = Math.max(most, number(item, "count"));
        }
      }
    }
    return most;
  }

  private static long cpuMicros(JsonObject of) {
    long seconds = number(of, "time", "total", "seconds");
    long micros = number(of, "time", "total", "microseconds");
    return seconds < 0 ? JobRow.UNKNOWN : seconds * 1_000_000 + Math.max(0, micros);
  }

  private static int limit(long minutes) {
    return minutes < 0 ? JobRow.UNKNOWN : whole(minutes * 60);
  }

  private static int whole(long number) {
    return number < 0 || number > Integer.MAX_VALUE ? JobRow.UNKNOWN : (int) number;
  }

  private static long time(JsonObject of, String... path) {
    long seconds = number(of, path);
    return seconds <= 0 ? JobRow.UNKNOWN : seconds;
  }

  /**
   * Returns the number; -1 if it is missing, not set, infinite, negative or one of Slurm's NO_VAL
   * values.
   */
  private static long number(JsonObject of, String... path) {
    Object value = at(of, path);
    if (value instanceof JsonObject wrapped) {
      boolean set = !Boolean.FALSE.equals(wrapped.members().get("set"));
      boolean infinite = Boolean.TRUE.equals(wrapped.members().get("infinite"));
      value = set && !infinite ? wrapped.members().get("number") : null;
    }
    if (value instanceof String text) {
      return SlurmSize.count(text).orElse(JobRow.UNKNOWN);
    }
    if (!(value instanceof BigDecimal number)
        || number.signum() < 0
        || number.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0
        || SlurmSize.isNoValue(number.longValue())) {
      return JobRow.UNKNOWN;
    }
    return number.longValue();
  }

  private @Nullable String shared(@Nullable String text) {
    return text == null ? null : texts.of(text);
  }

  private static @Nullable String text(JsonObject of, String... path) {
    return at(of, path) instanceof String text && !text.isEmpty() ? text : null;
  }

  private static List<String> words(@Nullable Object value) {
    List<String> words = new ArrayList<>();
    if (value instanceof String word) {
      words.add(word);
    } else if (value instanceof List<?> list) {
      for (Object word : list) {
        words.add(String.valueOf(word));
      }
    }
    return words;
  }

  private static List<?> list(JsonObject of, String name) {
    return at(of, name) instanceof List<?> list ? list : List.of();
  }

  private static @Nullable Object at(JsonObject of, String... path) {
    Object value = of;
    for (String name : path) {
      value = value instanceof JsonObject object ? object.members().get(name) : null;
    }
    return value;
  }
}
