package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class SchedulerPollTest {
  private final FakeScheduler scheduler = new FakeScheduler();
  private final List<String> parts = new ArrayList<>();

  @Test
  void aFewRunsAreOneQuestion() {
    ask(runs(5, 1000));

    assertThat(parts).containsExactly("r0 r1 r2 r3 r4");
    assertThat(scheduler.asked).hasSize(2).startsWith("queue");
  }

  /** Less and less at a time: with the last answer there is little left to do. */
  @Test
  void manyTasksAreAskedForInPartsAndTheQueueOnce() {
    ask(runs(12, 20_000));

    assertThat(parts).containsExactly("r0 r1", "r2 r3", "r4 r5", "r6 r7", "r8", "r9", "r10", "r11");
    assertThat(scheduler.asked).hasSize(9);
    assertThat(scheduler.asked.stream().filter("queue"::equals)).hasSize(1);
  }

  @Test
  void aRunOfMoreTasksThanThatIsAPartOfItsOwn() {
    ask(runs(2, 300_000));

    assertThat(parts).containsExactly("r0", "r1");
  }

  @Test
  void noTwoQuestionsAreAskedAtATime() {
    AtomicInteger asking = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    FakeScheduler slow =
        new FakeScheduler() {
          @Override
          public void accounting(AccountingQuery query, Consumer<AccountingRecord> rows) {
            most.accumulateAndGet(asking.incrementAndGet(), Math::max);
            try {
              Thread.sleep(5);
            } catch (InterruptedException stopped) {
              throw new AssertionError(stopped);
            }
            asking.decrementAndGet();
          }
        };

    SchedulerPoll.forEachPart(slow, runs(12, 20_000), (evidence, part) -> parts.add("part"));

    assertThat(parts).hasSize(8);
    assertThat(most).hasValue(1);
  }

  @Test
  void anOutageInTheMiddleEndsItAndWhatWasToldBeforeStays() {
    FakeScheduler failing =
        new FakeScheduler() {
          private int calls;

          @Override
          public void accounting(AccountingQuery query, Consumer<AccountingRecord> rows) {
            if (++calls == 3) {
              throw new SchedulerUnavailable(
                  ErrorCode.SLURM_UNREACHABLE, "sacct failed: slurmdbd is gone");
            }
          }
        };

    assertThatThrownBy(
            () ->
                SchedulerPoll.forEachPart(
                    failing, runs(12, 20_000), (evidence, part) -> parts.add("")))
        .isInstanceOf(SchedulerUnavailable.class)
        .hasMessageContaining("slurmdbd is gone");
    assertThat(parts).hasSize(2);
  }

  private void ask(Map<RunId, RunState> runs) {
    List<RunId> ids = List.copyOf(runs.keySet());
    SchedulerPoll.forEachPart(
        scheduler,
        runs,
        (evidence, part) -> {
          List<String> names = new ArrayList<>();
          part.keySet().forEach(id -> names.add("r" + ids.indexOf(id)));
          parts.add(String.join(" ", names));
        });
  }

  private static Map<RunId, RunState> runs(int count, int tasks) {
    Map<RunId, RunState> runs = new LinkedHashMap<>();
    RunState state = Facts.journal(tasks, "created submitting submitted confirmed");
    for (int i = 0; i < count; i++) {
      runs.put(new RunId(String.format("train_20251101_1200%02d", i)), state);
    }
    return runs;
  }
}
