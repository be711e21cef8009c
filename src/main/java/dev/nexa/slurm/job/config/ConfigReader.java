package dev.nexa.slurm.job.config;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.job.config.foreign.ForeignFile;
import dev.nexa.slurm.job.config.foreign.NexaCompute;
import dev.nexa.slurm.job.config.foreign.SkyPilotPrices;
import dev.nexa.slurm.job.config.pipeline.FromRuns;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.pipeline.StageReferences;
import dev.nexa.slurm.job.config.run.Groups;
import dev.nexa.slurm.job.config.run.InferredKeys;
import dev.nexa.slurm.job.config.run.NativeKeys;
import dev.nexa.slurm.job.config.run.NativeOptions;
import dev.nexa.slurm.job.config.run.Overrides;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.run.UnknownKeys;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.job.config.site.GpuCatalog;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.Policy.Locked;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.RunDefaults;
import dev.nexa.slurm.job.config.yaml.Checker;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import dev.nexa.slurm.job.config.yaml.Expansion;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.Setting;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Reads and checks every kind of YAML file. A reader reads each profile, each price book and the
 * policy once: the stages of a pipeline share them.
 *
 * <p>A method throws a {@link ConfigException} with all problems of a file at once, and a {@link
 * NexaException} with {@link ExitCode#USAGE} if the file is missing.
 */
public final class ConfigReader {
  /**
   * The admin's policy. If this file exists, it replaces the workspace's policy; no option changes
   * its path.
   */
  public static final Path ADMIN_POLICY = ConfigSource.SITE.resolve("policy.yaml");

  private static final List<String> JARS_PROFILES = List.of("default", "cpu", "local");
  private static final List<String> JARS_BOOKS = List.of("default");

  /** The command that lists the keys of a run's config. */
  private static final String RUN_KEYS = "`nexa-slurm explain config`";

  private final ConfigSource source;
  private final Expansion expansion;
  private final Map<String, ClusterProfile> clusters = new HashMap<>();
  private final Map<String, PriceBook> priceBooks = new HashMap<>();
  private Optional<Policy> policy = Optional.empty();

  /**
   * Creates a reader.
   *
   * @param environment the variables that {@code ${env:VAR}} refers to
   */
  public ConfigReader(ConfigSource source, Map<String, String> environment) {
    this.source = source;
    String workspace = source.workspace().toAbsolutePath().normalize().toString();
    this.expansion = new Expansion(environment, workspace, false);
  }

  /** Reads a run's config and applies the {@code --set} overrides, in order. */
  public RunConfig run(String path, List<String> overrides) {
    return run(path, overrides, FromRuns.NONE);
  }

  /**
   * Reads a run's config and applies the {@code --set} overrides. Also reads the {@code
   * options_file} and sweep files of Nexa_Compute.
   *
   * @param from the earlier runs that {@code --from} names
   */
  public RunConfig run(String path, List<String> overrides, FromRuns from) {
    return run(runFile(path), overrides, from, Optional.empty(), written -> Optional.empty());
  }

  /**
   * Reads a run's config as {@link #run(String, List, FromRuns)} does. If the config leaves out
   * {@code stage}, {@code backend} or {@code resources}, they follow from its other keys or from
   * the {@code defaults} of its cluster's profile, and the config's notes say so.
   *
   * @param stage the pipeline's stage that the run is, whose {@code set} comes before the
   *     overrides; empty for a run outside a pipeline
   * @param typed the profile that the user names, which wins over the config's
   * @param otherwise the name of the profile if neither the user nor the config names one
   */
  public RunConfig run(
      String path,
      List<String> overrides,
      FromRuns from,
      Optional<PipelineConfig.Stage> stage,
      Optional<String> typed,
      String otherwise) {
    return run(runFile(path), overrides, from, stage, typed, otherwise);
  }

  /**
   * Reads a run's config that need not be on disk, as {@link #run(String, List, FromRuns, Optional,
   * Optional, String)} does.
   *
   * @param file the config; the files that it names lie beside the file's path
   */
  public RunConfig run(
      Found file,
      List<String> overrides,
      FromRuns from,
      Optional<PipelineConfig.Stage> stage,
      Optional<String> typed,
      String otherwise) {
    return run(
        file,
        overrides,
        from,
        stage,
        written ->
            typed.isPresent() ? Optional.of(defaults(typed.get())) : defaults(written, otherwise));
  }

  private RunConfig run(
      Found file,
      List<String> overrides,
      FromRuns from,
      Optional<PipelineConfig.Stage> stage,
      Function<Mapping, Optional<RunDefaults>> profile) {
    List<Problem> problems = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    YamlNode root = tree(file, problems);
    Checker checker = new Checker(problems, expansion, notes, RUN_KEYS);
    Expansion references = expansion;
    List<String> rest = overrides;
    if (isOfNexaCompute(root)) {
      rest = new ArrayList<>(overrides);
      List<String> theirs = NexaCompute.takeOverrides(rest);
      root =
          new NexaCompute(checker, problems, notes).ours(Overrides.apply(root, theirs, problems));
      Problem.throwIfAny(problems);
    }
    if (stage.isPresent()) {
      root = Overrides.replace(root, stage.get().set(), problems);
    }
    root = from.apply(Overrides.apply(root, rest, problems), problems);
    if (root instanceof Mapping mapping && mapping.entries().containsKey(Groups.KEY)) {
      root = Groups.withFirst(root);
    }
    boolean waits = stage.isPresent() || !from.runs().isEmpty();
    if (waits || mentionsStages(file, overrides)) {
      boolean fine = StageReferences.check(root, stage, from, problems);
      if (waits || !fine) {
        // The checker does not repeat the problems that StageReferences reports.
        references = expansion.inPipeline();
        checker = new Checker(problems, references, notes, RUN_KEYS);
      }
    }
    int before = problems.size();
    Values values = checked(file, root, checker, profile, notes, problems);
    if (!problems.isEmpty()) {
      throw faults(file, root, references, profile, values, problems, before);
    }
    if (!values.has("options_file")) {
      return RunConfig.from(file, values, Optional.empty(), List.copyOf(notes));
    }
    NativeOptions options = optionsFile(file, values);
    Problem.throwIfAny(problems);
    return RunConfig.from(file, values, Optional.of(options), List.copyOf(notes));
  }

  /** Returns the values of a config, with the keys that follow from others. Adds the problems. */
  private static Values checked(
      Found file,
      YamlNode written,
      Checker checker,
      Function<Mapping, Optional<RunDefaults>> profile,
      List<String> notes,
      List<Problem> problems) {
    YamlNode root = written;
    Optional<InferredKeys> inferred = Optional.empty();
    if (root instanceof Mapping mapping && !isComplete(mapping)) {
      Optional<RunDefaults> defaults = profile.apply(mapping);
      if (defaults.isPresent()) {
        InferredKeys keys = new InferredKeys(file.name(), mapping, defaults.get(), notes, problems);
        root = keys.fill();
        inferred = Optional.of(keys);
      }
    }
    Values values = checker.section(RunConfig.SPEC, root, "");
    if (inferred.isPresent()) {
      inferred.get().explain(problems);
    }
    RunConfig.check(values);
    return values;
  }

  /**
   * Returns the exception for a config with problems. The config is checked again with its unknown
   * keys at the places where they belong, so that each mistake is reported once.
   *
   * @param before how many of the problems concern the overrides or the references to stages
   */
  private static ConfigException faults(
      Found file,
      YamlNode root,
      Expansion references,
      Function<Mapping, Optional<RunDefaults>> profile,
      Values values,
      List<Problem> problems,
      int before) {
    UnknownKeys unknown = new UnknownKeys(root, problems);
    ForeignFile.refuse(file, root, ForeignFile.RUN, unknown.problems());
    List<Problem> all = new ArrayList<>(problems);
    Values read = values;
    boolean whole = false;
    if (unknown.any()) {
      List<Problem> rest = new ArrayList<>();
      List<String> notes = new ArrayList<>();
      Checker again = new Checker(rest, references, notes, RUN_KEYS);
      read = checked(file, unknown.moved(), again, profile, notes, rest);
      rest.removeIf(problem -> problem.code() == ErrorCode.CONFIG_UNKNOWN_KEY);
      all = new ArrayList<>(problems.subList(0, before));
      all.addAll(unknown.problems());
      all.addAll(rest);
      whole = rest.isEmpty() && before == 0 && !read.has("options_file");
    }
    Set<String> gpus =
        root instanceof Mapping mapping
                && all.stream().anyMatch(problem -> problem.key().equals("resources.gpu_type"))
            ? profile.apply(mapping).map(RunDefaults::gpuTypes).orElse(Set.of())
            : Set.of();
    all.replaceAll(problem -> UnknownKeys.explained(problem, root, gpus));
    return new ConfigException(all, file, read, whole);
  }

  /**
   * Returns the config as it would be without its unknown keys, to find what else is wrong with it;
   * empty if it has other problems too.
   */
  public Optional<RunConfig> corrected(ConfigException wrong) {
    return wrong.isWhole()
        ? Optional.of(
            RunConfig.from(
                wrong.file().orElseThrow(),
                wrong.values().orElseThrow(),
                Optional.empty(),
                List.of()))
        : Optional.empty();
  }

  /** Checked here, so that {@link StageReferences} is loaded only for a config that needs it. */
  private static boolean mentionsStages(Found file, List<String> overrides) {
    String begin = "${stages.";
    return file.text().contains(begin) || overrides.stream().anyMatch(one -> one.contains(begin));
  }

  /** Checked here, so that {@link InferredKeys} is loaded only for a config that lacks keys. */
  private static boolean isComplete(Mapping written) {
    Entry resources = written.entries().get("resources");
    boolean timed =
        resources != null
            && (!(resources.value() instanceof Mapping mapping)
                || mapping.entries().containsKey("time"));
    return timed
        && written.entries().containsKey("stage")
        && written.entries().containsKey("backend");
  }

  /** Returns the defaults of the profile that the config names, else of the other profile. */
  private Optional<RunDefaults> defaults(Mapping written, String otherwise) {
    Entry cluster = written.entries().get("cluster");
    if (cluster == null) {
      return Optional.of(defaults(otherwise));
    }
    // The checker reports a value that is no name.
    boolean named =
        cluster.value() instanceof Scalar scalar
            && scalar.text().matches(ValueType.NAME_WORD.pattern());
    String where = new Problem(cluster.value().at(), "cluster", "").toString();
    return named
        ? Optional.of(defaults(((Scalar) cluster.value()).text(), where))
        : Optional.empty();
  }

  /** Returns what a profile gives to runs that leave keys out. */
  public RunDefaults defaults(String profile) {
    return defaults(profile, "");
  }

  private RunDefaults defaults(String name, String where) {
    Found file = named(Locked.PROFILES, name, where);
    return RunDefaults.of(cluster(name, file), tree(file, new ArrayList<>()));
  }

  private NativeOptions optionsFile(Found config, Values values) {
    String path = values.text("options_file");
    if (!NativeKeys.areReadBy(values.text("backend"))) {
      String message =
          "backend " + values.text("backend") + " has no config file of its own; write its options";
      values.report("options_file", message + " under options:");
    } else if (path.startsWith("/") || List.of(path.split("/", -1)).contains("..")) {
      String message =
          "'" + path + "' does not lie beside this file, in its folder or below: copy it there";
      values.report("options_file", message);
    }
    Problem.throwIfAny(values.problems());
    try {
      Found file = source.beside(config, path);
      return NativeOptions.read(file, source, values.at("options_file"), values.problems());
    } catch (ConfigException wrong) {
      throw wrong;
    } catch (NexaException missing) {
      String message = String.valueOf(missing.getMessage());
      throw new ConfigException(values.problem("options_file", message).as(missing.code()));
    }
  }

  /** Checked here, so that {@link NexaCompute} is loaded only for such a file. */
  private static boolean isOfNexaCompute(YamlNode root) {
    return root instanceof YamlNode.Mapping mapping
        && (mapping.entries().containsKey("job") || mapping.entries().containsKey("launcher"))
        && !mapping.entries().containsKey("stage");
  }

  /**
   * Finds a run's config by the path that the user typed.
   *
   * @throws NexaException if there is no such file, or if it has a name for another kind of file
   */
  public Found runFile(String path) {
    return typed(path, ForeignFile.RUN);
  }

  private Found typed(String path, String expected) {
    Found file = source.file(path);
    if (!path.endsWith(".yaml")) {
      ForeignFile.requireConfig(path, expected);
    }
    return file;
  }

  /** Reads a pipeline's file, as {@link #run} finds a run's config. */
  public PipelineConfig pipeline(String path) {
    Found file = typed(path, ForeignFile.PIPELINE);
    List<Problem> problems = new ArrayList<>();
    YamlNode root = tree(file, problems);
    Values values =
        new Checker(problems, expansion, "`nexa-slurm explain docs/pipelines.md`")
            .section(PipelineConfig.SPEC, root, "");
    if (!problems.isEmpty()) {
      ForeignFile.refuse(file, root, ForeignFile.PIPELINE, problems);
    }
    Problem.throwIfAny(problems);
    return PipelineConfig.from(file, root, values);
  }

  /** Reads the cluster profile with that name. */
  public ClusterProfile cluster(String name) {
    return cluster(name, "");
  }

  private ClusterProfile cluster(String name, String where) {
    ClusterProfile known = clusters.get(name);
    if (known == null) {
      known = cluster(name, named(Locked.PROFILES, name, where));
      clusters.put(name, known);
    }
    return known;
  }

  /** Reads the cluster profile that a config names; empty if the config names none. */
  public Optional<ClusterProfile> cluster(RunConfig config) {
    if (config.cluster().isEmpty()) {
      return Optional.empty();
    }
    String name = config.cluster().get();
    String where = config.written().problem("cluster", "").toString();
    return Optional.of(cluster(name, where));
  }

  /**
   * Checks the text of a cluster profile before it is written, by parsing it.
   *
   * @param file the file's name in messages
   */
  public ClusterProfile cluster(String name, String file, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return cluster(name, new Found(file, bytes, Optional.empty()));
  }

  private ClusterProfile cluster(String name, Found file) {
    Values values = read(file, ClusterProfile.SPEC, "`nexa-slurm explain docs/profile.md`");
    ClusterProfile.check(values);
    Problem.throwIfAny(values.problems());
    return ClusterProfile.from(name, shown(file, Locked.PROFILES, name), values);
  }

  /** Reads the price book with that name. */
  public PriceBook prices(String name) {
    return prices(name, named(Locked.PRICES, name, ""));
  }

  /** Reads the price book that a cluster profile names. */
  public PriceBook prices(ClusterProfile cluster) {
    String where = cluster.file() + ": price_book: ";
    String name = cluster.priceBook();
    PriceBook known = priceBooks.get(name);
    if (known == null) {
      known = prices(name, named(Locked.PRICES, name, where));
      priceBooks.put(name, known);
    }
    return known;
  }

  /** Reads a price book at the path that the user typed. */
  public PriceBook pricesFile(String path) {
    Found file = typed(path, ForeignFile.PRICES);
    String name = file.name().substring(file.name().lastIndexOf('/') + 1);
    return prices(name.replaceFirst("\\.ya?ml$", ""), file);
  }

  /**
   * Checks the text of a price book before it is written, by parsing it.
   *
   * @param file the file's name in messages
   */
  public PriceBook prices(String name, String file, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return prices(name, new Found(file, bytes, Optional.empty()));
  }

  private PriceBook prices(String name, Found file) {
    List<Problem> problems = new ArrayList<>();
    YamlNode root = tree(file, problems);
    Checker checker = new Checker(problems, expansion, "`nexa-slurm explain docs/price-book.md`");
    String digest = Sha256.of(file.bytes());
    if (isOfSkyPilot(root)) {
      Values values = checker.section(SkyPilotPrices.SPEC, root, "");
      Problem.throwIfAny(problems);
      return SkyPilotPrices.book(name, shown(file, Locked.PRICES, name), digest, file, values);
    }
    Values values = checker.section(PriceBook.SPEC, root, "");
    if (!problems.isEmpty()) {
      ForeignFile.refuse(file, root, ForeignFile.PRICES, problems);
    }
    Problem.throwIfAny(problems);
    PriceBook.check(values);
    Problem.throwIfAny(problems);
    return PriceBook.from(name, shown(file, Locked.PRICES, name), digest, values);
  }

  /** Checked here, so that {@link SkyPilotPrices} is loaded only for such a file. */
  private static boolean isOfSkyPilot(YamlNode root) {
    YamlNode slurm = root.value("slurm");
    // A cluster profile has a section `slurm` too.
    return slurm != null
        && (!(slurm instanceof Mapping keys)
            || keys.entries().containsKey("pricing")
            || keys.entries().containsKey("cluster_configs"));
  }

  /** Reads the GPU catalog, configs/gpus.yaml. */
  public GpuCatalog gpus() {
    Found file = source.product("configs/gpus.yaml");
    Values values = read(file, GpuCatalog.SPEC, "`nexa-slurm explain docs/gpu-catalog.md`");
    Problem.throwIfAny(values.problems());
    return GpuCatalog.from(values);
  }

  /**
   * Reads the signatures of failures: first from the workspace's configs/failures.yaml, if it has
   * this file, then from the jar.
   */
  public FailurePatterns signatures() {
    String path = "configs/failures.yaml";
    FailurePatterns ours = signatures(source.carried(path));
    return source.isOwn(path) ? signatures(source.product(path)).before(ours) : ours;
  }

  private FailurePatterns signatures(Found file) {
    Values values = read(file, FailurePatterns.SPEC, "");
    Problem.throwIfAny(values.problems());
    FailurePatterns signatures = FailurePatterns.from(values);
    Problem.throwIfAny(values.problems());
    return signatures;
  }

  /**
   * Reads the policy that applies: {@link #ADMIN_POLICY} if that file exists, else
   * configs/policy.yaml.
   */
  public Policy policy() {
    if (policy.isEmpty()) {
      policy = Optional.of(policy(policyFile()));
    }
    return policy.get();
  }

  public Policy policy(Found file) {
    Values values = read(file, Policy.SPEC, "`nexa-slurm explain docs/policy-file.md`");
    Policy.check(values, file.name().equals(adminPolicy().toString()));
    Problem.throwIfAny(values.problems());
    return Policy.from(file.name(), values);
  }

  /** Returns each value of the policy with its position. Reports no problems. */
  public List<Setting> policySettings() {
    return Setting.of(tree(policyFile(), new ArrayList<>()), Policy.SPEC);
  }

  private Found policyFile() {
    if (ConfigSource.isThere(adminPolicy())) {
      return source.file(adminPolicy().toString());
    }
    if (Files.isDirectory(source.site())) {
      requireNoOtherPolicy();
    }
    return source.product("configs/policy.yaml");
  }

  /** A misspelt name must not make the admin's limits disappear. */
  private void requireNoOtherPolicy() {
    for (Path file : DurableFiles.list(source.site(), "[Pp]olic*")) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no %s, but %s: its limits would not count".formatted(adminPolicy(), file),
          Advice.command("root types it, if this is the policy", "mv", file, adminPolicy()));
    }
  }

  private Path adminPolicy() {
    return source.site().resolve("policy.yaml");
  }

  /** Returns whether the admin's policy says that only the site's files of this kind count. */
  public boolean isLocked(Locked kind) {
    return ConfigSource.isThere(adminPolicy()) && policy().locked().contains(kind);
  }

  /**
   * Returns a note for each file of the workspace that would be this profile or its price book, but
   * is not read because the admin's policy locks such files; usually empty.
   */
  public List<String> ignored(String profile) {
    List<String> notes = new ArrayList<>();
    List<Locked> kinds =
        ConfigSource.isThere(adminPolicy()) ? policy().locked() : List.<Locked>of();
    for (Locked kind : kinds) {
      String name = kind == Locked.PROFILES ? profile : cluster(profile).priceBook();
      String path = kind.folder() + name + ".yaml";
      if (source.isOwn(path)) {
        notes.add(
            "%s of the workspace is not read: `locked` in %s allows only %s"
                .formatted(path, adminPolicy(), siteFile(kind, name)));
      }
    }
    return notes;
  }

  private Path siteFile(Locked kind, String name) {
    return source.site().resolve(kind.folder().substring("configs/".length()) + name + ".yaml");
  }

  /** Returns the names of the profiles that the workspace and the site have, sorted. */
  public List<String> profileNames() {
    String folder = Locked.PROFILES.folder();
    Set<String> names = new TreeSet<>(source.siteNames(folder));
    names.addAll(isLocked(Locked.PROFILES) ? List.of() : source.names(folder));
    return List.copyOf(names);
  }

  /** Returns the file as messages name it: where to change it. */
  private String shown(Found file, Locked kind, String name) {
    Path ofSite = siteFile(kind, name);
    return file.path().equals(Optional.of(ofSite))
        ? ofSite.toString()
        : kind.folder() + name + ".yaml";
  }

  private Found named(Locked kind, String name, String where) {
    boolean profile = kind == Locked.PROFILES;
    String folder = kind.folder();
    String path = folder + name + ".yaml";
    boolean locked = isLocked(kind) && !(profile && name.equals(ClusterProfile.LOCAL));
    Optional<Found> file = locked ? source.site(path) : source.optional(path);
    if (file.isPresent()) {
      return file.get();
    }
    Set<String> names = new TreeSet<>(source.siteNames(folder));
    if (!locked) {
      names.addAll(profile ? JARS_PROFILES : JARS_BOOKS);
      names.addAll(source.names(folder));
    }
    List<Advice> advice = new ArrayList<>();
    if (!names.isEmpty()) {
      String write = "write one of these names";
      String variable = profile && where.isEmpty() ? " as --cluster or NEXA_CLUSTER" : "";
      advice.add(Advice.step(write + variable + ": " + String.join(", ", names)));
    }
    if (locked) {
      String rule = "`locked` in %s allows only the files there".formatted(adminPolicy());
      advice.add(Advice.step(rule + "; ask the cluster's admin for " + siteFile(kind, name)));
    } else if (profile) {
      advice.add(
          Advice.command(
              "reads the profile off the cluster, where Slurm's clients are",
              "nexa-slurm init --cluster",
              name));
    }
    throw ErrorCode.FILE_NOT_FOUND.error(
        "%sno %s named '%s': there is no %s%s%s"
            .formatted(
                where,
                profile ? "cluster profile" : "price book",
                name,
                locked ? siteFile(kind, name) : path,
                locked ? "" : " here, in %s or in the jar".formatted(source.site()),
                Nearest.hint(name, names)),
        advice);
  }

  /** Checks the file against its keys. */
  private Values read(Found file, Section spec, String page) {
    List<Problem> problems = new ArrayList<>();
    return new Checker(problems, expansion, page).section(spec, tree(file, problems), "");
  }

  /** Parses the file; throws if it is not YAML. */
  private static YamlNode tree(Found file, List<Problem> problems) {
    Optional<YamlNode> node = YamlReader.read(file.name(), file.text(), problems);
    if (node.isEmpty()) {
      throw new ConfigException(problems);
    }
    return file.places().isEmpty()
        ? node.get()
        : YamlReader.moved(node.get(), "", file.places().get(), file.beginning());
  }
}
