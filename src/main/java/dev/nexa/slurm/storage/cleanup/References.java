package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.Policy.Approvals;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
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
  private static final long LARGEST = 64 << 20;

  /** A config or a description of a model is smaller; weights beside it are not read. */
  private static final long LARGEST_CONFIG = 1 << 20;

  private static final String REGISTRY = "manifests/dataset_registry.yaml";

  private static final String RELEASE = "release.json";
  private static final Pattern QUOTED_ID =
      Pattern.compile("\"([a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?)\"");

  private final Workspace workspace;
  private final Mentions mentions;
  private final Map<RunId, String> readers = new HashMap<>();
  private final Map<RunId, String> waiting = new HashMap<>();

  /**
   * Creates a reader for these runs' folders.
   *
   * @param names the names of the folders on the tiers
   */
  References(Workspace workspace, Set<String> names) {
    this.workspace = workspace;
    mentions = new Mentions(names);
  }

  /** Returns the places that name a run's folders. */
  List<Mention> of(String name) {
    return mentions.of(name);
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
  References read(ConfigReader configs, List<TierRoot> roots) {
    manifests();
    below(workspace.estimates(), "the estimate ");
    small(workspace.root().resolve("configs"), "the config ");
    Optional<Approvals> approvals = configs.policy().approvals();
    if (approvals.isPresent()) {
      below(workspace.root().resolve(approvals.get().directory()), "the approval ");
    }
    for (TierRoot root : roots) {
      if (root.tier() == Tier.DURABLE) {
        document(root.path().resolve(REGISTRY), "the dataset registry ", "");
        small(root.path().resolve("deploy"), "the deployed model ");
        releases(root.path().resolve("deploy/releases"));
      } else if (root.tier() == Tier.SHARED) {
        below(root.path().resolve("active_jobs"), "the server ");
      }
    }
    for (RunId id : workspace.openRuns()) {
      openRun(workspace.run(id));
    }
    pipelines();
    return this;
  }

  private void manifests() {
    Path folder = workspace.manifests();
    visit(
        folder,
        file -> {
          String name = file.getFileName().toString();
          if (name.endsWith(".json") && !name.startsWith("cost_")) {
            String run = name.substring(0, name.length() - ".json".length());
            document(file, "the manifest ", run);
          }
        });
  }

  private void openRun(RunFolder run) {
    document(run.plan(), "the open run " + run.id() + ": ", "");
    document(run.script(), "the open run " + run.id() + ": ", "");
    small(run.runner(), "the open run " + run.id() + ": ");
    try {
      for (RunInput input : run.inputs()) {
        readers.put(input.run(), "the open run " + run.id() + " reads it");
      }
      if (run.hasJournal()) {
        for (Earlier earlier : RunState.of(run.journal().read()).after()) {
          earlier
              .run()
              .ifPresent(id -> readers.put(id, "the open run " + run.id() + " waits for its run"));
        }
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
        for (PipelineFile.Stage stage : file.stages()) {
          waiting.put(stage.run(), "the pipeline " + folder.id() + " has not ended");
        }
      }
    }
    for (PipelineFile file : newest.values()) {
      for (PipelineFile.Stage stage : file.stages()) {
        readers.putIfAbsent(
            stage.run(), "the next run of the pipeline " + file.name() + " can reuse it");
      }
    }
  }

  /** A release names the run that made its model, and the runs before it, by their ids alone. */
  private void releases(Path folder) {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
      for (Path release : all) {
        Path document = release.resolve(RELEASE);
        if (Files.isRegularFile(document, LinkOption.NOFOLLOW_LINKS)) {
          Matcher id = QUOTED_ID.matcher(text(document));
          while (id.find()) {
            RunId.parse(id.group(1))
                .ifPresent(
                    run ->
                        readers.putIfAbsent(
                            run, "the release " + release.getFileName() + " refers to it"));
          }
        }
      }
    } catch (IOException failed) {
      throw unreadable(folder, String.valueOf(failed.getMessage()));
    }
  }

  private static String text(Path file) throws IOException {
    if (Files.size(file) > LARGEST) {
      throw unreadable(file, "it is larger than 64 MiB");
    }
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  private void below(Path folder, String kind) {
    visit(folder, file -> document(file, kind, ""));
  }

  /** Reads configs and links, and leaves out large files. */
  private void small(Path folder, String kind) {
    visit(
        folder,
        file -> {
          if (Files.isSymbolicLink(file) || Files.size(file) <= LARGEST_CONFIG) {
            document(file, kind, "");
          }
        });
  }

  private interface Read {
    void read(Path file) throws IOException;
  }

  /** Visits each file and link below a folder, which may be missing. Follows no link. */
  private static void visit(Path folder, Read read) {
    if (Files.notExists(folder)) {
      return;
    }
    Path[] at = {folder};
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              at[0] = file;
              read.read(file);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException failed) {
      throw unreadable(at[0], String.valueOf(failed.getMessage()));
    }
  }

  /** Reads a file, or the text of a link. Other things and missing files say nothing. */
  private void document(Path file, String kind, String run) {
    String name = kind + file.getFileName();
    try {
      if (Files.isSymbolicLink(file)) {
        mentions.read(Files.readSymbolicLink(file).toString(), name, run);
      } else if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        mentions.read(text(file), name, run);
      }
    } catch (java.nio.file.NoSuchFileException gone) {
      // A pass replaced or removed it meanwhile; the new text names what a new run needs.
    } catch (IOException failed) {
      throw unreadable(file, String.valueOf(failed.getMessage()));
    }
  }

  private static NexaException unreadable(Path file, String why) {
    return new NexaException(
        ErrorCode.FILE_UNREADABLE,
        file + " cannot be read, and may refer to files that must stay: " + why,
        Advice.step("nothing was removed; make the file readable, or move it away"));
  }
}
