package dev.nexa.slurm.job.code;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.IntStream;

/**
 * The globs of {@code code.exclude}. Pure.
 *
 * <p>A glob without {@code /} matches a name in any folder. Any other glob matches a path from the
 * tree's folder on. A glob that matches a folder leaves out everything below it.
 */
final class Excludes {
  /** Paths that nexa-slurm makes in a workspace; they change with each run. */
  private static final Pattern OF_WORKSPACE =
      Pattern.compile(
          "(runs|estimates|\\.nexa|\\.nexa-local|storage/(scratch|durable|shared))(/.*)?"
              + "|code/[0-9a-f]{64}\\.tar\\.gz|code/\\..*\\.tmp",
          Pattern.DOTALL);

  private final Path root;
  private final Path workspace;
  private final List<PathMatcher> names = new ArrayList<>();
  private final List<PathMatcher> paths = new ArrayList<>();

  /**
   * Reads the globs.
   *
   * @param root the tree's folder
   * @param workspace the workspace; if it is in the tree, the folders that nexa-slurm makes there
   *     are left out too
   * @param written the config's positions, for messages
   * @throws dev.nexa.slurm.base.error.NexaException if one of them cannot be read
   */
  Excludes(List<String> globs, Path root, Path workspace, ConfigPositions written) {
    this.root = root;
    this.workspace = workspace;
    for (int i = 0; i < globs.size(); i++) {
      String glob = globs.get(i);
      String inner = glob.startsWith("/") ? glob.substring(1) : glob;
      inner = inner.endsWith("/") ? inner.substring(0, inner.length() - 1) : inner;
      try {
        if (glob.startsWith("/") || inner.indexOf('/') >= 0) {
          paths.add(matcher(inner));
          if (inner.startsWith("**/")) {
            // Java's "**/x" does not match "x" itself.
            paths.add(matcher(inner.substring("**/".length())));
          }
        } else {
          names.add(matcher(inner));
        }
      } catch (PatternSyntaxException wrong) {
        String message =
            "expected a glob such as data/** or *.ckpt, got '%s': %s"
                .formatted(glob, wrong.getDescription());
        throw ErrorCode.CONFIG_INVALID_VALUE.error(
            written.problem("code.exclude." + i, message).toString());
      }
    }
  }

  private static PathMatcher matcher(String glob) {
    return FileSystems.getDefault().getPathMatcher("glob:" + glob);
  }

  /** Returns whether a file is left out. */
  boolean matchFile(Path path) {
    Path file = root.resolve(path);
    return (file.startsWith(workspace)
            && OF_WORKSPACE.matcher(workspace.relativize(file).toString()).matches())
        || IntStream.rangeClosed(1, path.getNameCount())
            .anyMatch(length -> matchOne(path.subpath(0, length)));
  }

  /** Returns whether a folder is left out with everything below it. */
  boolean matchFolder(Path path) {
    return matchFile(path) || matchOne(path.resolve("x"));
  }

  private boolean matchOne(Path path) {
    return names.stream().anyMatch(matcher -> matcher.matches(path.getFileName()))
        || paths.stream().anyMatch(matcher -> matcher.matches(path));
  }
}
