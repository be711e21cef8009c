package dev.nexa.slurm.run.diagnosis;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Remembers the newest line of the user's own code that a Python traceback names. A syntax error
 * has such a line too, without the headline of a traceback.
 */
final class Frames {
  /** What a launcher puts before each line, the file, the number, and a function if one ran. */
  private static final Pattern FRAME =
      Pattern.compile("(.{0,100}?)\\s+File \"(.+)\", line (\\d{1,9})(, in .*)?");

  /** Python's own files and installed packages. */
  private static final Pattern OTHERS =
      Pattern.compile("/(site|dist)-packages/|/lib(64)?/python\\d|^<");

  /** The copy of a script that a run keeps; of a sweep's task, below the task's number. */
  private static final Pattern KEPT = Pattern.compile(".*/runs/[^/]+/runner/(\\d+/)?(?=.)");

  private String prefix = "";
  private Optional<CodeLine> newest = Optional.empty();
  private boolean textFollows;

  /** Reads the next line of a log. */
  void read(String line) {
    Matcher frame = FRAME.matcher(line.contains("File \"") ? line : "");
    if (line.contains("Traceback (most recent call last):")) {
      newest = Optional.empty();
      textFollows = false;
    } else if (frame.matches()) {
      boolean parsed = frame.group(4) == null;
      textFollows = parsed || !OTHERS.matcher(frame.group(2)).find();
      if (textFollows) {
        prefix = frame.group(1);
        String file = KEPT.matcher(frame.group(2)).replaceFirst("");
        newest = Optional.of(new CodeLine(file, Integer.parseInt(frame.group(3)), ""));
      }
    } else if (textFollows) {
      textFollows = false;
      CodeLine above = newest.orElseThrow();
      if (line.startsWith(prefix + "  ")) {
        String text = line.substring(prefix.length()).strip();
        newest = Optional.of(new CodeLine(above.file(), above.number(), text));
      }
    }
  }

  /**
   * Returns the line at which this exception was raised, and forgets it; empty if none is known.
   */
  Optional<CodeLine> raising(String exception) {
    Optional<CodeLine> raised = exception.startsWith(prefix) ? newest : Optional.empty();
    newest = Optional.empty();
    textFollows = false;
    return raised;
  }
}
