package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A user's crontab. Immutable.
 *
 * <p>nexa-slurm owns one line for each workspace. That line ends in {@code # nexa-slurm every 5m:
 * /path/of/the/workspace}, which is a comment to the shell. Every other byte is kept.
 *
 * @param text the crontab's bytes, decoded as ISO-8859-1, so that no byte is lost in any encoding
 */
public record Crontab(String text) {
  private static final String MARK = " # nexa-slurm every ";

  /**
   * Vixie cron's MAX_COMMAND with room for the schedule. Some cron daemons reject or cut a longer
   * line.
   */
  private static final int LONGEST = 990;

  /** A workspace's line and its interval. */
  public record Line(String text, PassInterval every) {}

  /** Makes a crontab from the output of {@code crontab -l}. */
  public static Crontab of(byte[] bytes) {
    return new Crontab(new String(bytes, StandardCharsets.ISO_8859_1));
  }

  /** Returns the bytes for {@code crontab FILE}. */
  public byte[] bytes() {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Returns the workspace's line, or empty if there is none. */
  public Optional<Line> find(Path workspace) {
    for (String line : lines()) {
      Optional<PassInterval> every = period(line, workspace);
      if (every.isPresent()) {
        String shown =
            new String(line.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        return Optional.of(new Line(shown.stripTrailing(), every.get()));
      }
    }
    return Optional.empty();
  }

  /**
   * Returns this crontab with the workspace's line, in its old place or at the end.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if the line is too long for some cron daemons
   */
  public Crontab with(PassCommand command, PassInterval every) {
    String own = line(command, every);
    StringBuilder all = new StringBuilder();
    boolean placed = false;
    for (String line : lines()) {
      boolean ours = period(line, command.workspace()).isPresent();
      if (!ours) {
        all.append(line);
      } else if (!placed) {
        all.append(own);
      }
      placed |= ours;
    }
    if (!placed) {
      boolean cut = all.length() > 0 && all.charAt(all.length() - 1) != '\n';
      all.append(cut ? "\n" : "").append(own);
    }
    return new Crontab(all.toString());
  }

  /** Returns this crontab without the workspace's line. */
  public Crontab without(Path workspace) {
    StringBuilder all = new StringBuilder();
    for (String line : lines()) {
      if (period(line, workspace).isEmpty()) {
        all.append(line);
      }
    }
    return new Crontab(all.toString());
  }

  /** Returns the lines, each with its line feed. */
  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    int from = 0;
    while (from < text.length()) {
      int feed = text.indexOf('\n', from);
      int end = feed < 0 ? text.length() : feed + 1;
      lines.add(text.substring(from, end));
      from = end;
    }
    return lines;
  }

  /** Returns the line's interval; empty if the line does not belong to this workspace. */
  private static Optional<PassInterval> period(String line, Path workspace) {
    int mark = line.lastIndexOf(MARK);
    int colon = line.indexOf(": ", Math.max(0, mark));
    if (mark < 0 || colon < 0 || line.startsWith("#")) {
      return Optional.empty();
    }
    boolean same = line.substring(colon + 2).stripTrailing().equals(latin(escaped(workspace)));
    return same ? PassInterval.read(line.substring(mark + MARK.length(), colon)) : Optional.empty();
  }

  private static String line(PassCommand command, PassInterval every) {
    StringBuilder line = new StringBuilder();
    line.append(every.fields(command.workspace().toString().hashCode()));
    for (String word : command.argv()) {
      line.append(' ').append(quoted(word).replace("%", "\\%"));
    }
    line.append(MARK).append(every).append(": ").append(escaped(command.workspace()));
    String bytes = latin(line.toString());
    if (bytes.length() > LONGEST) {
      throw new NexaException(
          ErrorCode.PATH_UNUSABLE,
          "the crontab's line would have %s bytes; some cron daemons take no more than %s"
              .formatted(bytes.length(), LONGEST),
          Advice.step(
              "shorten the PATH or the workspace's path; or, with systemd: nexa-slurm cron install --systemd"));
    }
    return bytes + "\n";
  }

  /** Escapes percent signs: cron ends a command at an unescaped percent sign (crontab(5)). */
  private static String escaped(Path workspace) {
    return workspace.toString().replace("%", "\\%");
  }

  /** Quotes a word for the shell. */
  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\"'\"'") + "'";
  }

  private static String latin(String utf) {
    return new String(utf.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
