package dev.nexa.slurm.run.notify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.records.notices.Delivery;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SIGKILL at each step of a pass. Each step once; {@code -Dnotify.kills=200} for as many, at random
 * steps and times.
 */
class NotifyKillTest {
  private static final int KILLS = SuiteSize.of("notify.kills", SendStep.values().length, 200);
  private static final int BACKLOG = Summarise.MOST + 3;

  private static final List<SendStep> STEPS = List.of(SendStep.values());

  @TempDir Path folder;

  @Test
  void aMessageArrivesAtLeastOnceAndAProgramIsStartedAtMostOnce() throws Exception {
    Random random = new Random(17);
    int[] repeated = new int[1];
    int[] unknown = new int[1];
    for (int i = 0; i < KILLS; i++) {
      SendStep step = STEPS.get(i % STEPS.size());
      boolean backlog = step == SendStep.SUMMARY_WRITTEN;
      int nth = backlog ? 1 : 1 + random.nextInt(step == SendStep.PREPARED ? 3 : 6);
      try (Receiver receiver = new Receiver()) {
        trial(
            folder.resolve("t" + i), step, nth, backlog ? BACKLOG : 3, receiver, repeated, unknown);
      }
    }
    // A kill between an answer and its receipt leaves one of these two.
    assertThat(repeated[0] + unknown[0]).isPositive();
  }

  private static void trial(
      Path workspace,
      SendStep step,
      int nth,
      int notices,
      Receiver receiver,
      int[] repeated,
      int[] unknown)
      throws Exception {
    Path started = prepare(workspace, receiver);
    Context context = new Context(workspace, Map.of("PATH", "/usr/bin:/bin"));
    Outbox outbox = new Outbox(context.workspace());
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < notices; i++) {
      Notice notice = Notice.of(NoticeKind.HALTED, "n" + i, Optional.empty(), "n" + i, List.of());
      outbox.record(notice);
      ids.add(notice.id());
    }

    assertThat(killed(workspace, step, nth)).as("%s, time %d", step, nth).isEqualTo(137);
    List<String> problems = new ArrayList<>();
    new SendNotices(context).pass(problems);
    new SendNotices(context).pass(problems);

    assertThat(outbox.countWaiting()).isZero();
    List<String> programs = Files.exists(started) ? Files.readAllLines(started) : List.of();
    assertThat(programs).as("a program is started once").doesNotHaveDuplicates();
    List<String> got = receiver.ids();
    for (String id : ids) {
      List<Delivery> deliveries = outbox.find(id, problems).orElseThrow().deliveries();
      Delivery message = deliveries.get(0);
      Delivery program = deliveries.get(1);
      int times = Collections.frequency(got, id);
      boolean summarised = message.state() == Delivery.State.SUMMARISED;
      assertThat(times).as(id).isBetween(summarised ? 0 : 1, 2);
      repeated[0] += times > 1 ? 1 : 0;
      assertThat(program.state())
          .isIn(Delivery.State.SENT, Delivery.State.UNKNOWN, Delivery.State.SUMMARISED);
      unknown[0] += program.state() == Delivery.State.UNKNOWN ? 1 : 0;
      if (program.state() == Delivery.State.SENT) {
        assertThat(programs).contains(id);
      }
    }
    if (notices > Summarise.MOST) {
      assertThat(got.stream().filter(id -> id.startsWith("summary.")).distinct()).hasSize(1);
    }
  }

  private static Path prepare(Path workspace, Receiver receiver) throws IOException {
    Files.createDirectories(workspace.resolve("runs"));
    Files.createDirectories(workspace.resolve("configs"));
    Path url = Files.writeString(workspace.resolve("url"), receiver.address());
    Files.setPosixFilePermissions(url, PosixFilePermissions.fromString("rw-------"));
    Path started = workspace.resolve("started");
    StandIn.sh(workspace.resolve("hook"), "echo \"$NEXA_EVENT_ID\" >>" + started);
    Files.writeString(
        workspace.resolve("configs/policy.yaml"),
        "approval_over: {amount: 1, currency: USD}\nnotify:\n  team: {kind: webhook, url_file: "
            + url
            + "}\n  hook: {kind: command, command: ["
            + workspace.resolve("hook")
            + "]}\n");
    return started;
  }

  private static int killed(Path workspace, SendStep step, int nth)
      throws IOException, InterruptedException {
    return new ProcessBuilder(
            OwnJvm.words(KilledPass.class, workspace.toString(), step.name(), "" + nth))
        .inheritIO()
        .start()
        .waitFor();
  }
}
