package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctRows;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Slurm's clients in this process: an sbatch that says anything and makes none, one or two jobs, at
 * once or later; a squeue and a sacct that lag behind; jobs that claim their tasks, work and end.
 */
final class LyingClients extends CommandRunner {
  private static final String US = SacctRows.US;
  private static final String FAILED = "sbatch: error: Batch job submission failed: ";
  private static final ProcessIdentity DEAD =
      new ProcessIdentity(
          ProcessIdentity.localHost(), ProcessHandle.current().pid(), Instant.ofEpochSecond(100));

  /** Passes within which a job that exists is seen: fewer than the settle window lasts. */
  private static final int MOST_LAG = 3;

  private final Random random;
  private final Path files;
  private final int tasks;
  private final long base = Instant.now().getEpochSecond() - 3000;
  private final List<Job> jobs = new ArrayList<>();
  private final Map<Integer, Integer> workers = new TreeMap<>();
  private final List<String> story = new ArrayList<>();
  private long nextId = 101;
  private int tick;

  LyingClients(long seed, Path files) {
    this.random = new Random(seed);
    this.files = files;
    this.tasks = 1 + random.nextInt(3);
  }

  int tasks() {
    return tasks;
  }

  /** By task, how many jobs did its work. */
  Map<Integer, Integer> workers() {
    return workers;
  }

  List<String> story() {
    return story;
  }

  void told(List<String> problems) {
    problems.forEach(problem -> story.add(story.contains(problem) ? "" : problem));
    story.removeIf(String::isEmpty);
  }

  /** Each task that ever held an allocation. */
  List<String> ran() {
    List<String> ran = new ArrayList<>();
    for (Job job : jobs) {
      for (int task = 0; task < tasks; task++) {
        if (job.started >= 0) {
          ran.add(job.id + "_" + task);
        }
      }
    }
    return ran;
  }

  /** Time goes on. */
  void advance() {
    tick++;
    for (Job job : jobs) {
      if (!job.cancelled && job.started < 0 && tick >= job.made + job.waits) {
        job.begin();
      } else if (job.started >= 0 && job.ended < 0 && tick >= job.started + job.takes) {
        job.end();
      }
    }
  }

  /** Whatever was asked for has come, run and ended, and everybody can see it. */
  void toTheEnd() {
    for (int i = 0; i < 60; i++) {
      advance();
    }
  }

  private final class Job {
    private final long id;
    private final String key;
    private final Path submission;
    private final int made;
    private final int lag = random.nextInt(MOST_LAG);
    private final int rowLag = random.nextInt(MOST_LAG);
    private final int waits = random.nextInt(4);
    private int takes = 1 + random.nextInt(4);
    private final List<Integer> mine = new ArrayList<>();
    private int started = -1;
    private int ended = -1;
    private boolean cancelled;

    Job(long id, String key, Path submission, int made) {
      this.id = id;
      this.key = key;
      this.submission = submission;
      this.made = made;
    }

    long raw(int task) {
      return id * 1000 + task;
    }

    void begin() {
      started = tick;
      for (int task = 0; task < tasks; task++) {
        Path claim = submission.resolve("claims/" + task);
        try {
          Files.createSymbolicLink(claim, claim.getFileSystem().getPath("" + raw(task)));
          mine.add(task);
          workers.merge(task, 1, Integer::sum);
        } catch (IOException shutOrTaken) {
          takes = mine.isEmpty() ? 0 : takes;
          leaveId();
        }
      }
      if (mine.isEmpty()) {
        end();
      }
    }

    /** As templates/lib/preamble.ftl does. */
    private void leaveId() {
      try {
        Files.createDirectories(submission.resolve("duplicates/" + id));
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }

    void end() {
      ended = tick;
      for (int task : mine) {
        String result =
            "{\"task\":%d,\"restart\":0,\"job_id\":%d,\"array_job_id\":%d,\"node\":\"n1\",\"started\":%d,\"ended\":%d,\"exit_code\":0,\"signal\":\"\"}"
                .formatted(task, raw(task), id, base, base + seconds(task));
        try {
          Files.writeString(submission.resolve("results/" + task + ".0.json"), result);
        } catch (IOException failed) {
          throw new UncheckedIOException(failed);
        }
      }
    }

    /** Who has nothing to do ends at once. */
    long seconds(int task) {
      return mine.contains(task) ? 100 : 1;
    }

    boolean inQueue() {
      return !cancelled && tick >= made + lag && (ended < 0 || tick <= ended);
    }
  }

  @Override
  public CommandResult stream(Command command, OutputStream out, Consumer<ProcessIdentity> started)
      throws IOException {
    List<String> argv = command.argv();
    return switch (argv.get(0)) {
      case "sbatch" -> sbatch(argv, out, started);
      case "squeue" -> answer(out, squeue(value(argv, "--name=")));
      case "sacct" -> {
        String rows = sacct(value(argv, "--jobs="), value(argv, "--name="));
        yield answer(out, SacctRows.delimited(rows, argv));
      }
      case "scancel" -> scancel(argv, out);
      default ->
          answer(
              out,
              argv.contains("config")
                  ? "AccountingStorageType = accounting_storage/slurmdbd\n"
                  : scontrol(argv.get(argv.size() - 1)));
    };
  }

  private static CommandResult answer(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    return new CommandResult(0, "", "", false);
  }

  private CommandResult sbatch(
      List<String> argv, OutputStream out, Consumer<ProcessIdentity> started) throws IOException {
    started.accept(DEAD);
    String key = value(argv, "--job-name=");
    Path submission = files.getFileSystem().getPath(argv.get(argv.size() - 1));
    int draw = random.nextInt(10);
    int count = draw < 3 ? 0 : draw < 9 ? 1 : 2;
    long id = nextId;
    int late = random.nextInt(4) == 0 ? random.nextInt(30) : 0;
    for (int i = 0; i < count; i++) {
      jobs.add(new Job(nextId++, key, submission, tick + late));
    }
    long printed = count == 2 && random.nextBoolean() ? id + 1 : id;
    Lie lie = Lie.of(random, printed);
    story.add(count + " jobs from " + id + ", sbatch says " + lie);
    out.write(lie.out().getBytes(StandardCharsets.UTF_8));
    return new CommandResult(lie.exit(), "", lie.err(), lie.exit() == 143);
  }

  /** What sbatch, or a wrapper around it, says. */
  private record Lie(int exit, String out, String err) {
    static Lie of(Random random, long id) {
      String refusal = FAILED + "Invalid qos specification\n";
      String timeout = FAILED + "Socket timed out on send/recv operation\n";
      String banner = "*** maintenance on Monday 24 at 8:00 ***\n";
      return switch (random.nextInt(24)) {
        case 0, 1, 2 -> new Lie(0, id + "\n", "");
        case 3 -> new Lie(0, id + ";nexa\n", "");
        case 4 -> new Lie(0, banner + "\n" + id + "\r\n", banner);
        case 5 -> new Lie(0, id + "\n77\n", "");
        case 6 -> new Lie(0, "77\n", "");
        case 7 -> new Lie(0, "77\n" + id + "\n", "");
        case 8 -> new Lie(0, id + "\n" + id + "\n", "");
        case 9 -> new Lie(0, "Submitted batch job " + id + "\n", "");
        case 10 -> new Lie(0, "\u001b[32m" + id + "\u001b[0m\r\n", "");
        case 11 -> new Lie(0, "", "");
        case 12 -> new Lie(0, "Submitted batch job " + id + "\n77\n", "");
        case 13, 14 -> new Lie(1, "", refusal);
        case 15 -> new Lie(1, "", timeout + refusal);
        case 16 -> new Lie(1, "", refusal + timeout);
        case 17 -> new Lie(1, "", timeout);
        case 18 -> new Lie(255, "", banner + refusal);
        case 19 -> new Lie(1, id + "\n", refusal);
        case 20 -> new Lie(137, "", "");
        case 21 -> new Lie(0, id + "\n" + banner, "");
        case 22 -> new Lie(0, "77\nYour job is " + id + "\n", "");
        default -> new Lie(143, "", "");
      };
    }
  }

  private String squeue(String name) {
    StringBuilder text = new StringBuilder();
    for (Job job : jobs) {
      if (job.inQueue() && (name.isEmpty() || name.equals(job.key))) {
        for (int task = 0; task < tasks; task++) {
          String word = job.started < 0 ? "PENDING" : job.ended < 0 ? "RUNNING" : "COMPLETED";
          String start = job.started < 0 ? "N/A" : "" + base;
          text.append(
              String.join(
                  US,
                  "" + job.raw(task),
                  "" + job.id,
                  "" + task,
                  word,
                  "None",
                  start,
                  "N/A",
                  job.key));
          text.append('\n');
        }
      }
    }
    return text.toString();
  }

  private String sacct(String ids, String names) {
    StringBuilder text = new StringBuilder();
    for (Job job : jobs) {
      boolean asked =
          ("," + ids + ",").contains("," + job.id + ",")
              || ("," + names + ",").contains("," + job.key + ",");
      if (asked && job.started >= 0 && tick >= job.started + job.rowLag) {
        for (int task = 0; task < tasks; task++) {
          text.append(row(job, task)).append('\n');
        }
      }
    }
    return text.toString();
  }

  private String row(Job job, int task) {
    boolean over = job.ended >= 0 && tick >= job.ended + job.rowLag;
    String tres = "billing=1,cpu=1,mem=1000M,node=1";
    Map<String, String> cells = new HashMap<>();
    cells.put("JobIDRaw", "" + job.raw(task));
    cells.put("JobID", job.id + "_" + task);
    cells.put("JobName", job.key);
    cells.put("State", over ? "COMPLETED" : "RUNNING");
    cells.put("ExitCode", "0:0");
    cells.put("Submit", "" + (base - 5));
    cells.put("Start", "" + base);
    cells.put("End", over ? "" + (base + job.seconds(task)) : "Unknown");
    cells.put("ElapsedRaw", "" + (over ? job.seconds(task) : 5));
    cells.put("NNodes", "1");
    cells.put("NodeList", "n1");
    cells.put("AllocTRES", tres);
    cells.put("ReqTRES", tres);
    cells.put("Suspended", "00:00:00");
    cells.put("AllocCPUS", "1");
    List<String> row = new ArrayList<>();
    SacctText.FIELDS.forEach(field -> row.add(cells.getOrDefault(field, "x")));
    SacctText.CHECKS.forEach(field -> row.add(cells.getOrDefault(field, "x")));
    return String.join(US, row);
  }

  private String scontrol(String id) {
    for (Job job : jobs) {
      for (int task = 0; task < tasks; task++) {
        boolean known = job.started >= 0 && (job.ended < 0 || tick <= job.ended);
        if (known && id.equals("" + job.raw(task))) {
          return "JobId=%d ArrayJobId=%d ArrayTaskId=%d JobName=%s JobState=%s StartTime=%d NodeList=n1%n"
              .formatted(
                  job.raw(task),
                  job.id,
                  task,
                  job.key,
                  job.ended < 0 ? "RUNNING" : "COMPLETED",
                  base);
        }
      }
    }
    return "";
  }

  private CommandResult scancel(List<String> argv, OutputStream out) throws IOException {
    for (Job job : jobs) {
      boolean meant = argv.contains("--name=" + job.key) && argv.contains("" + job.id);
      if (meant && job.started < 0) {
        job.cancelled = true;
      }
    }
    return answer(out, "");
  }

  private static String value(List<String> argv, String option) {
    for (String word : argv) {
      if (word.startsWith(option)) {
        return word.substring(option.length());
      }
    }
    return "";
  }
}
