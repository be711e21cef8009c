package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A workspace's systemd user timer.
 *
 * <p>Its units are {@code nexa-slurm-<8 hex digits of the path's SHA-256>.{service,timer}} in the
 * user's unit folder (systemd.unit(5)).
 *
 * @param service the unit that makes a pass
 * @param timer the unit that starts the service
 */
public record UserTimer(Path service, Path timer) {
  private static final int DIGITS = 8;
  private static final String EVERY = "# nexa-slurm every ";

  /** Returns the paths of a workspace's units, whether or not they exist. */
  public static UserTimer of(Map<String, String> environment, Path workspace) {
    String named = environment.getOrDefault("XDG_CONFIG_HOME", "");
    Path config =
        named.startsWith("/")
            ? Path.of(named)
            : Path.of(environment.getOrDefault("HOME", "/"), ".config");
    Path folder = config.resolve("systemd/user");
    String digest = Sha256.of(workspace.toAbsolutePath().normalize().toString());
    String name = "nexa-slurm-" + digest.substring(0, DIGITS);
    return new UserTimer(folder.resolve(name + ".service"), folder.resolve(name + ".timer"));
  }

  /** Returns the timer's name for systemctl(1). */
  public String name() {
    return timer.getFileName().toString();
  }

  /** Returns whether one of the units exists. */
  public boolean written() {
    return Files.exists(timer) || Files.exists(service);
  }

  /** Returns the interval; empty if the timer is not installed. */
  public Optional<PassInterval> every() {
    if (Files.notExists(timer)) {
      return Optional.empty();
    }
    return DurableFiles.read(timer)
        .lines()
        .filter(line -> line.startsWith(EVERY))
        .findFirst()
        .map(line -> PassInterval.read(line.substring(EVERY.length()).strip()))
        .orElse(Optional.of(PassInterval.DEFAULT));
  }

  /** Returns whether the timer is enabled: {@code systemctl --user enable} makes this link. */
  public boolean enabled() {
    return Files.exists(link(), LinkOption.NOFOLLOW_LINKS);
  }

  private Path link() {
    return timer.resolveSibling("timers.target.wants").resolve(name());
  }

  /**
   * Writes both units.
   *
   * @return true if a unit with another content was replaced
   */
  public boolean write(PassCommand command, PassInterval every) {
    DurableFiles files = DurableFiles.onDisk();
    files.directories(service.resolveSibling(""));
    boolean replaced = replace(files, service, serviceText(command));
    return replace(files, timer, timerText(command, every)) || replaced;
  }

  private static boolean replace(DurableFiles files, Path file, String text) {
    boolean existed = Files.exists(file);
    if (existed && DurableFiles.read(file).equals(text)) {
      return false;
    }
    files.replace(file, text);
    return existed;
  }

  /** Removes both units, and the link that enables the timer. */
  public void remove() {
    DurableFiles files = DurableFiles.onDisk();
    files.unmark(link());
    files.unmark(timer);
    files.unmark(service);
  }

  private static String serviceText(PassCommand command) {
    String start = command.argv().stream().map(UserTimer::quoted).collect(Collectors.joining(" "));
    return """
        [Unit]
        Description=nexa-slurm reconcile of %s

        [Service]
        Type=oneshot
        ExecStart=%s
        """
        .formatted(command.workspace().toString().replace("%", "%%"), start);
  }

  private static String timerText(PassCommand command, PassInterval every) {
    return """
        %s%s
        [Unit]
        Description=nexa-slurm reconcile of %s

        [Timer]
        OnActiveSec=10s
        OnUnitActiveSec=%dmin
        AccuracySec=30s

        [Install]
        WantedBy=timers.target
        """
        .formatted(
            EVERY, every, command.workspace().toString().replace("%", "%%"), every.minutes());
  }

  /**
   * Quotes a word for ExecStart: systemd expands % and $ between quotes too (systemd.service(5)).
   */
  private static String quoted(String word) {
    String plain = word.replace("%", "%%").replace("$", "$$");
    return plain.matches("[A-Za-z0-9_@%+=:,./-]+")
        ? plain
        : "\"" + plain.replace("\"", "\\\"") + "\"";
  }
}
