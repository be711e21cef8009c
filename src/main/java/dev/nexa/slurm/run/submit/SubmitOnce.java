package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.Journal;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.submit.ArrayShape.Part;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes one submission of a run: writes the intent, calls sbatch, writes the answer.
 *
 * <p>The submission's key is the job's name. If this process dies at any point, {@link
 * SubmissionResolver} finds the job by that name. This class never retries.
 */
public record SubmitOnce(
    Scheduler scheduler, Consumer<CrashPoint> passing, Interruption interruption) {
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
  private static final int KEY_LENGTH = 6;

  /**
   * Submits the run's script for the given tasks. The caller holds the run's lock.
   *
   * <p>A refused submission is shut: if a job of it appears later, that job cannot work. If a limit
   * for waiting jobs refuses a stage of a pipeline, the submission counts as never made.
   *
   * @param dependency the value of sbatch's {@code --dependency}; empty for none
   * @param link which of the jobs that follow each other this is; the first is 0
   * @param comment the job's comment, which names its approval; empty for none
   * @param first an event to write together with the intent, for a new run
   * @param begun runs when the intent is on disk, before sbatch is called
   * @throws NexaException if the intent cannot be written; no job was made then
   */
  SubmitAnswer submit(
      RunFolder run,
      Part part,
      String dependency,
      int link,
      String comment,
      Optional<Event> first,
      Runnable begun) {
    Journal journal = run.journal();
    String key = run.id() + "." + randomLetters();
    // Few workspaces know a bad node; the others load no class for it.
    String exclude = "";
    if (Files.isDirectory(run.badNodes())) {
      List<Event> events = first.isPresent() ? List.of(first.get()) : journal.read();
      PlanFile plan = ProvenFiles.of(run, events).plan();
      exclude = BadNodes.exclude(run.badNodes(), plan, scheduler);
    }
    // Built before the intent is written, because an invalid request needs no recovery.
    SubmitRequest request =
        new SubmitRequest(
            key,
            run.script(),
            run.submission(key),
            run.logPattern(),
            comment,
            run.path(),
            part.array(),
            dependency,
            exclude);
    JsonObject data =
        new JsonObject()
            .with("key", key)
            .with("tasks", part.tasks().toString())
            .with("offset", part.offset())
            .with("link", "" + link)
            .with("scheduler", scheduler.name())
            .withUnlessEmpty("dependency", dependency)
            .withUnlessEmpty("exclude", exclude);
    Event intent = Event.now(Event.Type.SUBMITTING, data);
    try {
      run.stageSubmission(key, part.tasks(), part.offset());
      List<Event> events = first.isPresent() ? List.of(first.get(), intent) : List.of(intent);
      interruption.writeBefore(() -> journal.appendOrTakeBack(events));
    } catch (UncheckedIOException failed) {
      throw ErrorCode.SUBMIT_NOT_STARTED.error(
          String.valueOf(failed.getMessage()),
          failed,
          first.isPresent()
              ? Advice.step("no job was made; fix that, then submit again")
              : Advice.command(
                  "goes on with %s, once that is fixed; no job was made of tasks %s"
                      .formatted(run.id(), part.tasks()),
                  "nexa-slurm",
                  "reconcile"));
    }
    begun.run();
    passing.accept(CrashPoint.INTENT_WRITTEN);
    SubmitAnswer answer =
        interruption.unlessInterrupted(
            () -> scheduler.submit(request, client -> started(journal, key, client)));
    passing.accept(CrashPoint.CLIENT_ANSWERED);
    if (answer instanceof SubmitAnswer.Refused refused && !run.shut(key)) {
      answer = new SubmitAnswer.Unknown(refused.message() + "; but a job has begun to work");
    }
    boolean postponed =
        answer instanceof SubmitAnswer.Refused refused
            && refused.forNow()
            && RunState.of(journal.read()).pipeline().isPresent();
    Event receipt =
        postponed
            ? Event.now(Event.Type.POSTPONED, new JsonObject().with("key", key))
            : receipt(key, answer);
    interruption.write(() -> journal.append(receipt));
    passing.accept(CrashPoint.RECEIPT_WRITTEN);
    return answer;
  }

  private void started(Journal journal, String key, ProcessIdentity client) {
    passing.accept(CrashPoint.CLIENT_STARTED);
    Event started =
        Event.now(
            Event.Type.CLIENT_STARTED,
            new JsonObject()
                .with("key", key)
                .with("host", client.host())
                .with("pid", client.pid())
                .with("started", client.started()));
    interruption.write(() -> journal.append(started));
    passing.accept(CrashPoint.CLIENT_RECORDED);
  }

  private static Event receipt(String key, SubmitAnswer answer) {
    JsonObject data = new JsonObject().with("key", key);
    if (answer instanceof SubmitAnswer.Submitted submitted) {
      data.with("job_id", submitted.jobId()).with("cluster", submitted.cluster());
      return Event.now(Event.Type.SUBMITTED, data);
    }
    if (answer instanceof SubmitAnswer.Refused refused) {
      return Event.now(Event.Type.REFUSED, data.with("message", refused.message()));
    }
    return Event.now(
        Event.Type.UNKNOWN, data.with("message", ((SubmitAnswer.Unknown) answer).message()));
  }

  private static String randomLetters() {
    SecureRandom random = new SecureRandom();
    StringBuilder letters = new StringBuilder();
    for (int i = 0; i < KEY_LENGTH; i++) {
      letters.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    }
    return letters.toString();
  }
}
