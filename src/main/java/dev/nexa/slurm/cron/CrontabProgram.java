package dev.nexa.slurm.cron;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.process.Command;
import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.process.CommandRunner;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** crontab(1): the one way to a user's crontab. */
public final class CrontabProgram {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** What it says, ending with 1, to a user who has none (Vixie cron, cronie). */
  private static final String NONE = "no crontab for";

  private final CommandRunner runner = new CommandRunner();
  private final Map<String, String> environment;

  /**
   * The program on the PATH.
   *
   * @param all the environment to run it in
   */
  public CrontabProgram(Map<String, String> all) {
    environment = new HashMap<>(all);
    environment.put("LC_ALL", "C");
  }

  /** Whether there is one: some systems have only systemd's timers. */
  public boolean installed() {
    for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, "crontab"))) {
        return true;
      }
    }
    return false;
  }

  /**
   * The crontab as it is.
   *
   * @throws NexaException if it can't be read: then nobody may replace it
   */
  public Crontab read() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CommandResult result = run(List.of("-l"), out);
    if (result.succeeded()) {
      return Crontab.of(out.toByteArray());
    }
    if (!result.timedOut() && out.size() == 0 && result.err().contains(NONE)) {
      return new Crontab("");
    }
    throw failed("crontab -l", result);
  }

  /** Replaces the crontab, and looks whether it is what it should be. */
  public void write(Crontab crontab) {
    Path file = null;
    try {
      // Only its owner may read it: a crontab may hold what is nobody else's business.
      file = Files.createTempFile("nexa-slurm-crontab-", "");
      Files.write(file, crontab.bytes());
      CommandResult result = run(List.of(file.toString()), new ByteArrayOutputStream());
      if (!result.succeeded()) {
        throw failed("crontab " + file, result);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("write", Path.of(System.getProperty("java.io.tmpdir")), failed);
    } finally {
      delete(file);
    }
    if (!read().equals(crontab)) {
      throw new NexaException(
          ExitCode.DEFECT,
          "crontab(1) took the new crontab, and `crontab -l` shows another one",
          "look at it: crontab -l");
    }
  }

  private static void delete(@Nullable Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException left) {
      // It is the user's own, and its folder is cleaned from time to time.
    }
  }

  private CommandResult run(List<String> arguments, ByteArrayOutputStream out) {
    List<String> argv = new ArrayList<>(List.of("crontab"));
    argv.addAll(arguments);
    try {
      return runner.stream(
          new Command(argv, environment, Path.of("/"), PATIENCE), out, started -> {});
    } catch (IOException notStarted) {
      throw new NexaException(
          ExitCode.DEFECT,
          "crontab can't be started: " + notStarted.getMessage(),
          "nothing was changed; install cron (Debian: apt install cron)",
          "or use a systemd user timer: nexa-slurm cron install --systemd");
    }
  }

  private static NexaException failed(String what, CommandResult result) {
    String said = result.err().strip();
    return new NexaException(
        ExitCode.DEFECT,
        what
            + " failed: "
            + (result.timedOut() ? "no answer in time" : said.isEmpty() ? "it said nothing" : said),
        "the crontab is as it was; a systemd user timer needs none: nexa-slurm cron install --systemd");
  }
}
