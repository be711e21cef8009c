package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.program.OwnProgram;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command that makes one pass.
 *
 * <p>It uses absolute paths and sets every environment variable that a pass needs, because cron(8)
 * and systemd(1) start programs with a nearly empty environment.
 *
 * @param argv {@code /usr/bin/env NAME=VALUE… PROGRAM … reconcile --quiet}
 * @param workspace the workspace's absolute path
 */
public record PassCommand(List<String> argv, Path workspace) {
  /** The programs that a pass and the start script run. */
  private static final List<String> NEEDED =
      List.of("sbatch", "squeue", "sacct", "scancel", "scontrol", "java");

  private static final List<String> ALWAYS = List.of("/usr/bin", "/bin");

  /**
   * Copied from the installing shell: Slurm's clients may not start without the first two, and
   * profiles name their tiers by the others.
   */
  private static final List<String> KEPT =
      List.of("SLURM_CONF", "LD_LIBRARY_PATH", "NEXA_SCRATCH", "NEXA_DURABLE", "NEXA_SHARED");

  /**
   * Makes the command for a workspace.
   *
   * @param environment the environment of the user who installs the command
   * @param javaHome the JDK that runs this process
   * @param classPath the class path of this process: nexa-slurm.jar, or folders and jars
   * @param metrics the metrics file that each pass writes
   * @throws NexaException with {@link ExitCode#USAGE} if a path holds a backslash or a control
   *     character
   */
  public static PassCommand of(
      Map<String, String> environment,
      String javaHome,
      String classPath,
      Path workspace,
      Optional<Path> metrics) {
    Path root = workspace.toAbsolutePath().normalize();
    String path = path(environment.getOrDefault("PATH", ""));
    // Java encodes file names by the locale, and cron sets the locale C.
    List<String> argv =
        new ArrayList<>(
            List.of("/usr/bin/env", "PATH=" + path, "JAVA_HOME=" + javaHome, "LC_ALL=C.UTF-8"));
    KEPT.stream()
        .filter(environment::containsKey)
        .forEach(name -> argv.add(name + "=" + environment.get(name)));
    argv.addAll(OwnProgram.command(javaHome, classPath));
    argv.addAll(List.of("--workspace", root.toString(), "reconcile", "--quiet"));
    metrics.ifPresent(
        it -> argv.addAll(List.of("--metrics", it.toAbsolutePath().normalize().toString())));
    argv.forEach(PassCommand::requirePlain);
    return new PassCommand(argv, root);
  }

  /** Returns a command whose passes also clean up the storage tiers, once a day. */
  public PassCommand cleaning(int days) {
    List<String> all = new ArrayList<>(argv);
    all.addAll(List.of("--cleanup", "" + days));
    return new PassCommand(all, workspace);
  }

  /** Rejects characters that a crontab and a unit file cannot quote. */
  private static void requirePlain(String word) {
    for (int i = 0; i < word.length(); i++) {
      char c = word.charAt(i);
      if (c == '\\' || c < ' ') {
        throw ErrorCode.PATH_UNUSABLE.error(
            "a %s in '%s': cron would read it as something else"
                .formatted(c == '\\' ? "backslash" : "control character", word),
            "use a path without one");
      }
    }
  }

  /**
   * Returns the folders of the PATH with a needed program, in their order, then the system's
   * folders.
   */
  private static String path(String all) {
    Stream<String> needed =
        Arrays.stream(all.split(File.pathSeparator, -1))
            .filter(folder -> !folder.isEmpty())
            .map(Path::of)
            .filter(it -> NEEDED.stream().anyMatch(name -> Files.isExecutable(it.resolve(name))))
            .map(folder -> folder.toAbsolutePath().normalize().toString());
    return Stream.concat(needed, ALWAYS.stream())
        .distinct()
        .collect(Collectors.joining(File.pathSeparator));
  }
}
