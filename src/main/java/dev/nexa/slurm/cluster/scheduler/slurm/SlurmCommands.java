package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingWindow;
import dev.nexa.slurm.cluster.scheduler.ClientEnvironment;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** Builds the argument list of each Slurm command. Pure. */
public final class SlurmCommands {
  /**
   * Fields of the squeue call: raw id, shown id ({@code 123_4}, {@code 123+1}), task, state,
   * reason, start, end, name.
   */
  static final String QUEUE_FORMAT =
      String.join(SqueueText.DELIMITER, "%A", "%i", "%K", "%T", "%r", "%S", "%e", "%j");

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss").withZone(ZoneOffset.UTC);

  private SlurmCommands() {}

  /**
   * Returns the sbatch call. Options on the command line override the script's options (sbatch(1)).
   *
   * @param environment the variables that the sbatch process gets
   */
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
    request.array().ifPresent(array -> argv.add("--array=" + array));
    if (!request.dependency().isEmpty()) {
      argv.add("--dependency=" + request.dependency());
    }
    if (!request.exclude().isEmpty()) {
      argv.add("--exclude=" + request.exclude());
    }
    argv.add(request.script().toString());
    argv.add(request.submissionDir().toString());
    return argv;
  }

  /**
   * Returns a call that asks when a job with these options would begin. It makes no job, and its
   * script does not matter.
   *
   * @param options in sbatch's notation, {@code --name=value}
   */
  static List<String> testOnly(List<String> options) {
    List<String> argv = new ArrayList<>(List.of("sbatch", "--test-only"));
    argv.addAll(options);
    argv.add("--wrap=true");
    return argv;
  }

  /**
   * Returns the value of {@code --export}. ALL exports the allow-list. Names are listed only if the
   * environment holds the client's credentials, because sbatch then starts a login shell for the
   * job.
   */
  private static String export(Map<String, String> environment) {
    List<String> names = new ArrayList<>(environment.keySet());
    return names.removeIf(ClientEnvironment::isClientOnly) ? String.join(",", names) : "ALL";
  }

  /**
   * Returns one call for all tasks of the user, pending tasks one by one. A filter {@code -j a,b}
   * would not help: slurmctld sends all jobs anyway.
   */
  static List<String> squeue() {
    return List.of(
        "squeue", "--me", "--noheader", "--array", "--states=all", "--format=" + QUEUE_FORMAT);
  }

  /** Returns a call for the user's jobs of one name, pending tasks one by one. */
  static List<String> squeue(String name) {
    List<String> argv = new ArrayList<>(squeue());
    argv.add("--name=" + name);
    return argv;
  }

  /** Returns a call for the waiting jobs of all users, the highest priority first. */
  static List<String> waiting() {
    return List.of(
        "squeue", "--noheader", "--states=PENDING", "--sort=-p,i", "--format=%F\u001f%P\u001f%r");
  }

  /**
   * Returns a call for allocation rows ({@code --allocations}), because steps repeat their job's
   * cost, with every attempt ({@code --duplicates}). Further fields follow the fields that every
   * version has.
   */
  static List<String> sacct(AccountingQuery query, List<String> more, String delimiter) {
    List<String> argv = sacctSince(guard(query.since()), more, delimiter);
    if (query.jobIds().isEmpty()) {
      argv.add("--name=" + String.join(",", query.names()));
    } else {
      argv.add(
          "--jobs="
              + query.jobIds().stream().map(String::valueOf).collect(Collectors.joining(",")));
    }
    return argv;
  }

  /** Returns a call that prints the names of the fields that this sacct has. */
  static List<String> sacctFields() {
    return List.of("sacct", "--helpformat");
  }

  /**
   * Returns a call for every attempt and step, with a header.
   *
   * @param jobs in sacct's notation ({@code 123}, {@code 123_4}, {@code 123+1}); may be empty if a
   *     user is given
   * @param user selects one user's jobs; empty for all users
   * @param since selects jobs that were active since then; if empty, sacct's default applies: no
   *     limit for jobs, today for a user
   */
  static List<String> sacctUsage(
      List<String> fields,
      String delimiter,
      List<String> jobs,
      String user,
      Optional<Instant> since,
      Optional<Instant> until) {
    List<String> argv =
        new ArrayList<>(
            List.of(
                "sacct",
                "--parsable2",
                "--duplicates",
                "--noconvert",
                "--delimiter=" + delimiter,
                "--format=" + String.join(",", fields)));
    since.ifPresent(time -> argv.add("--starttime=" + TIME.format(time)));
    until.ifPresent(time -> argv.add("--endtime=" + TIME.format(time)));
    if (!jobs.isEmpty()) {
      argv.add("--jobs=" + String.join(",", jobs));
    }
    argv.add(user.isEmpty() ? "--allusers" : "--user=" + user);
    return argv;
  }

  /** Returns a call for the allocation rows of a window, by account or user. */
  static List<String> sacct(AccountingWindow window, String delimiter) {
    List<String> argv = sacctSince(window.from(), List.of(), delimiter);
    argv.add("--endtime=" + TIME.format(window.to()));
    window.accounts().ifPresent(names -> argv.add("--accounts=" + names));
    // Without --allusers or --user, sacct shows most users only their own jobs.
    argv.add(window.users().isPresent() ? "--user=" + window.users().get() : "--allusers");
    return argv;
  }

  private static List<String> sacctSince(Instant from, List<String> more, String delimiter) {
    return new ArrayList<>(
        List.of(
            "sacct",
            "--noheader",
            "--parsable2",
            "--allocations",
            "--duplicates",
            "--noconvert",
            "--delimiter=" + delimiter,
            "--format="
                + String.join(",", SacctText.FIELDS)
                + ","
                + String.join(",", SacctText.CHECKS)
                + (more.isEmpty() ? "" : "," + String.join(",", more)),
            "--starttime=" + TIME.format(from)));
  }

  /** One day of grace for clocks that differ. Job name and submit time identify the job anyway. */
  private static Instant guard(Instant since) {
    return since.minus(Duration.ofDays(1));
  }

  /**
   * Returns the scancel call. The name restricts it to our job, in case the id now belongs to
   * another job. For a single task the name is left out: with a name, 22.05 cancels every waiting
   * task of the array (seen).
   */
  static List<String> scancel(String key, long jobId, OptionalInt task) {
    return task.isPresent()
        ? List.of("scancel", id(jobId, task))
        : List.of("scancel", "--name=" + key, "" + jobId);
  }

  static List<String> requeue(long jobId, OptionalInt task) {
    return List.of("scontrol", "requeue", id(jobId, task));
  }

  /** Returns a call that changes one task; an empty task is the whole job. */
  static List<String> update(long jobId, OptionalInt task, String change) {
    return List.of("scontrol", "update", "JobId=" + id(jobId, task), change);
  }

  private static String id(long jobId, OptionalInt task) {
    return task.isPresent() ? jobId + "_" + task.getAsInt() : "" + jobId;
  }

  static List<String> dependOn(long jobId, String dependency) {
    return List.of("scontrol", "update", "JobId=" + jobId, "Dependency=" + dependency);
  }

  static List<String> nodeCounts() {
    return List.of("sinfo", "--noheader", "--format=%P|%D");
  }

  /** Returns a call that prints a line for each node of each partition: see {@link SlurmNode}. */
  static List<String> nodeStates() {
    String format = String.join(SqueueText.DELIMITER, "%R", "%N", "%T", "%G");
    return List.of("sinfo", "--Node", "--noheader", "--format=" + format);
  }

  static List<String> account(String name) {
    return sacctmgr("account", "name=" + name, "format=Account");
  }

  static List<String> qos() {
    return sacctmgr("qos", "format=Name");
  }

  static List<String> defaultAccount(String user) {
    return sacctmgr("user", "name=" + user, "format=DefaultAccount");
  }

  private static List<String> sacctmgr(String... asked) {
    List<String> argv = new ArrayList<>(List.of("sacctmgr", "--noheader", "--parsable2", "show"));
    argv.addAll(List.of(asked));
    return argv;
  }

  /**
   * Returns a call for all tasks of an array. {@code --details} prints the GPUs if no accounting
   * tracks them.
   */
  static List<String> showJob(long jobId) {
    return List.of("scontrol", "--oneliner", "--details", "show", "job", "" + jobId);
  }

  static List<String> statistics() {
    return List.of("sdiag");
  }

  static List<String> showConfig() {
    return List.of("scontrol", "show", "config");
  }

  /**
   * Returns a call for all partitions, also hidden ones, because a profile says why it leaves them
   * out.
   */
  static List<String> showPartitions() {
    return List.of("scontrol", "--all", "--oneliner", "show", "partition");
  }

  /**
   * Returns a call that prints a line for each node of each partition: partition, node, CPUs, MiB,
   * Gres, and sockets:cores:threads.
   */
  static List<String> nodes() {
    String format = String.join(SqueueText.DELIMITER, "%R", "%N", "%c", "%m", "%G", "%z");
    return List.of("sinfo", "--Node", "--noheader", "--noconvert", "--format=" + format);
  }
}
