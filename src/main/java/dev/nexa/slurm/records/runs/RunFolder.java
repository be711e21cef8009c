package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The folder of one run: its rendered files, its journal, and a folder for each submission. */
public final class RunFolder {
  /** Name of the approval's file, and its key among the journal's digests. */
  static final String APPROVAL = "approval";

  /** Name of the folder with the files beside the script. */
  static final String RUNNER = "runner";

  private static final String READ_ONLY = "r--------";
  private static final String READ_AND_RUN = "r-x------";
  private static final String INPUTS = "inputs";
  private static final String DONE = "done";
  private static final String BYTECODE = "__pycache__";
  private static final String LOCK = ".lock";
  private static final Pattern RESULT = Pattern.compile("\\d+\\.\\d+\\.json");

  private final Workspace workspace;
  private final RunId id;

  RunFolder(Workspace workspace, RunId id) {
    this.workspace = workspace;
    this.id = id;
  }

  /** Returns the run of a folder in any workspace; empty if the folder's name is no run id. */
  public static Optional<RunFolder> at(Path folder) {
    Path runs = folder.getParent();
    Path root = runs == null ? null : runs.getParent();
    Path name = folder.getFileName();
    return root == null || name == null
        ? Optional.empty()
        : RunId.parse(name.toString())
            .map(id -> new RunFolder(new Workspace(root, DurableFiles.onDisk()), id));
  }

  /** Returns the workspace, which has the files that its runs share. */
  Workspace workspace() {
    return workspace;
  }

  /** Returns the folder of the nodes that the workspace's submissions leave out. */
  public Path badNodes() {
    return workspace.badNodes();
  }

  /** Returns the run's id. */
  public RunId id() {
    return id;
  }

  /** Returns the folder. */
  public Path path() {
    return workspace.runs().resolve(id.value());
  }

  /** Returns whether the folder exists. */
  public boolean exists() {
    return Files.isDirectory(path());
  }

  /** Returns the path of job.sbatch. */
  public Path script() {
    return path().resolve("job.sbatch");
  }

  /** Returns the path of plan.json. */
  public Path plan() {
    return path().resolve("plan.json");
  }

  /** Returns the path of estimate.json. */
  public Path estimate() {
    return path().resolve("estimate.json");
  }

  /**
   * Returns the path of the approval that the run was submitted with. The file is missing if the
   * run needed none.
   */
  public Path approval() {
    return path().resolve(APPROVAL);
  }

  /** Returns the folder with the files beside the script. */
  public Path runner() {
    return path().resolve(RUNNER);
  }

  /**
   * Returns the approval's comment for Slurm; empty if there is no approval.
   *
   * @param planDigest the digest of the run's plan
   */
  String comment(String planDigest) {
    return Files.exists(approval())
        ? ApprovalFile.read(approval()).approval().comment(planDigest)
        : "";
  }

  /** Stores the approval, byte for byte, and read-only. */
  public void keepApproval(String text) {
    workspace.files().replace(approval(), text.getBytes(StandardCharsets.UTF_8), READ_ONLY);
  }

  /** Returns the folder of the logs. */
  public Path logs() {
    return path().resolve("logs");
  }

  /** Returns the path of the manifest. */
  public Path manifest() {
    return workspace.manifests().resolve(id + ".json");
  }

  /** Returns the path of the cost file. */
  public Path cost() {
    return workspace.manifests().resolve("cost_" + id + ".json");
  }

  /** Returns the path of an earlier final version of the cost file. */
  public Path cost(int version) {
    return workspace.manifests().resolve("cost_" + id + ".v" + version + ".json");
  }

  /** Returns the folder of a submission. */
  public Path submission(String key) {
    return path().resolve("submissions").resolve(key);
  }

  /**
   * Returns the journal.
   *
   * @throws java.io.UncheckedIOException if a link stands for the folder, which another user has
   *     put there: the journal is then another run's
   */
  public Journal journal() {
    DurableFiles.requireNotPlanted(path());
    return new Journal(path().resolve("journal.jsonl"), workspace.files());
  }

  /**
   * Returns the plan for display, unchecked. Code that submits or computes cost uses {@link
   * ProvenFiles}.
   */
  public PlanFile shownPlan() {
    return PlanFile.parse(DurableFiles.read(plan()), plan().toString());
  }

  /**
   * Returns whether the plan's text holds this text. For searches over all runs, because a plan
   * takes much longer to parse.
   *
   * @return false if there is no plan
   */
  public boolean planHolds(String text) {
    return Files.exists(plan()) && DurableFiles.read(plan()).contains(text);
  }

  /** Returns the estimate for display, unchecked. */
  public EstimateFile shownEstimate() {
    return EstimateFile.parse(DurableFiles.read(estimate()), estimate().toString());
  }

  /**
   * Returns the log path with Slurm's patterns. Percent signs of the folder are doubled, so that
   * Slurm does not expand them.
   */
  public String logPattern() {
    workspace.requirePathForLogs();
    return logPattern(logs(), DurableFiles.read(script()));
  }

  /**
   * Returns the pattern for a script's logs in a folder: {@code JOB_INDEX.out}, index 0 without an
   * array.
   */
  public static String logPattern(Path logs, String script) {
    String index = script.contains("\n#SBATCH --array=") ? "%a" : "0";
    return logs.toString().replace("%", "%%") + "/%A_" + index + ".out";
  }

  /**
   * Stores the files of a run read-only, byte for byte as sbatch reads them.
   *
   * @return SHA-256 of plan, estimate, script and approval by file name, for the journal's first
   *     event; the plan holds the digest over the script and runner/
   */
  public JsonObject stage(Script script, PlanFile plan, EstimateFile estimate) {
    DurableFiles files = workspace.files();
    Path runner = runner();
    files.directories(runner);
    files.directories(logs());
    files.directories(path().resolve(DONE));
    Set<Path> folders = new HashSet<>();
    for (RunnerFile file : script.files()) {
      int slash = file.name().indexOf('/');
      Path folder = slash < 0 ? runner : runner.resolve(file.name().substring(0, slash));
      if (slash >= 0 && folders.add(folder)) {
        files.directories(folder);
      }
      String mode = file.isProgram() ? READ_AND_RUN : READ_ONLY;
      files.create(runner.resolve(file.name()), file.content(), mode);
    }
    folders.forEach(files::force);
    files.force(runner);
    JsonObject digests = new JsonObject();
    keep(script(), script.bytes(), digests);
    keep(plan(), Json.pretty(plan.json()).getBytes(StandardCharsets.UTF_8), digests);
    keep(estimate(), Json.pretty(estimate.json()).getBytes(StandardCharsets.UTF_8), digests);
    if (Files.exists(approval())) {
      digests.with(APPROVAL, Sha256.of(DurableFiles.readBytes(approval())));
    }
    files.force(path());
    return digests;
  }

  /** Returns how many tasks have completed, as the jobs have noted it in {@code done/}. */
  public int completedTasks() {
    return names(path().resolve(DONE)).size();
  }

  /** Returns whether the task's newest attempt has noted in {@code done/} that it completed. */
  public boolean isDone(int task) {
    return Files.exists(path().resolve(DONE).resolve("" + task), LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Returns a digest of the attempts that have completed the run's tasks. It changes when a task
   * runs again. The job computes the same (templates/lib/inputs.sh).
   *
   * @param task the only task that counts; empty for all
   */
  public String attempts(OptionalInt task) {
    return Sha256.of(
        linksOfCompleted().entrySet().stream()
            .filter(done -> task.isEmpty() || done.getKey().equals("" + task.getAsInt()))
            .map(done -> done.getKey() + " " + done.getValue() + "\n")
            .sorted()
            .collect(Collectors.joining()));
  }

  /**
   * Returns for each task that has completed which attempts of earlier runs it used: their {@link
   * #attempts} by the name of the input. A job of an earlier version did not note them.
   */
  public Map<Integer, Map<String, String>> attemptsUsed() {
    Map<Integer, Map<String, String>> all = new TreeMap<>();
    for (Map.Entry<String, Path> done : linksOfCompleted().entrySet()) {
      Map<String, String> attempts = new TreeMap<>();
      for (String line : linesBeside(done.getValue(), ".inputs")) {
        int blank = line.indexOf(' ');
        attempts.put(line.substring(0, blank), line.substring(blank + 1));
      }
      all.put(Integer.valueOf(done.getKey()), attempts);
    }
    return all;
  }

  /**
   * Returns the files of the models that the completed tasks read when they began, with all links
   * resolved, and their SHA-256: more than one if a file changed between tasks. A job of an earlier
   * version did not note them (templates/lib/attempt.sh).
   */
  public Map<Path, Set<String>> modelsRead() {
    Map<Path, Set<String>> models = new HashMap<>();
    for (Path result : linksOfCompleted().values()) {
      for (String line : linesBeside(result, ".models")) {
        // sha256sum writes a name that holds a line's end in another form, which begins with \.
        if (line.length() > 66 && line.charAt(64) == ' ') {
          models
              .computeIfAbsent(Path.of(line.substring(66)), file -> new TreeSet<>())
              .add(line.substring(0, 64));
        }
      }
    }
    return models;
  }

  /** Returns the lines of a file beside the result that a link of {@code done/} leads to. */
  private List<String> linesBeside(Path result, String ending) {
    String path = path().resolve(DONE).resolve(result).normalize().toString();
    Path file = Path.of(path.replaceFirst("[.]json$", ending));
    return Files.exists(file) ? DurableFiles.read(file).lines().toList() : List.of();
  }

  /** Returns the links of the tasks that have completed, by the task's number. */
  private Map<String, Path> linksOfCompleted() {
    Map<String, Path> done = new TreeMap<>();
    Path folder = path().resolve(DONE);
    for (String task : names(folder)) {
      Path link = folder.resolve(task);
      done.put(task, DurableFiles.attempt("read", link, () -> Files.readSymbolicLink(link)));
    }
    return done;
  }

  /** Writes what the run uses of an earlier run. */
  public void linkInput(RunInput input) {
    input.write(path().resolve(INPUTS), workspace.files());
  }

  /** Returns what the run uses of earlier runs, by name. */
  public List<RunInput> inputs() {
    return RunInput.readAll(path().resolve(INPUTS));
  }

  private void keep(Path file, byte[] content, JsonObject digests) {
    workspace.files().create(file, content, READ_ONLY);
    digests.with(file.getFileName().toString(), Sha256.of(content));
  }

  /** Returns a script of this text with the files of runner/ on disk. */
  Script storedScript(String text) {
    Path runner = runner();
    List<RunnerFile> files = new ArrayList<>();
    for (String name : names(runner)) {
      // Python's own; each submission deletes it.
      if (name.equals(BYTECODE)) {
        continue;
      }
      Path file = runner.resolve(name);
      for (String inside : Files.isDirectory(file) ? names(file) : List.of("")) {
        Path one = inside.isEmpty() ? file : file.resolve(inside);
        files.add(new RunnerFile(runner.relativize(one).toString(), DurableFiles.readBytes(one)));
      }
    }
    return new Script(text, files, script().toString());
  }

  /**
   * Makes a submission's folder with its task list and offset, and empty folders for claims and
   * results.
   */
  public void stageSubmission(String key, IndexRange tasks, int offset) {
    DurableFiles files = workspace.files();
    forgetBytecode();
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

  /** Deletes what Python compiled of the files in runner/, so that only these files run. */
  private void forgetBytecode() {
    Path cache = runner().resolve(BYTECODE);
    try {
      for (String name : Files.isSymbolicLink(cache) ? List.<String>of() : names(cache)) {
        Files.deleteIfExists(cache.resolve(name));
      }
      Files.deleteIfExists(cache);
    } catch (DirectoryNotEmptyException written) {
      // A task of an earlier part has just started, and compiled them again.
    } catch (IOException failed) {
      throw DurableFiles.failure("delete", cache, failed);
    }
  }

  /**
   * Closes a submission: a job of it that still starts cannot claim a task, and ends.
   *
   * @return false if a job has already claimed a task; the submission then has a job, whatever the
   *     scheduler says
   */
  public boolean shut(String key) {
    return workspace.files().removeEmpty(claimsFolder(key));
  }

  /** Returns whether the submission was closed by {@link #shut}. */
  public boolean isShut(String key) {
    return Files.notExists(claimsFolder(key));
  }

  /**
   * A task that a job has claimed.
   *
   * @param task the array index
   * @param jobId Slurm's own id of the job
   * @param at when the job claimed it, by the file system's clock
   */
  public record Claim(int task, long jobId, Instant at) {}

  /** Returns the claims of the submission's tasks. */
  public List<Claim> claims(String key) {
    List<Claim> claims = new ArrayList<>();
    for (String task : names(claimsFolder(key))) {
      Path claim = claimsFolder(key).resolve(task);
      claims.add(DurableFiles.attempt("read", claim, () -> claim(Integer.parseInt(task), claim)));
    }
    return claims;
  }

  private static Claim claim(int task, Path link) throws IOException {
    long jobId = Long.parseLong(Files.readSymbolicLink(link).toString());
    Instant at = Files.getLastModifiedTime(link, LinkOption.NOFOLLOW_LINKS).toInstant();
    return new Claim(task, jobId, at);
  }

  /**
   * Returns the array job ids of jobs with the submission's name that found a task claimed and
   * ended. sbatch, or a wrapper around it, made them and printed another id.
   */
  public Set<Long> duplicates(String key) {
    return names(submission(key).resolve("duplicates")).stream()
        .map(Long::valueOf)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns Slurm's own id of the job that claimed the task; empty if no job has. */
  public Optional<Long> holder(String key, int task) {
    Path claim = claimsFolder(key).resolve("" + task);
    try {
      return Optional.of(Long.parseLong(Files.readSymbolicLink(claim).toString()));
    } catch (IOException | NumberFormatException noClaim) {
      return Optional.empty();
    }
  }

  /**
   * Returns the array indices of the claimed tasks. It is faster than {@link #claims}, because it
   * does not read the claims.
   */
  public List<Integer> claimed(String key) {
    return names(claimsFolder(key)).stream().map(Integer::valueOf).toList();
  }

  /** Returns the result files of the submission's tasks, by name. */
  public List<Path> results(String key) {
    return DurableFiles.list(submission(key).resolve("results"), "*").stream()
        .filter(file -> RESULT.matcher(file.getFileName().toString()).matches())
        .toList();
  }

  /** Returns whether every claimed task of the submission has a result, so no task is running. */
  public boolean claimsEnded(String key) {
    Set<String> ended = new HashSet<>();
    for (Path result : results(key)) {
      String name = result.getFileName().toString();
      ended.add(name.substring(0, name.indexOf('.')));
    }
    return ended.containsAll(names(claimsFolder(key)));
  }

  /**
   * Removes temporary files of processes that died. The caller holds the run's lock, so no other
   * process of nexa-slurm writes here. Files of jobs are not touched.
   */
  private void sweep() {
    DurableFiles files = workspace.files();
    files.sweep(path(), ".", LOCK);
    files.sweep(runner(), ".", LOCK);
    names(path().resolve("submissions")).forEach(key -> files.sweep(submission(key), ".", LOCK));
    files.sweep(workspace.manifests(), "." + id + ".json.", LOCK);
    files.sweep(workspace.manifests(), ".cost_" + id + ".", LOCK);
  }

  /**
   * Removes temporary files of dead processes from the folder of a finished run.
   *
   * @param held the run's lock
   */
  public void tidy(FileLock held) {
    workspace.files().sweep(path(), ".", LOCK);
    held.clearClaims(LockOwner::dead);
  }

  /**
   * Returns whether the process that named the run lives and has not put a file into its folder
   * yet. From the first file on, the run's lock shows whether a process works on it.
   */
  public boolean isBeingMade() {
    return names(path()).isEmpty() && workspace.makerLives(id);
  }

  /** Returns whether the run has a journal. */
  public boolean hasJournal() {
    return Files.exists(path().resolve("journal.jsonl"));
  }

  /** Returns whether a submission was begun. */
  public boolean hasSubmissions() {
    return Files.exists(path().resolve("submissions"));
  }

  /** Returns whether passes still read the run. */
  public boolean isOpen() {
    return workspace.isOpen(id);
  }

  /** Makes the folder; false if it exists. */
  public boolean make() {
    return workspace.files().claimDirectory(path());
  }

  private static List<String> names(Path folder) {
    return DurableFiles.list(folder, "*").stream()
        .map(file -> file.getFileName().toString())
        .sorted()
        .toList();
  }

  private Path claimsFolder(String key) {
    return submission(key).resolve("claims");
  }

  /**
   * Returns whether the run belongs to another user. squeue lists, and sbatch makes, only one's own
   * jobs, so another user's waiting job would look lost.
   */
  public boolean isOfAnotherUser() {
    return Workspace.isOfAnotherUser(owned());
  }

  /** Returns the login name of the user whose run this is. */
  public String owner() {
    return Workspace.ownerOf(owned());
  }

  /**
   * Checks that this user made the run. Root is another user too: it must not write in a folder
   * where somebody else can put links.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if it belongs to another user
   */
  public void requireOwn() {
    Workspace.requireOwn(id.value(), owned());
  }

  /**
   * Returns the path under the run's name. If there is none yet, returns the run's mark among the
   * open runs.
   */
  private Path owned() {
    return Files.exists(path(), LinkOption.NOFOLLOW_LINKS)
        ? path()
        : workspace.open().resolve(id.value());
  }

  /**
   * Takes the run's lock, and removes temporary files if the previous holder died.
   *
   * @param patience how long to wait for another holder
   * @return empty if another process still holds the lock
   */
  public Optional<FileLock> lock(Duration patience) {
    return LockOwner.take(path().resolve(LOCK), patience, this::sweep);
  }
}
