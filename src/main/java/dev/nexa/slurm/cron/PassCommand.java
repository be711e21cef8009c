package dev.nexa.slurm.cron;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The command that makes one pass, by absolute paths and with all that it needs of the environment:
 * cron(8) and systemd(1) start programs with next to none.
 *
 * @param argv {@code /usr/bin/env NAME=VALUE… PROGRAM … reconcile --quiet}
 * @param workspace its absolute path
 */
public record PassCommand(List<String> argv, Path workspace) {
  /** Programs that a pass starts, and what the start script needs. */
  private static final List<String> NEEDED =
      List.of("sbatch", "squeue", "sacct", "scancel", "scontrol", "java");

  private static final List<String> ALWAYS = List.of("/usr/bin", "/bin");

  /** Kept where the shell that installs has them: without them Slurm's clients may not start. */
  private static final List<String> KEPT = List.of("SLURM_CONF", "LD_LIBRARY_PATH");

  /**
   * The command for a workspace.
   *
   * @param environment of whoever installs it
   * @param javaHome the JDK that runs us
   * @param classPath what it runs: nexa-slurm.jar, or folders and jars
   * @param metrics the file that each pass writes
   */
  public static PassCommand of(
      Map<String, String> environment,
      String javaHome,
      String classPath,
      Path workspace,
      Optional<Path> metrics) {
    Path root = workspace.toAbsolutePath().normalize();
    List<String> argv = new ArrayList<>();
    argv.add("/usr/bin/env");
    argv.add("PATH=" + path(environment.getOrDefault("PATH", "")));
    argv.add("JAVA_HOME=" + javaHome);
    // Java names files by the locale, and cron's is C.
    argv.add("LC_ALL=C.UTF-8");
    for (String name : KEPT) {
      if (environment.containsKey(name)) {
        argv.add(name + "=" + environment.get(name));
      }
    }
    argv.addAll(program(javaHome, classPath));
    argv.addAll(List.of("--workspace", root.toString(), "reconcile", "--quiet"));
    if (metrics.isPresent()) {
      argv.addAll(List.of("--metrics", metrics.get().toAbsolutePath().normalize().toString()));
    }
    for (String word : argv) {
      requirePlain(word);
    }
    return new PassCommand(argv, root);
  }

  /** Neither a crontab nor a unit file can be told apart from its own quoting with these in it. */
  private static void requirePlain(String word) {
    for (int i = 0; i < word.length(); i++) {
      char c = word.charAt(i);
      if (c == '\\' || c < ' ') {
        throw new NexaException(
            ExitCode.USAGE,
            "a "
                + (c == '\\' ? "backslash" : "control character")
                + " in '"
                + word
                + "': cron would read it as something else",
            "use a path without one");
      }
    }
  }

  /** The folders of the PATH that hold what is needed, in its order, and the system's own. */
  private static String path(String all) {
    List<String> folders = new ArrayList<>();
    for (String folder : all.split(File.pathSeparator, -1)) {
      boolean holds = false;
      for (String program : NEEDED) {
        holds |= !folder.isEmpty() && Files.isExecutable(Path.of(folder, program));
      }
      String absolute = Path.of(folder).toAbsolutePath().normalize().toString();
      if (holds && !folders.contains(absolute)) {
        folders.add(absolute);
      }
    }
    for (String folder : ALWAYS) {
      if (!folders.contains(folder)) {
        folders.add(folder);
      }
    }
    return String.join(File.pathSeparator, folders);
  }

  /** The start script where it lies beside the jar; it starts in half the time. */
  private static List<String> program(String javaHome, String classPath) {
    String java = javaHome + "/bin/java";
    boolean isJar = classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator);
    if (!isJar) {
      return List.of(java, "-cp", classPath, "dev.nexa.slurm.cli.Main");
    }
    Path jar = Path.of(classPath).toAbsolutePath().normalize();
    Path script = jar.resolveSibling("nexa-slurm");
    return jar.endsWith("nexa-slurm.jar") && Files.isExecutable(script)
        ? List.of(script.toString())
        : List.of(java, "-jar", jar.toString());
  }
}
