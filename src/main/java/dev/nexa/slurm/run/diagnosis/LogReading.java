package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.job.config.Signature;
import dev.nexa.slurm.job.config.Signatures;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the logs of a failed attempt say. Pure.
 *
 * @param root the line that shows the cause; empty if no line does
 * @param confirmations lines that support a cause but prove nothing alone, one for each signature
 * @param followed lines that only follow from a failure, one for each signature
 */
public record LogReading(
    Optional<Finding> root, List<Finding> confirmations, List<Finding> followed) {

  /**
   * Reads logs.
   *
   * <p>The root is the first line that shows a cause: what is printed later mostly follows from it.
   * The exception at the end of a traceback shows a cause too, unless a signature says that such an
   * exception only follows. A line that the program itself calls a remark or a warning is none.
   *
   * @param parts the logs, the most trusted one first: a later one counts only if the earlier ones
   *     show no cause
   */
  public static LogReading of(List<LogPart> parts, Signatures signatures) {
    Optional<Finding> root = Optional.empty();
    Map<String, Finding> confirmations = new LinkedHashMap<>();
    Map<String, Finding> followed = new LinkedHashMap<>();
    for (LogPart part : parts) {
      Optional<Finding> first = Optional.empty();
      Optional<Finding> last = Optional.empty();
      Tracebacks tracebacks = new Tracebacks();
      for (LogLine line : part.lines()) {
        boolean raised = tracebacks.ends(line.text());
        Optional<Signature> signature = signatures.of(line.text());
        Finding.Place place = new Finding.Place(part.file(), line);
        if (signature.isEmpty()) {
          if (raised) {
            first = first.isPresent() ? first : Optional.of(Finding.exception(place));
          } else if (Tracebacks.looksRaised(line.text()) && !line.isRemark()) {
            last = Optional.of(Finding.exception(place));
          }
          continue;
        }
        Finding finding = Finding.of(signature.get(), place);
        switch (signature.get().role()) {
          case ROOT -> {
            if (first.isEmpty() && (raised || !line.isRemark())) {
              first = Optional.of(finding);
            }
          }
          case CONFIRMATION -> confirmations.putIfAbsent(finding.id(), finding);
          case CASCADE -> followed.putIfAbsent(finding.id(), finding);
        }
      }
      if (root.isEmpty()) {
        root = first.isPresent() ? first : last;
      }
    }
    return new LogReading(
        root, List.copyOf(confirmations.values()), List.copyOf(followed.values()));
  }

  /** Returns the confirmations of a class of failure. */
  public List<Finding> confirming(String failure) {
    List<Finding> some = new ArrayList<>();
    for (Finding finding : confirmations) {
      if (finding.failure().equals(failure)) {
        some.add(finding);
      }
    }
    return some;
  }
}
