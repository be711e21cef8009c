package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.job.config.site.FailurePattern;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The findings in the logs of a failed attempt. Pure.
 *
 * @param root the line that shows the cause; empty if no line does
 * @param confirmations lines that support a cause but prove nothing alone, one for each signature
 * @param followed lines that only follow from a failure, one for each signature
 */
public record LogReading(
    Optional<Finding> root, List<Finding> confirmations, List<Finding> followed) {

  /** Slurm's own programs, which know how a job ended. */
  private static final Pattern SLURM =
      Pattern.compile("\\b(slurmstepd[^ :]*|slurmd|srun|salloc|sbatch): ");

  /** Actions on a job from outside. Programs announce them only as a warning. */
  private static final Set<String> ANNOUNCED = Set.of("preempted", "time-limit", "node-failure");

  /** Causes that programs often catch, print and get over, even if they print nothing more. */
  private static final Set<String> HANDLED =
      Set.of(
          "missing-file",
          "missing-module",
          "permission",
          "download",
          "credentials",
          "data",
          "config",
          "checkpoint",
          Finding.OURS);

  /** A line that a program prints while it works. */
  private static final Pattern PROGRESS =
      Pattern.compile("(?i)\\b(epoch|step|iter(ation)?s?|loss)\\b|\\d(it/s|s/it)\\b");

  /** The message of an exception has hardly more lines. */
  private static final int MESSAGE_LINES = 6;

  /** A cause that so few lines follow is the last thing that the program did. */
  private static final int FEW_LINES = 60;

  /**
   * Reads logs.
   *
   * <p>A verdict of the job's script is the root, whatever else was printed. Otherwise the root is
   * the first line that shows a cause: what is printed later mostly follows from it. A shell's
   * complaint about our own script never shows a cause. The exception at the end of a traceback
   * shows a cause too, unless a signature says that such an exception only follows. It comes before
   * a cause that the program only mentioned. Such a cause is a missing file, module or service, or
   * a cause that the program survived and went on with its work. But if an environment could not be
   * loaded, this is why a module is missing. A line that a signature knows comes before the
   * exception whose message or chain contains it. A line that the program itself calls a remark or
   * a warning shows no cause. Slurm's own words about a job's end come before the program's words.
   * Its words about a time limit come first only if the program went on after its own words. A
   * cancellation of the job counts only if there is no other cause.
   *
   * @param parts the logs, the most trusted log first: a later log counts only if the earlier logs
   *     show no cause
   */
  public static LogReading of(List<LogPart> parts, FailurePatterns signatures) {
    Optional<Finding> root = Optional.empty();
    Optional<Finding> verdict = Optional.empty();
    Map<String, Finding> confirmations = new LinkedHashMap<>();
    Map<String, Finding> followed = new LinkedHashMap<>();
    for (LogPart part : parts) {
      Candidates candidates = new Candidates();
      Tracebacks tracebacks = new Tracebacks();
      Frames frames = new Frames();
      int at = 0;
      for (LogLine line : part.lines()) {
        at++;
        if (line.isOurFault()) {
          continue;
        }
        boolean raised = tracebacks.ends(line.text());
        if (tracebacks.isIgnored()) {
          continue;
        }
        frames.read(line.text());
        Optional<FailurePattern> signature =
            tracebacks.isSource(line.text()) ? Optional.empty() : signatures.of(line.text());
        boolean refused = frames.isRefusal(line.text());
        Optional<CodeLine> code =
            raised || Tracebacks.looksRaised(line.text())
                ? frames.raising(line.text())
                : Optional.empty();
        Finding.Place place = new Finding.Place(part.file(), line, code);
        candidates.chain(Tracebacks.isChain(line.text()));
        if (signature.isEmpty()) {
          if (!raised && !tracebacks.isSource(line.text())) {
            candidates.goesOn(line.text());
          }
          if (line.isOurError()) {
            String next = at < part.lines().size() ? part.lines().get(at).text() : "";
            candidates.program(Finding.ours(place, next), at, false);
          } else if (raised) {
            candidates.program(Finding.exception(place, refused), at, true);
          } else if (Tracebacks.looksRaised(line.text()) && !line.isRemark()) {
            candidates.unsure(Finding.exception(place, refused));
          }
          continue;
        }
        Finding finding = Finding.of(signature.get(), place);
        switch (signature.get().role()) {
          case VERDICT -> verdict = verdict.isPresent() ? verdict : Optional.of(finding);
          case ROOT -> {
            if (finding.failure().equals("cancelled")) {
              candidates.cancelled(finding);
            } else if (SLURM.matcher(line.text()).find()) {
              candidates.slurm(finding, at);
            } else if (raised || !line.isRemark() || ANNOUNCED.contains(finding.failure())) {
              candidates.program(finding, at, raised);
            }
          }
          case CONFIRMATION -> confirmations.putIfAbsent(finding.id(), finding);
          case CASCADE -> followed.putIfAbsent(finding.id(), finding);
        }
      }
      root = root.isPresent() ? root : candidates.best();
    }
    return new LogReading(
        verdict.isPresent() ? verdict : root,
        List.copyOf(confirmations.values()),
        List.copyOf(followed.values()));
  }

  /** The causes that a log shows: the first cause of each kind. */
  private static final class Candidates {
    private Optional<Finding> slurm = Optional.empty();
    private Optional<Finding> program = Optional.empty();
    private Optional<Finding> unsure = Optional.empty();
    private Optional<Finding> cancelled = Optional.empty();
    private int slurmAt;
    private int programAt;
    private boolean programRaised;
    private boolean chained;
    private boolean wentOn;

    void slurm(Finding finding, int at) {
      if (slurm.isEmpty() || (isQuoted(finding) && !isQuoted(slurm.get()))) {
        slurm = Optional.of(finding);
        slurmAt = at;
      }
    }

    /** Returns whether the line is of a container's own log, which Slurm's plugin prints. */
    private static boolean isQuoted(Finding finding) {
      return text(finding).contains("pyxis:  ");
    }

    /** Notes that the program went on after its error, if the line is one of a working program. */
    void goesOn(String line) {
      wentOn |= program.isPresent() && PROGRESS.matcher(line).find();
    }

    /** Notes that the next exception belongs to the exception before it. */
    void chain(boolean chain) {
      chained |= chain;
    }

    /** The first cause counts, unless the program only mentioned it, or another cause says more. */
    void program(Finding finding, int at, boolean raised) {
      if (program.isEmpty()
          || (raised && isMentioned(finding))
          || (at - programAt <= MESSAGE_LINES && isInMessage(finding))
          || (raised && chained && isUnknown(program.get()) && !isUnknown(finding))) {
        program = Optional.of(finding);
        programAt = at;
        programRaised = raised;
        wentOn = false;
      }
      chained &= !raised;
    }

    /** Returns whether the program went on after the first cause, to the other cause. */
    private boolean isMentioned(Finding other) {
      Finding first = program.orElseThrow();
      boolean needed = first.isEnvironment() && other.failure().equals("missing-module");
      return !programRaised && (wentOn || HANDLED.contains(first.failure())) && !needed;
    }

    /** Returns whether the other cause is a part of the first cause's message, which goes on. */
    private boolean isInMessage(Finding other) {
      return text(program.orElseThrow()).stripTrailing().endsWith(":")
          || (isUnknown(program.get()) && Character.isWhitespace(text(other).charAt(0)));
    }

    private static String text(Finding finding) {
      return finding.line().orElseThrow().line().text();
    }

    private static boolean isUnknown(Finding finding) {
      return finding.id().equals(Finding.EXCEPTION);
    }

    void unsure(Finding finding) {
      unsure = Optional.of(finding);
    }

    void cancelled(Finding finding) {
      cancelled = cancelled.isPresent() ? cancelled : Optional.of(finding);
    }

    Optional<Finding> best() {
      return slurm
          .filter(end -> !end.failure().equals("time-limit") || !stoppedAtError())
          .or(() -> program)
          .or(() -> unsure)
          .or(() -> cancelled);
    }

    /** Returns whether the program printed hardly anything between its error and Slurm's word. */
    private boolean stoppedAtError() {
      return program.isPresent() && !wentOn && slurmAt - programAt < FEW_LINES;
    }
  }

  /**
   * Returns the finding for a log without a cause. It is the first line that only follows from a
   * failure, but has a class of its own, such as that the ranks waited for each other.
   */
  Optional<Finding> lastResort() {
    return followed.stream().filter(line -> !line.failure().equals("none")).findFirst();
  }

  /** Returns the confirmations of a class of failure. */
  public List<Finding> confirming(String failure) {
    return confirmations.stream().filter(finding -> finding.failure().equals(failure)).toList();
  }
}
