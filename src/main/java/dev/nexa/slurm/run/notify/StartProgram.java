package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Starts a program for a notification. The program gets the document on its standard input. Its
 * output is dropped, because it could contain a secret.
 */
record StartProgram(NotifyChannel channel, Context context) implements Channel {
  /** Variables of the user that a program may need; no other reaches it. */
  private static final List<String> PASSED =
      List.of("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR");

  @Override
  public Answer send(Notice notice, boolean doubtful, Duration limit) {
    Map<String, String> variables =
        Map.of(
            "NEXA_EVENT", notice.kind().text(),
            "NEXA_EVENT_ID", notice.id(),
            "NEXA_TITLE", notice.title(),
            "NEXA_RUN_ID", notice.run().orElse(""),
            "NEXA_WORKSPACE", context.root().toAbsolutePath().normalize().toString());
    return run(channel.command(), variables, Json.pretty(notice.document()), context, limit);
  }

  /**
   * Runs a program.
   *
   * @param variables variables beside the user's few
   */
  static Answer run(
      List<String> argv,
      Map<String, String> variables,
      String input,
      Context context,
      Duration limit) {
    Map<String, String> environment = new HashMap<>(context.environment());
    environment.keySet().retainAll(PASSED);
    environment.putAll(variables);
    try {
      CommandResult result =
          new CommandRunner().feed(new Command(argv, environment, Path.of("/"), limit), input);
      if (result.timedOut()) {
        return Answer.doubtful(
            argv.get(0) + " was killed: it ran longer than " + limit.toSeconds() + " s");
      }
      return result.exit() == 0
          ? Answer.SENT
          : Answer.failed(argv.get(0) + " ended with exit status " + result.exit());
    } catch (IOException notStarted) {
      return Answer.failed(argv.get(0) + " cannot be started");
    }
  }
}
