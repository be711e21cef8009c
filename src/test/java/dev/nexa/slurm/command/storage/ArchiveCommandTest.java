package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.archive.ArchiveSite;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArchiveCommandTest {
  private static final String RUN = "train_20251001_143200";

  @TempDir Path folder;
  private ArchiveSite site;
  private RunFolder run;
  private Path checkpoints;

  @BeforeEach
  void begin() {
    site = new ArchiveSite(folder);
    run = site.run(RUN);
    checkpoints = site.checkpoints(run);
  }

  private Screen type(String... arguments) {
    return site.site.terminal.type(arguments);
  }

  private Screen archive() {
    return archive("--yes");
  }

  private Screen archive(String option) {
    return type("archive", RUN, "--to", site.cold.toString(), option);
  }

  @Test
  void aRunGoesToItsBundleAndComesBackAsItWas() {
    Map<String, String> before = ArchiveSite.tree(checkpoints);
    byte[] manifest = bytes(run.manifest());

    Screen dry = type("archive", "--past-retention", "--to", site.cold.toString(), "--dry-run");
    assertThat(dry.out()).contains("ARCHIVES", RUN, checkpoints.toString(), "nothing was archived");
    assertThat(site.cold).isEmptyDirectory();

    Screen done = type("archive", "--past-retention", "--to", site.cold.toString(), "--yes");
    assertThat(done.exit()).as(done.toString()).isZero();
    assertThat(done.out())
        .contains("archived " + RUN, site.cold.resolve(RUN + ".tar.zst").toString())
        .contains("trash for 3d", "cleanup --undo cleanup_");
    assertThat(checkpoints).doesNotExist();
    assertThat(site.site.durable.resolve("evals").resolve(RUN)).doesNotExist();
    assertThat(site.cold.resolve(RUN + ".archive.json"))
        .content()
        .contains("checkpoints/final/model.bin", "\"run/journal.jsonl\"")
        .doesNotContain("api_key");
    assertThat(bytes(run.manifest())).isEqualTo(manifest);
    assertThat(run.path().resolve("journal.jsonl")).exists();
    assertThat(type("archive", "verify", RUN).out()).contains("is whole", "were read");
    Screen show = type("runs", "show", RUN);
    assertThat(show.out())
        .as(show.toString())
        .contains("archive", site.cold.resolve(RUN + ".tar.zst").toString());

    Screen again = archive();
    assertThat(again.out()).contains("it is archived in", "nothing to archive");

    Screen back = type("archive", "restore", RUN);
    assertThat(back.exit()).as(back.toString()).isZero();
    assertThat(back.out()).contains("restored " + checkpoints);
    assertThat(ArchiveSite.tree(checkpoints)).isEqualTo(before);
    Screen taken = type("archive", "restore", RUN);
    assertThat(taken.err()).contains(checkpoints + " exists; nothing was restored", "--to");
    assertThat(taken.exit()).isEqualTo(2);
    assertThat(site.site.durable.resolve(".nexa-restore")).doesNotExist();
  }

  @Test
  void everythingCanBeRestoredElsewhere() {
    archive();

    Screen back = type("archive", "restore", RUN, "--to", folder.toString());

    assertThat(back.exit()).as(back.toString()).isZero();
    Path restored = folder.resolve(RUN);
    assertThat(restored.resolve("checkpoints/final/model.bin")).hasContent("weights of " + RUN);
    assertThat(restored.resolve("checkpoints/best")).isSymbolicLink();
    assertThat(restored.resolve("manifest.json")).hasSameTextualContentAs(run.manifest());
    assertThat(restored.resolve("run/journal.jsonl"))
        .hasSameTextualContentAs(run.path().resolve("journal.jsonl"));
    assertThat(checkpoints).doesNotExist();
  }

  @Test
  void theTrashBringsTheFilesBackAndTheNextArchiveTakesThemAgain() {
    Map<String, String> before = ArchiveSite.tree(checkpoints);
    archive();
    String id =
        type("cleanup", "list", "--json").json().objects("cleanups").get(0).text("cleanup_id");

    assertThat(type("cleanup", "--undo", id).exit()).isZero();
    assertThat(ArchiveSite.tree(checkpoints)).isEqualTo(before);
    Screen again = archive();
    assertThat(again.exit()).as(again.toString()).isZero();
    assertThat(checkpoints).doesNotExist();
  }

  @Test
  void anOlderArchiveOfOtherFilesIsNeverReplaced() {
    archive();
    byte[] bundle = bytes(site.cold.resolve(RUN + ".tar.zst"));
    type("archive", "restore", RUN);
    CleanupSite.write(checkpoints.resolve("final/new.bin"), "more");

    Screen refused = archive();

    assertThat(refused.err()).contains("older archive of other files", "new.bin", "--to DIR");
    assertThat(refused.exit()).isEqualTo(1);
    assertThat(checkpoints.resolve("final/new.bin")).exists();
    assertThat(bytes(site.cold.resolve(RUN + ".tar.zst"))).isEqualTo(bundle);
  }

  @Test
  void whatSomethingRefersToStays() throws IOException {
    CleanupSite.write(
        site.site.durable.resolve("deploy/releases/demo/release.json"),
        "{\"release\": \"demo\", \"run_id\": \"" + RUN + "\"}");
    assertThat(kept()).isEqualTo("the release demo refers to it");
    Files.delete(site.site.durable.resolve("deploy/releases/demo/release.json"));

    Path model = site.site.durable.resolve("deploy/current_model");
    Files.createSymbolicLink(model, checkpoints.resolve("final"));
    assertThat(kept()).contains("current_model refers to it");
    Files.delete(model);

    CleanupSite.write(
        site.site.durable.resolve("manifests/dataset_registry.yaml"),
        "path: " + checkpoints + "/final\n");
    assertThat(kept()).contains("dataset_registry.yaml refers to it");
    Files.delete(site.site.durable.resolve("manifests/dataset_registry.yaml"));

    Path beside = checkpoints.resolveSibling("best_of_all");
    Files.createSymbolicLink(beside, checkpoints.resolve("final"));
    assertThat(kept()).contains("a link in " + checkpoints.getParent() + " leads to it");
    Files.delete(beside);

    Path config = site.site.terminal.workspace.resolve("configs/next.yaml");
    CleanupSite.write(config, "eval_of: " + site.site.durable + "/evals/" + RUN + "/scores.json\n");
    assertThat(kept()).contains("next.yaml refers to it");
    // The record of a run is not among the files that go.
    CleanupSite.write(config, "record: " + site.site.durable + "/manifests/" + RUN + ".json\n");
    assertThat(archive("--dry-run").out()).contains("ARCHIVES", RUN);
    Files.delete(config);

    Files.createDirectories(site.site.workspace.runs().resolve("open"));
    site.site.workspace.markOpen(run.id());
    assertThat(kept()).isEqualTo("its run has not ended");
  }

  private String kept() {
    JsonObject answer =
        type("archive", RUN, "--to", site.cold.toString(), "--dry-run", "--json").json();
    assertThat(answer.objects("archives")).isEmpty();
    return answer.objects("keeps").get(0).text("reason");
  }

  @Test
  void aDamagedBundleIsNamedAndNothingIsRestored() throws IOException {
    archive();
    Path bundle = site.cold.resolve(RUN + ".tar.zst");
    byte[] whole = bytes(bundle);
    for (int at : new int[] {0, whole.length / 3, whole.length / 2, whole.length - 1}) {
      byte[] changed = whole.clone();
      changed[at] ^= 1;
      Files.write(bundle, changed);
      assertThat(type("archive", "verify", RUN).err()).contains("is damaged", "[archive-damaged]");
      Screen restore = type("archive", "restore", RUN);
      assertThat(restore.exit()).isEqualTo(1);
      assertThat(checkpoints).doesNotExist();
    }
    Files.write(bundle, java.util.Arrays.copyOf(whole, whole.length / 2));
    assertThat(type("archive", "verify", RUN).err()).contains("it has " + whole.length / 2);
    Files.delete(bundle);
    assertThat(type("archive", "verify", RUN).err()).contains("it is missing");
    assertThat(site.site.durable.resolve(".nexa-restore")).doesNotExist();
  }

  @Test
  void aCleanupKeepsTheLastCopyOfARunWhoseBundleIsNotThere() throws IOException {
    Map<String, String> before = ArchiveSite.tree(checkpoints);
    type("archive", RUN, "--to", site.cold.toString(), "--grace", "0", "--yes");
    Path bundle = site.cold.resolve(RUN + ".tar.zst");
    byte[] whole = bytes(bundle);
    Files.write(bundle, java.util.Arrays.copyOf(whole, whole.length / 2));
    Screen damaged = type("cleanup", "--yes");
    assertThat(damaged.out())
        .contains("this may be the last copy, because the bundle " + bundle + " is damaged: it has")
        .contains("stays in the trash; to bring it back: nexa-slurm cleanup --undo cleanup_");
    assertThat(damaged.exit()).isEqualTo(1);
    Files.delete(bundle);
    assertThat(type("cleanup", "--yes").out()).contains(bundle + " is missing");

    Screen again = archive();
    assertThat(again.out()).contains("it is archived, but the bundle " + bundle + " is missing");
    assertThat(again.err()).contains("nexa-slurm cleanup --undo cleanup_");
    assertThat(again.exit()).isEqualTo(1);
    Screen list = type("archive", "list");
    assertThat(list.out()).contains("STATE", "missing");
    assertThat(list.err()).contains(bundle + " is missing", "cleanup --undo cleanup_");
    Files.move(site.cold, site.cold.resolveSibling("unmounted"));
    assertThat(type("cleanup", "--yes").out()).contains("cannot be looked at: there is no folder");
    assertThat(type("archive", "list").out()).contains("unknown");
    Files.move(site.cold.resolveSibling("unmounted"), site.cold);

    String id = undo();
    assertThat(type("cleanup", "--undo", id).exit()).isZero();
    assertThat(ArchiveSite.tree(checkpoints)).isEqualTo(before);
    assertThat(archive().exit()).isZero();
    assertThat(bytes(bundle)).isEqualTo(whole);
  }

  @Test
  void aCleanupReadsTheBundleBeforeItDeletesTheTrash() throws IOException {
    Map<String, String> before = ArchiveSite.tree(checkpoints);
    type("archive", RUN, "--to", site.cold.toString(), "--grace", "0", "--yes");
    Path bundle = site.cold.resolve(RUN + ".tar.zst");
    byte[] changed = bytes(bundle);
    changed[changed.length / 2] ^= 1;
    Files.write(bundle, changed);

    Screen refused = type("cleanup", "--yes");

    assertThat(refused.out())
        .contains("because the bundle " + bundle + " is damaged: its SHA-256 is ")
        .contains("stays in the trash; to bring it back: nexa-slurm cleanup --undo cleanup_")
        .doesNotContain("deleted");
    assertThat(refused.exit()).isEqualTo(1);
    assertThat(type("cleanup", "--undo", undo()).exit()).isZero();
    assertThat(ArchiveSite.tree(checkpoints)).isEqualTo(before);
  }

  @Test
  void aDryRunKeepsTheTrashOfARunWhoseBundleIsMissing() throws IOException {
    type("archive", RUN, "--to", site.cold.toString(), "--grace", "0", "--yes");
    assertThat(type("cleanup", "--dry-run").out()).contains("deletes the trash of " + undo());
    Path bundle = site.cold.resolve(RUN + ".tar.zst");
    Files.delete(bundle);

    Screen dry = type("cleanup", "--dry-run");
    assertThat(dry.exit()).isZero();
    assertThat(dry.out())
        .contains("KEEPS", "the bundle " + bundle + " is missing; it stays in the trash")
        .contains("nexa-slurm cleanup --undo " + undo(), "nothing to remove")
        .doesNotContain("deletes the trash of");
    JsonObject json = type("cleanup", "--dry-run", "--json").json();
    assertThat(json.objects("due")).isEmpty();
    assertThat(json.objects("keeps"))
        .anyMatch(kept -> kept.text("reason").contains(bundle + " is missing"));

    Screen quiet = type("cleanup", "--quiet");
    assertThat(quiet.out()).contains("the bundle " + bundle + " is missing");
    assertThat(quiet.exit()).isEqualTo(1);
  }

  @Test
  void aCleanupDeletesTheTrashOfARunWhoseBundleIsThere() {
    type("archive", RUN, "--to", site.cold.toString(), "--grace", "0", "--yes");

    Screen done = type("cleanup", "--yes");

    assertThat(done.exit()).as(done.toString()).isZero();
    assertThat(done.out()).contains("deleted 2 paths from the trash");
    Path bundle = site.cold.resolve(RUN + ".tar.zst");
    assertThat(bundle.toFile().delete()).isTrue();
    assertThat(archive().err())
        .contains("the run's files are not in the trash any more; bring the bundle back");
  }

  @Test
  void aDamagedBundleIsWrittenAgainFromTheFilesInPlace() throws IOException {
    archive();
    Path bundle = site.cold.resolve(RUN + ".tar.zst");
    byte[] whole = bytes(bundle);
    byte[] changed = whole.clone();
    changed[whole.length / 2] ^= 1;
    Files.write(bundle, changed);
    String id = undo();
    for (String command : new String[] {"verify", "restore"}) {
      assertThat(type("archive", command, RUN).err()).contains("nexa-slurm cleanup --undo " + id);
    }
    type("cleanup", "--undo", id);
    assertThat(type("archive", "verify", RUN).err())
        .contains("nexa-slurm archive " + RUN + " --to " + site.cold);

    Screen again = archive();

    assertThat(again.exit()).as(again.toString()).isZero();
    assertThat(bytes(bundle)).isEqualTo(whole);
    assertThat(checkpoints).doesNotExist();
  }

  private String undo() {
    return type("cleanup", "list", "--json").json().objects("cleanups").get(0).text("cleanup_id");
  }

  @Test
  void aBundleIsNeverPutWhereFilesAreMovedAway() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link"), checkpoints);
    assertThat(archiveTo(link.toString()).err())
        .contains("the archive " + link + " lies in " + checkpoints, "among the files of runs");
    Path trash = Files.createDirectories(site.site.durable.resolve(".nexa-trash/x"));
    assertThat(archiveTo(trash.toString()).err()).contains("which nexa-slurm's own commands empty");
    assertThat(archiveTo(link.toString()).exit()).isEqualTo(2);
    assertThat(checkpoints).isDirectoryNotContaining("glob:**.zst");
  }

  @Test
  void theListHasThePriceOfTheBook() {
    assertThat(type("archive", "list").out()).contains("no run of this workspace is archived");
    archive();
    site.site.terminal.file(
        "configs/prices/default.yaml",
        "currency: USD\nas_of: 2025-11-01\n"
            + "archive_gb_month: {price: 1000000, source: a test}\n");

    Screen list = type("archive", "list");
    assertThat(list.out()).contains(RUN, "PRICE A MONTH", "no");
    JsonObject row = type("archive", "list", "--json").json().objects("archives").get(0);
    assertThat(row.decimal("price_a_month").movePointLeft(6).movePointRight(9).longValue())
        .isBetween(row.number("bundle_bytes") - 10, row.number("bundle_bytes") + 10);
    assertThat(row.text("currency")).isEqualTo("USD");
    assertThat(row.flag("on_disk")).isFalse();
  }

  @Test
  void saysWhatIsMissing() {
    assertThat(type("archive", RUN).err()).contains("no place for archives", "storage.archive");
    assertThat(type("archive", "--to", site.cold.toString()).err()).contains("no run is named");
    assertThat(archiveTo("/no/such/folder").err()).contains("there is no folder /no/such/folder");
    assertThat(type("archive", "verify", RUN).err()).contains("has no archive");
    assertThat(archiveTo(checkpoints.toString()).err()).contains("among the files of runs");
    Screen unasked = type("archive", RUN, "--to", site.cold.toString());
    assertThat(unasked.err()).contains("nobody can be asked", "--yes");
    assertThat(unasked.exit()).isEqualTo(2);
    assertThat(
            type("archive", RUN, "--to", site.cold.toString(), "--storage-class", "GLACIER").err())
        .contains("a folder has no storage class");
  }

  private Screen archiveTo(String place) {
    return type("archive", RUN, "--to", place, "--yes");
  }

  @Test
  void theProfileSaysWhere() {
    site.site.terminal.file(
        "configs/clusters/default.yaml",
        "storage: {scratch: "
            + site.site.scratch
            + ", durable: "
            + site.site.durable
            + ", shared: "
            + site.site.shared
            + ", archive: "
            + site.cold
            + "}\n");

    assertThat(type("archive", RUN, "--yes").exit()).isZero();
    assertThat(site.cold.resolve(RUN + ".tar.zst")).exists();
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException failed) {
      return failed.toString().getBytes(StandardCharsets.UTF_8);
    }
  }
}
