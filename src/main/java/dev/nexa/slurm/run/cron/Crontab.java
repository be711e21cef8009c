package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

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
        return Optional.of(new Line(utf(line).stripTrailing(), every.get()));
      }
    }
    return Optional.empty();
  }

  /** Returns the workspaces that have a line and whose folders are gone, as after a move. */
  public List<String> gone() {
    return lines().stream()
        .flatMap(line -> Mark.of(line).stream())
        .map(mark -> utf(mark.workspace()).replace("\\%", "%"))
        .filter(name -> Files.notExists(Path.of(name)))
        .toList();
  }

  /**
   * Returns this crontab with the workspace's line, in its old place or at the end.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if the line is too long for some cron daemons
   */
  public Crontab with(PassCommand command, PassInterval every) {
    String own = line(command, every);
    List<String> lines = new ArrayList<>(lines());
    Predicate<String> others = line -> period(line, command.workspace()).isEmpty();
    int place = (int) lines.stream().takeWhile(others).count();
    boolean cut = place == lines.size() && !text.isEmpty() && !text.endsWith("\n");
    lines.removeIf(others.negate());
    lines.add(place, cut ? "\n" + own : own);
    return new Crontab(String.join("", lines));
  }

  /** Returns this crontab without the workspace's line. */
  public Crontab without(Path workspace) {
    return new Crontab(
        lines().stream()
            .filter(line -> period(line, workspace).isEmpty())
            .collect(Collectors.joining()));
  }

  /** Returns the lines, each with its line feed. */
  private List<String> lines() {
    return List.of(text.split("(?<=\n)"));
  }

  /** What a line of ours says: the workspace as the line spells it, and its interval. */
  private record Mark(String workspace, PassInterval every) {
    /** Returns the mark of a line; empty for a line that is not ours. */
    static Optional<Mark> of(String line) {
      int mark = line.lastIndexOf(MARK);
      int colon = line.indexOf(": ", Math.max(0, mark));
      if (mark < 0 || colon < 0 || line.startsWith("#")) {
        return Optional.empty();
      }
      String workspace = line.substring(colon + 2).stripTrailing();
      return PassInterval.read(line.substring(mark + MARK.length(), colon))
          .map(every -> new Mark(workspace, every));
    }
  }

  /** Returns the line's interval; empty if the line does not belong to this workspace. */
  private static Optional<PassInterval> period(String line, Path workspace) {
    String spelled = latin(escaped(workspace));
    return Mark.of(line).filter(it -> it.workspace().equals(spelled)).map(Mark::every);
  }

  private static String line(PassCommand command, PassInterval every) {
    String words =
        command.argv().stream()
            .map(word -> ' ' + quoted(word).replace("%", "\\%"))
            .collect(Collectors.joining());
    String fields = every.fields(command.workspace().toString().hashCode());
    String bytes = latin(fields + words + MARK + every + ": " + escaped(command.workspace()));
    if (bytes.length() > LONGEST) {
      throw ErrorCode.PATH_UNUSABLE.error(
          "the crontab's line would have %s bytes; some cron daemons take no more than %s"
              .formatted(bytes.length(), LONGEST),
          "shorten the PATH or the workspace's path; or, with systemd: nexa-slurm cron install --systemd");
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

  private static String utf(String latin) {
    return new String(latin.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  private static String latin(String utf) {
    return new String(utf.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
