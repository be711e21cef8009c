package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.job.estimate.Expected;
import dev.nexa.slurm.job.estimate.Outlook;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Formats a run's expected cost, and how accurate earlier expectations were. */
public final class OutlookText {
  private OutlookText() {}

  /** Returns the lines as sentences, each on its own line. */
  public static String of(Outlook outlook) {
    return lines(outlook).stream()
        .map(line -> Character.toUpperCase(line.charAt(0)) + line.substring(1) + ".\n")
        .collect(Collectors.joining());
  }

  /** Returns the lines as notes, without capital letters and full stops. */
  public static List<String> lines(Outlook outlook) {
    List<String> lines = new ArrayList<>();
    if (outlook.expected().isPresent()) {
      lines.add(sentence(outlook.expected().get()));
      outlook.accuracySentence().ifPresent(lines::add);
      outlook
          .expected()
          .flatMap(Expected::tooShort)
          .ifPresent(limit -> lines.add("note: the run " + limit.sentence()));
      return lines;
    }
    lines.add("the probable cost is not known: " + outlook.unknown().orElse("nobody can tell"));
    if (outlook.accuracy().isPresent()) {
      outlook.accuracySentence().ifPresent(lines::add);
    }
    return lines;
  }

  private static String sentence(Expected expected) {
    StringBuilder text = new StringBuilder("probably ").append(expected.totalWords());
    if (expected.method() == Expected.Method.HISTORY) {
      text.append(", and no more than ").append(expected.highBound()).append(" nine times of ten");
    } else if (!expected.low().equals(expected.high())) {
      text.append(" (").append(expected.low().amount().toPlainString());
      text.append(" to ").append(expected.high()).append(")");
    }
    if (expected.runSeconds() > 0) {
      text.append("; a task takes ").append(TimeLimit.roundedWords(expected.runSeconds()));
      if (expected.highSeconds() > expected.runSeconds()) {
        text.append(" to ").append(TimeLimit.roundedWords(expected.highSeconds()));
      }
    }
    return text.append(". Basis: ").append(expected.basis()).toString();
  }

  /** Returns a line about the expected start; empty if Slurm was not asked. */
  public static String start(ExpectedStart start, Instant now) {
    if (start.at().isEmpty()) {
      String known =
          start.refused()
              ? "Would not start, says sbatch --test-only: "
              : "The start is not known: ";
      return start.why().isEmpty() ? "" : known + start.why() + ".\n";
    }
    long seconds = Duration.between(now, start.at().get()).toSeconds();
    return "Would start %s, by the queue as it is (sbatch --test-only).\n"
        .formatted(
            seconds < 60
                ? "now"
                : "in " + TimeLimit.roundedWords(seconds) + ", at " + start.at().get());
  }
}
