package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.process.Command;
import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.process.CommandRunner;
import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.scheduler.AccountingQuery;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.AccountingWindow;
import dev.nexa.slurm.scheduler.ExpectedStart;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.RememberedJob;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.scheduler.SubmitRequest;
import dev.nexa.slurm.units.BillingWeights;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Slurm through its own clients. */
public final class SlurmScheduler implements Scheduler {
  /** How plans and journals name it. */
  public static final String NAME = "slurm";

  /**
   * Jobs asked for in one sacct call: its argument may not exceed 128 KiB (execve(2),
   * MAX_ARG_STRLEN).
   */
  private static final int CHUNK = 1000;

  /** What sacct says of a field that it does not have (sacct/options.c). */
  private static final String UNKNOWN_FIELD = "Invalid field requested";

  private static final Pattern NO_ACCOUNTING =
      Pattern.compile("AccountingStorageType\\s*=\\s*(accounting_storage/none|\\(null\\))");

  /** What sacct says of what a person named (options.c); on an outage it says other things. */
  private static final Pattern TYPED_WRONG =
      Pattern.compile(
          "Invalid user id|Start time .* after end time|Invalid account", Pattern.CASE_INSENSITIVE);

  /** What clients say of a job that is no longer there (slurm_errno.c); 22.05 then ends with 1. */
  private static final Pattern GONE =
      Pattern.compile("Invalid job id specified|already completing or completed");

  private final CommandRunner runner;
  private final Map<String, String> environment;
  private final Path directory;
  private final SlurmSettings settings;
  private final Supplier<Optional<FileLock>> turn;

  /** Fields that not every sacct has; none once it has refused one. */
  private volatile List<String> more = List.of();

  private volatile Optional<String> refusal = Optional.empty();

  /**
   * Slurm as this host knows it.
   *
   * @param environment what the clients get, from {@link
   *     dev.nexa.slurm.scheduler.ClientEnvironment}
   * @param directory where the clients run
   * @param turn the right to ask accounting, given back after each answer
   */
  public SlurmScheduler(
      CommandRunner runner,
      Map<String, String> environment,
      Path directory,
      SlurmSettings settings,
      Supplier<Optional<FileLock>> turn) {
    this.runner = runner;
    this.environment = Map.copyOf(environment);
    this.directory = directory;
    this.settings = settings;
    this.turn = turn;
  }

  /** Whether an sbatch can be found: asked before anything is written. */
  public static boolean installed(Map<String, String> environment) {
    for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      if (Files.isExecutable(Path.of(folder, "sbatch"))) {
        return true;
      }
    }
    return false;
  }

  /** Asks accounting for these fields too, as the cluster profile has them. */
  public void askFor(List<String> fields) {
    more = List.copyOf(fields);
  }

  /** What sacct said where it did not have one of them any more; it was asked without them then. */
  public Optional<String> refusal() {
    return refusal;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public SubmitAnswer submit(SubmitRequest request, Consumer<ProcessIdentity> started) {
    Command sbatch =
        new Command(
            SlurmCommands.sbatch(request, environment),
            environment,
            directory,
            settings.submitTimeout());
    AtomicBoolean runs = new AtomicBoolean();
    try {
      return SbatchAnswer.read(
          runner.run(
              sbatch,
              client -> {
                runs.set(true);
                started.accept(client);
              }));
    } catch (IOException failed) {
      return runs.get()
          ? new SubmitAnswer.Unknown("sbatch's answer could not be read: " + failed.getMessage())
          : new SubmitAnswer.Refused("sbatch could not be started: " + failed.getMessage());
    }
  }

  @Override
  public List<QueueEntry> queue() {
    return SqueueText.read(ask(SlurmCommands.squeue()).out());
  }

  @Override
  public void accounting(AccountingQuery query, Consumer<AccountingRecord> rows) {
    List<Long> ids = query.jobIds();
    if (ids.isEmpty()) {
      ownRows(query, rows);
    }
    for (int from = 0; from < ids.size(); from += CHUNK) {
      List<Long> chunk = ids.subList(from, Math.min(ids.size(), from + CHUNK));
      ownRows(AccountingQuery.byIds(chunk, query.since()), rows);
    }
  }

  /** The rows of a window, of jobs that may be anybody's. */
  public void accounting(AccountingWindow window, Consumer<AccountingRecord> rows) {
    sacctRows(SlurmCommands.sacct(window), List.of(), rows);
  }

  /** A sacct that was replaced by another version's must not stop every pass from then on. */
  private void ownRows(AccountingQuery query, Consumer<AccountingRecord> rows) {
    List<String> asked = more;
    try {
      sacctRows(SlurmCommands.sacct(query, asked), asked, rows);
    } catch (SchedulerUnavailable refused) {
      String said = String.valueOf(refused.getMessage());
      if (asked.isEmpty() || !said.contains(UNKNOWN_FIELD)) {
        throw refused;
      }
      refusal = Optional.of(said);
      more = List.of();
      sacctRows(SlurmCommands.sacct(query), List.of(), rows);
    }
  }

  /** Rows are handed on only after sacct ended well: half an answer is no answer. */
  private void sacctRows(List<String> argv, List<String> fields, Consumer<AccountingRecord> rows) {
    Optional<FileLock> turn = turn();
    try {
      answer(argv, fields).forEach(rows);
    } finally {
      turn.ifPresent(FileLock::close);
    }
  }

  private Optional<FileLock> turn() {
    try {
      return turn.get();
    } catch (FileLock.LockedException held) {
      throw new SchedulerUnavailable(
          "another process of this workspace asks accounting, and only one may: "
              + held.getMessage(),
          "where that process is gone, on another host, remove .nexa/accounting.lock");
    }
  }

  private List<AccountingRecord> answer(List<String> argv, List<String> fields) {
    List<AccountingRecord> answer = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    CommandResult result;
    try (SacctText reader = new SacctText(fields, answer::add, unreadable::add)) {
      result = runner.stream(command(argv), reader, started -> {});
    } catch (IOException failed) {
      throw unavailable("sacct", failed.getMessage());
    }
    if (answer.isEmpty()) {
      requireWellTyped(result.err());
    }
    boolean silentFailure = answer.isEmpty() && !result.err().isBlank();
    if (!result.succeeded() || silentFailure || !unreadable.isEmpty()) {
      String said = unreadable.isEmpty() ? result.err() : "it printed '" + unreadable.get(0) + "'";
      throw unavailable("sacct", result.timedOut() ? "no answer in time" : said);
    }
    return answer;
  }

  @Override
  public void cancel(String key, long jobId, OptionalInt task) {
    if (task.isPresent() && !holds(key, jobId, task.getAsInt())) {
      return;
    }
    CommandResult result = run(SlurmCommands.scancel(key, jobId, task));
    boolean gone = GONE.matcher(result.err()).find();
    if (!result.succeeded() && !gone) {
      throw unavailable("scancel", result);
    }
  }

  /** Whether it is the job of that name that has the id. */
  private boolean holds(String key, long jobId, int task) {
    for (QueueEntry entry : queue()) {
      if (entry.name().equals(key) && entry.arrayJobId() == jobId && entry.task() == task) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void requeue(long jobId, int task) {
    ask(SlurmCommands.requeue(jobId, task));
  }

  @Override
  public List<RememberedJob> remembered(long arrayJobId) {
    CommandResult result = run(SlurmCommands.showJob(arrayJobId));
    if (result.succeeded()) {
      return JobText.read(result.out());
    }
    if (GONE.matcher(result.err()).find()) {
      return List.of();
    }
    throw unavailable("scontrol", result);
  }

  @Override
  public boolean keepsAccounting() {
    return !NO_ACCOUNTING.matcher(ask(SlurmCommands.showConfig()).out()).find();
  }

  /**
   * What accounting holds of some jobs, as sacct prints it: attempts and steps with a header,
   * separated by {@link SacctText#DELIMITER}, times as epoch seconds. One call; two more where this
   * Slurm does not have all the fields.
   *
   * @param wanted the fields; those that this Slurm does not have are left out
   * @param jobs as sacct takes them; where empty, all of the user's
   * @param user empty for all
   * @param since active since then
   */
  public void usage(
      List<String> wanted,
      List<String> jobs,
      String user,
      Optional<Instant> since,
      OutputStream rows) {
    List<String> fields = wanted;
    List<String> all = jobs.isEmpty() ? List.of("") : jobs;
    for (int from = 0; from < all.size(); from += CHUNK) {
      List<String> chunk = all.subList(from, Math.min(all.size(), from + CHUNK));
      List<String> asked = jobs.isEmpty() ? List.of() : chunk;
      try {
        sacctInto(SlurmCommands.sacctUsage(fields, asked, user, since), rows);
      } catch (SchedulerUnavailable refused) {
        // It refuses before it prints anything.
        if (!fields.equals(wanted)
            || !String.valueOf(refused.getMessage()).contains(UNKNOWN_FIELD)) {
          throw refused;
        }
        fields = offered(wanted);
        sacctInto(SlurmCommands.sacctUsage(fields, asked, user, since), rows);
      }
    }
  }

  /** That sacct does not say that what a person named is not there. */
  private static void requireWellTyped(String said) {
    Matcher wrong = TYPED_WRONG.matcher(said);
    if (wrong.find()) {
      boolean time = wrong.group().startsWith("Start");
      throw new NexaException(
          ExitCode.USAGE,
          said.strip(),
          time
              ? "correct --since"
              : "it is a name that this host or accounting does not know; `sacctmgr show user` and"
                  + " `sacctmgr show account` list those of accounting");
    }
  }

  /** Those of the fields that this sacct has; no question to slurmdbd. */
  public List<String> offered(List<String> wanted) {
    List<String> offered = List.of(sacctText(SlurmCommands.sacctFields()).split("\\s+", -1));
    List<String> fields = new ArrayList<>(wanted);
    fields.retainAll(new HashSet<>(offered));
    return fields;
  }

  private String sacctText(List<String> argv) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    sacctInto(argv, out);
    return out.toString(StandardCharsets.UTF_8);
  }

  private void sacctInto(List<String> argv, OutputStream out) {
    CommandResult result;
    try {
      result = runner.stream(command(argv), out, started -> {});
    } catch (IOException failed) {
      throw unavailable("sacct", failed.getMessage());
    }
    requireWellTyped(result.err());
    if (result.err().contains("accounting storage is disabled")) {
      throw new SchedulerUnavailable(
          "this cluster keeps no accounting: " + result.err().strip(),
          "while a job is in the queue: scontrol show job JOBID",
          "what our own runs used, from their results: nexa-slurm runs show RUN");
    }
    if (!result.succeeded() || !result.err().isBlank()) {
      throw unavailable("sacct", result);
    }
  }

  /**
   * The account that Slurm charges where a job names none; empty if accounting knows no such user.
   */
  public Optional<String> defaultAccount(String user) {
    String answer = ask(SlurmCommands.defaultAccount(user)).out().strip();
    return answer.isEmpty() ? Optional.empty() : Optional.of(answer);
  }

  /**
   * When a job with these options would begin, by {@code sbatch --test-only}: one call, no job.
   *
   * @param options as sbatch takes them, {@code --name=value}
   */
  public ExpectedStart expectedStart(List<String> options) {
    CommandResult result = run(SlurmCommands.testOnly(options));
    return result.timedOut()
        ? ExpectedStart.never("sbatch gave no answer in time")
        : TestOnlyText.read(result.err());
  }

  /** By partition, what Slurm makes its own {@code billing} of; one call. */
  public Map<String, BillingWeights> billingWeights() {
    return ClusterText.billingWeights(ask(SlurmCommands.showPartitions()).out());
  }

  /** The cluster as it is now; four calls. */
  public SlurmCluster cluster() {
    SlurmCluster cluster =
        ClusterText.read(
            ask(SlurmCommands.showConfig()).out(),
            ask(SlurmCommands.showPartitions()).out(),
            ask(SlurmCommands.nodes()).out());
    try {
      return cluster.offering(offered(ClusterProfile.SACCT_FIELDS));
    } catch (SchedulerUnavailable noSacct) {
      return cluster;
    }
  }

  private CommandResult ask(List<String> argv) {
    CommandResult result = run(argv);
    if (!result.succeeded()) {
      throw unavailable(argv.get(0), result);
    }
    return result;
  }

  private CommandResult run(List<String> argv) {
    try {
      return runner.run(command(argv));
    } catch (IOException notStarted) {
      throw unavailable(argv.get(0), notStarted.getMessage());
    }
  }

  /** Times as epoch seconds, lists never cut short, everything in UTC and in English. */
  private Command command(List<String> argv) {
    Map<String, String> client = new HashMap<>(environment);
    client.put("LC_ALL", "C");
    client.put("TZ", "UTC");
    client.put("SLURM_TIME_FORMAT", "%s");
    client.put("SLURM_BITSTR_LEN", "0");
    Duration timeout = settings.queryTimeout();
    return new Command(argv, client, directory, timeout);
  }

  private static SchedulerUnavailable unavailable(String client, CommandResult result) {
    return unavailable(client, result.timedOut() ? "no answer in time" : result.err());
  }

  private static SchedulerUnavailable unavailable(
      String client, @org.jspecify.annotations.Nullable String said) {
    String text = said == null || said.isBlank() ? "it said nothing" : said.strip();
    return new SchedulerUnavailable(
        client + " failed: " + text,
        "nothing was changed; see `scontrol ping` and `sacctmgr ping`, then try again");
  }
}
