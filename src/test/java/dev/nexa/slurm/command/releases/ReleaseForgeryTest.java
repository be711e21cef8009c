package dev.nexa.slurm.command.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.releases.Models;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody who may write to the tier edits a release between {@code package} and {@code sign}, or
 * lets an approver sign it where the run is not known. The workspace of the run finds each edit.
 */
class ReleaseForgeryTest {
  private static final String EVAL = "eval_20251103_100000";
  private static final String FAILED = "gate_20251103_110000";
  private static final String GATE = "gate_20251103_120000";

  @TempDir Path folder;
  private Terminal terminal = new Terminal(Path.of("/tmp"));
  private Path boss = Path.of("");
  private Path release = Path.of("");
  private String name = "";
  private Instant ended = Instant.EPOCH;

  @BeforeEach
  void makeWorkspace() throws IOException {
    folder = folder.toRealPath();
    boss = Keys.make(folder, "boss");
    Models.llama(folder.resolve("made"));
    Files.createDirectories(folder.resolve("shared"));
    Files.writeString(
        folder.resolve("allowed_signers"),
        "boss@site namespaces=\"nexa-slurm,nexa-slurm-release\" " + Keys.line(boss) + "\n");
    terminal = site("workspace");
  }

  private Terminal site(String workspace) throws IOException {
    Path at = Files.createDirectories(folder.resolve("of_" + workspace));
    Terminal made =
        new Terminal(at)
            .with("PATH", "/usr/bin:/bin")
            .with("NEXA_CLUSTER", "local")
            .file(
                "configs/clusters/local.yaml",
                "scheduler: local\naccelerator: cpu\nprice_book: default\nstorage: {scratch: %s/scratch, durable: %s/durable, shared: %s/shared}\n"
                    .formatted(folder, folder, folder))
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\nmodel_name: org/base\nrun: mkdir -p \"$NEXA_CHECKPOINTS\" && cp -r "
                    + folder
                    + "/made \"$NEXA_CHECKPOINTS/final\"\nresources: {time: 1m}\n");
    policy(made, "");
    return made;
  }

  private void policy(Terminal at, String more) {
    at.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\napprovals: {directory: approvals, allowed_signers: %s/allowed_signers}\n"
                .formatted(folder)
            + more);
  }

  /** Trains; then makes the records of an evaluation, of a gate that failed, and of another one. */
  private void packaged(String verdict, String... more) throws IOException {
    assertThat(terminal.type("submit", "run.yaml", "--local", "--wait").exit()).isZero();
    String run = Files.readSymbolicLink(terminal.workspace.resolve("runs/latest")).toString();
    ended = Instant.now();
    Path candidate =
        Files.createDirectories(folder.resolve("durable/evals").resolve(EVAL)).resolve("rows");
    Files.writeString(candidate, "rows\n");
    record(
        EVAL,
        "eval",
        "score",
        0,
        "\"evaluation\": {\"run_id\": \"%s\", \"metrics\": [{\"metric\": \"dss\", \"value\": 3.9}]}"
            .formatted(run));
    record(FAILED, "gate", "gate", 1, verdict(candidate, "fail"));
    record(GATE, "gate", "gate", 2, verdict(candidate, verdict));
    List<String> words = new ArrayList<>(List.of("release", "package", run, "--json"));
    words.addAll(List.of(more));
    Screen screen = terminal.type(words.toArray(String[]::new));
    assertThat(screen.exit()).as(screen.err()).isZero();
    name = screen.json().text("release");
    release = folder.resolve("durable/deploy/releases").resolve(name);
  }

  private static String verdict(Path candidate, String verdict) {
    return "\"gate\": {\"verdict\": \"%s\", \"candidate\": \"%s\", \"reason\": \"dss is 3.9\"}"
        .formatted(verdict, candidate);
  }

  private void record(String id, String stage, String step, int second, String metrics)
      throws IOException {
    Path run = Files.createDirectories(terminal.workspace.resolve("runs").resolve(id));
    Files.writeString(
        run.resolve("plan.json"),
        ("{\"schema_version\": 1, \"stage\": \"%s\", \"data\": {\"step\": \"%s\", \"words\": []},"
                + " \"training\": {}, \"storage\": {\"scratch\": \"/s\", \"durable\": \"%s\","
                + " \"shared\": \"/h\", \"retention_days\": 30}}")
            .formatted(stage, step, folder.resolve("durable")));
    String text =
        "{\"run_id\": \"%s\", \"stage\": \"x\", \"status\": \"completed\", \"state\": \"completed\", \"tags\": [], \"metrics\": {%s}, \"started\": \"%s\", \"ended\": \"%s\"}"
            .formatted(id, metrics, ended.plusSeconds(5), ended.plusSeconds(6 + second));
    Files.writeString(terminal.workspace.resolve("runs/manifests").resolve(id + ".json"), text);
    new Workspace(terminal.workspace, DurableFiles.onDisk())
        .run(new RunId(id))
        .journal()
        .append(
            Event.now(
                Event.Type.FINISHED,
                new JsonObject()
                    .with("status", "completed")
                    .with("manifest_sha256", Sha256.of(text))));
  }

  private Screen sign() {
    return terminal.type("release", "sign", name, "--key", "" + boss, "--yes");
  }

  private Screen deploy() {
    return terminal.type("release", "deploy", name, "--key", "" + boss, "--yes");
  }

  /** Another place, where nothing is compared, gave the approver what to sign. */
  private void signElsewhere() throws IOException {
    MadeRelease.sign(release, boss, "boss@site");
  }

  private void write(String path, byte[] content) throws IOException {
    Path file = release.resolve(path);
    Files.createDirectories(file.getParent());
    Files.deleteIfExists(file);
    Files.write(file, content);
  }

  private void write(String path, String content) throws IOException {
    write(path, content.getBytes(StandardCharsets.UTF_8));
  }

  private String document() throws IOException {
    return Files.readString(release.resolve("release.json"));
  }

  /** All documents that differ from this one in one fact, by what was changed. */
  private static void changes(
      String at,
      @Nullable Object value,
      Function<@Nullable Object, JsonObject> whole,
      Map<String, JsonObject> all) {
    if (value instanceof JsonObject object) {
      object
          .members()
          .forEach(
              (key, member) -> {
                String below = at.isEmpty() ? key : at + "." + key;
                changes(
                    below, member, changed -> whole.apply(copy(object).with(key, changed)), all);
                JsonObject less = new JsonObject();
                object
                    .members()
                    .forEach(
                        (other, kept) -> {
                          if (!other.equals(key)) {
                            less.with(other, kept);
                          }
                        });
                all.put(below + " removed", whole.apply(less));
              });
      all.put(at + ".more added", whole.apply(copy(object).with("more", "x")));
    } else if (value instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        int index = i;
        changes(
            at + "[" + i + "]",
            list.get(i),
            changed -> {
              List<Object> next = new ArrayList<>(list);
              next.set(index, changed);
              return whole.apply(next);
            },
            all);
        List<Object> less = new ArrayList<>(list);
        less.remove(index);
        all.put(at + "[" + i + "] removed", whole.apply(less));
      }
      List<Object> more = new ArrayList<>(list);
      more.add(list.isEmpty() ? "x" : list.get(0));
      all.put(at + " added", whole.apply(more));
    } else {
      all.put(at, whole.apply(other(value)));
    }
  }

  private static JsonObject copy(JsonObject object) {
    JsonObject copy = new JsonObject();
    object.members().forEach(copy::with);
    return copy;
  }

  private static Object other(@Nullable Object value) {
    if (value instanceof Boolean flag) {
      return !flag;
    }
    if (value instanceof Number number) {
      return new BigDecimal(number.toString()).add(BigDecimal.ONE);
    }
    if (value instanceof String text) {
      try {
        return Instant.parse(text).plusSeconds(1).toString();
      } catch (DateTimeException none) {
        return text.equals("fail") ? "pass" : text.equals("pass") ? "fail" : text + "x";
      }
    }
    return "x";
  }

  /** What a message about a change must name. */
  private static String[] names(String change, JsonObject document) {
    if (change.startsWith("files[")) {
      int index = Integer.parseInt(change.substring(6, change.indexOf(']')));
      return new String[] {
        document.objects("files").get(index).text("path"),
        "is not the document of a release",
        "release.json is not written as nexa-slurm writes it"
      };
    }
    String path = change.replaceFirst(" (added|removed)$", "").replaceAll("\\[\\d+\\]", "");
    return new String[] {
      path.substring(path.lastIndexOf('.') + 1),
      path.replaceFirst("[.].*", ""),
      "release.json is not written as nexa-slurm writes it"
    };
  }

  @Test
  void eachFactIsWhatTheRecordsSay() throws IOException {
    packaged("pass");
    String original = document();
    JsonObject parsed = Json.parseObject(original);
    assertThat(parsed.object("gate").texts("failed_before")).containsExactly(FAILED);
    Map<String, JsonObject> all = new LinkedHashMap<>();
    changes("", parsed, changed -> (JsonObject) changed, all);
    assertThat(all).hasSizeGreaterThan(80);

    all.forEach(
        (change, changed) -> {
          String[] named =
              change.startsWith("files ")
                  ? new String[] {"README.md", "is not the document"}
                  : names(change, parsed);
          try {
            write("release.json", Json.pretty(changed));
            Screen signed = sign();
            assertThat(signed.exit()).as(change + signed.out()).isNotZero();
            assertThat(signed.err()).as(change).containsAnyOf(named);
            assertThat(signed.out()).as(change).doesNotContain("signed by");
            if (isDocument()) {
              signElsewhere();
              Screen deployed = deploy();
              assertThat(deployed.exit()).as(change + deployed.out()).isNotZero();
              assertThat(deployed.err()).as(change).containsAnyOf(named);
              Files.delete(release.resolve("signatures/boss@site.json"));
            }
          } catch (IOException failed) {
            throw new IllegalStateException(failed);
          }
        });

    write("release.json", original);
    assertThat(folder.resolve("durable/deploy/current_model")).doesNotExist();
    Screen right = sign();
    assertThat(right.exit()).as(right.err()).isZero();
    assertThat(right.out()).contains("records     compared with the run's records and files");
    Screen deployed = deploy();
    assertThat(deployed.exit()).as(deployed.err()).isZero();
    assertThat(deployed.out()).contains("records    compared with the run's records and files");
  }

  /** A text that is no document of a release has no digest that anybody could sign. */
  private boolean isDocument() {
    try {
      new ReleaseFolder(release).document();
      return true;
    } catch (NexaException broken) {
      return false;
    }
  }

  /** The digest and the size in release.json are those of the new bytes. */
  @Test
  void eachFileIsWhatTheRecordsAndTheCheckpointGive() throws IOException {
    packaged("pass");
    String original = document();
    for (JsonObject file : Json.parseObject(original).objects("files")) {
      String path = file.text("path");
      byte[] right = Files.readAllBytes(release.resolve(path));
      byte[] wrong = right.clone();
      wrong[wrong.length / 2] ^= 1;
      write(path, wrong);
      write("release.json", original.replace(Sha256.of(right), Sha256.of(wrong)));
      refused(path);
      Files.delete(release.resolve(path));
      Path parent = release.resolve(path).getParent();
      try (Stream<Path> left = Files.list(parent)) {
        if (left.findAny().isEmpty()) {
          Files.delete(parent);
        }
      }
      JsonObject less = Json.parseObject(original);
      List<JsonObject> files = new ArrayList<>(less.objects("files"));
      files.removeIf(one -> one.text("path").equals(path));
      write("release.json", Json.pretty(copy(less).with("files", files)));
      refused(path);
      write(path, right);
    }
    for (String added : List.of("model/more.json", "model/pytorch_model.bin", "zzz")) {
      write(added, "{}");
      JsonObject document = Json.parseObject(original);
      List<JsonObject> files = new ArrayList<>(document.objects("files"));
      files.add(
          new JsonObject().with("path", added).with("size", 2).with("sha256", Sha256.of("{}")));
      files.sort(java.util.Comparator.comparing(one -> one.text("path")));
      write("release.json", Json.pretty(copy(document).with("files", files)));
      refused(added);
      Files.delete(release.resolve(added));
    }
    write("release.json", original);
    assertThat(sign().exit()).isZero();
  }

  private void refused(String named) throws IOException {
    Screen signed = sign();
    assertThat(signed.exit()).as(named + signed.out()).isNotZero();
    assertThat(signed.err()).contains(named);
    signElsewhere();
    Screen deployed = deploy();
    assertThat(deployed.exit()).as(named + deployed.out()).isNotZero();
    assertThat(deployed.err()).contains(named);
    Files.delete(release.resolve("signatures/boss@site.json"));
  }

  /** As the first report did it: the verdict and its sentence, in both files, with the digest. */
  @Test
  void aFailedGateIsNotMadeOneThatPassed() throws IOException {
    packaged("fail");
    String gate = Files.readString(release.resolve("eval/gate.json"));
    String forged = gate.replace("\"fail\"", "\"pass\"");
    write("eval/gate.json", forged);
    String card = Files.readString(release.resolve("README.md"));
    String other = card.replace("**Failed**", "Passed");
    write("README.md", other);
    write(
        "release.json",
        document()
            .replace("\"fail\"", "\"pass\"")
            .replace(Sha256.of(gate), Sha256.of(forged))
            .replace("\"size\":" + card.length(), "\"size\":" + other.length())
            .replace(Sha256.of(card), Sha256.of(other)));
    assertThat(terminal.type("release", "verify", name).err()).doesNotContain("damaged");

    refused("gate");
    assertThat(sign().err())
        .contains("gate.verdict is \"pass\" in release.json, and \"fail\" in the records of ")
        .contains("nothing was signed", "[release-differs]");
    signElsewhere();
    assertThat(deploy().err())
        .contains("release.json says that the gate " + GATE + " passed, and its run says that it");
  }

  @Test
  void withoutTheRecordsAnApproverReadsIt() throws IOException {
    packaged("pass");
    Terminal other = site("other");
    Screen signed = other.type("release", "sign", name, "--key", "" + boss, "--dry-run");
    String why =
        "not compared with the run's records: the run " + name + " is not in this workspace";
    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.out()).contains(why);
    assertThat(other.type("release", "sign", name, "--key", "" + boss, "--yes").exit()).isZero();
    assertThat(other.type("release", "deploy", name, "--key", "" + boss, "--dry-run").out())
        .contains(why);

    policy(other, "release_without_records: refuse\n");
    for (String verb : List.of("sign", "deploy")) {
      Screen refused = other.type("release", verb, name, "--key", "" + boss, "--yes");
      assertThat(refused.exit()).isNotZero();
      assertThat(refused.err())
          .contains("(release_without_records): the run " + name + " is not in this workspace");
    }
    // The records need not be here to see that the release contradicts itself.
    write(
        "release.json",
        document()
            .replaceFirst(name + "\",\n  \"created", "train_20250101_000000\",\n  \"created"));
    policy(other, "");
    assertThat(other.type("release", "sign", name, "--key", "" + boss, "--yes").err())
        .contains("run_id is \"train_20250101_000000\" in release.json, and \"" + name + "\"");
  }

  @Test
  void aCheckpointThatIsGoneIsSaid() throws IOException {
    packaged("pass");
    Files.move(folder.resolve("durable/checkpoints"), folder.resolve("durable/old"));
    Screen signed = sign();
    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.out())
        .contains(
            "not compared with the run's records: the checkpoint of " + name + " is not there");
    policy(terminal, "release_without_records: refuse\n");
    assertThat(deploy().err()).contains("(release_without_records): the checkpoint of ");
    policy(terminal, "");
    String original = document();
    Files.delete(release.resolve("signatures/boss@site.json"));
    write("release.json", original.replace("\"stage\": \"train\"", "\"stage\": \"trained\""));
    assertThat(sign().err()).contains("stage is \"trained\" in release.json, and \"train\"");
    write("release.json", original);
    signElsewhere();
    assertThat(deploy().exit()).isZero();
  }

  @Test
  void anotherCheckpointIsComparedWithItsOwnFolder() throws IOException {
    Path other = Models.llama(folder.resolve("durable/other"));
    Files.writeString(other.resolve("tokenizer/tokenizer.json"), "{\"a\": 1}\n");
    packaged("pass", "--checkpoint", other.toString());
    assertThat(Json.parseObject(document()).text("checkpoint")).isEqualTo(other.toString());
    assertThat(SchemaCheck.published("release", document())).isEmpty();
    Screen signed = sign();
    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.out())
        .contains("compared with the run's records and files", "checkpoint  " + other);
    Files.delete(release.resolve("signatures/boss@site.json"));
    Files.writeString(other.resolve("tokenizer/tokenizer.json"), "{\"a\": 2}\n");
    assertThat(sign().err())
        .contains("model/tokenizer/tokenizer.json is not what the licence, the records");
  }

  /** Each task of an array has a model of its own. */
  @Test
  void theModelOfATaskIsComparedWithThatTask() throws IOException {
    terminal.file(
        "run.yaml",
        "stage: train\nbackend: shell\nmodel_name: org/base\narray: {shards: 2}\nrun: |\n"
            + "  mkdir -p \"$NEXA_CHECKPOINTS\" && cp -r "
            + folder
            + "/made \"$NEXA_CHECKPOINTS/final\"\n"
            + "  echo [$NEXA_TASK] >\"$NEXA_CHECKPOINTS/final/tokenizer/tokenizer.json\"\nresources: {time: 1m}\n");
    Screen submitted = terminal.type("submit", "run.yaml", "--local", "--wait");
    assertThat(submitted.exit()).as(submitted.err()).isZero();
    String run = Files.readSymbolicLink(terminal.workspace.resolve("runs/latest")).toString();
    List<Path> tasks = new ArrayList<>();
    try (Stream<Path> all = Files.list(folder.resolve("durable/checkpoints").resolve(run))) {
      all.filter(Files::isDirectory).sorted().forEach(tasks::add);
    }
    assertThat(tasks).as(run).hasSize(2);
    String job =
        terminal
            .type("runs", "show", run, "--json")
            .out()
            .replaceAll("(?s).*\"job_id\": *(\\d+).*", "$1");
    Screen screen = terminal.type("release", "package", job + "_1", "--json");
    assertThat(screen.exit()).as(job + screen.err()).isZero();
    name = screen.json().text("release");
    release = folder.resolve("durable/deploy/releases").resolve(name);
    assertThat(Json.parseObject(document()).text("checkpoint"))
        .isEqualTo(tasks.get(1).resolve("final").toString());
    String original = document();
    Screen signed = sign();
    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.out()).contains("compared with the run's records and files");
    Files.delete(release.resolve("signatures/boss@site.json"));

    write("release.json", original.replace("task_1", "task_0"));
    assertThat(sign().err()).contains("model/tokenizer/tokenizer.json is not what the licence");
    JsonObject less = new JsonObject();
    Json.parseObject(original)
        .members()
        .forEach(
            (key, value) -> {
              if (!key.equals("checkpoint")) {
                less.with(key, value);
              }
            });
    write("release.json", Json.pretty(less));
    assertThat(sign().err()).contains("has 2 tasks, and each has a model of its own");
  }

  /** Records are written again: a remediation, a corrected cost. The journal holds each version. */
  @Test
  void arecordThatWasWrittenAgainIsNoForgery() throws IOException {
    packaged("pass");
    Screen added = terminal.type("postmortem", name, "--remediation", "the node was replaced");
    assertThat(added.exit()).as(added.err()).isZero();
    assertThat(terminal.workspace.resolve("runs/manifests").resolve(name + ".json"))
        .content()
        .isNotEqualTo(Files.readString(release.resolve("manifest.json")));
    Screen signed = sign();
    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.out()).contains("compared with the run's records and files");
  }
}
