package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.SlurmSize;
import dev.nexa.slurm.cluster.sacct.Delimiter;
import dev.nexa.slurm.cluster.sacct.DumpText;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.AccountingWindow;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import dev.nexa.slurm.job.config.site.ClusterProfile;
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
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs jobs on Slurm through Slurm's own commands. */
public final class SlurmScheduler implements Scheduler {
  /** The scheduler's name in plans and journals. */
  public static final String NAME = "slurm";

  /** Job ids in one sacct call: one argument may not exceed 128 KiB (execve(2), MAX_ARG_STRLEN). */
  private static final int CHUNK = 1000;

  /** How long an estimate waits for a part of it that it can do without. */
  private static final Duration START_PATIENCE = Duration.ofSeconds(10);

  /** sacct's message about a field that it does not have (sacct/options.c). */
  private static final String UNKNOWN_FIELD = "Invalid field requested";

  private static final Pattern NO_MESSAGES =
      Pattern.compile("(?m)^DBD Agent queue size:\\s*0\\s*$");
  private static final Pattern NO_ACCOUNTING =
      Pattern.compile("AccountingStorageType\\s*=\\s*(accounting_storage/none|\\(null\\))");

  /**
   * sacct's messages about a user, account or time that the user typed (options.c). An outage has
   * other messages.
   */
  private static final Pattern TYPED_WRONG =
      Pattern.compile(
          "Invalid user id|Start time .* after end time|Invalid account", Pattern.CASE_INSENSITIVE);

  /**
   * Messages about a job that is no longer in the queue (slurm_errno.c). 22.05 then exits with 1.
   */
  private static final Pattern GONE =
      Pattern.compile("Invalid job id specified|already completing or completed");

  private final CommandRunner runner;
  private final Map<String, String> environment;
  private final Path directory;
  private final ClientTimeouts settings;
  private final Supplier<Optional<FileLock>> turn;

  /** Optional fields of each query; empty after sacct has refused one. */
  private volatile List<String> more = List.of();

  private volatile Optional<String> refusal = Optional.empty();

  /**
   * Creates a scheduler that runs the commands on this host.
   *
   * @param environment the variables of the commands, from {@link
   *     dev.nexa.slurm.cluster.scheduler.ClientEnvironment}
   * @param directory the commands' working directory
   * @param turn takes the lock that allows one accounting query at a time; the lock is closed after
   *     each answer
   */
  public SlurmScheduler(
      CommandRunner runner,
      Map<String, String> environment,
      Path directory,
      ClientTimeouts settings,
      Supplier<Optional<FileLock>> turn) {
    this.runner = runner;
    this.environment = Map.copyOf(environment);
    this.directory = directory;
    this.settings = settings;
    this.turn = turn;
  }

  /**
   * Returns whether a client is on the PATH. Callers check it of {@code sbatch} before they write
   * any file.
   */
  public static boolean installed(Map<String, String> environment, String client) {
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, client)));
  }

  @Override
  public void askFor(List<String> fields) {
    more = List.copyOf(fields);
  }

  /**
   * Returns sacct's message about a field that it does not have. Later queries leave all optional
   * fields out.
   */
  @Override
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
      SubmitAnswer answer =
          SbatchAnswer.read(
              runner.run(
                  sbatch,
                  client -> {
                    runs.set(true);
                    started.accept(client);
                  }));
      return answer instanceof SubmitAnswer.Refused refused
          ? withoutAJob(refused, request.key())
          : answer;
    } catch (IOException failed) {
      return runs.get()
          ? new SubmitAnswer.Unknown("sbatch's answer could not be read: " + failed.getMessage())
          : new SubmitAnswer.Refused("sbatch could not be started: " + failed.getMessage());
    }
  }

  /**
   * Keeps a refusal only if squeue shows no job of that name, because a wrapper may have made one.
   */
  private SubmitAnswer withoutAJob(SubmitAnswer.Refused refused, String key) {
    String doubt;
    try {
      List<QueueEntry> made = queue(key);
      if (made.isEmpty()) {
        return refused;
      }
      doubt = "squeue shows job " + made.get(0).arrayJobId() + " of this submission all the same";
    } catch (SchedulerUnavailable unknown) {
      doubt = "squeue cannot be asked whether a job exists: " + unknown.getMessage();
    }
    return new SubmitAnswer.Unknown(refused.message() + "; but " + doubt);
  }

  @Override
  public List<QueueEntry> queue(String key) {
    String text = ask(SlurmCommands.squeue(key)).out();
    List<QueueEntry> entries = queue(text, SqueueText.broken(text));
    return entries.stream().filter(entry -> entry.name().equals(key)).toList();
  }

  @Override
  public List<QueueEntry> queue() {
    String text = ask(SlurmCommands.squeue()).out();
    return queue(text, SqueueText.broken(text));
  }

  @Override
  public List<QueueEntry> wholeQueue() {
    String text = ask(SlurmCommands.squeue()).out();
    return queue(text, SqueueText.odd(text));
  }

  private static List<QueueEntry> queue(String text, Optional<String> unreadable) {
    if (unreadable.isPresent()) {
      throw unavailable(
          "squeue", "it printed a line that cannot be read: " + VisibleText.line(unreadable.get()));
    }
    return SqueueText.read(text);
  }

  @Override
  public void accounting(AccountingQuery query, Consumer<AccountingRecord> rows) {
    List<Long> ids = query.jobIds();
    List<String> names = query.names();
    for (int from = 0; from < names.size(); from += CHUNK) {
      List<String> chunk = names.subList(from, Math.min(names.size(), from + CHUNK));
      ownRows(AccountingQuery.byNames(chunk, query.since()), rows);
    }
    for (int from = 0; from < ids.size(); from += CHUNK) {
      List<Long> chunk = ids.subList(from, Math.min(ids.size(), from + CHUNK));
      ownRows(AccountingQuery.byIds(chunk, query.since()), rows);
    }
  }

  /** Passes the rows of a window, which may belong to any user, to the consumer. */
  public void accounting(AccountingWindow window, Consumer<AccountingRecord> rows) {
    sacctRows(delimiter -> SlurmCommands.sacct(window, delimiter), List.of(), rows);
  }

  /**
   * Repeats the query without the optional fields if sacct refuses one, because another version of
   * Slurm may have been installed since the profile was written.
   */
  private void ownRows(AccountingQuery query, Consumer<AccountingRecord> rows) {
    List<String> asked = more;
    try {
      sacctRows(delimiter -> SlurmCommands.sacct(query, asked, delimiter), asked, rows);
    } catch (SchedulerUnavailable refused) {
      String said = String.valueOf(refused.getMessage());
      if (asked.isEmpty() || !said.contains(UNKNOWN_FIELD)) {
        throw refused;
      }
      refusal = Optional.of(said);
      more = List.of();
      sacctRows(delimiter -> SlurmCommands.sacct(query, more, delimiter), List.of(), rows);
    }
  }

  /** Passes rows on only after sacct has succeeded, because half an answer could hide a job. */
  private void sacctRows(
      Function<String, List<String>> argv, List<String> fields, Consumer<AccountingRecord> rows) {
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
          ErrorCode.WORKSPACE_BUSY,
          "another process of this workspace asks accounting, and only one may: "
              + held.getMessage(),
          Advice.step("where that process is gone, on another host, remove .nexa/accounting.lock"));
    }
  }

  /** Returns the rows of the call that is made with a delimiter. */
  private List<AccountingRecord> answer(Function<String, List<String>> argv, List<String> fields) {
    List<AccountingRecord> answer = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    CommandResult result;
    List<String> columns = new ArrayList<>(SacctText.CHECKS);
    columns.addAll(fields);
    String delimiter = Delimiter.unguessable();
    SacctText reader = new SacctText(delimiter, columns, answer::add, unreadable::add);
    try (reader) {
      result =
          runner.stream(
              command(argv.apply(delimiter), settings.queryTimeout()), reader, started -> {});
    } catch (IOException failed) {
      throw unavailable("sacct", failed.getMessage());
    }
    if (answer.isEmpty()) {
      requireWellTyped(result.err());
    }
    answer.addAll(reader.broken());
    boolean silentFailure = answer.isEmpty() && !result.err().isBlank();
    boolean cut = unreadable.size() > reader.broken().size();
    if (!result.succeeded() || silentFailure || cut) {
      String said = unreadable.isEmpty() ? result.err() : "it printed '" + unreadable.get(0) + "'";
      throw unavailable("sacct", result.timedOut() ? "no answer in time" : said);
    }
    return JobRows.together(answer);
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

  /** Returns whether the job with this id has this name and this task in the queue. */
  private boolean holds(String key, long jobId, int task) {
    return queue().stream()
        .filter(entry -> entry.name().equals(key) && entry.arrayJobId() == jobId)
        .anyMatch(entry -> entry.task() == task);
  }

  @Override
  public boolean requeue(long jobId, OptionalInt task) {
    CommandResult result = run(SlurmCommands.requeue(jobId, task));
    // ESLURM_JOB_PENDING in slurm_errno.c: Slurm queued it again first.
    if (!result.succeeded() && !result.err().contains("Job is pending execution")) {
      throw unavailable("scontrol", result);
    }
    return result.succeeded();
  }

  @Override
  public void requeueLarger(long jobId, OptionalInt task, String size) {
    ask(SlurmCommands.requeue(jobId, task));
    // It waits for two minutes and more (cred_expire) before it can start.
    ask(SlurmCommands.update(jobId, task, size));
  }

  @Override
  public int nodeCount(String partition) {
    int count = 0;
    List<String> names = List.of(partition.split(",", -1));
    for (String line : ask(SlurmCommands.nodeCounts(), shortPatience()).out().split("\n", -1)) {
      int bar = line.indexOf('|');
      boolean usual = line.startsWith("*|", Math.max(0, bar - 1));
      String name = line.substring(0, Math.max(0, usual ? bar - 1 : bar));
      if (partition.isEmpty() ? usual : names.contains(name)) {
        count += (int) SlurmSize.count(line.substring(bar + 1)).orElse(0);
      }
    }
    return count;
  }

  @Override
  public void keepOff(long jobId, OptionalInt task, String nodes) {
    ask(SlurmCommands.update(jobId, task, "ExcNodeList=" + nodes));
  }

  @Override
  public void dependOn(long jobId, String dependency) {
    CommandResult result = run(SlurmCommands.dependOn(jobId, dependency));
    // scontrol changes the waiting tasks of an array, and complains about those that have ended.
    boolean changed =
        result.succeeded()
            || (!result.timedOut()
                && result.err().contains("No error")
                && result.err().contains("already finished"));
    if (!changed) {
      throw unavailable("scontrol", result);
    }
  }

  @Override
  public List<ControllerJob> remembered(long arrayJobId) {
    CommandResult result = run(SlurmCommands.showJob(arrayJobId));
    if (result.succeeded()) {
      return JobText.read(result.out());
    }
    if (GONE.matcher(result.err()).find()) {
      return List.of();
    }
    throw unavailable("scontrol", result);
  }

  /** slurmctld counts the messages that slurmdbd has not acknowledged yet (sdiag(1)). */
  @Override
  public boolean accountingIsCurrent() {
    CommandResult result = run(SlurmCommands.statistics());
    return result.succeeded() && NO_MESSAGES.matcher(result.out()).find();
  }

  @Override
  public boolean keepsAccounting() {
    return !NO_ACCOUNTING.matcher(ask(SlurmCommands.showConfig()).out()).find();
  }

  /**
   * Writes the rows of some jobs as sacct prints them: attempts and steps with a header, times as
   * epoch seconds. It takes one sacct call for each 1000 jobs, and two more if this sacct lacks a
   * field.
   *
   * @param wanted the fields; those that this sacct lacks are left out
   * @param jobs in sacct's notation; empty for all jobs of the user
   * @param user selects one user's jobs; empty for all users
   * @param since selects jobs that were active since then
   * @param until selects jobs that were active before then
   * @param rows receives sacct's output; it knows its delimiter
   * @throws NexaException if sacct does not know the user, or rejects the time
   * @throws SchedulerUnavailable if sacct fails, or the cluster keeps no accounting
   */
  public void usage(
      List<String> wanted,
      List<String> jobs,
      String user,
      Optional<Instant> since,
      Optional<Instant> until,
      DumpText rows) {
    String delimiter = Objects.requireNonNull(rows.delimiter());
    List<String> fields = wanted;
    List<String> all = jobs.isEmpty() ? List.of("") : jobs;
    for (int from = 0; from < all.size(); from += CHUNK) {
      List<String> chunk = all.subList(from, Math.min(all.size(), from + CHUNK));
      List<String> asked = jobs.isEmpty() ? List.of() : chunk;
      try {
        sacctInto(SlurmCommands.sacctUsage(fields, delimiter, asked, user, since, until), rows);
      } catch (SchedulerUnavailable refused) {
        // sacct refuses an unknown field before it prints any row, so the output is still clean.
        if (!fields.equals(wanted)
            || !String.valueOf(refused.getMessage()).contains(UNKNOWN_FIELD)) {
          throw refused;
        }
        fields = offered(wanted);
        sacctInto(SlurmCommands.sacctUsage(fields, delimiter, asked, user, since, until), rows);
      }
    }
  }

  /** Throws if sacct says that a name or time that the user typed is wrong. */
  private static void requireWellTyped(String said) {
    Matcher wrong = TYPED_WRONG.matcher(said);
    if (wrong.find()) {
      boolean time = wrong.group().startsWith("Start");
      throw ErrorCode.OPTION_INVALID.error(
          said.strip(),
          time
              ? "correct --since"
              : "it is a name that this host or accounting does not know; `sacctmgr show user` and"
                  + " `sacctmgr show account` list those of accounting");
    }
  }

  /** Returns the wanted fields that this sacct has. It does not query slurmdbd. */
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
      result = runner.stream(command(argv, settings.queryTimeout()), out, started -> {});
    } catch (IOException failed) {
      throw unavailable("sacct", failed.getMessage());
    }
    requireWellTyped(result.err());
    if (result.err().contains("accounting storage is disabled")) {
      throw new SchedulerUnavailable(
          ErrorCode.ACCOUNTING_OFF,
          "this cluster keeps no accounting: " + result.err().strip(),
          Advice.step("while a job is in the queue: scontrol show job JOBID"),
          Advice.step("nexa-slurm runs show RUN shows the recorded usage of a run of nexa-slurm"));
    }
    if (!result.succeeded() || !result.err().isBlank()) {
      throw unavailable("sacct", result);
    }
  }

  /**
   * Returns whether accounting has an account, by one call of sacctmgr.
   *
   * @throws SchedulerUnavailable if accounting cannot be asked
   */
  public boolean knowsAccount(String name) {
    return ask(SlurmCommands.account(name)).out().lines().anyMatch(name::equalsIgnoreCase);
  }

  /**
   * Returns the names of accounting's QOS, by one call of sacctmgr.
   *
   * @throws SchedulerUnavailable if accounting cannot be asked
   */
  public List<String> qosNames() {
    return ask(SlurmCommands.qos()).out().lines().filter(name -> !name.isBlank()).toList();
  }

  /**
   * Returns the account that Slurm charges if a job names none; empty if accounting does not know
   * the user.
   */
  public Optional<String> defaultAccount(String user) {
    String answer = ask(SlurmCommands.defaultAccount(user)).out().strip();
    return answer.isEmpty() ? Optional.empty() : Optional.of(answer);
  }

  /**
   * Returns when a job with these options would begin, by one call of {@code sbatch --test-only},
   * which makes no job. Waits for ten seconds at most: without a controller, sbatch tries for half
   * a minute.
   *
   * @param options in sbatch's notation, {@code --name=value}
   * @throws SchedulerUnavailable if sbatch ends by itself, without an answer of Slurm
   */
  public ExpectedStart expectedStart(List<String> options) {
    Duration patience = shortPatience();
    CommandResult result = run(SlurmCommands.testOnly(options), patience);
    if (result.timedOut()) {
      return ExpectedStart.unknown(
          "sbatch gave "
              + late("in " + patience.toSeconds() + " s", result)
              + "; `scontrol ping` says more");
    }
    ExpectedStart read = TestOnlyText.read(result.err());
    boolean silent = read.at().isEmpty() && read.why().isEmpty();
    if (silent && result.exit() != 0) {
      // A script of the site may end before it starts Slurm's own sbatch.
      throw unavailable("sbatch", result);
    }
    return read;
  }

  private Duration shortPatience() {
    Duration patience = settings.queryTimeout();
    return patience.compareTo(START_PATIENCE) > 0 ? START_PATIENCE : patience;
  }

  /**
   * The place of a waiting job in its queue.
   *
   * @param partition the partitions that the job may run in, as Slurm prints them
   * @param ahead how many other jobs of the same partitions Slurm lists before it, by priority.
   *     Jobs that are held, or that wait for a job or for a time, do not count
   */
  public record Place(String partition, int ahead) {}

  /**
   * Returns the place of a waiting job, by one call of squeue. A cluster may hide other users' jobs
   * (slurm.conf(5), PrivateData); they do not count then.
   *
   * @return empty if squeue does not list the job as waiting
   */
  public Optional<Place> place(long arrayJobId) {
    Map<String, Set<String>> ahead = new HashMap<>();
    for (String line : ask(SlurmCommands.waiting()).out().lines().toList()) {
      String[] cells = line.split("\u001f", -1);
      if (cells.length != 3) {
        continue;
      }
      Set<String> before = ahead.computeIfAbsent(cells[1], partition -> new HashSet<>());
      if (cells[0].equals(Long.toString(arrayJobId))) {
        return Optional.of(new Place(cells[1], before.size()));
      }
      String reason = cells[2];
      boolean blocked =
          reason.startsWith("Dependency")
              || reason.startsWith("JobHeld")
              || reason.equals("BeginTime");
      if (!blocked) {
        before.add(cells[0]);
      }
    }
    return Optional.empty();
  }

  /** {@inheritDoc} It takes one call of scontrol. */
  @Override
  public Map<String, BillingWeights> billingWeights() {
    return ClusterText.billingWeights(ask(SlurmCommands.showPartitions()).out());
  }

  /**
   * Returns all partitions, also hidden ones, by two calls of scontrol and one of sinfo. Waits for
   * ten seconds at most for each.
   *
   * @throws SchedulerUnavailable if one of them fails
   */
  public List<PartitionFacts> partitions() {
    Duration patience = shortPatience();
    return ClusterText.facts(
        ask(SlurmCommands.showConfig(), patience).out(),
        ask(SlurmCommands.showPartitions(), patience).out(),
        ask(SlurmCommands.nodes(), patience).out());
  }

  /**
   * Reads the cluster's present configuration. It takes four calls. Without sacct, the result has
   * no {@code sacctFields}.
   */
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

  /** Returns the nodes of all partitions; a node of several partitions is returned for each. */
  public List<SlurmNode> nodes() {
    return SlurmNode.read(ask(SlurmCommands.nodeStates(), shortPatience()).out());
  }

  private CommandResult ask(List<String> argv) {
    return ask(argv, settings.queryTimeout());
  }

  private CommandResult ask(List<String> argv, Duration timeout) {
    CommandResult result = run(argv, timeout);
    if (!result.succeeded()) {
      throw unavailable(argv.get(0), result);
    }
    return result;
  }

  private CommandResult run(List<String> argv) {
    return run(argv, settings.queryTimeout());
  }

  private CommandResult run(List<String> argv, Duration timeout) {
    try {
      return runner.run(command(argv, timeout));
    } catch (IOException notStarted) {
      throw unavailable(argv.get(0), notStarted.getMessage());
    }
  }

  /**
   * Builds a command whose output is in English and UTC, with times as epoch seconds and complete
   * lists.
   */
  private Command command(List<String> argv, Duration timeout) {
    Map<String, String> client = new HashMap<>(environment);
    client.putAll(
        Map.of("LC_ALL", "C", "TZ", "UTC", "SLURM_TIME_FORMAT", "%s", "SLURM_BITSTR_LEN", "0"));
    return new Command(argv, client, directory, timeout);
  }

  private static SchedulerUnavailable unavailable(String client, CommandResult result) {
    if (!result.timedOut() && result.err().isBlank()) {
      return unavailable(client + " ended with " + result.exit() + " and printed no error");
    }
    return unavailable(client, result.timedOut() ? late("in time", result) : result.err().strip());
  }

  /** A client that hangs may have printed why: it tries again without an end, a line each time. */
  private static String late(String when, CommandResult result) {
    String last = result.err().strip().lines().reduce("", (earlier, line) -> line);
    String said = VisibleText.line(last);
    return "no answer " + when + (said.isEmpty() ? "" : "; it printed: " + said);
  }

  private static SchedulerUnavailable unavailable(
      String client, @org.jspecify.annotations.Nullable String error) {
    return unavailable(client + " failed: " + error);
  }

  private static SchedulerUnavailable unavailable(String message) {
    return new SchedulerUnavailable(
        ErrorCode.SLURM_UNREACHABLE,
        message,
        Advice.step("nothing was changed; try again when both of these answer"),
        Advice.command("", "scontrol", "ping"),
        Advice.command("", "sacctmgr", "show", "cluster"));
  }
}
