package dev.nexa.slurm.job.code;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Asks git about a folder. Changes nothing.
 *
 * <p>The folder's own git config can name programs. This class turns off the programs that these
 * commands would start: the file system monitor, hooks, filters, and the fetch of missing objects.
 */
final class Git {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final List<String> GIT =
      List.of(
          "git --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null"
              .split(" ", -1));

  /** The variables of the user that git needs: where programs and the user's own config are. */
  private static final List<String> INHERITED = List.of("PATH", "HOME", "XDG_CONFIG_HOME");

  private static final Map<String, String> FIXED =
      Map.of(
          "LC_ALL", "C",
          "GIT_TERMINAL_PROMPT", "0",
          "GIT_NO_LAZY_FETCH", "1",
          "GIT_ALLOW_PROTOCOL", "none");

  private final Path folder;
  private final ConfigPositions written;
  private final Map<String, String> environment;

  /**
   * Asks about a folder.
   *
   * @param written the config's positions, for messages
   * @param environment the user's variables
   */
  Git(Path folder, ConfigPositions written, Map<String, String> environment) {
    this.folder = folder;
    this.written = written;
    this.environment = new HashMap<>(environment);
    this.environment.keySet().retainAll(INHERITED);
    this.environment.putAll(FIXED);
  }

  /**
   * The state of a working tree.
   *
   * @param head the id of the commit that is checked out; empty before the first commit
   * @param branch the branch; empty if no branch is checked out
   * @param changed the paths, from the top level on, of files that differ from the commit or are
   *     not tracked
   */
  record Status(Optional<String> head, Optional<String> branch, List<String> changed) {}

  /**
   * Returns the top folder of the working tree.
   *
   * @throws NexaException with {@link ErrorCode#CODE_NOT_IN_GIT} if the folder is in none, or if
   *     there is no git
   */
  Path top() {
    String text = text(run(List.of("rev-parse", "--show-toplevel"), true));
    return Path.of(text.endsWith("\n") ? text.substring(0, text.length() - 1) : text);
  }

  /**
   * Passes on each path that git tracks below the folder, and each untracked path that git does not
   * ignore. Paths begin at the folder. A path in a merge conflict comes several times. A git
   * repository inside the tree ends with {@code /} if it is not tracked.
   */
  void paths(Consumer<String> path) {
    texts(run(List.of("ls-files", "-z", "--cached", "--others", "--exclude-standard"), true), path);
  }

  /** Returns the commit, the branch and the paths below the folder that were changed. */
  Status status() {
    List<String> argv = new ArrayList<>(withoutFilters());
    argv.addAll(
        List.of(
            ("status --porcelain=v2 --branch -z --no-renames --untracked-files=all"
                    + " --ignore-submodules=all -- .")
                .split(" ", -1)));
    List<String> lines = new ArrayList<>();
    texts(run(argv, true), lines::add);
    return status(lines);
  }

  /** Reads git-status(1), porcelain format 2. Pure. */
  static Status status(List<String> lines) {
    Optional<String> head = Optional.empty();
    Optional<String> branch = Optional.empty();
    List<String> changed = new ArrayList<>();
    for (String line : lines) {
      if (line.startsWith("# branch.oid ")) {
        head = known(line.substring("# branch.oid ".length()));
      } else if (line.startsWith("# branch.head ")) {
        branch = known(line.substring("# branch.head ".length()));
      } else if (!line.startsWith("#") && !line.isEmpty()) {
        int fields = line.charAt(0) == '?' ? 2 : line.charAt(0) == 'u' ? 11 : 9;
        changed.add(line.split(" ", fields)[fields - 1]);
      }
    }
    return new Status(head, branch, changed);
  }

  /** Returns the value, without git's words in parentheses for "none". */
  private static Optional<String> known(String value) {
    return value.startsWith("(") ? Optional.empty() : Optional.of(value);
  }

  /** Returns options that turn off each filter of git's config, which git-status(1) could run. */
  private List<String> withoutFilters() {
    List<String> options = new ArrayList<>();
    String filters = "^filter\\..*\\.(clean|smudge|process|required)$";
    texts(
        run(List.of("config", "--null", "--name-only", "--get-regexp", filters), false),
        name -> {
          if (name.indexOf('=') >= 0) {
            throw refused(
                ErrorCode.CODE_NOT_IN_GIT,
                "git's config has the filter " + name + ", which cannot be turned off",
                Advice.command("", "git", "-C", folder, "config", "--unset", name));
          }
          options.add("-c");
          options.add(name + (name.endsWith(".required") ? "=false" : "="));
        });
    return options;
  }

  private byte[] run(List<String> arguments, boolean mustSucceed) {
    List<String> argv = new ArrayList<>(GIT);
    argv.addAll(arguments);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CommandResult result;
    try {
      Command command = new Command(argv, environment, folder, PATIENCE);
      result = new CommandRunner().stream(command, out, started -> {});
    } catch (IOException missing) {
      throw refused(
          ErrorCode.CODE_NOT_IN_GIT,
          "git cannot be started: " + missing.getMessage(),
          Advice.step("install git, or leave out the key code"));
    }
    // git ends with 0 if it cannot look into a folder for untracked files.
    boolean whole = !result.err().contains("warning: could not open directory");
    if (mustSucceed && !(result.succeeded() && whole)) {
      String why = result.err().strip().replace("\n", "; ");
      throw refused(
          ErrorCode.CODE_NOT_IN_GIT,
          folder + ": " + (result.timedOut() ? "git did not answer within 5 minutes" : why),
          result.err().contains("not a git repository")
              ? Advice.command("makes a working tree of git", "git", "-C", folder, "init")
              : Advice.command("shows what git sees there", "git", "-C", folder, "status"),
          Advice.step(
              "code packs a working tree of git: name one in code.path, or leave out the key code"));
    }
    return out.toByteArray();
  }

  private NexaException refused(ErrorCode code, String message, Advice... advice) {
    return code.error(written.problem("code", message).toString(), advice);
  }

  private void texts(byte[] out, Consumer<String> each) {
    int from = 0;
    for (int i = 0; i < out.length; i++) {
      if (out[i] == 0) {
        each.accept(text(Arrays.copyOfRange(out, from, i)));
        from = i + 1;
      }
    }
  }

  private String text(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException wrong) {
      throw refused(
          ErrorCode.CODE_UNSUITABLE,
          "a name is not UTF-8: " + new String(bytes, StandardCharsets.UTF_8),
          Advice.step("rename the file, or let git ignore it"));
    }
  }
}
