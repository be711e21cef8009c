package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Records the end of a pipeline for the people who are notified of it. */
record EndOfPipeline(Context context) {
  private static final int NAMED = 10;
  private static final int DIGITS = 8;

  /**
   * Records the end.
   *
   * @param problems receives a line if that fails
   */
  void record(PipelineProgress progress, List<String> problems) {
    new Outbox(context.workspace())
        .recordIfAsked(context.configs().policy().channels(), notice(progress))
        .ifPresent(problems::add);
  }

  private static Notice notice(PipelineProgress progress) {
    PipelineFile file = progress.file();
    Map<String, Integer> states = new TreeMap<>();
    progress.stages().forEach(stage -> states.merge(stage.state(), 1, Integer::sum));
    List<String> counts = new ArrayList<>();
    states.forEach((state, count) -> counts.add(count + " " + state));
    List<String> lines = new ArrayList<>();
    lines.add(progress.stages().size() + " stages: " + String.join(", ", counts));
    progress.stages().stream()
        .filter(stage -> !stage.completed() && !stage.why().isEmpty())
        .limit(NAMED)
        .map(one -> one.stage().name() + ": " + one.state() + ", because " + one.why())
        .forEach(lines::add);
    lines.add("cost: " + progress.cost());
    // A pipeline that was resumed ends again, and differs from what it was before.
    String digest = Sha256.of(Json.compact(ProgressFile.of(progress))).substring(0, DIGITS);
    boolean failed = progress.state() == PipelineProgress.State.FAILED;
    return Notice.of(
            failed ? NoticeKind.FAILED : NoticeKind.ENDED,
            file.id() + "." + digest,
            Optional.empty(),
            "pipeline " + file.name() + " (" + file.id() + ") " + progress.state().text(),
            lines)
        .with("pipeline_id", file.id())
        .with("pipeline", file.name())
        .with("state", progress.state().text())
        .with("cost", progress.cost().amount().toPlainString())
        .with("currency", progress.cost().currency());
  }
}
