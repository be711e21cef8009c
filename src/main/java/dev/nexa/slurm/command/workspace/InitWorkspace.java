package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.command.workspace.ProfileDifferences.Difference;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy.Locked;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.run.Context;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Implements {@code init}: writes a starter workspace. If Slurm is installed, its cluster profile
 * is read from the cluster. Existing files are not changed.
 */
public final class InitWorkspace {
  private static final String DEFAULT = "configs/clusters/default.yaml";
  private static final String CPU = "configs/clusters/cpu.yaml";
  private static final String PRICES = "configs/prices/default.yaml";
  private static final String EXAMPLE = "configs/train/science.yaml";
  private static final String DATA_EXAMPLE = "configs/data/quickstart.yaml";
  private static final Pattern PROFILE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  private static final List<String> STARTER = List.of(DEFAULT, PRICES, "configs/policy.yaml");

  /** They work from the jar, too. These are copies to change. */
  private static final List<String> EXAMPLES =
      List.of(
          CPU,
          "configs/clusters/local.yaml",
          DATA_EXAMPLE,
          "configs/data/quickstart/Records.java",
          EXAMPLE,
          "configs/train/science/train.py",
          "docs/schemas/cluster.schema.json",
          "docs/schemas/pipeline.schema.json",
          "docs/schemas/policy.schema.json",
          "docs/schemas/prices.schema.json",
          "docs/schemas/run.schema.json");

  /** The seeds' folders for data on the user's own machine. */
  private static final List<String> DATA =
      List.of(
          "data/raw",
          "data/processed/distillation",
          "data/processed/training",
          "data/processed/evaluation",
          "data/processed/raw_summary");

  private static final Pattern OF_SCHEMA = Pattern.compile("(?m)^# yaml-language-server:.*\\n");
  private static final Pattern TIER = Pattern.compile("(?m)^  (scratch|durable|shared): .*$");

  /** Keeps a folder in git, and its data out of git. */
  private static final String GIT_IGNORE = "*\n!.gitignore\n";

  private final Context context;
  private final boolean examples;
  private final List<String> settled = new ArrayList<>();
  private final List<Path> written = new ArrayList<>();
  private final List<Path> left = new ArrayList<>();

  /**
   * Creates the work.
   *
   * @param examples whether the examples, the schemas and the folders for data are written, too
   */
  public InitWorkspace(Context context, boolean examples) {
    this.context = context;
    this.examples = examples;
  }

  /**
   * The result of {@code init}.
   *
   * @param left existing files, which were not changed
   * @param profile the cluster profile's file
   * @param cluster the cluster as Slurm describes it; empty without Slurm
   * @param differences differences between the cluster and an existing profile
   * @param settled the usual storage tiers that this user cannot write to: the profile that was
   *     written has folders of the workspace instead
   * @param notWritable the profile's storage tiers that this user cannot write to from this machine
   * @param unpriced the cluster's GPU types whose price is missing, or a placeholder
   * @param next the command to type next: it shows the cost of a run that the files describe
   */
  public record Initialized(
      List<Path> written,
      List<Path> left,
      Path profile,
      Optional<SlurmCluster> cluster,
      List<Difference> differences,
      List<String> settled,
      List<String> notWritable,
      List<String> unpriced,
      List<String> next) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      return JsonObject.ofVersion(1)
          .with("written", names(written))
          .with("left", names(left))
          .with("profile", profile.normalize().toString())
          .with("cluster", cluster.map(Initialized::told).orElse(null))
          .with("differences", differences.stream().map(Codec::write).toList())
          .with("tiers_in_workspace_for", settled)
          .with("not_writable", notWritable)
          .with("unpriced_gpu_types", unpriced);
    }

    private static JsonObject told(SlurmCluster cluster) {
      List<String> partitions =
          cluster.partitions().stream().map(partition -> partition.name()).toList();
      JsonObject leftOut = new JsonObject();
      cluster.leftOut().forEach(leftOut::with);
      return new JsonObject()
          .with("name", cluster.name())
          .with("version", cluster.version())
          .with("partitions", partitions)
          .with("left_out", leftOut);
    }

    private static List<String> names(List<Path> files) {
      return files.stream().map(file -> file.normalize().toString()).toList();
    }
  }

  /**
   * Writes the starter's files, without those that the site has. If Slurm is installed, the
   * profiles {@code default} and {@code cpu} are read off its cluster.
   */
  public Initialized init() {
    ConfigReader configs = context.configs();
    if (configs.isLocked(Locked.PROFILES)) {
      configs.prices(configs.cluster("default")); // fails if the admin has not written them
    }
    Optional<SlurmCluster> cluster = context.slurm().map(SlurmScheduler::cluster);
    Path profile = place(DEFAULT);
    List<Difference> differences = List.of();
    if (cluster.isPresent()) {
      differences = profile("default", profile, "nexa-slurm init", cluster.get(), DEFAULT);
      Path cpu = context.root().resolve(CPU);
      if (examples && !Files.exists(cpu)) {
        profile("cpu", cpu, "nexa-slurm init", cluster.get(), CPU);
      }
    }
    List<String> unpriced = cluster.map(this::unpriced).orElse(List.of());
    List<String> names = new ArrayList<>(STARTER);
    names.addAll(examples ? EXAMPLES : List.of());
    for (String name : names) {
      Path file = place(name);
      boolean read = cluster.isPresent() && (file.equals(profile) || written.contains(file));
      if (!read) {
        String starter = context.source().carried(name).text();
        String fits = cluster.isPresent() ? fitted(name, starter, unpriced) : starter;
        writeIfMissing(file, name.equals(DEFAULT) ? withTiers(file, fits) : withoutSchema(fits));
      }
    }
    for (String folder : examples ? DATA : List.<String>of()) {
      Path file = context.root().resolve(folder).resolve(".gitignore");
      writeIfMissing(file, GIT_IGNORE);
    }
    if (written.isEmpty()) {
      // If the site has all files, this folder makes it a workspace.
      context.workspace().files().directories(context.root().resolve(DEFAULT).resolveSibling(""));
    }
    return done("default", profile, cluster, differences, unpriced);
  }

  /** Returns the file's path: the site's if it has the file, else the workspace's. */
  private Path place(String name) {
    return context
        .source()
        .site(name)
        .flatMap(ConfigSource.Found::path)
        .orElse(context.root().resolve(name));
  }

  /**
   * Writes only the profile with this name.
   *
   * @throws NexaException if the name is not valid, or if the admin's policy locks profiles
   * @throws SchedulerUnavailable if sbatch is not on the PATH
   */
  public Initialized init(String name) {
    boolean local = name.equals(ClusterProfile.LOCAL);
    if (local || !PROFILE.matcher(name).matches()) {
      throw ErrorCode.OPTION_INVALID.error(
          local
              ? "the profile 'local' is this machine without Slurm; there is nothing to read off a cluster"
              : "'" + name + "' names no profile: expected letters, digits, '.', '_' and '-'",
          Advice.command(
              "makes configs/clusters/mine.yaml", "nexa-slurm", "init", "--cluster", "mine"));
    }
    if (context.configs().isLocked(Locked.PROFILES)) {
      throw ErrorCode.OPTION_INVALID.error(
          "--cluster: `locked` in "
              + ConfigReader.ADMIN_POLICY
              + " allows no profile in a workspace",
          Advice.command("lists the profiles", "ls", ConfigSource.SITE.resolve("clusters")));
    }
    Optional<SlurmScheduler> slurm = context.slurm();
    if (slurm.isEmpty()) {
      throw new SchedulerUnavailable(
          ErrorCode.SLURM_NOT_FOUND,
          "there is no Slurm here to read the profile from: sbatch is not on the PATH",
          Advice.step("type it where Slurm's clients are on the PATH"),
          Advice.step(
              "or write configs/clusters/%s.yaml by hand: see `nexa-slurm explain docs/profile.md`"
                  .formatted(name)));
    }
    SlurmCluster cluster = slurm.get().cluster();
    Path file = context.root().resolve("configs/clusters/" + name + ".yaml");
    String starter = name.equals("cpu") ? CPU : DEFAULT;
    List<Difference> differences =
        profile(name, file, "nexa-slurm init --cluster " + name, cluster, starter);
    return done(name, file, Optional.of(cluster), differences, unpriced(cluster));
  }

  private Initialized done(
      String name,
      Path profile,
      Optional<SlurmCluster> cluster,
      List<Difference> differences,
      List<String> unpriced) {
    List<String> next =
        cluster.isPresent() ? estimate(name) : List.of("submit", DATA_EXAMPLE, "--local", "--wait");
    return new Initialized(
        written, left, profile, cluster, differences, settled, notWritable(name), unpriced, next);
  }

  /** Returns the GPU types of the cluster that have no price in the price book. */
  private List<String> unpriced(SlurmCluster cluster) {
    SortedSet<String> types = new TreeSet<>();
    cluster.partitions().forEach(partition -> types.addAll(partition.nodes().gpuTypes()));
    try {
      Set<String> priced = context.configs().prices("default").gpuTypes();
      types.removeIf(
          type -> !ProfileText.isName(type) || priced.stream().anyMatch(type::equalsIgnoreCase));
    } catch (NexaException theirs) {
      return List.of(); // An existing file is broken. That is reported when the file is used.
    }
    return List.copyOf(types);
  }

  /** Returns a starter's file as it fits the cluster that was read. */
  private String fitted(String name, String starter, List<String> unpriced) {
    if (name.equals(EXAMPLE)) {
      return FitToNodes.with(starter, example("default", starter).orElse(Map.of()));
    }
    if (name.equals(PRICES)) {
      String placeholder =
          ": {price: 5.50, source: \"placeholder, on no price list: put your cluster's price here\"}\n";
      String prices =
          unpriced.stream()
              .map(type -> "  " + ProfileText.word(type) + placeholder)
              .collect(Collectors.joining("", "gpu_hour:\n", ""));
      return starter.replace("gpu_hour:\n", prices);
    }
    return starter;
  }

  /** Returns the values that a config must change to run on a cluster; empty if it cannot. */
  private Optional<Map<String, String>> example(String cluster, String text) {
    try {
      return new FitToNodes(context.configs().cluster(cluster)).example(text);
    } catch (ConfigException | IllegalArgumentException theirs) {
      return Optional.of(Map.of()); // An existing file is broken, which its use reports.
    }
  }

  /** Returns the same of one of our own configs. */
  private Optional<Map<String, String>> ours(String cluster, String config) {
    return example(cluster, context.source().product(config).text());
  }

  /** Returns a script beside the new files with {@code #SBATCH} lines, the first by its name. */
  private Optional<String> ownScript() {
    return Stream.of("*.sbatch", "*.slurm", "*.sh")
        .flatMap(glob -> DurableFiles.list(context.root(), glob).stream())
        .filter(Files::isReadable)
        .filter(Files::isRegularFile)
        .filter(file -> file.getFileName().toString().matches("[A-Za-z0-9._-]+"))
        .filter(file -> file.toFile().length() <= ConfigSource.MAX_BYTES)
        .filter(
            file ->
                new String(DurableFiles.readBytes(file), StandardCharsets.UTF_8)
                    .contains("\n#SBATCH "))
        .map(file -> file.getFileName().toString())
        .findFirst();
  }

  /**
   * Returns the estimate of the user's own script; without one, of an example that runs on the
   * cluster: on CPUs if it has no GPUs.
   */
  private List<String> estimate(String cluster) {
    Optional<String> own = ownScript();
    String config =
        own.orElseGet(() -> ours(cluster, EXAMPLE).isPresent() ? EXAMPLE : DATA_EXAMPLE);
    List<String> words = new ArrayList<>(List.of("estimate", config));
    if (!cluster.equals("default")) {
      words.addAll(List.of("--cluster", cluster));
    }
    if (own.isEmpty()) {
      ours(cluster, config)
          .orElse(Map.of())
          .forEach(
              (key, value) -> words.addAll(List.of("--set", "resources." + key + "=" + value)));
    }
    return words;
  }

  /**
   * Writes the profile, or compares it with the file that exists.
   *
   * @param starter the jar's profile with the keys that Slurm does not report
   */
  private List<Difference> profile(
      String name, Path file, String command, SlurmCluster cluster, String starter) {
    ConfigSource source = context.source();
    LocalDate today = LocalDate.now(Clock.systemUTC());
    String read = ProfileText.of(cluster, today, command, source.carried(starter).text());
    ClusterProfile now = readable(name, file, read);
    String text = new FitToNodes(now).entries(read);
    if (!writeIfMissing(file, withTiers(file, text))) {
      ClusterProfile kept = context.configs().cluster(name);
      return kept.isLocal() ? List.of() : ProfileDifferences.of(kept, now);
    }
    return List.of();
  }

  /** Without the schemas, an editor would look for a file that is not there. */
  private String withoutSchema(String config) {
    return examples ? config : OF_SCHEMA.matcher(config).replaceAll("");
  }

  /**
   * Returns a profile with tiers in the workspace if this user cannot write to the usual ones: a
   * job would find that out only after it has waited.
   */
  private String withTiers(Path file, String profile) {
    String text = withoutSchema(profile);
    List<String> closed = readable("default", file, text).storage().notWritable();
    if (!closed.isEmpty() && !Files.exists(file)) {
      settled.addAll(closed);
      text = TIER.matcher(text).replaceAll("  $1: \\${workspace}/storage/$1");
    }
    return text;
  }

  private List<String> notWritable(String name) {
    try {
      return context.configs().cluster(name).storage().notWritable();
    } catch (ConfigException theirs) {
      return List.of(); // An existing file is broken. That is reported when the file is used.
    }
  }

  private ClusterProfile readable(String name, Path file, String text) {
    try {
      return context.configs().cluster(name, file.toString(), text);
    } catch (ConfigException unreadable) {
      throw ErrorCode.SLURM_ANSWER_UNUSABLE.error(
          "Slurm's answer makes no cluster profile: " + unreadable.getMessage(),
          unreadable,
          Advice.step(
              "nothing was written; copy configs/clusters/default.yaml from the jar's and fill it in by hand"));
    }
  }

  /**
   * Writes the file if it is missing, or empty: a full disk leaves empty files.
   *
   * @return whether it was written
   */
  private boolean writeIfMissing(Path file, String text) {
    if (Files.exists(file) && file.toFile().length() > 0) {
      left.add(file);
      return false;
    }
    context.workspace().files().directories(file.resolveSibling(""));
    context.workspace().files().replace(file, text);
    written.add(file);
    return true;
  }
}
