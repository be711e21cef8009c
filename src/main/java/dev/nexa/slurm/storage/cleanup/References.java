package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.run.DatasetRegistry;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what refers to files of ended runs: manifests, configs, estimates, approvals, dataset
 * registries, deployed models, releases, servers, open runs and pipelines. A document that cannot
 * be read is an error, because it may refer to anything.
 */
final class References {
  /** Larger files are read in parts, and only if they hold text: models lie beside configs. */
  private static final long LARGEST_AT_ONCE = 1 << 20;

  private static final Pattern TEXT =
      Pattern.compile(".*\\.(?:ya?ml|jsonl?|toml|ini|cfg|conf|txt|sh|sbatch|py)");

  /** A link to a whole data set or home folder is a mistake, and would take hours. */
  private static final int MOST_FILES = 100_000;

  private static final String RELEASE = "release.json";
  private static final long LARGEST_RELEASE = 64 << 20;
  private static final Pattern QUOTED_ID =
      Pattern.compile("\"([a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?)\"");

  private final Workspace workspace;
  private final List<TierRoot> roots;
  private final Mentions mentions;
  private final Map<RunId, String> readers = new HashMap<>();
  private final Map<RunId, String> waiting = new HashMap<>();

  /**
   * Creates a reader for these runs' folders.
   *
   * @param names the names of the folders on the tiers
   * @param roots the tiers of all profiles
   */
  References(Workspace workspace, Set<String> names, List<TierRoot> roots) {
    this.workspace = workspace;
    this.roots = roots;
    mentions = new Mentions(names, roots);
  }

  /** Returns the places that name a run's folder on a tier. */
  List<Mention> of(String name, Tier tier) {
    return mentions.of(name, tier);
  }

  /**
   * Returns a sentence about a durable or shared tier that is not there, so that its registry and
   * servers are unknown; empty if all tiers are there.
   */
  Optional<String> absentTier() {
    for (TierRoot root : roots) {
      // A tier inside the workspace is no mount. It is missing until a run needs it.
      boolean counts = root.tier() != Tier.SCRATCH && !isInWorkspace(root.path());
      String tier = root.path() + " (" + root.key() + ") is ";
      if (counts && !root.exists()) {
        return Optional.of(tier + "not on this host, and may refer to it");
      }
      if (counts && isEmpty(root.path())) {
        return Optional.of(
            tier + "empty, as if it was not mounted; if it is, type nexa-slurm storage init");
      }
    }
    return Optional.empty();
  }

  private boolean isInWorkspace(Path tier) {
    try {
      return tier.startsWith(workspace.root().toRealPath());
    } catch (IOException failed) {
      throw unreadable(workspace.root(), DurableFiles.reason(failed));
    }
  }

  private static boolean isEmpty(Path folder) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      return !entries.iterator().hasNext();
    } catch (IOException failed) {
      throw unreadable(folder, DurableFiles.reason(failed));
    }
  }

  /** Returns who reads the run's durable files or can reuse them; empty if nobody does. */
  Optional<String> reader(RunId run) {
    return Optional.ofNullable(readers.get(run));
  }

  /** Returns the open pipeline that the run is a stage of; empty if there is none. */
  Optional<String> pipeline(RunId run) {
    return Optional.ofNullable(waiting.get(run));
  }

  /**
   * Reads all documents.
   *
   * @throws NexaException if one cannot be read
   */
  References read(ConfigReader configs) {
    manifests();
    records(workspace.estimates(), "the estimate ");
    texts(workspace.root().resolve("configs"), "the config ");
    configs
        .policy()
        .approvals()
        .ifPresent(one -> texts(workspace.root().resolve(one.directory()), "the approval "));
    for (TierRoot root : roots) {
      if (root.tier() == Tier.DURABLE) {
        texts(root.path().resolve(DatasetRegistry.FILE), "the dataset registry ");
        deployed(root.path().resolve("deploy"));
      } else if (root.tier() == Tier.SHARED) {
        texts(root.path().resolve("active_jobs"), "the server ");
      }
    }
    workspace.openRuns().forEach(id -> openRun(workspace.run(id)));
    pipelines();
    return this;
  }

  private void manifests() {
    new Walk("the manifest ", true)
        .read(
            workspace.manifests(),
            file -> {
              String name = file.getFileName().toString();
              if (name.endsWith(".json")
                  && !name.startsWith("cost_")
                  && !name.startsWith("infra_report")) {
                record(file, "the manifest ", name.substring(0, name.length() - ".json".length()));
              }
            });
  }

  private void openRun(RunFolder run) {
    String kind = "the open run " + run.id() + ": ";
    records(run.plan(), kind);
    texts(run.script(), kind);
    texts(run.runner(), kind);
    try {
      run.inputs().forEach(one -> readers.put(one.run(), "the open run " + run.id() + " reads it"));
      if (run.hasJournal()) {
        RunState.of(run.journal().read()).after().stream()
            .flatMap(earlier -> earlier.run().stream())
            .forEach(id -> readers.put(id, "the open run " + run.id() + " waits for its run"));
      }
    } catch (RuntimeException broken) {
      throw unreadable(run.path(), String.valueOf(broken.getMessage()));
    }
  }

  /** A stage of an open pipeline is kept whole; the newest pipeline of a name can be reused. */
  private void pipelines() {
    Map<String, PipelineFile> newest = new HashMap<>();
    for (PipelineFolder folder : workspace.allPipelines()) {
      PipelineFile file;
      try {
        file = PipelineFile.read(folder);
      } catch (RuntimeException broken) {
        throw unreadable(folder.document(), String.valueOf(broken.getMessage()));
      }
      newest.put(file.name(), file);
      if (folder.isOpen()) {
        String reason = "the pipeline " + folder.id() + " has not ended";
        file.stages().forEach(stage -> waiting.put(stage.run(), reason));
      }
    }
    for (PipelineFile file : newest.values()) {
      for (PipelineFile.Stage stage : file.stages()) {
        readers.putIfAbsent(
            stage.run(), "the next run of the pipeline " + file.name() + " can reuse it");
      }
    }
  }

  /** Reads our own JSON documents. One that was cut short may lack a name, so it is an error. */
  private void records(Path folder, String kind) {
    new Walk(kind, true).read(folder, file -> record(file, kind, ""));
  }

  /** Reads documents in any format. */
  private void texts(Path folder, String kind) {
    new Walk(kind, true).read(folder, file -> text(file, kind));
  }

  /** Reads what is deployed. A link to something that was removed says enough by its text. */
  private void deployed(Path folder) {
    new Walk("the deployed model ", false)
        .read(
            folder,
            file -> {
              text(file, "the deployed model ");
              if (file.endsWith(RELEASE)) {
                release(file);
              }
            });
  }

  /** A release names the run that made its model, and the runs before it, by their ids alone. */
  private void release(Path file) throws IOException {
    if (Files.size(file) > LARGEST_RELEASE) {
      throw unreadable(file, "it is larger than 64 MiB");
    }
    String release = String.valueOf(file.toRealPath().resolveSibling("").getFileName());
    Matcher id = QUOTED_ID.matcher(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    while (id.find()) {
      RunId.parse(id.group(1))
          .ifPresent(run -> readers.putIfAbsent(run, "the release " + release + " refers to it"));
    }
  }

  /** Visits all files below a folder, and what links there lead to. */
  private final class Walk {
    private final String kind;
    private final boolean whole;
    private final Set<Object> folders = new HashSet<>();
    private Optional<Path> link = Optional.empty();
    private int behindLinks;

    /**
     * Creates a walk.
     *
     * @param kind the word for the documents
     * @param whole whether a link to nothing is an error
     */
    Walk(String kind, boolean whole) {
      this.kind = kind;
      this.whole = whole;
    }

    /** Visits a file or a folder, which may be missing. */
    void read(Path path, OpenFolder.Visit read) {
      try {
        BasicFileAttributes attributes =
            Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!attributes.isSymbolicLink()) {
          visit(path, attributes, read);
          return;
        }
        String text = Files.readSymbolicLink(path).toString();
        mentions.read(text, kind + path.getFileName(), "");
        // Emacs marks a file that is being edited with a link to nothing.
        if (Files.exists(path)) {
          Optional<Path> before = link;
          link = Optional.of(path);
          visit(path, Files.readAttributes(path, BasicFileAttributes.class), read);
          link = before;
        } else if (whole && !path.getFileName().toString().startsWith(".#")) {
          throw unreadable(path, "it is a link to " + text + ", which is not there");
        }
      } catch (NoSuchFileException gone) {
        // A pass replaced or removed it meanwhile; the new text names what a new run needs.
      } catch (IOException failed) {
        throw unreadable(path, DurableFiles.reason(failed));
      }
    }

    private void visit(Path path, BasicFileAttributes attributes, OpenFolder.Visit read)
        throws IOException {
      if (link.isPresent() && ++behindLinks > MOST_FILES) {
        throw unreadable(link.get(), "links here lead to more than 100,000 files");
      }
      if (attributes.isRegularFile()) {
        read.visit(path);
      }
      Object key = attributes.fileKey();
      boolean visited = !attributes.isDirectory() || !folders.add(key == null ? path : key);
      if (visited || path.endsWith(".git")) {
        return;
      }
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
        for (Path entry : entries) {
          read(entry, read);
        }
      } catch (DirectoryIteratorException failed) {
        throw failed.getCause();
      }
    }
  }

  private void record(Path file, String kind, String run) throws IOException {
    String text = Files.readString(file);
    if (file.toString().endsWith(".json")) {
      try {
        Json.parseObject(text);
      } catch (RuntimeException damaged) {
        throw unreadable(file, "it is no JSON: " + damaged.getMessage());
      }
    }
    mentions.read(text, kind + file.getFileName(), run);
  }

  private void text(Path file, String kind) throws IOException {
    String name = kind + file.getFileName();
    if (Files.size(file) <= LARGEST_AT_ONCE) {
      mentions.read(new String(Files.readAllBytes(file), StandardCharsets.UTF_8), name, "");
    } else if (TEXT.matcher(file.getFileName().toString()).matches()) {
      try (Reader reader =
          new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8)) {
        mentions.read(reader, name, "");
      }
    }
  }

  private static NexaException unreadable(Path file, String why) {
    return ErrorCode.FILE_UNREADABLE.error(
        file + " cannot be read, and may refer to files that must stay: " + why,
        "nothing was removed; make the file readable, or move it away");
  }
}
