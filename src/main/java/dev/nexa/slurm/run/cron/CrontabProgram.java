package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and replaces the user's crontab with crontab(1). */
public final class CrontabProgram {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** The message, with exit status 1, for a user without a crontab (Vixie cron, cronie). */
  private static final String NONE = "no crontab for";

  private final CommandRunner runner = new CommandRunner();
  private final Map<String, String> environment;

  /**
   * Makes a caller of the crontab program on the PATH.
   *
   * @param all the environment for the program
   */
  public CrontabProgram(Map<String, String> all) {
    environment = new HashMap<>(all);
    environment.put("LC_ALL", "C");
  }

  /** Returns whether crontab is on the PATH. Some systems have only systemd's timers. */
  public boolean installed() {
    return Arrays.stream(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(it -> !it.isEmpty() && Files.isExecutable(Path.of(it, "crontab")));
  }

  /**
   * Returns the user's crontab; empty text if the user has none.
   *
   * @throws NexaException if crontab cannot be read; it must then not be replaced
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

  /**
   * Replaces the crontab and reads it back.
   *
   * @throws NexaException if crontab fails, or if the crontab differs after the write
   */
  public void write(Crontab crontab) {
    Path file = null;
    try {
      // createTempFile makes a file that only its owner can read: a crontab may hold secrets.
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
      throw ErrorCode.CRON_FAILED.error(
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
      // The leftover file is in the system's temporary folder, which is cleaned regularly.
    }
  }

  private CommandResult run(List<String> arguments, ByteArrayOutputStream out) {
    List<String> argv = new ArrayList<>(List.of("crontab"));
    argv.addAll(arguments);
    try {
      return runner.stream(
          new Command(argv, environment, Path.of("/"), PATIENCE), out, started -> {});
    } catch (IOException notStarted) {
      List<Advice> advice = new ArrayList<>();
      advice.add(
          Advice.step("nothing was changed; root can install cron (Debian: apt install cron)"));
      advice.addAll(OtherPasses.withoutCrontab(environment));
      throw ErrorCode.CRON_FAILED.error(
          "crontab can't be started: " + notStarted.getMessage(), advice);
    }
  }

  private NexaException failed(String what, CommandResult result) {
    String said = result.err().strip();
    List<Advice> advice = new ArrayList<>(List.of(Advice.step("the crontab is as it was")));
    advice.addAll(OtherPasses.withoutCrontab(environment));
    return ErrorCode.CRON_FAILED.error(
        what
            + " failed: "
            + (result.timedOut()
                ? "no answer in time"
                : said.isEmpty() ? "it printed no reason" : said),
        advice);
  }
}
