package dev.nexa.slurm.cron;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.process.Command;
import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** systemctl(1) of the user's own systemd. */
public final class Systemctl {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CommandRunner runner = new CommandRunner();
  private final Map<String, String> environment;

  public Systemctl(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * Runs {@code systemctl --user} with each of these.
   *
   * @param standing what is so if one fails, as a sentence without its full stop
   * @throws NexaException if one fails: it names those that are left to be typed
   */
  public void run(List<List<String>> calls, String standing) {
    for (int i = 0; i < calls.size(); i++) {
      String failure = one(argv(calls.get(i)));
      if (!failure.isEmpty()) {
        List<String> advice = new ArrayList<>(List.of(standing + "; type"));
        for (List<String> call : calls.subList(i, calls.size())) {
          advice.add(String.join(" ", argv(call)));
        }
        throw new NexaException(ExitCode.DEFECT, failure, advice);
      }
    }
  }

  private static List<String> argv(List<String> call) {
    List<String> argv = new ArrayList<>(List.of("systemctl", "--user"));
    argv.addAll(call);
    return argv;
  }

  /** What it said; empty if all went well. */
  private String one(List<String> argv) {
    String typed = String.join(" ", argv);
    try {
      CommandResult result = runner.run(new Command(argv, environment, Path.of("/"), PATIENCE));
      String said = result.timedOut() ? "no answer in time" : result.err().strip();
      return result.succeeded()
          ? ""
          : typed + " failed: " + (said.isEmpty() ? "it said nothing" : said);
    } catch (IOException notStarted) {
      return typed + " can't be started: " + notStarted.getMessage();
    }
  }
}
