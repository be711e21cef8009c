package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A pretended cluster whose jobs are whole arrays that claim their tasks, work, fail, are queued
 * again and leave results, as the rendered script does. Its clients are the programs of
 * src/test/resources/fault-slurm; time goes on in {@link #advance} only. What it worked and what it
 * accounted for is the truth that everything else is held against.
 */
final class FaultCluster {
  private static final List<String> PROGRAMS =
      List.of("sbatch", "squeue", "sacct", "scancel", "scontrol");
  private static final String US = "\u001f";

  private final Path bin;
  private final Path state;
  private final Random random;
  private final Map<Long, Job> jobs = new TreeMap<>();
  private final Map<String, List<String>> workedWell = new TreeMap<>();

  /** All attempts lie this far in the past: nobody waits for a grace to be over. */
  private final long base = Instant.now().getEpochSecond() - 3400;

  FaultCluster(Path folder, Random random) {
    bin = folder.resolve("bin");
    state = folder.resolve("state");
    this.random = random;
    try {
      Files.createDirectories(bin);
      for (String name : List.of("jobs", "made", "gone")) {
        Files.createDirectories(state.resolve(name));
      }
      for (String program : PROGRAMS) {
        try (InputStream script =
            Objects.requireNonNull(
                FaultCluster.class.getResourceAsStream("/fault-slurm/" + program), program)) {
          Files.copy(script, bin.resolve(program));
        }
        Files.setPosixFilePermissions(
            bin.resolve(program), PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    write("last_id", "100\n");
    write("rows", "");
  }

  Map<String, String> environment() {
    return Map.of("PATH", bin + ":/usr/bin:/bin", "HOME", state.toString(), "USER", "tester");
  }

  /** Lets squeue, sacct … do this instead of what they do by themselves. */
  void instead(String program, String shell) {
    write(program, shell + "\n");
  }

  void asUsual(String program) {
    try {
      Files.deleteIfExists(state.resolve(program));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Bytes of all rows. */
  long rowBytes() {
    return state.resolve("rows").toFile().length();
  }

  /**
   * One closed attempt, as accounting keeps it.
   *
   * @param key the job's name
   */
  record Attempt(String key, long jobId, long seconds, String rawState) {}

  /** Every attempt that held an allocation, of the submissions of one run. */
  synchronized List<Attempt> attempts(String runId) {
    List<Attempt> attempts = new ArrayList<>();
    for (Job job : jobs.values()) {
      if (job.key.startsWith(runId + ".")) {
        for (Task task : job.tasks.values()) {
          attempts.addAll(task.attempts);
        }
      }
    }
    return attempts;
  }

  /** By {@code <run>/<task>}, the keys of the jobs that ended its work well. */
  synchronized Map<String, List<String>> workedWell() {
    return new TreeMap<>(workedWell);
  }

  /** Time goes on: some tasks begin, some end. */
  synchronized void advance(boolean toTheEnd) {
    for (String name : names("jobs")) {
      jobs.computeIfAbsent(Long.parseLong(name), this::load);
    }
    for (Job job : jobs.values()) {
      boolean ending = Files.exists(state.resolve("gone").resolve("" + job.id));
      boolean waits = !job.after.isEmpty() && !over(Long.parseLong(job.after));
      for (Task task : job.tasks.values()) {
        for (int turn = 0; turn < (toTheEnd ? 6 : 1); turn++) {
          if (!task.over && (toTheEnd || random.nextInt(3) > 0)) {
            task.goOn(ending, waits);
          }
        }
      }
    }
    // The rows first: what squeue does not list any more has its row.
    List<String> rows = new ArrayList<>();
    jobs.values().forEach(job -> rows.addAll(job.rows()));
    replace("rows", rows);
    for (Job job : jobs.values()) {
      List<String> queue = new ArrayList<>();
      job.tasks.values().forEach(task -> task.queue(queue));
      replace("jobs/" + job.id, queue);
    }
  }

  private boolean over(long id) {
    Job job = jobs.get(id);
    return job == null || job.tasks.values().stream().allMatch(task -> task.over);
  }

  private Job load(long id) {
    List<String> made = lines("made/" + id);
    Job job = new Job(id, made.get(0), Path.of(made.get(1)), made.get(2));
    int offset = Integer.parseInt(read(job.submission.resolve("offset")).strip());
    for (String entry : lines("jobs/" + id)) {
      int index = Integer.parseInt(entry.split(US, -1)[2]);
      job.tasks.put(index, new Task(job, index, index + offset));
    }
    return job;
  }

  private static final class Job {
    private final long id;
    private final String key;
    private final Path submission;
    private final String after;
    private final Map<Integer, Task> tasks = new TreeMap<>();

    Job(long id, String key, Path submission, String after) {
      this.id = id;
      this.key = key;
      this.submission = submission;
      this.after = after;
    }

    /** Nothing of the job ever began: then accounting has one row for all of it. */
    List<String> rows() {
      List<String> rows = new ArrayList<>();
      tasks.values().forEach(task -> rows.addAll(task.rows));
      boolean unseen = tasks.values().stream().allMatch(task -> task.over && task.rows.isEmpty());
      if (unseen && !tasks.isEmpty()) {
        Task first = tasks.values().iterator().next();
        String all = tasks.keySet().stream().map(String::valueOf).collect(Collectors.joining(","));
        rows.add(first.row("[" + all + "]", "CANCELLED by 0", false, 20, 0));
      }
      return rows;
    }
  }

  private final class Task {
    private final Job job;
    private final int index;
    private final int number;
    private final String lastState;
    private final List<String> rows = new ArrayList<>();
    private final List<Attempt> attempts = new ArrayList<>();
    private int requeuesLeft;
    private int restart;
    private long clock;
    private boolean running;
    private boolean duplicate;
    private boolean over;

    Task(Job job, int index, int number) {
      this.job = job;
      this.index = index;
      this.number = number;
      int draw = random.nextInt(10);
      lastState = draw == 0 ? "FAILED" : draw == 1 ? "TIMEOUT" : "COMPLETED";
      requeuesLeft = random.nextInt(4) == 0 ? 1 + random.nextInt(2) : 0;
      clock = base + index;
    }

    private long rawId() {
      return job.id * 1000 + index;
    }

    void goOn(boolean ending, boolean waits) {
      if (!running) {
        if (ending) {
          over = true;
          if (restart > 0) {
            rows.add(row("" + index, "CANCELLED by 0", false, 0, 1));
          }
        } else if (!waits) {
          begin();
        }
      } else {
        String ends = ending ? "CANCELLED by 0" : requeuesLeft > 0 ? "REQUEUED" : lastState;
        // Without a claim, or with nothing left to do in a chain, it ends at once and well.
        end(duplicate || done() ? "COMPLETED" : ends);
      }
    }

    private String work() {
      return job.key.substring(0, job.key.indexOf('.')) + "/" + number;
    }

    /** Whether an earlier link of its chain has ended the work well. */
    private boolean done() {
      return !job.after.isEmpty() && workedWell.containsKey(work());
    }

    private void begin() {
      running = true;
      Path claim = job.submission.resolve("claims/" + number);
      try {
        if (restart == 0) {
          Files.createSymbolicLink(claim, Path.of("" + rawId()));
        }
      } catch (IOException shut) {
        duplicate = true;
        leaveId();
      }
      rows.add(row("" + index, "RUNNING", true, 0, 0));
    }

    /** As templates/lib/preamble.ftl does. */
    private void leaveId() {
      try {
        Files.createDirectories(job.submission.resolve("duplicates/" + job.id));
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }

    private void end(String ends) {
      running = false;
      long seconds = duplicate ? 1 : 1 + random.nextInt(300);
      rows.set(rows.size() - 1, row("" + index, ends, true, seconds, 1));
      attempts.add(new Attempt(job.key, rawId(), seconds, ends));
      boolean tells = ends.equals("COMPLETED") || ends.equals("FAILED");
      if (tells && !duplicate) {
        result(ends.equals("COMPLETED") ? 0 : 1, seconds);
      }
      if (ends.equals("COMPLETED") && !duplicate && !done()) {
        workedWell.computeIfAbsent(work(), none -> new ArrayList<>()).add(job.key);
      }
      clock += seconds + 5;
      if (ends.equals("REQUEUED")) {
        requeuesLeft--;
        restart++;
      } else {
        over = true;
      }
    }

    private void result(int exit, long seconds) {
      String text =
          "{\"task\":%d,\"restart\":%d,\"job_id\":%d,\"array_job_id\":%d,\"node\":\"n1\",\"started\":%d,\"ended\":%d,\"exit_code\":%d,\"signal\":\"\"}%n"
              .formatted(number, restart, rawId(), job.id, clock + 5, clock + 5 + seconds, exit);
      try {
        Files.writeString(
            job.submission.resolve("results/" + number + "." + restart + ".json"), text);
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }

    void queue(List<String> entries) {
      if (!over) {
        String word = running ? "RUNNING" : "PENDING";
        String start = running ? "" + (clock + 5) : "N/A";
        entries.add(
            String.join(
                US, "" + rawId(), "" + job.id, "" + index, word, "None", start, "N/A", job.key));
      }
    }

    String row(String shown, String word, boolean ran, long seconds, int ended) {
      Map<String, String> fields = new HashMap<>();
      fields.put("JobIDRaw", "" + rawId());
      fields.put("JobID", job.id + "_" + shown);
      fields.put("JobName", job.key);
      fields.put("State", word);
      fields.put("ExitCode", word.equals("FAILED") ? "1:0" : "0:0");
      fields.put("Submit", "" + clock);
      fields.put("Start", ran ? "" + (clock + 5) : "Unknown");
      fields.put("End", ended == 0 && ran ? "Unknown" : "" + (clock + 5 + seconds));
      fields.put("ElapsedRaw", ran ? "" + seconds : "0");
      fields.put("NNodes", "1");
      fields.put("NodeList", ran ? "n1" : "None assigned");
      fields.put("Suspended", "00:00:00");
      fields.put("AllocCPUS", "1");
      fields.put("AllocTRES", ran ? "billing=1,cpu=1,mem=100M,node=1" : "");
      fields.put("ReqTRES", "billing=1,cpu=1,mem=100M,node=1");
      return Stream.concat(SacctText.FIELDS.stream(), SacctText.CHECKS.stream())
          .map(field -> fields.getOrDefault(field, "other"))
          .collect(Collectors.joining(US));
    }
  }

  private List<String> names(String folder) {
    try (Stream<Path> files = Files.list(state.resolve(folder))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("."))
          .sorted()
          .toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private List<String> lines(String file) {
    return read(state.resolve(file)).lines().toList();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void replace(String file, List<String> lines) {
    try {
      Path temp = state.resolve("new");
      Files.write(temp, lines);
      Files.move(
          temp,
          state.resolve(file),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void write(String file, String text) {
    try {
      Files.writeString(state.resolve(file), text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
