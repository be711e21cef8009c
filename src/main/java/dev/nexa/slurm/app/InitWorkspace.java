package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.config.ConfigSource;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.ProfileDifferences;
import dev.nexa.slurm.report.ProfileDifferences.Difference;
import dev.nexa.slurm.report.ProfileText;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * {@code init}: a workspace to start from, its cluster profile read off the cluster where there is
 * one. What is there already is left alone.
 */
public final class InitWorkspace {
  private static final String DEFAULT = "configs/clusters/default.yaml";
  private static final Pattern PROFILE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  private static final List<String> STARTER =
      List.of(
          DEFAULT,
          "configs/clusters/cpu.yaml",
          "configs/clusters/local.yaml",
          "configs/prices/default.yaml",
          "configs/policy.yaml",
          "configs/data/quickstart.yaml",
          "configs/data/quickstart/Records.java",
          "configs/train/science.yaml",
          "configs/train/science/train.py",
          "docs/schemas/cluster.schema.json",
          "docs/schemas/policy.schema.json",
          "docs/schemas/prices.schema.json",
          "docs/schemas/run.schema.json");

  private final Nexa nexa;
  private final List<Path> written = new ArrayList<>();
  private final List<Path> left = new ArrayList<>();

  public InitWorkspace(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What was done.
   *
   * @param left files that were there and were not touched
   * @param profile the cluster profile's file
   * @param cluster what Slurm told; empty where there is none
   * @param differences where the cluster differs from a profile that was left
   * @param notWritable the profile's storage tiers that this user can't write to from this machine
   */
  public record Initialized(
      List<Path> written,
      List<Path> left,
      Path profile,
      Optional<SlurmCluster> cluster,
      List<Difference> differences,
      List<String> notWritable) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      JsonObject json =
          new JsonObject()
              .with("schema_version", 1)
              .with("written", names(written))
              .with("left", names(left))
              .with("profile", profile.normalize().toString())
              .with("cluster", cluster.isPresent() ? told(cluster.get()) : null);
      List<JsonObject> keys = new ArrayList<>();
      for (Difference difference : differences) {
        keys.add(difference.toJson());
      }
      return json.with("differences", keys).with("not_writable", notWritable);
    }

    private static JsonObject told(SlurmCluster cluster) {
      List<String> partitions = new ArrayList<>();
      for (SlurmCluster.Partition partition : cluster.partitions()) {
        partitions.add(partition.name());
      }
      JsonObject leftOut = new JsonObject();
      cluster.leftOut().forEach(leftOut::with);
      return new JsonObject()
          .with("name", cluster.name())
          .with("version", cluster.version())
          .with("partitions", partitions)
          .with("left_out", leftOut);
    }

    private static List<String> names(List<Path> files) {
      List<String> names = new ArrayList<>();
      for (Path file : files) {
        names.add(file.normalize().toString());
      }
      return names;
    }
  }

  /** The starter's files and, where there is Slurm, the profile {@code default} of its cluster. */
  public Initialized init() {
    Optional<SlurmCluster> cluster = nexa.slurm().map(SlurmScheduler::cluster);
    Path profile = nexa.root().resolve(DEFAULT);
    List<Difference> differences = List.of();
    if (cluster.isPresent()) {
      differences = profile("default", profile, "nexa-slurm init", cluster.get());
    }
    for (String name : STARTER) {
      Path file = nexa.root().resolve(name);
      if (cluster.isEmpty() || !file.equals(profile)) {
        writeIfMissing(file, nexa.source().carried(name).bytes());
      }
    }
    return new Initialized(written, left, profile, cluster, differences, notWritable("default"));
  }

  /** Only the profile of that name. */
  public Initialized init(String name) {
    if (name.equals("local")) {
      throw new NexaException(
          ExitCode.USAGE,
          "the profile 'local' is this machine without Slurm; there is nothing to read off a cluster",
          "nexa-slurm init --cluster mine    makes configs/clusters/mine.yaml");
    }
    if (!PROFILE.matcher(name).matches()) {
      throw new NexaException(
          ExitCode.USAGE,
          "'" + name + "' names no profile: expected letters, digits, '.', '_' and '-'",
          "nexa-slurm init --cluster mine    makes configs/clusters/mine.yaml");
    }
    Optional<SlurmScheduler> slurm = nexa.slurm();
    if (slurm.isEmpty()) {
      throw new SchedulerUnavailable(
          "there is no Slurm here to read the profile from: sbatch is not on the PATH",
          "type it where Slurm's clients are on the PATH",
          "or write configs/clusters/" + name + ".yaml by hand: see docs/configuration.md");
    }
    SlurmCluster cluster = slurm.get().cluster();
    Path file = nexa.root().resolve("configs/clusters/" + name + ".yaml");
    List<Difference> differences =
        profile(name, file, "nexa-slurm init --cluster " + name, cluster);
    return new Initialized(
        written, left, file, Optional.of(cluster), differences, notWritable(name));
  }

  private List<Difference> profile(String name, Path file, String command, SlurmCluster cluster) {
    ConfigSource source = nexa.source();
    LocalDate today = LocalDate.now(Clock.systemUTC());
    String text = ProfileText.of(cluster, today, command, source.carried(DEFAULT).text());
    ClusterProfile now = readable(name, file, text);
    if (!writeIfMissing(file, text.getBytes(StandardCharsets.UTF_8))) {
      ClusterProfile kept = nexa.configs().cluster(name);
      return kept.scheduler().equals("slurm") ? ProfileDifferences.of(kept, now) : List.of();
    }
    return List.of();
  }

  private List<String> notWritable(String name) {
    ClusterProfile.Storage storage;
    try {
      storage = nexa.configs().cluster(name).storage();
    } catch (ConfigException theirs) {
      return List.of(); // A file that was left, and is told of when it is used.
    }
    List<String> not = new ArrayList<>();
    notWritable("scratch", storage.scratch(), not);
    notWritable("durable", storage.durable(), not);
    notWritable("shared", storage.shared(), not);
    return not;
  }

  /** A folder that is not there is made in the nearest one that is. */
  private static void notWritable(String tier, String folder, List<String> not) {
    Path path = Path.of(folder);
    while (path.getParent() != null && !Files.exists(path)) {
      path = path.getParent();
    }
    if (!Files.isDirectory(path) || !Files.isWritable(path)) {
      not.add(tier + " (" + folder + ")");
    }
  }

  private ClusterProfile readable(String name, Path file, String text) {
    try {
      return nexa.configs().cluster(name, file.toString(), text);
    } catch (ConfigException unreadable) {
      throw new NexaException(
          ExitCode.DEFECT,
          "what Slurm tells makes no cluster profile: " + unreadable.getMessage(),
          unreadable,
          "nothing was written; copy configs/clusters/default.yaml from the jar's and fill it in by hand");
    }
  }

  /** Whether it was missing. */
  private boolean writeIfMissing(Path file, byte[] content) {
    if (Files.exists(file)) {
      left.add(file);
      return false;
    }
    nexa.workspace().files().directories(file.resolveSibling(""));
    nexa.workspace().files().replace(file, content, "rw-r--r--");
    written.add(file);
    return true;
  }
}
