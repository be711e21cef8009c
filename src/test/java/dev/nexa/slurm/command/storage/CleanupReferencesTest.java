package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Done;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Planned;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What somebody needs stays: however a document names it, and wherever the document lies. */
class CleanupReferencesTest {
  private static final String RUN = "train_20251001_143200";

  @TempDir Path folder;
  private CleanupSite site;
  private RunFolder run;
  private Path all;
  private Path first;
  private Path second;

  @BeforeEach
  void begin() {
    site = new CleanupSite(folder);
    run = site.ended(RUN);
    all =
        site.checkpointsOf(
            run, Optional.empty(), "checkpoint-100", "checkpoint-200", "checkpoint-300");
    first = all.resolve("checkpoint-100");
    second = all.resolve("checkpoint-200");
  }

  private Screen look(String... more) {
    List<String> words = new ArrayList<>(List.of("cleanup", "--dry-run", "--json"));
    words.addAll(List.of(more));
    if (!words.contains("--prune-size")) {
      words.addAll(List.of("--prune-size", "0"));
    }
    Screen screen = site.terminal.type(words.toArray(String[]::new));
    assertThat(screen.err()).isEmpty();
    assertThat(screen.exit()).isZero();
    return screen;
  }

  private static List<String> removes(Screen screen) {
    return screen.json().objects("removes").stream().map(one -> one.text("path")).toList();
  }

  private static String reason(Screen screen, Path path) {
    for (JsonObject kept : screen.json().objects("keeps")) {
      if (kept.text("path").equals(path.toString())) {
        return kept.text("reason");
      }
    }
    return "not kept";
  }

  private Path link(Path link, Path target) throws IOException {
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, target);
    // The age of a link is its own.
    new ProcessBuilder("touch", "-h", "-d", "30 days ago", link.toString()).start().onExit().join();
    CleanupSite.old(all);
    return link;
  }

  @Test
  void whatIsReferredToSinceThePlanStays() {
    CleanTiers clean = site.clean(step -> {});
    Planned planned = site.plan(clean, Duration.ofDays(3));
    site.terminal.file("configs/train/eval.yaml", "model_name: " + first);

    Done done = clean.run(planned);

    assertThat(first).exists();
    assertThat(second).doesNotExist();
    assertThat(done.failed()).hasSize(1);
    assertThat(done.failed().get(0).reason()).isEqualTo("the config eval.yaml refers to it");
  }

  @Test
  void aLinkedFolderOfConfigsIsRead() throws IOException {
    Path checkout = folder.resolve("checkout");
    Path configs = site.terminal.workspace.resolve("configs");
    Files.move(configs, checkout);
    CleanupSite.write(checkout.resolve("deep/eval.yaml"), "model_name: " + first);
    Files.createSymbolicLink(checkout.resolve("deep/loop"), checkout);
    Files.createSymbolicLink(configs, checkout);

    Screen plan = look();

    assertThat(removes(plan)).containsExactly(second.toString());
    assertThat(reason(plan, first)).isEqualTo("the config eval.yaml refers to it");
  }

  @ParameterizedTest
  @ValueSource(strings = {"registry", "config", "server", "deployed", "manifest", "estimate"})
  void aLinkedDocumentIsRead(String kind) throws IOException {
    Path target =
        CleanupSite.write(folder.resolve("elsewhere/x.json"), "{\"a\": \"" + first + "\"}");
    Path workspace = site.terminal.workspace;
    link(
        switch (kind) {
          case "registry" -> site.durable.resolve("manifests/dataset_registry.yaml");
          case "config" -> workspace.resolve("configs/train/eval.yaml");
          case "server" -> site.shared.resolve("active_jobs/s.json");
          case "deployed" -> site.durable.resolve("deploy/current_model");
          case "manifest" -> workspace.resolve("runs/manifests/eval_20251101_143200.json");
          default -> workspace.resolve("estimates/1f.json");
        },
        target);

    assertThat(removes(look())).containsExactly(second.toString());
  }

  @Test
  void aLinkToADocumentThatIsNotThereEndsTheCleanup() throws IOException {
    Path workspace = site.terminal.workspace;
    // What was deployed is gone, and somebody edits a config with Emacs.
    link(site.durable.resolve("deploy/current_model"), folder.resolve("gone"));
    link(workspace.resolve("configs/.#eval.yaml"), Path.of("ada@host.4711:17"));
    assertThat(removes(look())).hasSize(2);

    link(workspace.resolve("configs/train/eval.yaml"), folder.resolve("gone"));

    Screen refused = site.terminal.type("cleanup", "--yes", "--prune-size", "0");
    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains("eval.yaml cannot be read", "gone, which is not there");
    assertThat(first).exists();
  }

  @Test
  void aPathThatAReleaseNamesStays() {
    CleanupSite.write(
        site.durable.resolve("deploy/releases/v7/release.json"),
        "{\"files\": [\"" + first.resolve("model.bin") + "\"]}");

    Screen plan = look();

    assertThat(removes(plan)).containsExactly(second.toString());
    assertThat(reason(plan, first)).isEqualTo("the deployed model release.json refers to it");
  }

  @ParameterizedTest
  @CsvSource({
    "best_metric.txt, checkpoint-200 is the best",
    "notes_on_best.md, x",
    "best.safetensors, weights"
  })
  void aFileWhoseNameSaysBestDoesNotSayWhichCheckpointIsTheBest(String name, String text)
      throws IOException {
    for (String checkpoint : List.of("checkpoint-100", "checkpoint-200", "checkpoint-300")) {
      Files.delete(all.resolve(checkpoint).resolve("trainer_state.json"));
    }
    CleanupSite.write(all.resolve(name), text);
    CleanupSite.old(all);

    Screen plan = look();

    assertThat(removes(plan)).isEmpty();
    assertThat(reason(plan, first)).isEqualTo("nothing says which checkpoint is the best");
  }

  @ParameterizedTest
  @CsvSource({
    "best.safetensors, checkpoint-100/model.bin",
    "final/model.bin, ../checkpoint-100/model.bin",
    "final/deep/x, ALL/checkpoint-100",
    "latest, /old/mount/train_20251001_143200/checkpoint-100",
    "../production, train_20251001_143200/checkpoint-100",
    "../production, ALL/checkpoint-100/model.bin"
  })
  void whatALinkLeadsToStays(String link, String target) throws IOException {
    link(all.resolve(link).normalize(), Path.of(target.replace("ALL", all.toString())));

    Screen plan = look();

    assertThat(removes(plan)).containsExactly(second.toString());
    assertThat(reason(plan, first)).contains("a link leads to it");
  }

  @Test
  void aLinkToTheBestThroughAnotherLinkSaysWhichOneIsTheBest() throws IOException {
    for (String checkpoint : List.of("checkpoint-100", "checkpoint-200", "checkpoint-300")) {
      Files.delete(all.resolve(checkpoint).resolve("trainer_state.json"));
    }
    link(all.resolve("chosen"), Path.of("checkpoint-100"));
    link(all.resolve("best"), Path.of("chosen"));

    assertThat(removes(look())).containsExactly(second.toString());
  }

  @Test
  void aLinkAboveTheTasksCountsForTheTasks() throws IOException {
    for (String name : List.of("checkpoint-1", "checkpoint-2", "checkpoint-3")) {
      CleanupSite.write(all.resolve("task_0").resolve(name).resolve("model.bin"), "x");
      CleanupSite.write(all.resolve("task_1").resolve(name).resolve("model.bin"), "x");
    }
    CleanupSite.old(all);
    link(all.resolve("best"), Path.of("task_0/checkpoint-1"));

    Screen plan = look();

    assertThat(removes(plan))
        .contains(all.resolve("task_0/checkpoint-2").toString())
        .doesNotContain(
            all.resolve("task_0/checkpoint-1").toString(),
            all.resolve("task_1/checkpoint-1").toString(),
            all.resolve("task_1/checkpoint-2").toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"5", "[]", "{}", "true", "\"\\u0000\""})
  void aRecordOfTheTrainerThatCannotBeUnderstoodKeepsAll(String best) {
    CleanupSite.write(
        all.resolve("checkpoint-300/trainer_state.json"),
        "{\"best_model_checkpoint\": " + best + "}");
    CleanupSite.old(all);

    Screen plan = look();

    assertThat(removes(plan)).isEmpty();
    assertThat(reason(plan, first)).isEqualTo("nothing says which checkpoint is the best");
  }

  @Test
  void ifASharedTierIsAbsentAllCheckpointsStay() throws IOException {
    Path scratch = site.scratchOf(site.ended("train_20251002_143200"), "x");
    Files.move(site.shared, folder.resolve("unmounted"));

    Screen absent = look();
    assertThat(reason(absent, all))
        .isEqualTo(
            site.shared
                + " (storage.shared in configs/clusters/default.yaml) is not on this host, and may"
                + " refer to it");
    assertThat(removes(absent)).containsExactly(scratch.toString());

    // The folder on which it is mounted.
    Files.createDirectories(site.shared);
    assertThat(reason(look(), all)).contains("is empty, as if it was not mounted");
  }

  @Test
  void aServerOnAnotherProfilesTierCounts() {
    Path other = folder.resolve("other");
    CleanupSite.write(other.resolve("shared/active_jobs/s.json"), "{\"m\": \"" + first + "\"}");
    CleanupSite.write(other.resolve("durable/logs/x"), "");
    site.terminal.file(
        "configs/clusters/other.yaml",
        "storage: {scratch: O/scratch, durable: O/durable, shared: O/shared}\n"
            .replace("O", other.toString()));

    assertThat(removes(look("--cluster", "default"))).containsExactly(second.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cache: /node7/nvme/train_20251002_143200/task_0",
        "cache: /scratch//train_20251002_143200",
        "cache: ${SCRATCH}/./train_20251002_143200"
      })
  void scratchIsFoundBehindAnyMountPoint(String text) {
    Path scratch = site.scratchOf(site.ended("train_20251002_143200"), "x");
    site.terminal.file("configs/train/next.yaml", text);

    assertThat(reason(look(), scratch)).isEqualTo("the config next.yaml refers to it");
  }

  @Test
  void aLargeConfigIsRead() {
    site.terminal.file(
        "configs/train/large.yaml", "# x\n".repeat(600_000) + "model_name: " + first + "\n");
    site.terminal.file("configs/train/weights.bin", "x".repeat(2 << 20));

    assertThat(removes(look())).containsExactly(second.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"runs/manifests/eval_20251101_143200.json", "estimates/1f0c.json"})
  void aRecordThatWasCutShortEndsTheCleanup(String file) {
    site.terminal.file(file, "{\"bro");

    Screen refused = site.terminal.type("cleanup", "--yes", "--prune-size", "0");

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains(file + " cannot be read, and may refer to files");
    assertThat(first).exists();
  }

  @Test
  void copiesForAResumeGoWhenTheRunCompleted() throws IOException {
    Path task = all.resolve("task_0");
    for (String name : List.of("checkpoint-1", "checkpoint-2", "checkpoint-3")) {
      CleanupSite.write(task.resolve(".nexa-resume").resolve(name).resolve("model.bin"), "x");
    }
    link(task.resolve(".nexa-resume/best"), Path.of("checkpoint-1"));
    CleanupSite.old(all);

    // A run that failed resumes from its last and its best checkpoint.
    assertThat(removes(look()))
        .contains(task.resolve(".nexa-resume/checkpoint-2").toString())
        .doesNotContain(
            task.resolve(".nexa-resume").toString(),
            task.resolve(".nexa-resume/checkpoint-1").toString(),
            task.resolve(".nexa-resume/checkpoint-3").toString());

    Path manifest = site.workspace.manifests().resolve(RUN + ".json");
    Files.writeString(
        manifest,
        "{\"run_id\": \"" + RUN + "\", \"status\": \"completed\", \"state\": \"completed\"}");
    assertThat(removes(look("--prune-size", "1T")))
        .containsExactly(task.resolve(".nexa-resume").toString());

    site.terminal.file("configs/x.yaml", "m: " + task.resolve(".nexa-resume/checkpoint-1"));
    assertThat(reason(look("--prune-size", "1T"), task.resolve(".nexa-resume")))
        .isEqualTo("the config x.yaml refers to it");
  }
}
