package dev.nexa.slurm.app;

import dev.nexa.slurm.cron.Crontab;
import dev.nexa.slurm.cron.CrontabProgram;
import dev.nexa.slurm.cron.HeartbeatCheck;
import dev.nexa.slurm.cron.PassCommand;
import dev.nexa.slurm.cron.Period;
import dev.nexa.slurm.cron.Systemctl;
import dev.nexa.slurm.cron.UserTimer;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Heartbeat;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code cron}: passes of reconcile over this workspace, by the user's crontab or systemd. */
public final class CronPasses {
  private final Nexa nexa;
  private final Path workspace;
  private final CrontabProgram program;
  private final UserTimer timer;

  public CronPasses(Nexa nexa) {
    this.nexa = nexa;
    workspace = nexa.root().toAbsolutePath().normalize();
    program = new CrontabProgram(nexa.environment());
    timer = UserTimer.of(nexa.environment(), workspace);
  }

  /**
   * What makes passes.
   *
   * @param by {@code crontab} or {@code systemd}
   * @param what the line, or the timer's file
   * @param start what to type before it makes passes; empty where it does
   */
  public record Installed(String by, String what, Period every, Optional<String> start) {
    Installed(String by, String what, Period every) {
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
   * What there is.
   *
   * @param notRead why the crontab could not be read
   */
  public record Shown(
      List<Installed> installed,
      Optional<String> notRead,
      Optional<Heartbeat> heartbeat,
      Instant now,
      HeartbeatCheck check) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      List<JsonObject> all = new ArrayList<>();
      for (Installed one : installed) {
        all.add(one.toJson());
      }
      JsonObject json =
          new JsonObject()
              .with("schema_version", 1)
              .with("installed", all)
              .with("late", check.late())
              .with("message", check.words());
      json.with("crontab_not_read", notRead.orElse(null));
      json.with("age_seconds", null).with("heartbeat", null);
      if (heartbeat.isPresent()) {
        json.with("age_seconds", Duration.between(heartbeat.get().lastPass(), now).toSeconds());
        json.with("heartbeat", heartbeat.get().toJson());
      }
      return json;
    }
  }

  /** Writes the line into the user's crontab, or corrects it. */
  public Installed intoCrontab(Period every, Optional<Path> metrics) {
    Crontab before = program.read();
    Crontab after = before.with(command(metrics), every);
    if (!after.equals(before)) {
      program.write(after);
    }
    return new Installed("crontab", after.find(workspace).orElseThrow().text(), every);
  }

  /** Writes a systemd user timer, or corrects it, and starts it. */
  public Installed intoSystemd(Period every, Optional<Path> metrics) {
    boolean replaced = timer.write(command(metrics), every);
    List<List<String>> calls = new ArrayList<>();
    calls.add(List.of("daemon-reload"));
    calls.add(List.of("enable", "--now", timer.name()));
    if (replaced) {
      calls.add(List.of("restart", timer.name()));
    }
    new Systemctl(nexa.environment()).run(calls, "the unit files are written");
    return new Installed("systemd", timer.timer().toString(), every);
  }

  /** What is installed, and whether passes come. */
  public Shown show() {
    List<Installed> installed = new ArrayList<>();
    Optional<String> notRead = Optional.empty();
    try {
      Optional<Crontab.Line> line =
          program.installed() ? program.read().find(workspace) : Optional.empty();
      line.ifPresent(one -> installed.add(new Installed("crontab", one.text(), one.every())));
    } catch (NexaException failed) {
      notRead = Optional.of(String.valueOf(failed.getMessage()));
    }
    Optional<Period> timed = timer.every();
    timed.ifPresent(
        every ->
            installed.add(
                new Installed("systemd", timer.timer().toString(), every, startOfTimer())));
    Period every = Period.DEFAULT;
    for (Installed one : installed) {
      every =
          installed.size() == 1 || one.every().minutes() < every.minutes() ? one.every() : every;
    }
    Optional<Heartbeat> heartbeat = Heartbeat.read(nexa.workspace());
    Instant now = Instant.now();
    boolean anyRun = Files.isDirectory(nexa.workspace().runs());
    return new Shown(
        installed, notRead, heartbeat, now, HeartbeatCheck.of(heartbeat, anyRun, every, now));
  }

  private Optional<String> startOfTimer() {
    return timer.enabled()
        ? Optional.empty()
        : Optional.of("systemctl --user enable --now " + timer.name());
  }

  /**
   * Removes what is ours of this workspace.
   *
   * @param removed told of each thing, also where another can't be removed
   */
  public void remove(List<Installed> removed) {
    Crontab before = program.installed() ? program.read() : new Crontab("");
    Optional<Crontab.Line> line = before.find(workspace);
    if (line.isPresent()) {
      program.write(before.without(workspace));
      removed.add(new Installed("crontab", line.get().text(), line.get().every()));
    }
    Optional<Period> every = timer.every();
    if (every.isPresent()) {
      Systemctl systemctl = new Systemctl(nexa.environment());
      systemctl.run(
          List.of(List.of("disable", "--now", timer.name())),
          "the timer is still installed; where it can't be stopped, delete "
              + timer.timer()
              + " and "
              + timer.service());
      timer.remove();
      systemctl.run(List.of(List.of("daemon-reload")), "the unit files are removed");
      removed.add(new Installed("systemd", timer.timer().toString(), every.get()));
    }
  }

  private PassCommand command(Optional<Path> metrics) {
    return PassCommand.of(
        nexa.environment(),
        System.getProperty("java.home"),
        System.getProperty("java.class.path"),
        workspace,
        metrics);
  }
}
