package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.submit.ArrayShape.Part;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes the submissions that a set of tasks needs, one after the other.
 *
 * <p>If the process dies between two submissions, reconcile submits the remaining tasks.
 */
public final class SubmitTasks {
  private final Scheduler scheduler;
  private final SubmitOnce once;

  /**
   * Makes submissions.
   *
   * @param interruption knows the run that a signal finds; the caller has begun it there. With a
   *     new one, as in a pass, a signal ends the submissions without a word
   */
  public SubmitTasks(Scheduler scheduler, Consumer<CrashPoint> passing, Interruption interruption) {
    this.scheduler = scheduler;
    this.once = new SubmitOnce(scheduler, passing, interruption);
  }

  /**
   * Submits the tasks and stops at the first submission that is not accepted. The caller holds the
   * run's lock.
   *
   * @param links how many jobs follow each other, each with all of the tasks
   * @param dependency sbatch's {@code --dependency} for the first link; empty for none
   * @param comment the jobs' comment, which names their approval; empty for none
   * @param first an event to write together with the first intent
   * @param begun runs when the first intent is on disk, before sbatch is called
   * @return the answers in order; never empty if there are tasks
   */
  public List<SubmitAnswer> submit(
      RunFolder run,
      ArrayShape array,
      IndexRange tasks,
      int links,
      String dependency,
      String comment,
      Optional<Event> first,
      Runnable begun) {
    List<SubmitAnswer> answers = new ArrayList<>();
    List<Part> parts = array.parts(tasks);
    List<Long> jobs = new ArrayList<>();
    for (int i = 0; i < links * parts.size(); i++) {
      String waits = i < parts.size() ? dependency : after(jobs.get(i - parts.size()));
      SubmitAnswer answer =
          once.submit(
              run,
              parts.get(i % parts.size()),
              waits,
              i / parts.size(),
              comment,
              i == 0 ? first : Optional.empty(),
              i == 0 ? begun : SubmitTasks::nothing);
      answers.add(answer);
      if (!(answer instanceof SubmitAnswer.Submitted submitted)) {
        break;
      }
      boolean waitedFor = i + parts.size() < links * parts.size();
      if (waitedFor && !isShown(RunState.of(run.journal().read()).last().orElseThrow())) {
        break;
      }
      jobs.add(submitted.jobId());
    }
    return answers;
  }

  /**
   * Returns whether the scheduler shows the submission's job under its name. A link that waited for
   * a wrong job id would start at once, beside the job that it should follow.
   */
  private boolean isShown(Submission submission) {
    long jobId = submission.jobId().orElseThrow();
    try {
      return scheduler.queue(submission.key()).stream()
          .anyMatch(entry -> entry.arrayJobId() == jobId);
    } catch (SchedulerUnavailable unknown) {
      // The next pass of reconcile asks again and continues the chain.
    }
    return false;
  }

  /** Returns the dependency of a link: it starts when the previous link ends, in any state. */
  private static String after(long job) {
    return "afterany:" + job;
  }

  /**
   * Submits the tasks that no submission holds, or the next link of their chain.
   *
   * @param state the run's state, with every submission settled
   * @param dependency sbatch's {@code --dependency} for the first link; empty for none
   * @param files the run's files; a changed script or approval is an error
   * @return the answers in order; empty if no submission could be made yet
   */
  public List<SubmitAnswer> rest(
      RunFolder run,
      ArrayShape array,
      RunState state,
      IndexRange tasks,
      String dependency,
      ProvenFiles files) {
    String comment = requireProven(files);
    Map<Integer, Submission> before = new HashMap<>();
    for (Submission submission : state.sinceRerun()) {
      submission.tasks().indices().forEach(task -> before.put(task, submission));
    }
    int links = state.links(tasks.indices().get(0));
    List<SubmitAnswer> answers = new ArrayList<>();
    for (Part part : array.parts(tasks)) {
      Submission link = before.get(part.tasks().indices().get(0));
      boolean known =
          link != null
              && link.jobId().isPresent()
              && (link.phase() == Submission.Phase.CONFIRMED || isShown(link));
      if (link == null || known) {
        String waits = link == null ? dependency : after(link.jobId().orElseThrow());
        SubmitAnswer answer =
            once.submit(run, part, waits, links, comment, Optional.empty(), SubmitTasks::nothing);
        answers.add(answer);
        if (!(answer instanceof SubmitAnswer.Submitted)) {
          break;
        }
      }
    }
    return answers;
  }

  /**
   * Submits the tasks of a lost submission again, under a new key.
   *
   * @param dependency sbatch's {@code --dependency}; empty for none
   * @param files the run's files; a changed script or approval is an error
   */
  public void again(
      RunFolder run, ArrayShape array, Submission lost, String dependency, ProvenFiles files) {
    String comment = requireProven(files);
    Part part = array.part(lost.tasks(), lost.offset());
    int link = lost.link().matches("\\d{1,4}") ? Integer.parseInt(lost.link()) : 0;
    once.submit(run, part, dependency, link, comment, Optional.empty(), SubmitTasks::nothing);
  }

  private static String requireProven(ProvenFiles files) {
    files.script();
    files.requireCode();
    return files.comment();
  }

  /**
   * The empty action after the intent of a submission, for all submissions but the first of a new
   * run.
   */
  private static void nothing() {}
}
