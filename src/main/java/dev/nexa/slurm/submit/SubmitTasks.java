package dev.nexa.slurm.submit;

import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.submit.ArrayShape.Part;
import dev.nexa.slurm.units.IndexRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes the submissions that a set of tasks needs, one after the other. Whoever dies between two of
 * them leaves tasks that no submission holds: reconcile goes on with those.
 */
public final class SubmitTasks {
  private final SubmitOnce once;

  public SubmitTasks(Scheduler scheduler, Consumer<CrashPoint> passing) {
    this.once = new SubmitOnce(scheduler, passing);
  }

  /**
   * Submits the tasks, until one submission is not accepted; the caller holds the run's lock.
   *
   * @param first an event to write together with the first intent
   */
  public List<SubmitAnswer> submit(
      RunFolder run, ArrayShape array, IndexRange tasks, Optional<Event> first) {
    return submit(run, array, tasks, "", first);
  }

  /**
   * The same for jobs that wait for others.
   *
   * @param dependency as sbatch takes it; empty for none
   */
  public List<SubmitAnswer> submit(
      RunFolder run, ArrayShape array, IndexRange tasks, String dependency, Optional<Event> first) {
    List<SubmitAnswer> answers = new ArrayList<>();
    Optional<Event> before = first;
    for (Part part : array.parts(tasks)) {
      SubmitAnswer answer = once.submit(run, part, dependency, before);
      answers.add(answer);
      if (!(answer instanceof SubmitAnswer.Submitted)) {
        break;
      }
      before = Optional.empty();
    }
    return answers;
  }

  /** Submits what a lost submission held, under a new key. */
  public void again(RunFolder run, ArrayShape array, Submission lost) {
    Part part = array.part(lost.tasks(), lost.offset());
    once.submit(run, part, lost.dependency(), Optional.empty());
  }
}
