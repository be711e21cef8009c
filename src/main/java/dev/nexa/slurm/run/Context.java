package dev.nexa.slurm.run;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.cluster.scheduler.ClientEnvironment;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.local.LocalScheduler;
import dev.nexa.slurm.cluster.scheduler.local.LocalSettings;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.runs.WorkspaceSearch;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.Interruption;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The state that all use cases share: the workspace, its files and the schedulers.
 *
 * <p>Each object is made at its first use, because a submit must start quickly.
 *
 * @param root the workspace's directory
 * @param environment the environment of this process
 * @param passing receives each crash point; does nothing outside the tests that kill the process
 * @param disk makes writes durable; a test that injects disk faults passes its own
 * @param patience timeouts for Slurm's client commands
 * @param missing the search that says why {@code root} is not a workspace; empty if it is a
 *     workspace, or if the user named it
 * @param interruption lets a signal that ends this process find the run that it submits
 */
public record Context(
    Path root,
    Map<String, String> environment,
    Consumer<CrashPoint> passing,
    Sync disk,
    ClientTimeouts patience,
    Optional<WorkspaceSearch> missing,
    Interruption interruption) {

  /** Makes a context with real disks and the default timeouts. */
  public Context(Path root, Map<String, String> environment) {
    this(root, environment, CrashPoint.NONE);
  }

  /** Makes a context whose crash points are observed. */
  public Context(Path root, Map<String, String> environment, Consumer<CrashPoint> passing) {
    this(root, environment, passing, Sync.DISK, ClientTimeouts.DEFAULT);
  }

  public Context(
      Path root,
      Map<String, String> environment,
      Consumer<CrashPoint> passing,
      Sync disk,
      ClientTimeouts patience) {
    this(root, environment, passing, disk, patience, Optional.empty(), new Interruption());
  }

  /** Returns a copy of this context that waits so long for Slurm. */
  public Context waiting(ClientTimeouts other) {
    return new Context(root, environment, passing, disk, other, missing, interruption);
  }

  /** Returns a copy of this context that records why its root is not a workspace. */
  public Context missing(WorkspaceSearch search) {
    return new Context(
        root, environment, passing, disk, patience, Optional.of(search), interruption);
  }

  /**
   * Rejects a run on Slurm outside a workspace, because only a workspace has a policy and prices.
   *
   * @param scheduler {@code slurm} or {@code local}; {@code local} is always accepted
   * @throws NexaException with {@link ExitCode#USAGE} if the root is not a workspace
   */
  public void requireWorkspace(String scheduler) {
    if (missing.isPresent() && !scheduler.equals(ClusterProfile.LOCAL)) {
      throw noWorkspace(
          missing.get(), Advice.step("or run it on this machine, at the jar's prices: --local"));
    }
  }

  /**
   * Returns the error for a command that needs a workspace.
   *
   * @param search the search that found no workspace
   * @param more further advice, printed last
   */
  public static NexaException noWorkspace(WorkspaceSearch search, Advice... more) {
    List<Advice> next = new ArrayList<>(search.advice());
    if (search.theirs().isPresent() && Files.isRegularFile(ConfigReader.ADMIN_POLICY)) {
      next.add(Advice.step("to approve an estimate of it, type the command in your home folder"));
    }
    next.addAll(List.of(more));
    boolean open = search.theirs().isEmpty() && search.here() != WorkspaceSearch.Here.OURS;
    return ErrorCode.WORKSPACE_NOT_FOUND.error(
        search.reason() + (open ? ", and others can put files into this folder" : ""), next);
  }

  /** Returns the workspace's folders and files. */
  public Workspace workspace() {
    return new Workspace(root, new DurableFiles(disk));
  }

  /** Returns the source of config files: the workspace, then the jar. */
  public ConfigSource source() {
    return new ConfigSource(root);
  }

  /** Returns the reader of configs. */
  public ConfigReader configs() {
    return new ConfigReader(source(), environment);
  }

  /**
   * Returns the scheduler with this name, {@code slurm} or {@code local}, for a command that looks
   * at runs or ends them.
   *
   * @throws SchedulerUnavailable if sbatch is not on the PATH
   */
  public Scheduler scheduler(String name) {
    return scheduler(
        name,
        "or look at what the last pass recorded: nexa-slurm runs list, nexa-slurm runs show RUN");
  }

  /**
   * Returns the scheduler with this name for a command that submits.
   *
   * @throws SchedulerUnavailable if sbatch is not on the PATH
   */
  public Scheduler schedulerToSubmit(String name) {
    return scheduler(
        name,
        "or submit to this machine: nexa-slurm submit CONFIG --local; or only look at the job: --dry-run");
  }

  /**
   * Returns the scheduler with this name.
   *
   * @param otherwise what else to do if sbatch is not on the PATH
   * @throws SchedulerUnavailable if sbatch is not on the PATH
   */
  public Scheduler scheduler(String name, String otherwise) {
    if (name.equals(ClusterProfile.LOCAL)) {
      return new LocalScheduler(
          root.toAbsolutePath().normalize().resolve(".nexa-local"),
          ourselves(),
          ClientEnvironment.forJobs(environment),
          LocalSettings.DEFAULT);
    }
    return requireSlurm(otherwise);
  }

  /**
   * Returns Slurm.
   *
   * @param otherwise what else to do if its client commands are not on the PATH. A text, because
   *     each class that is loaded makes a submit slower
   * @throws SchedulerUnavailable if they are not
   */
  public SlurmScheduler requireSlurm(String otherwise) {
    Optional<SlurmScheduler> slurm = slurm();
    if (slurm.isEmpty()) {
      throw new SchedulerUnavailable(
          ErrorCode.SLURM_NOT_FOUND,
          "there is no Slurm here: sbatch is not on the PATH",
          Advice.step("type it where Slurm's clients are on the PATH"),
          Advice.step(otherwise));
    }
    return slurm.get();
  }

  /** Returns Slurm, or empty if its client commands are not on the PATH. */
  public Optional<SlurmScheduler> slurm() {
    Map<String, String> client = ClientEnvironment.forClients(environment);
    if (!SlurmScheduler.installed(client, "sbatch")) {
      return Optional.empty();
    }
    return Optional.of(
        new SlurmScheduler(
            new CommandRunner(),
            client,
            existing(root.toAbsolutePath()),
            patience,
            () -> workspace().askAccounting(patience.queryTimeout())));
  }

  /** Returns the folder, or the nearest one above it that exists: programs start there. */
  private static Path existing(Path folder) {
    Path nearest = folder;
    while (!Files.isDirectory(nearest) && nearest.getParent() != null) {
      nearest = nearest.getParent();
    }
    return nearest;
  }

  /**
   * Returns the command that starts the local scheduler's supervisor with this JVM and class path.
   */
  private static List<String> ourselves() {
    String classPath =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(entry -> Path.of(entry).toAbsolutePath().toString())
            .collect(Collectors.joining(File.pathSeparator));
    // It waits for programs as long as a run takes: one compiler and one thread for the heap are
    // enough.
    return List.of(
        System.getProperty("java.home") + "/bin/java",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        classPath);
  }
}
