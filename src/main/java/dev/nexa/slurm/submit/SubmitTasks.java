package dev.nexa.slurm.submit;

import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.submit.ArrayShape.Part;
import dev.nexa.slurm.units.IndexRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
   * @param links how many jobs follow each other, each with all of the tasks
   * @param dependency what the first of them wait for, as sbatch takes it; empty for nothing
   * @param first an event to write together with the first intent
   */
  public List<SubmitAnswer> submit(
      RunFolder run,
      ArrayShape array,
      IndexRange tasks,
      int links,
      String dependency,
      Optional<Event> first) {
    List<SubmitAnswer> answers = new ArrayList<>();
    List<Part> parts = array.parts(tasks);
    List<Long> jobs = new ArrayList<>();
    for (int i = 0; i < links * parts.size(); i++) {
      String waits = i < parts.size() ? dependency : after(jobs.get(i - parts.size()));
      SubmitAnswer answer =
          once.submit(run, parts.get(i % parts.size()), waits, i == 0 ? first : Optional.empty());
      answers.add(answer);
      if (!(answer instanceof SubmitAnswer.Submitted submitted)) {
        break;
      }
      jobs.add(submitted.jobId());
    }
    return answers;
  }

  /** Each link of a chain begins when the one before has ended, however that was. */
  private static String after(long job) {
    return "afterany:" + job;
  }

  /**
   * Submits tasks that nobody has submitted yet, or the next link of their chain; true if any.
   *
   * @param state of the run, in which every submission is settled
   */
  public boolean rest(RunFolder run, ArrayShape array, RunState state, IndexRange tasks) {
    Map<Integer, Submission> before = new HashMap<>();
    List<Submission> made = state.submissions();
    for (Submission submission : made.subList(state.submissionsBefore(), made.size())) {
      submission.tasks().indices().forEach(task -> before.put(task, submission));
    }
    String first = before.isEmpty() ? "" : made.get(state.submissionsBefore()).dependency();
    boolean any = false;
    for (Part part : array.parts(tasks)) {
      Submission link = before.get(part.tasks().indices().get(0));
      if (link == null || link.jobId().isPresent()) {
        String waits = link == null ? first : after(link.jobId().orElseThrow());
        SubmitAnswer answer = once.submit(run, part, waits, Optional.empty());
        any = true;
        if (!(answer instanceof SubmitAnswer.Submitted)) {
          break;
        }
      }
    }
    return any;
  }

  /** Submits what a lost submission held, under a new key. */
  public void again(RunFolder run, ArrayShape array, Submission lost) {
    Part part = array.part(lost.tasks(), lost.offset());
    once.submit(run, part, lost.dependency(), Optional.empty());
  }
}
