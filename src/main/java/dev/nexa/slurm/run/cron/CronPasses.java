package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Implements {@code cron}: passes of reconcile over this workspace, by the user's crontab or by
 * systemd.
 */
public final class CronPasses {
  private final Context context;
  private final Path workspace;
  private final CrontabProgram program;
  private final UserTimer timer;

  public CronPasses(Context context) {
    this.context = context;
    workspace = context.root().toAbsolutePath().normalize();
    program = new CrontabProgram(context.environment());
    timer = UserTimer.of(context.environment(), workspace);
  }

  /**
   * An installed schedule.
   *
   * @param by {@code crontab} or {@code systemd}
   * @param what the crontab's line, or the timer's file
   * @param start the command that starts it; empty if it is active
   */
  public record Installed(String by, String what, PassInterval every, Optional<String> start) {
    Installed(String by, String what, PassInterval every) {
      this(by, what, every, Optional.empty());
    }

    JsonObject toJson() {
      return new JsonObject()
          .with("by", by)
          .with("what", what)
          .with("every_seconds", every.duration().toSeconds())
          .with("enabled", start.isEmpty());
    }
  }

  /**
   * The schedules of this workspace and its newest pass.
   *
   * @param gone other workspaces in the crontab, whose folders are gone
   * @param notRead why the crontab could not be read; empty if it was
   */
  public record Shown(
      List<Installed> installed,
      List<String> gone,
      Optional<String> notRead,
      Optional<Heartbeat> heartbeat,
      Instant now,
      HeartbeatCheck check) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      Optional<Duration> age = heartbeat.map(last -> Duration.between(last.lastPass(), now));
      return JsonObject.ofVersion(1)
          .with("installed", installed.stream().map(Installed::toJson).toList())
          .with("late", check.late())
          .with("message", check.words())
          .with("crontab_not_read", notRead.orElse(null))
          .with("age_seconds", age.map(Duration::toSeconds).orElse(null))
          .with("heartbeat", heartbeat.map(Heartbeat::toJson).orElse(null));
    }
  }

  /**
   * Writes the workspace's line into the user's crontab, or corrects it.
   *
   * @param cleanupDays the days of {@code cleanup}, if passes also clean up
   */
  public Installed intoCrontab(
      PassInterval every, Optional<Path> metrics, Optional<Integer> cleanupDays) {
    Crontab before = program.read();
    Crontab after = before.with(command(metrics, cleanupDays), every);
    if (!after.equals(before)) {
      program.write(after);
    }
    return new Installed("crontab", after.find(workspace).orElseThrow().text(), every);
  }

  /**
   * Writes or corrects a systemd user timer, and starts it.
   *
   * @throws NexaException if systemd does not start it; a first timer is then removed again
   */
  public Installed intoSystemd(
      PassInterval every, Optional<Path> metrics, Optional<Integer> cleanupDays) {
    boolean first = !timer.written();
    boolean replaced = timer.write(command(metrics, cleanupDays), every);
    List<List<String>> calls = new ArrayList<>();
    calls.add(List.of("daemon-reload"));
    calls.add(List.of("enable", "--now", timer.name()));
    if (replaced) {
      calls.add(List.of("restart", timer.name()));
    }
    Systemctl systemctl = new Systemctl(context.environment());
    if (!first) {
      systemctl.run(calls, "the unit files are written");
      return new Installed("systemd", timer.timer().toString(), every);
    }
    try {
      systemctl.run(calls);
    } catch (NexaException failed) {
      // A timer that nobody starts would look installed. Half of `enable` may have been done.
      timer.remove();
      throw failed;
    }
    return new Installed("systemd", timer.timer().toString(), every);
  }

  /** Returns the installed schedules and whether passes happen. */
  public Shown show() {
    List<Installed> installed = new ArrayList<>();
    Optional<String> notRead = Optional.empty();
    Crontab crontab = new Crontab("");
    try {
      crontab = program.installed() ? program.read() : crontab;
      Optional<Crontab.Line> line = crontab.find(workspace);
      line.ifPresent(one -> installed.add(new Installed("crontab", one.text(), one.every())));
    } catch (NexaException failed) {
      notRead = Optional.of(String.valueOf(failed.getMessage()));
    }
    String file = timer.timer().toString();
    timer
        .every()
        .map(every -> new Installed("systemd", file, every, startOfTimer()))
        .ifPresent(installed::add);
    PassInterval every = PassInterval.DEFAULT;
    for (Installed one : installed) {
      every =
          installed.size() == 1 || one.every().minutes() < every.minutes() ? one.every() : every;
    }
    Optional<Heartbeat> heartbeat = Heartbeat.read(context.workspace());
    Instant now = Instant.now();
    boolean anyRun = Files.isDirectory(context.workspace().runs());
    HeartbeatCheck check = HeartbeatCheck.of(heartbeat, anyRun, every, now);
    return new Shown(installed, crontab.gone(), notRead, heartbeat, now, check);
  }

  private Optional<String> startOfTimer() {
    return timer.enabled()
        ? Optional.empty()
        : Optional.of("systemctl --user enable --now " + timer.name());
  }

  /**
   * Removes this workspace's crontab line and timer.
   *
   * @param removed receives each removed schedule, even if the next removal fails
   */
  public void remove(List<Installed> removed) {
    Crontab before = program.installed() ? program.read() : new Crontab("");
    Optional<Crontab.Line> line = before.find(workspace);
    if (line.isPresent()) {
      program.write(before.without(workspace));
      removed.add(new Installed("crontab", line.get().text(), line.get().every()));
    }
    if (timer.written()) {
      PassInterval every = timer.every().orElse(PassInterval.DEFAULT);
      Systemctl systemctl = new Systemctl(context.environment());
      boolean enabled = timer.enabled();
      try {
        stop(systemctl);
      } catch (NexaException failed) {
        if (enabled) {
          throw failed;
        }
        // No systemd runs that could stop or start it: only the files are left.
        timer.remove();
        removed.add(new Installed("systemd", timer.timer().toString(), every));
        return;
      }
      timer.remove();
      systemctl.run(List.of(List.of("daemon-reload")), "the unit files are removed");
      removed.add(new Installed("systemd", timer.timer().toString(), every));
    }
  }

  private void stop(Systemctl systemctl) {
    systemctl.run(
        List.of(List.of("disable", "--now", timer.name())),
        "the timer is still installed; where it can't be stopped, delete %s and %s"
            .formatted(timer.timer(), timer.service()));
  }

  private PassCommand command(Optional<Path> metrics, Optional<Integer> cleanupDays) {
    PassCommand command =
        PassCommand.of(
            context.environment(),
            System.getProperty("java.home"),
            System.getProperty("java.class.path"),
            workspace,
            metrics);
    return cleanupDays.map(command::cleaning).orElse(command);
  }
}
