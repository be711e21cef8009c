package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ConfigReader;
import dev.nexa.slurm.config.ConfigSource;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Sync;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.process.CommandRunner;
import dev.nexa.slurm.scheduler.ClientEnvironment;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.local.LocalScheduler;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.scheduler.slurm.SlurmSettings;
import dev.nexa.slurm.submit.CrashPoint;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What the use cases share: the workspace, the files in it and the schedulers. Everything is made
 * where it is first needed, because a submit must start quickly.
 *
 * @param root the workspace's directory
 * @param environment the environment we were started with
 * @param passing told of each crash point; does nothing but in the kill suite
 * @param disk makes writes durable; another than the real one only where faults are tried
 * @param patience how long Slurm's clients may take
 */
public record Nexa(
    Path root,
    Map<String, String> environment,
    Consumer<CrashPoint> passing,
    Sync disk,
    SlurmSettings patience) {

  public Nexa(Path root, Map<String, String> environment) {
    this(root, environment, CrashPoint.NONE);
  }

  public Nexa(Path root, Map<String, String> environment, Consumer<CrashPoint> passing) {
    this(root, environment, passing, Sync.DISK, SlurmSettings.DEFAULT);
  }

  public Workspace workspace() {
    return new Workspace(root, new DurableFiles(disk));
  }

  public ConfigSource source() {
    return new ConfigSource(root);
  }

  public ConfigReader configs() {
    return new ConfigReader(source(), environment);
  }

  /**
   * The scheduler of that name, {@code slurm} or {@code local}.
   *
   * @throws SchedulerUnavailable if there is no Slurm here
   */
  public Scheduler scheduler(String name) {
    if (name.equals("local")) {
      return new LocalScheduler(
          root.toAbsolutePath().normalize().resolve(".nexa-local"),
          ourselves(),
          ClientEnvironment.forJobs(environment));
    }
    Optional<SlurmScheduler> slurm = slurm();
    if (slurm.isEmpty()) {
      throw new SchedulerUnavailable(
          "there is no Slurm here: sbatch is not on the PATH",
          "type it where Slurm's clients are on the PATH",
          "or submit to this machine: add --local; or only look at it: add --dry-run");
    }
    return slurm.get();
  }

  /** Slurm, where its clients are on the PATH. */
  Optional<SlurmScheduler> slurm() {
    Map<String, String> client = ClientEnvironment.forClients(environment);
    if (!SlurmScheduler.installed(client)) {
      return Optional.empty();
    }
    return Optional.of(
        new SlurmScheduler(
            new CommandRunner(),
            client,
            root.toAbsolutePath(),
            patience,
            () -> workspace().askAccounting(patience.queryTimeout())));
  }

  /** How the local scheduler starts its supervisor: the JVM and the class path that run us. */
  private static List<String> ourselves() {
    StringBuilder classPath = new StringBuilder();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      classPath
          .append(classPath.length() == 0 ? "" : File.pathSeparator)
          .append(Path.of(entry).toAbsolutePath());
    }
    return List.of(System.getProperty("java.home") + "/bin/java", "-cp", classPath.toString());
  }
}
