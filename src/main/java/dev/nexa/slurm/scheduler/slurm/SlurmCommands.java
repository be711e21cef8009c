package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.scheduler.AccountingQuery;
import dev.nexa.slurm.scheduler.AccountingWindow;
import dev.nexa.slurm.scheduler.ClientEnvironment;
import dev.nexa.slurm.scheduler.SubmitRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The arguments of each Slurm client. Pure. */
public final class SlurmCommands {
  /** Fields of our squeue call: raw id, array id, task, state, reason, start, end, name. */
  static final String QUEUE_FORMAT =
      String.join("" + SacctText.DELIMITER, "%A", "%F", "%K", "%T", "%r", "%S", "%e", "%j");

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss").withZone(ZoneOffset.UTC);

  private SlurmCommands() {}

  /** The whole sbatch call; options on the command line win over the script's (sbatch(1)). */
  public static List<String> sbatch(SubmitRequest request, Map<String, String> environment) {
    List<String> argv = new ArrayList<>();
    argv.add("sbatch");
    argv.add("--parsable");
    argv.add("--job-name=" + request.key());
    argv.add("--output=" + request.output());
    if (!request.comment().isEmpty()) {
      argv.add("--comment=" + request.comment());
    }
    argv.add("--chdir=" + request.directory());
    argv.add("--export=" + export(environment));
    if (request.array().isPresent()) {
      argv.add("--array=" + request.array().get());
    }
    if (!request.dependency().isEmpty()) {
      argv.add("--dependency=" + request.dependency());
    }
    argv.add(request.script().toString());
    argv.add(request.submissionDir().toString());
    return argv;
  }

  /**
   * Asks when a job with these options would begin, and makes none; its script does not matter.
   *
   * @param options as sbatch takes them, {@code --name=value}
   */
  static List<String> testOnly(List<String> options) {
    List<String> argv = new ArrayList<>(List.of("sbatch", "--test-only"));
    argv.addAll(options);
    argv.add("--wrap=true");
    return argv;
  }

  /**
   * ALL is our allow-list; only where it holds the client's own secrets are names listed, which
   * costs a login shell.
   */
  private static String export(Map<String, String> environment) {
    List<String> names = new ArrayList<>();
    boolean secret = false;
    for (String name : environment.keySet()) {
      if (ClientEnvironment.isClientOnly(name)) {
        secret = true;
      } else {
        names.add(name);
      }
    }
    return secret ? String.join(",", names) : "ALL";
  }

  /**
   * One call for all of the user's tasks, pending arrays one by one. With {@code -j a,b} slurmctld
   * sends all jobs.
   */
  static List<String> squeue() {
    return List.of(
        "squeue", "--me", "--noheader", "--array", "--states=all", "--format=" + QUEUE_FORMAT);
  }

  /**
   * Allocation rows only ({@code -X}): steps repeat their job's cost. Every attempt ({@code -D}).
   */
  static List<String> sacct(AccountingQuery query) {
    return sacct(query, List.of());
  }

  /** The same, with further fields behind those that every version has. */
  static List<String> sacct(AccountingQuery query, List<String> more) {
    List<String> argv = sacctSince(guard(query.since()), more);
    if (query.jobIds().isEmpty()) {
      argv.add("--name=" + String.join(",", query.names()));
    } else {
      argv.add("--jobs=" + joined(query.jobIds()));
    }
    return argv;
  }

  /** The names of the fields that this sacct has. */
  static List<String> sacctFields() {
    return List.of("sacct", "--helpformat");
  }

  /**
   * Every attempt and step, with a header, for whoever reads any sacct's rows.
   *
   * @param jobs as sacct takes them ({@code 123}, {@code 123_4}, {@code 123+1}); may be empty where
   *     a user is named
   * @param user empty for all
   * @param since active since then; where absent, sacct's own: always for jobs, today for a user
   */
  static List<String> sacctUsage(
      List<String> fields, List<String> jobs, String user, Optional<Instant> since) {
    List<String> argv =
        new ArrayList<>(
            List.of(
                "sacct",
                "--parsable2",
                "--duplicates",
                "--noconvert",
                "--delimiter=" + SacctText.DELIMITER,
                "--format=" + String.join(",", fields)));
    since.ifPresent(time -> argv.add("--starttime=" + TIME.format(time)));
    if (!jobs.isEmpty()) {
      argv.add("--jobs=" + String.join(",", jobs));
    }
    argv.add(user.isEmpty() ? "--allusers" : "--user=" + user);
    return argv;
  }

  /** The same rows of whatever was there in the window, by whose it is. */
  static List<String> sacct(AccountingWindow window) {
    List<String> argv = sacctSince(window.from(), List.of());
    argv.add("--endtime=" + TIME.format(window.to()));
    if (window.accounts().isPresent()) {
      argv.add("--accounts=" + window.accounts().get());
    }
    // Without it or --user sacct tells most users of their own jobs only.
    argv.add(window.users().isPresent() ? "--user=" + window.users().get() : "--allusers");
    return argv;
  }

  private static List<String> sacctSince(Instant from, List<String> more) {
    return new ArrayList<>(
        List.of(
            "sacct",
            "--noheader",
            "--parsable2",
            "--allocations",
            "--duplicates",
            "--noconvert",
            "--delimiter=" + SacctText.DELIMITER,
            "--format="
                + String.join(",", SacctText.FIELDS)
                + (more.isEmpty() ? "" : "," + String.join(",", more)),
            "--starttime=" + TIME.format(from)));
  }

  /** A day of grace for clocks that differ; identity is checked by name and submit time anyway. */
  private static Instant guard(Instant since) {
    return since.minus(Duration.ofDays(1));
  }

  private static String joined(List<Long> jobIds) {
    StringBuilder text = new StringBuilder();
    for (Long id : jobIds) {
      text.append(text.length() == 0 ? "" : ",").append(id);
    }
    return text.toString();
  }

  /**
   * The name restricts the call to our job, should the id have been given to another. Not for one
   * task: with a name, 22.05 ends every task of the array that still waits (seen).
   */
  static List<String> scancel(String key, long jobId, OptionalInt task) {
    return task.isPresent()
        ? List.of("scancel", jobId + "_" + task.getAsInt())
        : List.of("scancel", "--name=" + key, "" + jobId);
  }

  static List<String> requeue(long jobId, int task) {
    return List.of("scontrol", "requeue", jobId + "_" + task);
  }

  static List<String> defaultAccount(String user) {
    return List.of(
        "sacctmgr",
        "--noheader",
        "--parsable2",
        "show",
        "user",
        "name=" + user,
        "format=DefaultAccount");
  }

  /** All tasks of an array; the details have its GPUs, where no accounting tracks them. */
  static List<String> showJob(long jobId) {
    return List.of("scontrol", "--oneliner", "--details", "show", "job", "" + jobId);
  }

  static List<String> showConfig() {
    return List.of("scontrol", "show", "config");
  }

  /** Hidden ones too: a profile says why it leaves them out. */
  static List<String> showPartitions() {
    return List.of("scontrol", "--all", "--oneliner", "show", "partition");
  }

  /** A line for each node of each partition: partition, node, CPUs, MiB, Gres. */
  static List<String> nodes() {
    String format = String.join("" + SacctText.DELIMITER, "%R", "%N", "%c", "%m", "%G");
    return List.of("sinfo", "--Node", "--noheader", "--noconvert", "--format=" + format);
  }
}
