package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Records the end of a run for the people who want to be notified of it. This happens before the
 * journal says that the run has ended: if the process dies in between, the next pass records the
 * same event under the same id.
 */
record EndNotice(Workspace workspace, Policy policy) {

  /**
   * Records the end, if a channel of the policy or of the run's config asks for it. A stage of a
   * pipeline that ended well, or that never ran, is left to the notification of the pipeline.
   *
   * @param journal the run's state before it is finished
   */
  void record(RunFolder run, RunState journal, ManifestFile manifest) {
    List<NotifyChannel> ofRun = ProvenFiles.of(run).plan().channels();
    if (policy.channels().isEmpty() && ofRun.isEmpty()) {
      return;
    }
    NoticeKind kind = kind(journal, manifest);
    boolean stage = journal.pipeline().isPresent();
    boolean leftToPipeline =
        stage && (kind == NoticeKind.ENDED || manifest.attempts().orElse(0L) == 0);
    if ((!leftToPipeline && isAsked(policy.channels(), kind)) || isAsked(ofRun, kind)) {
      new Outbox(workspace).record(notice(run, journal, manifest, kind, leftToPipeline));
    }
  }

  private static boolean isAsked(List<NotifyChannel> channels, NoticeKind kind) {
    return channels.stream().anyMatch(channel -> channel.kinds().contains(kind));
  }

  private static NoticeKind kind(RunState journal, ManifestFile manifest) {
    boolean well = manifest.status() == RunStatus.COMPLETED || journal.cancelRequested();
    return manifest.failedGate().isPresent()
        ? NoticeKind.GATE_FAILED
        : well ? NoticeKind.ENDED : NoticeKind.FAILED;
  }

  private static Notice notice(
      RunFolder run,
      RunState journal,
      ManifestFile manifest,
      NoticeKind kind,
      boolean leftToPipeline) {
    String id = run.id().value();
    int times = journal.timesFinished();
    Optional<Money> cost = manifest.cost();
    List<String> lines = new ArrayList<>();
    manifest.failedGate().ifPresent(lines::add);
    manifest.name().ifPresent(name -> lines.add("name: " + name));
    journal.pipeline().ifPresent(pipeline -> lines.add("pipeline: " + pipeline));
    if (manifest.tasks() > 1) {
      lines.add(manifest.tasks() + " tasks: " + states(manifest.states()));
    }
    cost.ifPresent(money -> lines.add("cost: " + money));
    Notice notice =
        Notice.of(
                kind,
                times == 0 ? id : id + "." + (times + 1),
                Optional.of(id),
                kind == NoticeKind.GATE_FAILED
                    ? id + ": the gate failed"
                    : id + " " + manifest.state(),
                lines)
            .with("state", manifest.state())
            .with("status", manifest.status().text());
    if (leftToPipeline) {
      notice = notice.with(Notice.ONLY_OF_RUN, true);
    }
    return cost.isPresent()
        ? notice
            .with("cost", cost.get().amount().toPlainString())
            .with("currency", cost.get().currency())
        : notice;
  }

  private static String states(JsonObject counts) {
    List<String> states = new ArrayList<>();
    counts.members().forEach((state, count) -> states.add(count + " " + state));
    return String.join(", ", states);
  }
}
