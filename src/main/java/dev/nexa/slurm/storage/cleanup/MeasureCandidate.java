package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.util.Optional;

/** Measures a path that is not needed, and puts it into the plan: as removed or as kept. */
record MeasureCandidate(
    CleanupPlan plan, Settings settings, Instant now, UserPrincipal me, Running measuring) {
  MeasureCandidate(CleanupPlan plan, Settings settings, Instant now, Running measuring) {
    this(plan, settings, now, OpenFolder.me(), measuring);
  }

  /** Adds a path that goes whatever its size is. */
  void add(TierRoot root, OpenFolder parent, Path path, Optional<RunId> run, String why)
      throws IOException {
    add(root, parent, path, run, why, Optional.empty());
  }

  /** Adds a checkpoint, which goes only if it has more bytes than {@code --prune-size}. */
  void addCheckpoint(TierRoot root, OpenFolder parent, Path path, RunId run, String why)
      throws IOException {
    add(root, parent, path, Optional.of(run), why, Optional.of(settings.pruneOver()));
  }

  private void add(
      TierRoot root,
      OpenFolder parent,
      Path path,
      Optional<RunId> run,
      String why,
      Optional<Long> pruneOver)
      throws IOException {
    Path name = path.getFileName();
    Path full = root.path().resolve(path);
    Optional<PosixFileAttributes> attributes = parent.attributes(name);
    if (attributes.isEmpty()) {
      return;
    }
    if (attributes.get().isSymbolicLink()) {
      plan.keep(full, "it is a link");
      return;
    }
    if (!attributes.get().owner().equals(me)) {
      plan.keep(full, "it belongs to " + attributes.get().owner().getName());
      return;
    }
    TreeSize size = TreeSize.of(parent, name, attributes.get(), measuring);
    Optional<String> reason =
        size.problem().isPresent() ? size.problem() : reason(root, attributes.get(), size);
    if (reason.isEmpty() && pruneOver.isPresent() && size.bytes() <= pruneOver.get()) {
      reason =
          Optional.of(
              "it has %s, not more than --prune-size +%s"
                  .formatted(Memory.plain(size.bytes()), Memory.words(pruneOver.get())));
    }
    if (!plan.keep(full, reason)) {
      plan.remove(
          new Candidate(
              root,
              path,
              run,
              why,
              size.bytes(),
              size.files(),
              OpenFolder.identity(attributes.get()),
              attributes.get().lastModifiedTime().toInstant()));
    }
  }

  private Optional<String> reason(TierRoot root, PosixFileAttributes attributes, TreeSize size)
      throws IOException {
    PosixFileAttributes tier = Files.readAttributes(root.path(), PosixFileAttributes.class);
    if (!OpenFolder.device(attributes).equals(OpenFolder.device(tier))) {
      return Optional.of("another file system is mounted there");
    }
    if (!size.newest().isAfter(now.minus(settings.age()))) {
      return Optional.empty();
    }
    if (size.newest().isAfter(Instant.now())) {
      return Optional.of("it was modified in the future: at " + size.newest());
    }
    return Optional.of(
        size.newest().isAfter(now)
            ? "it was modified while the cleanup ran"
            : "it was modified less than " + Span.text(settings.age()) + " ago");
  }

  /** Returns whether a temporary file is of a process that died long ago. */
  boolean isLeftover(PosixFileAttributes file, String name) {
    Instant modified = file.lastModifiedTime().toInstant();
    return file.isRegularFile()
        && DurableFiles.isTemporary(name)
        && file.owner().equals(me)
        && modified.isBefore(now.minus(settings.age()))
        && modified.isBefore(now.minusSeconds(3600));
  }

  /**
   * The size and the age of a file or a tree.
   *
   * @param bytes the lengths of all files
   * @param files the number of files and links
   * @param newest when the newest file, folder or link was modified
   * @param problem why it must not be moved; empty if nothing speaks against it
   */
  record TreeSize(long bytes, long files, Instant newest, Optional<String> problem) {
    /** Each level keeps a folder open, and a process may have 1,024 open files. */
    private static final int DEEPEST = 300;

    /** Measures an entry of a folder. A tree that cannot be read whole has a problem. */
    static TreeSize of(OpenFolder parent, Path name, PosixFileAttributes top, Running measuring)
        throws IOException {
      Walk walk = new Walk(OpenFolder.device(top), top.owner(), measuring);
      walk.visit(parent, name, 0);
      return new TreeSize(walk.bytes, walk.files, walk.newest, walk.problem);
    }

    private static final class Walk {
      private final String device;
      private final UserPrincipal owner;
      private final Running measuring;
      private long bytes;
      private long files;
      private Instant newest = Instant.EPOCH;
      private Optional<String> problem = Optional.empty();

      Walk(String device, UserPrincipal owner, Running measuring) {
        this.device = device;
        this.owner = owner;
        this.measuring = measuring;
      }

      void visit(OpenFolder parent, Path name, int depth) throws IOException {
        if (problem.isPresent()) {
          return;
        }
        Path path = parent.path().resolve(name);
        Optional<PosixFileAttributes> found = parent.attributes(name);
        if (found.isEmpty()) {
          problem = Optional.of(path + " went away while it was measured");
          return;
        }
        PosixFileAttributes attributes = found.get();
        Instant modified = attributes.lastModifiedTime().toInstant();
        newest = modified.isAfter(newest) ? modified : newest;
        if (!OpenFolder.device(attributes).equals(device)) {
          problem = Optional.of("another file system is mounted at " + path);
        } else if (!attributes.owner().equals(owner)) {
          problem = Optional.of(path + " belongs to " + attributes.owner().getName());
        } else if (!attributes.isDirectory()) {
          files++;
          measuring.done(1, 0);
          bytes += attributes.isRegularFile() ? attributes.size() : 0;
        } else if (depth == DEEPEST) {
          problem = Optional.of("it is deeper than " + DEEPEST + " folders");
        } else {
          into(parent, name, depth);
        }
      }

      private void into(OpenFolder parent, Path name, int depth) {
        try (OpenFolder folder = parent.open(name)) {
          folder.forEach(entry -> visit(folder, entry, depth + 1));
        } catch (IOException failed) {
          // Such as a folder without the right to read it, or more open files than `ulimit -n`.
          problem =
              Optional.of(
                  parent.path().resolve(name) + " cannot be read: " + DurableFiles.reason(failed));
        }
      }
    }
  }
}
