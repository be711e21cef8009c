package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reserves a run's name on the storage tiers. Workspaces that share a tier may give two runs the
 * same id in one second.
 *
 * <p>A name belongs to the run whose folder is written in {@code TIER/.nexa-runs/ID}. On scratch
 * the file is {@code TIER/.nexa-scratch/ID}. Submit reserves the name on the tiers that it can
 * write to; the job does so on each tier (templates/lib/preamble.ftl), and uses {@code ID.2} if
 * another run has the name.
 */
public final class StorageClaims {
  private static final String RUNS = ".nexa-runs";
  private static final String SCRATCH = ".nexa-scratch";
  private static final int PATIENCE = 20;

  /** The job script tries this many names too. */
  private static final int MOST_NAMES = 99;

  /** So many are looked for when a run has ended: one for each workspace that shares the tier. */
  private static final int USUAL_NAMES = 9;

  private final List<Path> folders = new ArrayList<>();

  /**
   * Creates the claims for the tiers of a plan. Tiers that do not exist on this host are left out.
   *
   * @param storage the tiers as plan.json names them
   */
  public StorageClaims(Storage storage) {
    folder(Path.of(storage.durable()), RUNS);
    folder(Path.of(storage.shared()), RUNS);
    folder(Path.of(storage.scratch()), SCRATCH);
  }

  private void folder(Path tier, String name) {
    Path folder = tier.resolve(name);
    if (!folders.contains(folder) && Files.isDirectory(tier)) {
      folders.add(folder);
    }
  }

  /** Returns whether another run has the name on a tier. */
  boolean taken(RunFolder run) {
    for (Path folder : folders) {
      Path claim = folder.resolve(run.id().value());
      if (Files.exists(claim) && !isOwn(claim, run)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Reserves the run's name on each tier that this host can write to.
   *
   * @return false if another run has the name on a tier; then it is reserved on no tier
   */
  public boolean take(RunFolder run) {
    for (Path folder : folders) {
      if (!take(folder, run)) {
        release(run);
        return false;
      }
    }
    return true;
  }

  private static boolean take(Path folder, RunFolder run) {
    Path claim = folder.resolve(run.id().value());
    byte[] owner = (run.path() + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      try {
        write(claim, owner);
      } catch (NoSuchFileException first) {
        make(folder);
        write(claim, owner);
      }
      return true;
    } catch (FileAlreadyExistsException there) {
      return isOwn(claim, run);
    } catch (IOException unwritable) {
      // The job reserves the name on the node where it runs.
      return true;
    }
  }

  /** Everybody must be able to see who has a name, also if the user's umask is strict. */
  private static void write(Path claim, byte[] owner) throws IOException {
    FileModes.write(claim, owner, FileModes.USUAL);
    Files.setPosixFilePermissions(claim, PosixFilePermissions.fromString(FileModes.USUAL));
  }

  /** Makes the folder with the tier's mode. */
  private static void make(Path folder) throws IOException {
    try {
      Files.createDirectory(folder);
      Object mode = Files.getAttribute(folder.resolveSibling(""), "unix:mode");
      Files.setAttribute(folder, "unix:mode", mode);
    } catch (FileAlreadyExistsException other) {
      return;
    }
  }

  /** Releases the run's name on all tiers. Call it only if no job ran under the name. */
  public void release(RunFolder run) {
    for (Path folder : folders) {
      release(folder.resolve(run.id().value()), run);
    }
  }

  /**
   * Releases the ended run's names on scratch that have no folder. Tasks only remove the folder:
   * another task of the run may make it again at the same moment.
   */
  public void releaseScratch(RunFolder run) {
    for (Path folder : folders) {
      for (int n = 1; n <= USUAL_NAMES && folder.endsWith(SCRATCH); n++) {
        String name = numbered(run, n);
        if (Files.notExists(folder.resolveSibling(name))) {
          release(folder.resolve(name), run);
        }
      }
    }
  }

  private static void release(Path claim, RunFolder run) {
    try {
      if (Files.exists(claim) && isOwn(claim, run)) {
        Files.deleteIfExists(claim);
      }
    } catch (IOException kept) {
      // A claim that remains is harmless: no other run gets its id, which contains the time.
    }
  }

  /**
   * Updates the claims of a run whose workspace was moved. In a copied workspace the claims stay
   * with the original, whose folder still exists.
   */
  public void moved(RunFolder run) {
    for (Path folder : folders) {
      String name = name(folder, run);
      Path claim = folder.resolve(name);
      if (name.equals(run.id().value()) && Files.exists(claim) && !isOwn(claim, run)) {
        Path owner = Path.of(read(claim).strip());
        if (owner.endsWith(run.id().value()) && Files.notExists(owner)) {
          DurableFiles.onDisk().replace(claim, run.path() + "\n");
        }
      }
    }
  }

  /** Returns the run's name on a tier: its id, or {@code ID.n} if another run has the id. */
  public static String nameOn(String durable, RunFolder run) {
    return name(Path.of(durable, RUNS), run);
  }

  /**
   * Returns the run's name on a tier as {@link #nameOn} does; empty if the name is another run's,
   * because this run never claimed one.
   */
  public static Optional<String> ownNameOn(String durable, RunFolder run) {
    String name = nameOn(durable, run);
    Path claim = Path.of(durable, RUNS, name);
    return !Files.exists(claim) || isOwn(claim, run) ? Optional.of(name) : Optional.empty();
  }

  private static String name(Path folder, RunFolder run) {
    String id = run.id().value();
    String name = id;
    for (int n = 1; n <= MOST_NAMES; n++) {
      String next = numbered(run, n);
      if (!Files.exists(folder.resolve(next))) {
        return name;
      }
      name = isOwn(folder.resolve(next), run) ? next : name;
    }
    return name;
  }

  private static String numbered(RunFolder run, int n) {
    return n == 1 ? run.id().value() : run.id().value() + "." + n;
  }

  private static boolean isOwn(Path claim, RunFolder run) {
    String owner = read(claim);
    for (int n = 0; owner.isEmpty() && n < PATIENCE; n++) {
      // The process that has just created the claim may not have written it yet.
      pause();
      owner = read(claim);
    }
    return owner.strip().equals(run.path().toString());
  }

  private static String read(Path claim) {
    try {
      return Files.readString(claim);
    } catch (IOException | java.io.UncheckedIOException unreadable) {
      return "?";
    }
  }

  private static void pause() {
    try {
      Thread.sleep(10);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
