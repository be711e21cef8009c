package dev.nexa.slurm.job.code;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.job.config.run.Code;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.config.run.RunConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The working tree of a run, packed: its digest, and facts about it.
 *
 * <p>The SHA-256 of the archive is the only fact that a plan's digest covers: it says what runs.
 * The commit, the branch and whether the tree differs from the commit are for people. Two trees
 * with the same files have the same digest, also if one of them is committed and the other is not.
 *
 * @param root the real path of the folder
 * @param entries the files and links in the order of the archive
 * @param sha256 the SHA-256 of the archive
 * @param bytes the bytes that all files have together
 * @param head the commit that is checked out; empty before the first commit
 * @param branch the branch that is checked out; empty if none is
 * @param dirty whether a packed file differs from the commit or is not tracked, or a tracked file
 *     is missing
 * @param script the path of {@code entrypoint.script} below the folder, if the script is in the
 *     tree
 */
public record PackedCode(
    Path root,
    List<CodeEntry> entries,
    String sha256,
    long bytes,
    Optional<String> head,
    Optional<String> branch,
    boolean dirty,
    Optional<String> script) {

  /**
   * Reads the working tree that a config names, and computes its digest. Writes nothing.
   *
   * @param environment the user's variables, which say where git is
   * @param workspace the workspace, whose runs are not packed if it is in the tree
   * @return empty if the config has no {@code code}
   * @throws NexaException if the tree cannot be packed
   */
  public static Optional<PackedCode> of(
      RunConfig config, Map<String, String> environment, Path workspace) {
    return config.work().code().map(code -> of(config, code, environment, workspace));
  }

  private static PackedCode of(
      RunConfig config, Code code, Map<String, String> environment, Path workspace) {
    ConfigPositions written = config.written();
    Path beside = folder(config);
    try {
      Path named = beside.resolve(code.path().orElse("")).normalize();
      if (!Files.isDirectory(named)) {
        throw ErrorCode.FILE_NOT_FOUND.error(
            written.problem("code.path", "there is no folder " + named).toString(),
            "a relative path begins at the config's folder, " + beside);
      }
      Path top = new Git(named, written, environment).top();
      Path root = (code.path().isPresent() ? named : top).toRealPath();
      Path own = Files.exists(workspace) ? workspace.toRealPath() : workspace.toAbsolutePath();
      Excludes excludes = new Excludes(code.exclude(), root, own, written);
      Git git = new Git(root, written, environment);
      List<CodeEntry> entries = CodeTree.entries(root, git, code, excludes, written);
      Map<String, String> secrets = new TreeMap<>(NamesOfFiles.ORDER);
      String sha256 = new CodeArchive(root, entries).digest(secrets);
      CodeTree.refuseSecrets(secrets, written);
      Git.Status status = git.status();
      return new PackedCode(
          root,
          entries,
          sha256,
          entries.stream().mapToLong(CodeEntry::size).sum(),
          status.head(),
          status.branch(),
          isDirty(status, top.toRealPath().relativize(root), excludes),
          script(config, beside.toRealPath(), root, entries));
    } catch (IOException failed) {
      throw CodeTree.unreadable(beside, failed);
    }
  }

  /** Returns the config's folder. */
  private static Path folder(RunConfig config) {
    Optional<Path> file = config.source().path();
    if (file.isEmpty()) {
      throw ErrorCode.CODE_NOT_IN_GIT.error(
          config.written().problem("code", "this config is in the jar, not in git").toString(),
          "copy the config into your working tree");
    }
    return file.get().toAbsolutePath().normalize().resolveSibling("");
  }

  private static boolean isDirty(Git.Status status, Path prefix, Excludes excludes) {
    boolean whole = prefix.toString().isEmpty();
    return status.changed().stream()
        .map(Path::of)
        .filter(path -> whole || path.startsWith(prefix))
        .anyMatch(path -> !excludes.matchFile(whole ? path : prefix.relativize(path)));
  }

  /** Finds the script beside the config, then from the tree's folder on. */
  private static Optional<String> script(
      RunConfig config, Path beside, Path root, List<CodeEntry> entries) {
    return config.work().entrypoint().flatMap(Entrypoint::script).stream()
        .flatMap(name -> Stream.of(beside.resolve(name), root.resolve(name)))
        .map(Path::normalize)
        .filter(file -> file.startsWith(root))
        .map(file -> root.relativize(file).toString())
        .filter(path -> entries.stream().anyMatch(entry -> entry.path().equals(path)))
        .findFirst();
  }

  /** Returns the number of files and links. */
  public int files() {
    return entries.size();
  }

  /** Returns what a plan's digest covers: the archive's digest, and the script in it. */
  public JsonObject whatRuns() {
    return new JsonObject().with("sha256", sha256).withOptional("script", script);
  }

  /** Returns all facts, as plan.json and the manifest have them. */
  public JsonObject toJson() {
    return whatRuns()
        .with("files", files())
        .with("bytes", bytes)
        .withOptional("head", head)
        .withOptional("branch", branch)
        .with("dirty", dirty);
  }

  /** Returns one sentence for people about what is packed. */
  public String sentence() {
    return "code: " + words(toJson()) + ", from " + root + "; SHA-256 " + sha256;
  }

  /**
   * Describes packed code for people: its size, its commit and its branch.
   *
   * @param code the facts, as {@link #toJson} returns them
   */
  public static String words(JsonObject code) {
    long files = code.number("files");
    String size = (files == 1 ? " file, " : " files, ") + Memory.rounded(code.number("bytes"));
    Optional<String> head = code.optionalText("head");
    if (head.isEmpty()) {
      return files + size + ", nothing committed yet";
    }
    String commit = ", commit " + head.get().substring(0, Math.min(12, head.get().length()));
    String branch = code.optionalText("branch").map(name -> " of " + name).orElse("");
    return files + size + commit + branch + (code.flag("dirty") ? " with changes" : "");
  }

  /**
   * Writes the archive.
   *
   * @throws NexaException with {@link ErrorCode#CONCURRENT_CHANGE} if the tree was changed since
   *     its digest was computed
   * @throws IOException if {@code out} cannot be written
   */
  public void writeTo(OutputStream out) throws IOException {
    if (!new CodeArchive(root, entries).write(out, new TreeMap<>()).equals(sha256)) {
      throw CodeArchive.changed(root);
    }
  }
}
