package dev.nexa.slurm.cron;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A user's crontab, in which one line for each workspace is ours: it ends in {@code # nexa-slurm
 * every 5m: /path/of/the/workspace}, which the shell takes for a comment. Every other byte is kept.
 * Pure.
 *
 * @param text its bytes as ISO-8859-1, so that none is lost whatever their encoding is
 */
public record Crontab(String text) {
  private static final String MARK = " # nexa-slurm every ";

  /** Vixie cron's MAX_COMMAND, with its schedule: longer lines are refused or cut. */
  private static final int LONGEST = 990;

  /** A line of ours. */
  public record Line(String text, Period every) {}

  /** From what {@code crontab -l} printed. */
  public static Crontab of(byte[] bytes) {
    return new Crontab(new String(bytes, StandardCharsets.ISO_8859_1));
  }

  public byte[] bytes() {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** The workspace's line. */
  public Optional<Line> find(Path workspace) {
    for (String line : lines()) {
      Optional<Period> every = period(line, workspace);
      if (every.isPresent()) {
        String shown =
            new String(line.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        return Optional.of(new Line(shown.stripTrailing(), every.get()));
      }
    }
    return Optional.empty();
  }

  /** With the workspace's line as it should be: where it was, else at the end. */
  public Crontab with(PassCommand command, Period every) {
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

  /** Without the workspace's line. */
  public Crontab without(Path workspace) {
    StringBuilder all = new StringBuilder();
    for (String line : lines()) {
      if (period(line, workspace).isEmpty()) {
        all.append(line);
      }
    }
    return new Crontab(all.toString());
  }

  /** Each with its line feed. */
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

  /** How often the line makes passes over the workspace; empty if it is another's or no line. */
  private static Optional<Period> period(String line, Path workspace) {
    int mark = line.lastIndexOf(MARK);
    int colon = line.indexOf(": ", Math.max(0, mark));
    if (mark < 0 || colon < 0 || line.startsWith("#")) {
      return Optional.empty();
    }
    boolean same = line.substring(colon + 2).stripTrailing().equals(latin(escaped(workspace)));
    return same ? Period.read(line.substring(mark + MARK.length(), colon)) : Optional.empty();
  }

  private static String line(PassCommand command, Period every) {
    StringBuilder line = new StringBuilder();
    line.append(every.fields(command.workspace().toString().hashCode()));
    for (String word : command.argv()) {
      line.append(' ').append(quoted(word).replace("%", "\\%"));
    }
    line.append(MARK).append(every).append(": ").append(escaped(command.workspace()));
    String bytes = latin(line.toString());
    if (bytes.length() > LONGEST) {
      throw new NexaException(
          ExitCode.USAGE,
          "the crontab's line would have "
              + bytes.length()
              + " bytes; some cron daemons take no more than "
              + LONGEST,
          "shorten the PATH or the workspace's path; or, with systemd: nexa-slurm cron install --systemd");
    }
    return bytes + "\n";
  }

  /** cron(8) ends the command at a percent sign that has no backslash before it (crontab(5)). */
  private static String escaped(Path workspace) {
    return workspace.toString().replace("%", "\\%");
  }

  /** As one word of the shell. */
  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\"'\"'") + "'";
  }

  private static String latin(String utf) {
    return new String(utf.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
