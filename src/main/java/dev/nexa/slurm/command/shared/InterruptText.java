package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.submit.Interruption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The lines about a submit that a signal has ended. */
final class InterruptText {
  private InterruptText() {}

  /** Stops the thread that submits, and returns the lines about its run. */
  static String of(Interruption interruption) {
    try {
      return of(interruption.interrupt());
    } catch (RuntimeException unreadable) {
      return "interrupted: it is not known whether a run was submitted: "
          + unreadable.getMessage()
          + "\nDo not submit it again before you have looked for it.\n  nexa-slurm status";
    }
  }

  /** Returns the lines; empty for a signal before anything was submitted says just that. */
  private static String of(Optional<Interruption.Found> found) {
    if (found.isEmpty()) {
      return "interrupted: nothing was submitted";
    }
    Interruption.Found at = found.get();
    String run = at.run().id().value();
    List<String> lines = new ArrayList<>();
    String jobs = jobs(at.state());
    if (at.submitted()) {
      lines.add("interrupted: " + run + " was submitted" + jobs + ", and goes on");
      lines.add("Do not submit it again.");
    } else {
      lines.add("interrupted: it is not known whether there is a job of " + run + jobs);
      lines.add("Do not submit it again.");
      lines.add(
          at.stopped()
              ? "The run is to end: the next `nexa-slurm reconcile` cancels a job if there is one,"
                  + " and submits nothing."
              : "The next `nexa-slurm reconcile` looks for the job by its name. If there is none, it"
                  + " submits the run.");
    }
    lines.add("  nexa-slurm status " + run);
    lines.add("  nexa-slurm cancel " + run);
    return String.join("\n", lines);
  }

  /** Returns the known jobs since the last rerun, in words. */
  private static String jobs(RunState state) {
    List<String> ids = new ArrayList<>();
    List<Submission> all = state.submissions();
    for (Submission submission : all.subList(state.submissionsBefore(), all.size())) {
      submission.jobId().ifPresent(id -> ids.add("" + id));
    }
    return ids.isEmpty()
        ? ""
        : (ids.size() == 1 ? " (job " : " (jobs ") + String.join(", ", ids) + ")";
  }
}
