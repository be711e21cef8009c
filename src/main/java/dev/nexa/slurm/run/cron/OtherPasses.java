package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.Advice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The ways to run passes where crontab or systemd does not work. Names only what works here. */
public final class OtherPasses {
  private OtherPasses() {}

  /** Returns the advice before the first installation. */
  public static List<Advice> first(Map<String, String> environment) {
    return new CrontabProgram(environment).installed()
        ? List.of(Advice.command("", "nexa-slurm", "cron", "install"))
        : withoutCrontab(environment);
  }

  /** Returns the advice where crontab does not work. */
  static List<Advice> withoutCrontab(Map<String, String> environment) {
    List<Advice> advice = new ArrayList<>();
    if (runsUserUnits(environment)) {
      advice.add(
          Advice.command(
              "uses a systemd user timer", "nexa-slurm", "cron", "install", "--systemd"));
    }
    advice.add(watch());
    return advice;
  }

  /** Returns the advice where systemd does not run the user's units. */
  static List<Advice> withoutSystemd(Map<String, String> environment) {
    List<Advice> advice = new ArrayList<>();
    if (new CrontabProgram(environment).installed()) {
      advice.add(Advice.command("uses your crontab", "nexa-slurm", "cron", "install"));
    }
    advice.add(watch());
    return advice;
  }

  private static Advice watch() {
    return Advice.command(
        "always works; keep it running, for example in tmux",
        "nexa-slurm",
        "reconcile",
        "--watch",
        "5m");
  }

  /** systemctl --user talks to a socket in XDG_RUNTIME_DIR (systemctl(1), --user). */
  private static boolean runsUserUnits(Map<String, String> environment) {
    String folder = environment.getOrDefault("XDG_RUNTIME_DIR", "");
    return !folder.isEmpty()
        && (Files.exists(Path.of(folder, "systemd", "private"))
            || Files.exists(Path.of(folder, "bus")));
  }
}
