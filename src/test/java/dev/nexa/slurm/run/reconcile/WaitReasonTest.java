package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.status.WaitReason;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class WaitReasonTest {
  private static final QueueEntry NEVER =
      new QueueEntry(
          Rows.JOB,
          Rows.JOB,
          0,
          JobState.PENDING,
          "DependencyNeverSatisfied",
          Optional.empty(),
          Optional.empty(),
          Rows.KEY);

  /** Whoever cancelled the stage would end the pipeline. */
  @Test
  void aStageThatCanNeverStartIsResumed() {
    assertThat(sentence(new JsonObject().with("pipeline", "pipeline_20251101_120000")))
        .endsWith("; `nexa-slurm pipeline resume pipeline_20251101_120000` runs again what failed");
    assertThat(sentence(new JsonObject())).endsWith("; `nexa-slurm cancel eval` removes it");
  }

  private static String sentence(JsonObject created) {
    RunState journal =
        RunState.of(List.of(new Event(Event.Type.CREATED, Rows.NOON, created.with("user", "ada"))));
    return WaitReason.sentence("eval", journal, NEVER, Map.of());
  }
}
