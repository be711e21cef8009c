package dev.nexa.slurm.submit;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.Journal;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.scheduler.SubmitRequest;
import dev.nexa.slurm.submit.ArrayShape.Part;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes one submission of a run: intent, call, receipt. Whatever dies in between, the intent's key
 * is the job's name, by which {@link Resolver} finds out what happened. There is no retry here,
 * ever.
 */
public final class SubmitOnce {
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
  private static final int KEY_LENGTH = 6;

  private final Scheduler scheduler;
  private final Consumer<CrashPoint> passing;

  public SubmitOnce(Scheduler scheduler, Consumer<CrashPoint> passing) {
    this.scheduler = scheduler;
    this.passing = passing;
  }

  /**
   * Submits the run's script for the given tasks; the caller holds the run's lock.
   *
   * @param dependency what the job waits for, as sbatch takes it; empty for nothing
   * @param first an event to write together with the intent, where the run is new
   */
  SubmitAnswer submit(RunFolder run, Part part, String dependency, Optional<Event> first) {
    Journal journal = run.journal();
    String key = run.id() + "." + randomLetters();
    run.stageSubmission(key, part.tasks(), part.offset());
    JsonObject data =
        new JsonObject()
            .with("key", key)
            .with("tasks", part.tasks().toString())
            .with("offset", part.offset())
            .with("scheduler", scheduler.name());
    if (!dependency.isEmpty()) {
      data.with("dependency", dependency);
    }
    Event intent = Event.now(Event.Type.SUBMITTING, data);
    if (first.isPresent()) {
      journal.append(first.get(), intent);
    } else {
      journal.append(intent);
    }
    passing.accept(CrashPoint.INTENT_WRITTEN);
    SubmitAnswer answer =
        scheduler.submit(
            request(run, key, part, dependency), client -> started(journal, key, client));
    passing.accept(CrashPoint.CLIENT_ANSWERED);
    journal.append(receipt(key, answer));
    passing.accept(CrashPoint.RECEIPT_WRITTEN);
    return answer;
  }

  private static SubmitRequest request(RunFolder run, String key, Part part, String dependency) {
    return new SubmitRequest(
        key,
        run.script(),
        run.submission(key),
        run.logPattern(),
        run.comment(),
        run.path(),
        part.array(),
        dependency);
  }

  private void started(Journal journal, String key, ProcessIdentity client) {
    passing.accept(CrashPoint.CLIENT_STARTED);
    journal.append(
        Event.now(
            Event.Type.CLIENT_STARTED,
            new JsonObject()
                .with("key", key)
                .with("host", client.host())
                .with("pid", client.pid())
                .with("started", client.started())));
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
