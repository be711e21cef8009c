package dev.nexa.slurm.journal;

import dev.nexa.slurm.approve.ApprovalFile;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.plan.RunnerFile;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.units.IndexRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** One run's folder: what was rendered, its journal, and what belongs to each submission. */
public final class RunFolder {
  private static final String READ_ONLY = "r--------";
  private static final Pattern RESULT = Pattern.compile("\\d+\\.\\d+\\.json");

  private final Workspace workspace;
  private final RunId id;

  RunFolder(Workspace workspace, RunId id) {
    this.workspace = workspace;
    this.id = id;
  }

  public RunId id() {
    return id;
  }

  public Path path() {
    return workspace.runs().toAbsolutePath().normalize().resolve(id.value());
  }

  public boolean exists() {
    return Files.isDirectory(path());
  }

  public Path script() {
    return path().resolve("job.sbatch");
  }

  public Path plan() {
    return path().resolve("plan.json");
  }

  public Path estimate() {
    return path().resolve("estimate.json");
  }

  /** The approval that it was submitted by; there is none where it needed none. */
  public Path approval() {
    return path().resolve("approval");
  }

  /** What its jobs say of it in Slurm; empty where it needed no approval. */
  public String comment() {
    return Files.exists(approval()) ? ApprovalFile.read(approval()).approval().comment() : "";
  }

  /** Keeps the approval, byte for byte. */
  public void keepApproval(String text) {
    workspace.files().replace(approval(), text.getBytes(StandardCharsets.UTF_8), READ_ONLY);
  }

  public Path logs() {
    return path().resolve("logs");
  }

  public Path manifest() {
    return workspace.manifests().resolve(id + ".json");
  }

  public Path cost() {
    return workspace.manifests().resolve("cost_" + id + ".json");
  }

  /** An earlier version of the cost record, kept as it was final. */
  public Path cost(int version) {
    return workspace.manifests().resolve("cost_" + id + ".v" + version + ".json");
  }

  public Path submission(String key) {
    return path().resolve("submissions").resolve(key);
  }

  public Journal journal() {
    return new Journal(path().resolve("journal.jsonl"), workspace.files());
  }

  public JsonObject planJson() {
    return Json.parseObject(DurableFiles.read(plan()));
  }

  public JsonObject estimateJson() {
    return Json.parseObject(DurableFiles.read(estimate()));
  }

  /**
   * Log path with Slurm's patterns; a percent sign of the path itself is doubled, or Slurm would
   * expand it.
   */
  public String logPattern() {
    if (logs().toString().indexOf('\\') >= 0) {
      throw new NexaException(
          ExitCode.USAGE,
          "a backslash in " + logs() + ": Slurm would then expand no pattern of a log's name",
          "use a workspace without one: --workspace DIR");
    }
    return logs().toString().replace("%", "%%") + "/%A_%a.out";
  }

  /**
   * Keeps what will run, byte for byte what sbatch reads.
   *
   * @return SHA-256 of plan, estimate and script by file name: what the journal begins with
   */
  public JsonObject stage(Script script, JsonObject plan, JsonObject estimate) {
    DurableFiles files = workspace.files();
    Path runner = path().resolve("runner");
    files.directories(runner);
    files.directories(logs());
    Set<Path> folders = new HashSet<>();
    for (RunnerFile file : script.files()) {
      int slash = file.name().indexOf('/');
      Path folder = slash < 0 ? runner : runner.resolve(file.name().substring(0, slash));
      if (slash >= 0 && folders.add(folder)) {
        files.directories(folder);
      }
      files.create(runner.resolve(file.name()), file.content(), READ_ONLY);
    }
    for (Path folder : folders) {
      files.force(folder);
    }
    files.force(runner);
    JsonObject digests = new JsonObject();
    keep(script(), script.bytes(), digests);
    keep(plan(), Json.pretty(plan).getBytes(StandardCharsets.UTF_8), digests);
    keep(estimate(), Json.pretty(estimate).getBytes(StandardCharsets.UTF_8), digests);
    files.force(path());
    return digests;
  }

  private void keep(Path file, byte[] content, JsonObject digests) {
    workspace.files().create(file, content, READ_ONLY);
    digests.with(file.getFileName().toString(), Sha256.of(content));
  }

  /** What {@link #stage} kept. */
  public Script storedScript() {
    Path runner = path().resolve("runner");
    List<RunnerFile> files = new ArrayList<>();
    for (String name : names(runner)) {
      Path file = runner.resolve(name);
      for (String inside : Files.isDirectory(file) ? names(file) : List.of("")) {
        Path one = inside.isEmpty() ? file : file.resolve(inside);
        files.add(new RunnerFile(runner.relativize(one).toString(), DurableFiles.readBytes(one)));
      }
    }
    return new Script(DurableFiles.read(script()), files, script().toString());
  }

  /** Makes a submission's folder: its task list and offset, room for claims and results. */
  public void stageSubmission(String key, IndexRange tasks, int offset) {
    DurableFiles files = workspace.files();
    Path submission = submission(key);
    files.directories(claimsFolder(key));
    files.directories(submission.resolve("results"));
    files.create(
        submission.resolve("tasks"), (tasks + "\n").getBytes(StandardCharsets.UTF_8), READ_ONLY);
    files.create(
        submission.resolve("offset"), (offset + "\n").getBytes(StandardCharsets.UTF_8), READ_ONLY);
    files.force(submission);
    files.force(path().resolve("submissions"));
    files.force(path());
  }

  /**
   * Shuts a submission for good: a job of it that still turns up can't claim a task, and ends.
   * False if a job has claimed one: then the submission has a job, whatever the scheduler says.
   */
  public boolean shut(String key) {
    return workspace.files().removeEmpty(claimsFolder(key));
  }

  /** Whether the submission was shut. */
  public boolean isShut(String key) {
    return Files.notExists(claimsFolder(key));
  }

  /**
   * A task that a job has begun to work on.
   *
   * @param jobId the job's own id
   * @param at when it began, by the clock of its file system
   */
  public record Claim(int task, long jobId, Instant at) {}

  /** The tasks of the submission that have begun. */
  public List<Claim> claims(String key) {
    List<Claim> claims = new ArrayList<>();
    for (String task : names(claimsFolder(key))) {
      Path claim = claimsFolder(key).resolve(task);
      try {
        claims.add(
            new Claim(
                Integer.parseInt(task),
                Long.parseLong(Files.readSymbolicLink(claim).toString()),
                Files.getLastModifiedTime(claim, LinkOption.NOFOLLOW_LINKS).toInstant()));
      } catch (IOException failed) {
        throw DurableFiles.failure("read", claim, failed);
      }
    }
    return claims;
  }

  /** The tasks of the submission that have begun, without a look at who claimed them. */
  public List<Integer> claimed(String key) {
    List<Integer> tasks = new ArrayList<>();
    for (String task : names(claimsFolder(key))) {
      tasks.add(Integer.parseInt(task));
    }
    return tasks;
  }

  /** The results that the submission's tasks have left, attempts in order. */
  public List<Path> results(String key) {
    Path folder = submission(key).resolve("results");
    List<Path> results = new ArrayList<>();
    for (String name : names(folder)) {
      if (RESULT.matcher(name).matches()) {
        results.add(folder.resolve(name));
      }
    }
    return results;
  }

  /**
   * Whether each task that a job of the submission claimed has left its result: none is at work.
   */
  public boolean claimsEnded(String key) {
    Set<String> ended = new HashSet<>();
    for (Path result : results(key)) {
      String name = result.getFileName().toString();
      ended.add(name.substring(0, name.indexOf('.')));
    }
    return ended.containsAll(names(claimsFolder(key)));
  }

  /**
   * Removes what those who died at a write left behind. A dead process has the run's lock, so
   * nobody else is at one; what jobs write is theirs.
   */
  private void sweep() {
    DurableFiles files = workspace.files();
    files.sweep(path(), ".", Instant.MAX);
    files.sweep(path().resolve("runner"), ".", Instant.MAX);
    for (String key : names(path().resolve("submissions"))) {
      files.sweep(submission(key), ".", Instant.MAX);
    }
    files.sweep(workspace.manifests(), "." + id + ".json.", Instant.MAX);
    files.sweep(workspace.manifests(), ".cost_" + id + ".", Instant.MAX);
  }

  private static List<String> names(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    } catch (NoSuchFileException none) {
      return List.of();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    }
  }

  private Path claimsFolder(String key) {
    return submission(key).resolve("claims");
  }

  /**
   * Whether the run is another user's. squeue shows and sbatch makes only one's own jobs: to
   * anybody else a waiting job looks as if it had vanished.
   */
  public boolean isOfAnotherUser() {
    try {
      Object owner = Files.getAttribute(path(), "unix:uid");
      return !owner.equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (UnsupportedOperationException | IllegalArgumentException noUserIds) {
      return false;
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot tell whose " + path() + " is: " + failed, failed);
    }
  }

  /**
   * The right to act on this run, if nobody else has it within the time. Who had it and died may
   * have left half a file, which nobody sees and which is cleared away.
   */
  public Optional<FileLock> lock(Duration patience) {
    try {
      Path lock = path().resolve(".lock");
      return Optional.of(
          FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, patience, this::sweep));
    } catch (FileLock.LockedException held) {
      return Optional.empty();
    }
  }
}
