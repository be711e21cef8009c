package dev.nexa.slurm.config;

import dev.nexa.slurm.config.ConfigSource.Found;
import dev.nexa.slurm.config.Shape.Section;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.Sha256;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads each kind of file; what is wrong with one is told all at once, as a {@link
 * ConfigException}.
 */
public final class ConfigReader {
  /** The admin's policy: the same place for everybody, and not to be pointed elsewhere. */
  public static final Path ADMIN_POLICY = Path.of("/etc/nexa-slurm/policy.yaml");

  private final ConfigSource source;
  private final Expansion expansion;

  public ConfigReader(ConfigSource source, Map<String, String> environment) {
    this.source = source;
    this.expansion =
        new Expansion(environment, source.workspace().toAbsolutePath().normalize().toString());
  }

  /** A run's config with {@code --set} overrides. */
  public RunConfig run(String path, List<String> overrides) {
    return run(path, overrides, Optional.empty());
  }

  /** The same, going on from a finished run's checkpoint. */
  public RunConfig run(String path, List<String> overrides, Optional<FromRun> from) {
    Found file = source.file(path);
    List<Problem> problems = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    YamlNode root = tree(file, problems);
    Checker checker = new Checker(problems, expansion);
    List<String> rest = overrides;
    if (isOfNexaCompute(root)) {
      rest = new ArrayList<>(overrides);
      List<String> theirs = NexaCompute.takeOverrides(rest);
      root =
          new NexaCompute(checker, problems, notes).ours(Overrides.apply(root, theirs, problems));
      Problem.throwIfAny(problems);
    }
    root = FromRun.apply(Overrides.apply(root, rest, problems), from, problems);
    Values values = checker.section(RunConfig.SPEC, root, "");
    RunConfig.check(values, problems);
    Problem.throwIfAny(problems);
    return RunConfig.from(file, values, List.copyOf(notes));
  }

  /** Asked here, so that its class is only loaded for such a file. */
  private static boolean isOfNexaCompute(YamlNode root) {
    return root instanceof YamlNode.Mapping mapping
        && (mapping.entries().containsKey("job") || mapping.entries().containsKey("launcher"))
        && !mapping.entries().containsKey("stage");
  }

  /** A cluster profile by name. */
  public ClusterProfile cluster(String name) {
    return cluster(name, named("configs/clusters/", name, "cluster profile", ""));
  }

  /** The cluster profile that a config names; empty where it names none. */
  public Optional<ClusterProfile> cluster(RunConfig config) {
    if (config.cluster().isEmpty()) {
      return Optional.empty();
    }
    String name = config.cluster().get();
    String where = config.written().problem("cluster", "").toString();
    return Optional.of(cluster(name, named("configs/clusters/", name, "cluster profile", where)));
  }

  /** A cluster profile that is not on disk yet: what is about to be written must be readable. */
  public ClusterProfile cluster(String name, String file, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return cluster(name, new Found(file, bytes, Optional.empty()));
  }

  private ClusterProfile cluster(String name, Found file) {
    List<Problem> problems = new ArrayList<>();
    Values values = read(file, ClusterProfile.SPEC, problems);
    ClusterProfile.check(values, problems);
    Problem.throwIfAny(problems);
    return ClusterProfile.from(name, values);
  }

  /** A price book by name. */
  public PriceBook prices(String name) {
    return prices(name, named("configs/prices/", name, "price book", ""));
  }

  /** The price book that a cluster profile names. */
  public PriceBook prices(ClusterProfile cluster) {
    String name = cluster.priceBook();
    String where = "configs/clusters/" + cluster.name() + ".yaml: price_book: ";
    return prices(name, named("configs/prices/", name, "price book", where));
  }

  /** A price book wherever it lies, by the path a person typed. */
  public PriceBook pricesFile(String path) {
    Found file = source.file(path);
    String name = file.name().substring(file.name().lastIndexOf('/') + 1);
    return prices(name.replaceFirst("\\.ya?ml$", ""), file);
  }

  /** A price book that is not on disk yet: what is about to be written must be readable. */
  public PriceBook prices(String name, String file, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return prices(name, new Found(file, bytes, Optional.empty()));
  }

  private PriceBook prices(String name, Found file) {
    List<Problem> problems = new ArrayList<>();
    YamlNode root = tree(file, problems);
    Checker checker = new Checker(problems, expansion);
    String digest = Sha256.of(file.bytes());
    if (isOfSkyPilot(root)) {
      Values values = checker.section(SkyPilotPrices.SPEC, root, "");
      Problem.throwIfAny(problems);
      return SkyPilotPrices.book(name, digest, file, values);
    }
    Values values = checker.section(PriceBook.SPEC, root, "");
    Problem.throwIfAny(problems);
    PriceBook.check(values, problems);
    Problem.throwIfAny(problems);
    return PriceBook.from(name, digest, values);
  }

  /** Asked here, so that its class is only loaded for such a file. */
  private static boolean isOfSkyPilot(YamlNode root) {
    return root instanceof YamlNode.Mapping mapping && mapping.entries().containsKey("slurm");
  }

  /** What GPUs can do: configs/gpus.yaml. */
  public GpuCatalog gpus() {
    List<Problem> problems = new ArrayList<>();
    Values values = read(source.product("configs/gpus.yaml"), GpuCatalog.SPEC, problems);
    Problem.throwIfAny(problems);
    return GpuCatalog.from(values);
  }

  /** The policy in force. */
  public Policy policy() {
    Found file = policyFile();
    List<Problem> problems = new ArrayList<>();
    Values values = read(file, Policy.SPEC, problems);
    Policy.check(values, problems);
    Problem.throwIfAny(problems);
    return Policy.from(file.name(), values);
  }

  /** Each of the policy's values and where it is from. */
  public List<Setting> policySettings() {
    return Setting.of(tree(policyFile(), new ArrayList<>()), Policy.SPEC);
  }

  private Found policyFile() {
    return ConfigSource.isFile(ADMIN_POLICY)
        ? source.file(ADMIN_POLICY.toString())
        : source.product("configs/policy.yaml");
  }

  private Found named(String folder, String name, String kind, String where) {
    Optional<Found> file = source.optional(folder + name + ".yaml");
    if (file.isPresent()) {
      return file.get();
    }
    throw new NexaException(
        ExitCode.USAGE,
        where
            + "no "
            + kind
            + " named '"
            + name
            + "': there is no "
            + folder
            + name
            + ".yaml here or in the jar",
        "the jar has configs/clusters/{default,cpu,local}.yaml and configs/prices/default.yaml;"
            + " `nexa-slurm init` writes them here, to copy from");
  }

  /** The values, with what is wrong in them told. */
  private Values read(Found file, Section spec, List<Problem> problems) {
    return new Checker(problems, expansion).section(spec, tree(file, problems), "");
  }

  /** What stands in the file; a file that is no YAML has nothing. */
  private static YamlNode tree(Found file, List<Problem> problems) {
    Optional<YamlNode> node = YamlReader.read(file.name(), file.text(), problems);
    if (node.isEmpty()) {
      throw new ConfigException(problems);
    }
    return node.get();
  }
}
