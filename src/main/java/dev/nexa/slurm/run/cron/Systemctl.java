package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs systemctl(1) for the user's own systemd instance. */
public record Systemctl(Map<String, String> environment) {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /**
   * Runs {@code systemctl --user} with each of these arguments, in order.
   *
   * @param standing the state that remains if a call fails, as a sentence without its full stop
   * @throws NexaException if a call fails; its advice lists that call and the remaining ones
   */
  public void run(List<List<String>> calls, String standing) {
    for (int i = 0; i < calls.size(); i++) {
      String failure = one(argv(calls.get(i)));
      if (!failure.isEmpty()) {
        List<Advice> advice = new ArrayList<>(List.of(Advice.step(standing + "; type")));
        calls
            .subList(i, calls.size())
            .forEach(call -> advice.add(Advice.command("", argv(call).toArray())));
        throw ErrorCode.CRON_FAILED.error(failure, advice);
      }
    }
  }

  /**
   * Runs {@code systemctl --user} with each of these arguments, in order, to install a first timer.
   *
   * @throws NexaException if a call fails; its advice says that no timer is installed
   */
  public void run(List<List<String>> calls) {
    for (List<String> call : calls) {
      String failure = one(argv(call));
      if (!failure.isEmpty()) {
        List<Advice> advice = new ArrayList<>();
        advice.add(
            Advice.step("nothing is installed: systemd does not run services of yours here"));
        advice.addAll(OtherPasses.withoutSystemd(environment));
        throw ErrorCode.CRON_FAILED.error(failure, advice);
      }
    }
  }

  private static List<String> argv(List<String> call) {
    List<String> argv = new ArrayList<>(List.of("systemctl", "--user"));
    argv.addAll(call);
    return argv;
  }

  /** Runs one call; returns its error, or an empty string if it succeeded. */
  private String one(List<String> argv) {
    String typed = String.join(" ", argv);
    try {
      CommandResult result =
          new CommandRunner().run(new Command(argv, environment, Path.of("/"), PATIENCE));
      String said = result.timedOut() ? "no answer in time" : result.err().strip();
      return result.succeeded()
          ? ""
          : typed + " failed: " + (said.isEmpty() ? "it printed no reason" : said);
    } catch (IOException notStarted) {
      return typed + " can't be started: " + notStarted.getMessage();
    }
  }
}
