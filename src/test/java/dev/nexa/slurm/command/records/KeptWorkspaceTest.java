package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.money.ledger.Ledger;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Workspaces that earlier versions wrote stay readable; files of later versions are refused. */
@ParameterizedClass
@ValueSource(strings = {"2026-11", "1.0.0"})
class KeptWorkspaceTest {
  private static final String NEWER = " has schema_version 2; this nexa-slurm reads up to 1";
  private static final String ADVICE = "use the nexa-slurm that made the run, or a newer one";

  @Parameter String version;
  @TempDir Path folder;
  private Terminal ada;
  private Workspace workspace;
  private RunFolder retried;
  private RunFolder approved;
  private RunFolder running;

  @BeforeEach
  void open() throws IOException {
    ada = KeptWorkspace.copy(version, folder);
    workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    List<JsonObject> runs = well("runs", "list", "--json").json().objects("runs");
    assertThat(runs).hasSize(3);
    running = run(runs.get(0));
    approved = run(runs.get(1));
    retried = run(runs.get(2));
  }

  @Test
  void itsRunsAreShown() {
    assertThat(well("status").out()).contains(running.id().value()).doesNotContain("completed");
    assertThat(well("runs", "list").out())
        .contains(retried.id().value(), approved.id().value(), running.id().value());
    assertThat(well("runs", "show", running.id().value()).out()).contains("running");
    assertThat(well("runs", "show", approved.id().value()).out())
        .contains("tasks       8 completed");
    assertThat(well("runs", "show", retried.id().value(), "--json").json().object("manifest"))
        .satisfies(
            manifest -> {
              assertThat(manifest.text("status")).isEqualTo("completed");
              assertThat(manifest.number("attempts")).isEqualTo(4);
              assertThat(manifest.objects("submissions")).hasSize(2);
            });
    assertThat(well("approvals", "list").out()).contains("boss@site");
  }

  @Test
  void itsCostsAddUp() {
    JsonObject shown = well("costs", "show", retried.id().value(), "--json").json();
    JsonObject all = well("costs", "--by", "status", "--json").json();

    assertThat(shown.objects("attempts")).hasSize(4);
    assertThat(all.texts("problems")).isEmpty();
    assertThat(all.objects("groups")).hasSize(1);
    assertThat(all.objects("groups").get(0).number("runs")).isEqualTo(2);
    assertThat(well("costs", "budget").out()).contains("all");
  }

  @Test
  void anAuditFindsNoDifference() {
    assertThat(well("audit").out()).contains("0 differences");
  }

  /** Going back: a newer version has written more members, and the journal holds their digest. */
  @Test
  void whatANewerVersionAddedIsNoDifference() throws IOException {
    for (Path file : List.of(retried.manifest(), retried.cost())) {
      String before = Sha256.of(DurableFiles.readBytes(file));
      String text =
          DurableFiles.read(file)
              .replace("\"elapsed_seconds\"", "\"of_later\": 1, \"elapsed_seconds\"");
      Files.writeString(file, Json.pretty(Json.parseObject(text).with("of_later", "x")));
      rewriteJournal(retried, before, Sha256.of(DurableFiles.readBytes(file)));
    }
    Map<String, String> newer = files();

    Screen audit = well("audit");
    well("reconcile");

    String unknown = ": not compared, because only a newer nexa-slurm knows it: ";
    assertThat(audit.out() + audit.err())
        .contains(
            "0 differences",
            retried.id() + ".json" + unknown + "of_later\n",
            "cost_" + retried.id() + ".json" + unknown + "actual.attempts[].of_later, of_later\n");
    assertThat(files()).isEqualTo(newer);
  }

  /** Whoever adds such a member himself changes the file's digest. */
  @Test
  void anAddedMemberIsAChange() throws IOException {
    JsonObject json = Json.parseObject(DurableFiles.read(retried.manifest()));
    Files.writeString(retried.manifest(), Json.pretty(json.with("of_later", "x")));

    assertThat(type("audit").exit()).isNotZero();
  }

  @Test
  void aPassChangesNothing() throws IOException {
    Map<String, String> before = files();

    well("reconcile");

    assertThat(files()).isEqualTo(before);
  }

  @Test
  void itsRunsRunAgain() {
    assertThat(type("rerun", retried.id().value(), "--failed").err())
        .contains("no task of " + retried.id() + " has failed");
    well("rerun", retried.id().value());
    assertThat(ada.bin.resolve("sbatch.argv")).exists();
    assertThat(type("rerun", approved.id().value()).exit()).isEqualTo(3);
  }

  @Test
  void aNewerManifestIsRefused() throws IOException {
    makeNewer(retried.manifest());

    assertRefused(retried.manifest(), "runs", "show", retried.id().value());
    assertThat(type("runs", "list").err()).contains(retried.manifest() + NEWER, ADVICE);
    assertThat(type("audit", retried.id().value()).exit()).isNotZero();
  }

  @Test
  void aNewerCostFileIsRefused() throws IOException {
    makeNewer(retried.cost());

    assertRefused(retried.cost(), "costs", "show", retried.id().value());
    assertThat(type("audit", "--repair", retried.id().value()).exit()).isNotZero();
    assertThat(DurableFiles.read(retried.cost())).contains("\"schema_version\": 2");
  }

  @Test
  void aNewerPlanOrEstimateIsRefused() throws IOException {
    for (Path file : List.of(retried.plan(), retried.estimate())) {
      String before = Sha256.of(DurableFiles.readBytes(file));
      String kept = DurableFiles.read(file);
      makeNewer(file);
      String now = Sha256.of(DurableFiles.readBytes(file));
      rewriteJournal(retried, before, now);

      assertRefused(file, "rerun", retried.id().value());

      Files.writeString(file, kept);
      rewriteJournal(retried, now, before);
    }
    try (Stream<Path> estimates = Files.list(ada.workspace.resolve("estimates"))) {
      Path estimate = estimates.findFirst().orElseThrow();
      makeNewer(estimate);
      assertRefused(estimate, "approve", "--yes", estimate.toString(), "--for", "any");
    }
  }

  @Test
  void aNewerLineOfTheLedgerIsRefused() throws IOException {
    Path ledger = ada.workspace.resolve("runs/ledger-2025-11.jsonl");
    JsonObject line = new JsonObject().with("run_id", "data_20251101_000000");
    Files.writeString(
        ledger, Ledger.sealed(line.with("schema_version", 2)) + "\n", StandardOpenOption.APPEND);

    Screen costs = type("costs");

    assertThat(costs.exit()).isNotZero();
    assertThat(costs.err()).contains("ledger-2025-11.jsonl:", NEWER, ADVICE);
  }

  @Test
  void aNewerApprovalCountsForNothing() throws IOException {
    try (Stream<Path> files = Files.list(ada.workspace.resolve("approvals"))) {
      Path approval =
          files.filter(file -> file.toString().endsWith(".approval")).findFirst().orElseThrow();
      makeNewer(approval);
    }

    assertThat(type("approvals", "list").out()).contains("has schema_version 2");
  }

  /** A newer nexa-slurm has written the records of a run that has not ended. */
  @Test
  void aPassDoesNotReplaceNewerRecords() throws IOException {
    for (Path file : List.of(running.cost(), running.manifest())) {
      String kept = DurableFiles.read(file);
      makeNewer(file);
      Map<String, String> before = files();

      Screen pass = type("reconcile");

      assertThat(pass.err()).as(file + pass.out()).contains(file + NEWER);
      assertThat(files()).isEqualTo(before);
      Files.writeString(file, kept);
    }
  }

  private RunFolder run(JsonObject manifest) {
    return workspace.run(new RunId(manifest.text("run_id")));
  }

  private void assertRefused(Path file, String... arguments) {
    Screen screen = type(arguments);
    assertThat(screen.exit()).isNotZero();
    assertThat(screen.err()).contains(file + NEWER, ADVICE);
  }

  private static void makeNewer(Path file) throws IOException {
    String text = DurableFiles.read(file);
    assertThat(text).contains("\"schema_version\": 1");
    Files.delete(file);
    Files.writeString(file, text.replace("\"schema_version\": 1", "\"schema_version\": 2"));
  }

  /** The chain's hashes are as if the digest had always been that one. */
  private static void rewriteJournal(RunFolder run, String digest, String other)
      throws IOException {
    Path journal = run.path().resolve("journal.jsonl");
    StringBuilder all = new StringBuilder();
    String previous = "0".repeat(64);
    for (String line : Files.readAllLines(journal)) {
      JsonObject event = Json.parseObject(line.replace(digest, other));
      String text = Json.compact(event.with("previous", previous));
      all.append(text).append('\n');
      previous = Sha256.of(text);
    }
    Files.writeString(journal, all);
  }

  /** All files but the heartbeat, as if they lay where they were written. */
  private Map<String, String> files() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(ada.workspace)) {
      List<Path> paths = new ArrayList<>(all.toList());
      paths.removeIf(path -> path.startsWith(ada.workspace.resolve(".nexa")));
      for (Path path : paths) {
        boolean file = Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
        String text = file ? DurableFiles.read(path) : "";
        files.put(path.toString(), text.replace(folder.toString(), KeptWorkspace.FOLDER + version));
      }
    }
    return files;
  }

  private Screen well(String... arguments) {
    Screen screen = type(arguments);
    assertThat(screen.exit()).as(screen.out() + screen.err()).isZero();
    return screen;
  }

  private Screen type(String... arguments) {
    return ada.type(arguments);
  }
}
