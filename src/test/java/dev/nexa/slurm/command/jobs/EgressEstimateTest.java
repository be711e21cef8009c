package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What `estimate` says of the bytes that a sync stage sends. */
class EgressEstimateTest {
  private static final String PRICES =
      "currency: USD\nas_of: 2026-01-01\ncpu_hour: {price: 1, source: test}\n";

  @TempDir Path folder;
  private Path durable;
  private Terminal terminal;

  @BeforeEach
  void site() throws IOException {
    durable = Files.createDirectories(folder.resolve("durable")).toRealPath();
    terminal = new Terminal(folder);
    terminal.file(
        "configs/clusters/default.yaml",
        "price_book: mine\nstorage: {scratch: /scratch, durable: "
            + durable
            + ", shared: /shared, s3_prefix: 's3://nexacompute/tier'}\n");
    prices("egress_gb: {price: 1000000, source: contract}\n");
    Path student = Files.createDirectories(durable.resolve("checkpoints/student/final"));
    Files.write(student.resolve("weights"), new byte[2_500]);
    Files.write(student.resolve("half.tmp"), new byte[100]);
    Files.write(student.resolve("optimizer.pt"), new byte[100]);
    Files.write(student.resolve("optimizer_last.pt"), new byte[500]);
  }

  private void prices(String more) {
    terminal.file("configs/prices/mine.yaml", PRICES + more);
  }

  private Screen estimate(String from, String... more) {
    terminal.file(
        "sync.yaml",
        "stage: sync\nbackend: sync\nsync:\n  from: "
            + from
            + "\n  exclude: ['*optimizer*']\n  include: ['*optimizer_last.pt']\n"
            + "resources: {time: 1h, cpus_per_task: 1, memory: 1G}\n");
    String[] words = new String[more.length + 2];
    words[0] = "estimate";
    words[1] = "sync.yaml";
    System.arraycopy(more, 0, words, 2, more.length);
    return terminal.type(words);
  }

  @Test
  void theFilesThatWouldGoArePricedAndNotReserved() {
    Screen screen = estimate("${durable}/checkpoints/student");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .containsPattern("egress +0.00 +gb +1000000 +3.00 +contract")
        .contains(
            "Egress of at most 2.9 KiB in 2 files of "
                + durable
                + "/checkpoints/student: at most 3.00 USD, which is not reserved")
        .contains("This is the most the run can cost without egress, if it uses")
        .contains("At most 1.");
    JsonObject json = estimate("${durable}/checkpoints/student", "--json").json();
    JsonObject egress = json.object("egress");
    assertThat(egress.number("bytes")).isEqualTo(3_000);
    assertThat(egress.number("files")).isEqualTo(2);
    assertThat(egress.objects("lines").get(0).text("amount")).isEqualTo("3.00");
    assertThat(json.object("reservation").toString()).doesNotContain("egress");
  }

  @Test
  void aFolderThatIsNotThereYetHasNoSize() {
    Screen screen = estimate("${durable}/checkpoints/later");

    assertThat(screen.out())
        .contains(
            "Egress is not known yet: "
                + durable
                + "/checkpoints/later: it does not exist on this host.")
        .doesNotContainPattern("(?m)^egress ");
    JsonObject egress = estimate("${durable}/checkpoints/later", "--json").json().object("egress");
    assertThat(egress.members().get("bytes")).isNull();
    assertThat(egress.text("unknown")).isEqualTo("it does not exist on this host");
  }

  @Test
  void aBookWithoutThePriceSaysThatNothingIsCharged() {
    prices("");

    assertThat(estimate("${durable}/checkpoints/student").out())
        .contains("; the price book mine has no egress_gb, so it is not charged");
  }

  @Test
  void aStageOfAPipelineWaitsForTheOneBefore() {
    terminal.file(
        "train.yaml",
        "stage: train\nbackend: shell\nrun: train\nresources: {time: 1h, cpus_per_task: 1, memory: 1G}\n");
    estimate("${stages.train.checkpoint}");
    terminal.file(
        "release.yaml",
        "name: release\nstages:\n  train: {config: train.yaml}\n  sync: {config: sync.yaml, after: [train]}\n");

    Screen screen = terminal.type("pipeline", "estimate", "release.yaml");

    assertThat(screen.out())
        .as(screen.err())
        .contains(
            "Stage sync: egress is not known yet: ${stages.train.checkpoint}: an earlier stage has"
                + " to make it first.");
  }
}
