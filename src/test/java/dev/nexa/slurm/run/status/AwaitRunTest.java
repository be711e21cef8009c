package dev.nexa.slurm.run.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A sacct whose rows lack their Start, as slurmctld 22.05 can leave them after a requeue. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class AwaitRunTest {
  @TempDir Path folder;

  @Test
  void aRowWithoutItsStartIsChargedAtOnceIfItEndedSoonAfterItsSubmit() throws IOException {
    Context context = workspace(0);
    RunFolder run = submit(context);

    ManifestFile manifest = new AwaitRun(context).await(run, said -> {});

    assertThat(manifest.state()).isEqualTo("completed");
    assertThat(manifest.attempts()).contains(1L);
    assertThat(manifest.disagreements())
        .singleElement()
        .asString()
        .contains("without a Start; it is charged the most that the row and the plan allow");
    // One CPU costs 36.00 an hour, so each second costs 0.01. The task sleeps for 4 seconds.
    assertThat(manifest.cost().map(Money::amount).orElseThrow())
        .isGreaterThanOrEqualTo(new BigDecimal("0.04"));
  }

  @Test
  void anHourInDoubtIsNotWaitedForInTheForeground() throws IOException {
    Context context = workspace(3600);
    RunFolder run = submit(context);

    assertThatThrownBy(() -> new AwaitRun(context, Duration.ofSeconds(8)).await(run, said -> {}))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining(
            run.id() + " has ended (1 completed), but Slurm's accounting does not settle it: ")
        .hasMessageContaining("without a Start; its run waits until that row is fixed");
    assertThat(run.isOpen()).isTrue();
  }

  private static RunFolder submit(Context context) {
    return new SubmitRun(context)
        .submit(
            new Prepared.Request(
                context.root().resolve("run.yaml").toString(), List.of(), Optional.of("test")),
            Optional.empty(),
            Optional.empty())
        .run();
  }

  /** Its sacct prints rows without a Start, and a Submit that is so many seconds earlier. */
  private Context workspace(int earlier) throws IOException {
    Path root = Files.createDirectories(folder.resolve("ws"));
    Files.writeString(
        root.resolve("run.yaml"),
        "stage: data\nbackend: shell\nrun: sleep 4\nresources: {time: 5m, memory: 50M}\n");
    Files.writeString(
        Files.createDirectories(root.resolve("configs/clusters")).resolve("test.yaml"),
        "scheduler: slurm\nhealth_check: false\nprice_book: test\n"
            + "storage: {scratch: %1$s/scratch, durable: %1$s/durable, shared: %1$s/shared}\n"
                .formatted(folder));
    Files.writeString(
        Files.createDirectories(root.resolve("configs/prices")).resolve("test.yaml"),
        "currency: USD\nas_of: 2026-01-01\n"
            + "cpu_hour: {price: 36.00, source: \"contract of 2026-01-01\"}\n");
    Path sacct = Files.createDirectories(folder.resolve("bin")).resolve("sacct");
    int submit = column("Submit");
    Files.writeString(
        sacct,
        """
        #!/bin/bash
        set -o pipefail
        for argument; do
          case $argument in --delimiter=*) delimiter=${argument#*=} ;; esac
        done
        /usr/bin/sacct "$@" |
          awk -v d="$delimiter" 'BEGIN { FS = OFS = d }
            NF > 10 && $%2$d > 0 { $%2$d = "Unknown"; $%3$d = 0; $%1$d -= %4$d } { print }'
        """
            .formatted(submit, submit + 1, column("ElapsedRaw"), earlier));
    assertThat(sacct.toFile().setExecutable(true)).isTrue();
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.remove("NEXA_WORKSPACE");
    environment.put("PATH", sacct.getParent() + ":" + environment.get("PATH"));
    return new Context(root, environment);
  }

  /** Returns the field's place as awk counts. */
  private static int column(String field) {
    return SacctText.FIELDS.indexOf(field) + 1;
  }
}
