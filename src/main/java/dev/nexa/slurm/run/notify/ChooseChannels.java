package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.text.WithoutSecrets;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.records.notices.Delivery;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Chooses the channels of a notification, and adds why a run failed. */
record ChooseChannels(Context context, List<NotifyChannel> ofPolicy) {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final String API_KEY = "api_key";

  /** Returns the notification with a delivery for each channel that asks for its kind. */
  Notice prepare(Notice notice) {
    Set<String> targets = new HashSet<>();
    List<Delivery> deliveries = new ArrayList<>();
    if (!notice.facts().members().containsKey(Notice.ONLY_OF_RUN)) {
      add(notice, ofPolicy, false, targets, deliveries);
    }
    add(notice, ofRun(notice), true, targets, deliveries);
    Notice chosen = notice.to(deliveries);
    if (deliveries.isEmpty() || notice.kind() != NoticeKind.FAILED || notice.run().isEmpty()) {
      return chosen;
    }
    return why(context.workspace().run(new RunId(notice.run().get())))
        .map(why -> chosen.explained(why, "nexa-slurm why " + notice.run().get()))
        .orElse(chosen);
  }

  private static void add(
      Notice notice,
      List<NotifyChannel> channels,
      boolean ofRun,
      Set<String> targets,
      List<Delivery> deliveries) {
    for (NotifyChannel channel : channels) {
      if (notice.isFor(channel.kinds()) && targets.add(channel.target())) {
        deliveries.add(Delivery.waiting(channel.name(), ofRun));
      }
    }
  }

  /**
   * Returns the channels of the run's config; empty if the notification is about no run. A channel
   * can be a command, so another user's run has none: its user's passes send its notifications.
   */
  List<NotifyChannel> ofRun(Notice notice) {
    Optional<RunId> id = notice.run().flatMap(RunId::parse);
    if (id.isEmpty()) {
      return List.of();
    }
    try {
      RunFolder run = context.workspace().run(id.get());
      return run.isOfAnotherUser() ? List.of() : ProvenFiles.of(run).plan().channels();
    } catch (NexaException | UncheckedIOException | IllegalArgumentException gone) {
      return List.of();
    }
  }

  /** Asks for at most five seconds: logs can be on a file system that does not answer. */
  private Optional<String> why(RunFolder run) {
    FutureTask<Optional<String>> question = new FutureTask<>(() -> ask(run));
    Thread asking = new Thread(question, "why");
    asking.setDaemon(true);
    asking.start();
    try {
      return question.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException noAnswer) {
      return Optional.empty();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private Optional<String> ask(RunFolder run) {
    ExplainRun explain = new ExplainRun(context);
    // Before the notification shortens it: a token that is cut short is not recognized.
    return explain
        .headline(run)
        .or(() -> explain.of(run, OptionalInt.empty(), new ArrayList<>()).headline())
        .map(WithoutSecrets.of(run.path().resolve(API_KEY))::line);
  }
}
