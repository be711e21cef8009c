package dev.nexa.slurm.command.datasets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a person types about datasets, up to runs on this machine. */
class DatasetsCommandTest {
  @TempDir Path folder;
  private Terminal terminal = new Terminal(Path.of("/tmp"));
  private Path durable = Path.of("");

  @BeforeEach
  void makeWorkspace() throws IOException {
    folder = folder.toRealPath();
    durable = folder.resolve("durable");
    Files.createDirectories(durable.resolve("datasets/science"));
    Files.createDirectories(folder.resolve("shared"));
    String profile =
        "storage: {scratch: "
            + folder
            + "/scratch, durable: "
            + durable
            + ", shared: "
            + folder
            + "/shared}\n";
    terminal =
        new Terminal(folder)
            .with("PATH", "/usr/bin:/bin")
            .file("configs/clusters/default.yaml", profile)
            .file(
                "configs/clusters/local.yaml",
                "scheduler: local\naccelerator: cpu\nprice_book: default\n" + profile)
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\nrun: echo trained\n"
                    + "dataset_path: ${durable}/datasets/science\nresources: {time: 1m}\n");
    data("a.jsonl", "{\"text\": \"one\", \"year\": 1}\n{\"text\": \"two\", \"year\": 2}\n");
    data("b.jsonl", "{\"text\": \"three\", \"extra\": true}\n");
  }

  private void data(String name, String text) throws IOException {
    Files.writeString(durable.resolve("datasets/science").resolve(name), text);
  }

  private Screen type(String... arguments) {
    return terminal.type(arguments);
  }

  private Screen register() {
    return type("datasets", "register", "${durable}/datasets/science", "--licence", "MIT");
  }

  @Test
  void registerCountsRowsAndFindsColumns() throws IOException {
    data("notes.txt", "hello");
    Screen screen = register();

    assertThat(screen.exit()).isZero();
    assertThat(screen.out())
        .matches("registered science@v1: 3 files, 92 bytes, 3 rows, root [0-9a-f]{12}\n");
    assertThat(screen.err())
        .contains(
            "rows not read in 1 file", "state --source: nexa-slurm datasets promote science@v1");
    JsonObject shown = type("datasets", "show", "science", "--json").json();
    assertThat(shown.object("schema"))
        .hasToString("{\"text\":\"VARCHAR\",\"year\":\"BIGINT\",\"extra\":\"BOOLEAN\"}");
    assertThat(shown.text("absolute_path")).isEqualTo(durable + "/datasets/science");
    assertThat(type("datasets", "show", "science@v1").out())
        .contains("rows        3\n", "licence     MIT");
    assertThat(type("datasets", "list").out()).contains("science@v1", "registered");
    assertThat(type("datasets", "list", "--format", "csv").out())
        .startsWith("dataset,status,rows,");
    assertThat(register().out()).startsWith("registered already: science@v1: ");
  }

  /**
   * DuckDB finds the types of JSON on the stack: such a row kills the process without a message.
   */
  @Test
  void aDeeplyNestedRowIsNotGivenToDuckDb() throws IOException {
    String deep = "{\"a\":".repeat(2000) + "1" + "}".repeat(2000) + "\n";
    data("deep.jsonl", "{\"a\": 1}\n\n" + deep);

    Screen screen = register();

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains("registered science@v1: 3 files");
    assertThat(screen.err())
        .contains(
            "note: rows are not counted: "
                + durable
                + "/datasets/science/deep.jsonl:3: expected at most 500 levels of arrays and objects");
    assertThat(type("datasets", "show", "science").out()).contains("rows        not read");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gz", "zst"})
  void aDeeplyNestedRowIsFoundInACompressedFile(String kind) throws Exception {
    Path plain = durable.resolve("datasets/science/deep.jsonl");
    Files.writeString(plain, "[".repeat(5000) + "]".repeat(5000) + "\n");
    Files.delete(durable.resolve("datasets/science/a.jsonl"));
    Path compressed = durable.resolve("datasets/science/deep.jsonl." + kind);
    try (OutputStream out = Files.newOutputStream(compressed);
        OutputStream to =
            kind.equals("gz") ? new GZIPOutputStream(out) : new ZstdOutputStream(out)) {
      Files.copy(plain, to);
    }
    Files.delete(plain);

    assertThat(register().err()).contains(compressed + ":1: expected at most 500 levels");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "id,text,label;1,a,x;2,b;3,c,y | 3: Expected Number of Columns: 3 Found: 2",
        "id,text,label;1,a,x;2,b,d,e | 3: Expected Number of Columns: 3 Found: 4",
        "id,text,label;1,\"a,x;2,b,z | 2: Value with unterminated quote found.",
      })
  void aRaggedCsvIsRegisteredWithoutRows(String lines, String problem) throws IOException {
    data("c.csv", lines.replace(";", "\n") + "\n");

    assertThat(register().err())
        .contains("note: rows are not counted: " + durable + "/datasets/science/c.csv:" + problem);
    assertThat(type("datasets", "show", "science").out())
        .contains("rows        not read")
        .doesNotContain("id,text");
  }

  @Test
  void commasSeparateTheFieldsOfACsv() throws IOException {
    for (String name : List.of("a.jsonl", "b.jsonl")) {
      Files.delete(durable.resolve("datasets/science").resolve(name));
    }
    data("a.csv", "id,text\n1,\"a, \"\"b\"\"\n;c\"\n2,d;e\n");
    data("b.csv", "text\nf\n");

    assertThat(register().out()).contains(" 3 rows");
    assertThat(type("datasets", "show", "science", "--json").json().object("schema"))
        .hasToString("{\"id\":\"BIGINT\",\"text\":\"VARCHAR\"}");
  }

  @Test
  void theHelpOfRegisterKeepsTheNameOfTheTier() {
    assertThat(type("datasets", "register", "--help").out())
        .contains("nexa-slurm datasets register '${durable}/datasets/clean' --parent")
        .doesNotContain("null");
    assertThat(type("datasets", "promote", "--help").out()).contains("only if it has one");
  }

  @Test
  void theBytesOfARetiredVersionAreNotRegisteredAgain() throws IOException {
    register();
    type("datasets", "retire", "science@v1", "--reason", "wrong \u001b[2Klabels");
    String path = "${durable}/datasets/science";
    String again =
        "to use these bytes again, register them under another name:"
            + " nexa-slurm datasets register '"
            + path
            + "' --name NAME";

    Screen registered = type("datasets", "register", path, "--as", "v9", "--source", "us");
    assertThat(registered.exit()).isZero();
    assertThat(registered.out())
        .matches(
            "registered already: science@v1 \\(retired as science@v1 by \\S+ on [-\\d]+:"
                + " wrong \\^\\[\\[2Klabels\\): 2 files.*\n");
    assertThat(registered.err()).contains("--as v9 adds nothing", "note: " + again);

    Screen promoted = type("datasets", "promote", "science@v1", "--source", "us");
    assertThat(promoted.exit()).isEqualTo(2);
    assertThat(promoted.err())
        .contains("science@v1 cannot be promoted: these bytes were retired as science@v1 by ")
        .contains("→ " + again);

    Path list = durable.resolve("manifests/datasets/science@v1.json");
    Files.delete(list);
    assertThat(type("datasets", "register", path).err()).contains("is written again: " + list);
    Files.move(durable.resolve("datasets/science"), durable.resolve("moved"));
    assertThat(type("datasets", "register", "${durable}/moved", "--name", "science").err())
        .contains("science@v1 is registered with the path " + path + ", not with ${durable}/moved");
    assertThat(type("datasets", "register", "${durable}/moved", "--name", "nl").out())
        .startsWith("registered nl@v1");
  }

  @Test
  void whatADeadRegistrationLeftIsRemoved() throws Exception {
    Process dead = new ProcessBuilder("true").start();
    dead.waitFor();
    String host = DurableFiles.temporary(Path.of("x")).getFileName().toString().split("\\.", -1)[2];
    Path lists = Files.createDirectories(durable.resolve("manifests/datasets"));
    Path left = Files.createFile(lists.resolve(".register." + host + "." + dead.pid() + ".1.tmp"));
    Path alive =
        Files.createFile(
            lists.resolve(".register." + host + "." + ProcessHandle.current().pid() + ".1.tmp"));
    for (Path one : List.of(left, alive)) {
      Files.setLastModifiedTime(one, FileTime.from(Instant.now().minusSeconds(180)));
    }

    assertThat(register().exit()).isZero();

    assertThat(left).doesNotExist();
    assertThat(alive).exists();
    assertThat(lists).isDirectoryContaining(file -> file.endsWith("science@v1.json"));
  }

  @Test
  void aBrokenDataFileIsRegisteredWithoutRows() throws IOException {
    data("c.parquet", "no parquet");
    Screen screen = register();

    assertThat(screen.exit()).isZero();
    assertThat(screen.err()).contains("note: rows are not counted: ");
    assertThat(type("datasets", "show", "science").out()).contains("rows        not read");
  }

  @Test
  void promotionDemandsASourceALicenceAndIntactFiles() throws IOException {
    register();
    Screen without = type("datasets", "promote", "science@v1");
    assertThat(without.exit()).isEqualTo(2);
    assertThat(without.err())
        .startsWith("nexa-slurm: science@v1 lacks a source (--source): a dataset must say where");
    assertThat(type("datasets", "promote", "science:v1", "--licence", "MIT").err())
        .isEqualTo(
            "nexa-slurm: 'science:v1' has a colon; expected NAME@VERSION [dataset-unknown]\n"
                + "  → nexa-slurm datasets promote science@v1 --licence MIT\n");
    data("a.jsonl", "{\"text\": \"one\", \"year\": 1}\n{\"text\": \"tw0\", \"year\": 2}\n");
    Screen changed = type("datasets", "promote", "science@v1", "--source", "our lab");
    assertThat(changed.exit()).isEqualTo(1);
    assertThat(changed.out()).startsWith("changed  a.jsonl  (the same size");
    assertThat(changed.err()).contains("science@v1 is not what was registered: 1 file differs");
    assertThat(type("datasets", "show", "science").out()).contains("status      registered");
    data("a.jsonl", "{\"text\": \"one\", \"year\": 1}\n{\"text\": \"two\", \"year\": 2}\n");
    assertThat(type("datasets", "promote", "science@v1", "--source", "our lab").out())
        .isEqualTo("promoted science@v1: intact, licence MIT, source our lab\n");
    assertThat(type("datasets", "retire", "science@v1", "--reason", "wrong labels").out())
        .startsWith("retired science@v1; its files stay where they are\nno run or dataset");
    assertThat(type("datasets", "promote", "science@v1").err())
        .startsWith(
            "nexa-slurm: science@v1 cannot be promoted: these bytes were retired as science@v1 by ");
  }

  @Test
  void verifyAndDiffNameEachFile() throws IOException {
    register();
    data("b.jsonl", "{\"text\": \"three\", \"extra\": true}\n{\"text\": \"four\", \"more\": 1}\n");
    data("c.jsonl", "{\"text\": \"five\"}\n");
    Screen verified = type("datasets", "verify", "science@v1");
    JsonObject json = type("datasets", "verify", "science@v1", "--json").json();
    register();
    Screen diff = type("datasets", "diff", "science@v1", "science@v2");

    assertThat(verified.exit()).isEqualTo(1);
    assertThat(verified.out()).startsWith("changed  b.jsonl").contains("added    c.jsonl");
    assertThat(json.flag("intact")).isFalse();
    assertThat(json.objects("changes")).hasSize(2);
    assertThat(diff.exit()).isZero();
    assertThat(diff.out())
        .contains(
            "changed  b.jsonl", "column   more  (added: BIGINT)", "2 files differ; rows 3 and 5;");
    assertThat(type("datasets", "retire", "science").err())
        .startsWith("nexa-slurm: 'science' has 2 versions: name the one to retire");
    assertThat(type("datasets", "retire", "science@").err())
        .startsWith("nexa-slurm: 'science@' has 2 versions: name the one to retire");
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"size", "sha256"})
  void onlyIntactPromotedDataTrains(String check) throws IOException {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\npromoted_datasets: true\ndataset_checksums: "
            + check.equals("sha256")
            + "\n");
    String[] submit = {"submit", "run.yaml", "--local", "--wait"};
    assertThat(type(submit).err())
        .contains("run.yaml:4:15: dataset_path: 'science' is not registered in ");
    register();
    assertThat(type(submit).err())
        .contains("'science@v1' is registered, not promoted", "(promoted_datasets)");
    type("datasets", "promote", "science@v1", "--source", "our lab");
    Screen first = type(submit);
    assertThat(first.exit()).as(first.err()).isZero();
    Path a = durable.resolve("datasets/science/a.jsonl");
    if (check.equals("size")) {
      data("a.jsonl", "{\"text\": \"one\", \"year\": 1}\n");
    } else {
      var before = Files.getLastModifiedTime(a);
      data("a.jsonl", "{\"text\": \"one\", \"year\": 1}\n{\"text\": \"tw0\", \"year\": 2}\n");
      Files.setLastModifiedTime(a, before);
    }
    assertThat(type(submit).exit()).isEqualTo(5);
    assertThat(type("logs", "latest").out())
        .contains("are not science@v1", "a.jsonl", "the command was not started")
        .doesNotContain("\ntrained");
    assertThat(type("why", "latest").out()).contains("not the files that were registered");
    Files.delete(a);
    assertThat(type(submit).exit()).isEqualTo(5);
    data("a.jsonl", "{\"text\": \"one\", \"year\": 1}\n{\"text\": \"two\", \"year\": 2}\n");
    data("new", "");
    assertThat(type(submit).exit()).isEqualTo(5);
    Files.delete(durable.resolve("datasets/science/new"));
    Path list = durable.resolve("manifests/datasets/science@v1.json");
    String text = Files.readString(list);
    Files.delete(list);
    Files.writeString(list, text.replace("b.jsonl", "c.jsonl"));
    assertThat(type(submit).exit()).isEqualTo(5);
    assertThat(type("logs", "latest").out())
        .contains("is not the list of files that was registered");
    Files.writeString(list, text);
    if (check.equals("sha256")) {
      assertThat(type(submit).exit()).isZero();
    }
    type("datasets", "retire", "science@v1");
    assertThat(type(submit).err()).contains("'science@v1' is retired");
  }

  /** The job finds a tool that fails first on its PATH; nothing is trained on. */
  @ParameterizedTest
  @CsvSource({
    "sha256sum, sha256sum ended with 137",
    "diff, diff ended with 127",
    "sort, find ended with 2"
  })
  void aCheckThatFailsIsNoAnswer(String tool, String why) throws IOException {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nregistered_datasets: true\ndataset_checksums: true\n");
    register();
    terminal.program(
        tool,
        tool.equals("sha256sum")
            ? "[ \"$1\" = --check ] || exec /usr/bin/sha256sum \"$@\"; exit 137"
            : "exit 127");
    terminal.with("PATH", terminal.bin + ":/usr/bin:/bin");

    Screen run = type("submit", "run.yaml", "--local", "--wait");

    assertThat(run.exit()).as(run.toString()).isEqualTo(5);
    assertThat(type("logs", "latest").out())
        .contains("could not be checked against science@v1: " + why)
        .doesNotContain("\ntrained");
    assertThat(type("why", "latest").out()).contains("could not be checked");
  }

  @Test
  void aDamagedPlanIsNamed() throws IOException {
    assertThat(type("submit", "run.yaml", "--local", "--wait").exit()).isZero();
    Path plan;
    try (var runs = Files.list(terminal.workspace.resolve("runs"))) {
      plan =
          runs.filter(run -> run.getFileName().toString().startsWith("train_"))
              .findFirst()
              .orElseThrow()
              .resolve("plan.json");
    }
    register();
    Files.setPosixFilePermissions(
        plan, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
    Files.writeString(plan, "{\"bro");

    assertThat(type("lineage", "science@v1").err())
        .contains("note: " + plan + " is damaged and was left out");
  }

  @Test
  void theVersionIsInThePlanAndInTheLineage() throws IOException {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nregistered_datasets: true\n");
    register();
    String root = type("datasets", "show", "science", "--json").json().text("root");
    assertThat(type("submit", "run.yaml", "--local", "--wait").exit()).isZero();
    Path run = terminal.workspace.resolve("runs/latest").toRealPath();
    JsonObject plan = Json.parseObject(Files.readString(run.resolve("plan.json")));
    String id = run.getFileName().toString();

    assertThat(plan.objects("datasets"))
        .singleElement()
        .returns("science@v1", one -> one.text("dataset"))
        .returns(root, one -> one.text("root"));
    assertThat(type("lineage", "latest").out())
        .isEqualTo(
            "made of:\nrun "
                + id
                + "  completed\n└─ dataset science@v1  registered  3 rows  MIT\n\nmakes:\nrun "
                + id
                + "  completed\n");
    assertThat(type("lineage", "science@v1", "--down").out()).contains("└─ run " + id);
    assertThat(type("lineage", "science", "--up").out()).doesNotContain(id);
    assertThat(type("lineage", id, "--format", "mermaid").out()).startsWith("flowchart LR\n");
    assertThat(type("lineage", id, "--json").json().objects("edges")).hasSize(1);
    List<String> events = type("lineage", id, "--format", "openlineage").out().lines().toList();
    assertThat(events).hasSize(2);
    assertThat(Json.parseObject(events.get(1)).text("eventType")).isEqualTo("COMPLETE");
    assertThat(type("datasets", "retire", "science").out()).contains("used by run " + id);
  }

  @Test
  void ofTwoNamesForTheSameBytesThePromotedOneIsInTheLineage() throws IOException {
    register();
    type("datasets", "register", "${durable}/datasets/science", "--name", "Science");
    assertThat(type("submit", "run.yaml", "--local", "--wait").exit()).isZero();
    assertThat(type("lineage", "latest", "--up").out())
        .as("the oldest")
        .contains("dataset science@v1")
        .doesNotContain("Science@v1");

    type("datasets", "promote", "Science@v1", "--source", "us", "--licence", "MIT");

    assertThat(type("lineage", "latest", "--up").out())
        .contains("dataset Science@v1  promoted")
        .doesNotContain("dataset science@v1");
    assertThat(type("datasets", "retire", "science@v1").out()).contains("no run or dataset");
    assertThat(type("datasets", "retire", "Science@v1").out()).contains("used by run ");
  }

  /** The plan names its version, whatever was registered since. */
  @Test
  void aVersionThatThePlanNamesIsTheOnlyOneInTheLineage() throws IOException {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nregistered_datasets: true\n");
    register();
    type("datasets", "register", "${durable}/datasets/science", "--name", "Science");
    type("datasets", "promote", "science@v1", "--source", "us");
    assertThat(type("submit", "run.yaml", "--local", "--wait").exit()).isZero();
    type("datasets", "retire", "science@v1");

    assertThat(type("lineage", "latest", "--up").out())
        .contains("dataset science@v1  retired")
        .doesNotContain("Science@v1");
  }

  @Test
  void theRunThatMadeTheDataIsFound() throws IOException {
    register();
    terminal.file(
        "make.yaml",
        "stage: data\nbackend: shell\nrun: mkdir -p $NEXA_OUTPUT; cp "
            + durable
            + "/datasets/science/a.jsonl $NEXA_OUTPUT/clean.jsonl\n"
            + "dataset_path: ${durable}/datasets/science\nresources: {time: 1m}\n");
    assertThat(type("submit", "make.yaml", "--local", "--wait").exit()).isZero();
    String id = terminal.workspace.resolve("runs/latest").toRealPath().getFileName().toString();
    Screen screen =
        type("datasets", "register", durable + "/datasets/" + id, "--name", "clean", "--json");

    assertThat(screen.json().text("run")).isEqualTo(id);
    assertThat(screen.json().texts("parents")).containsExactly("science@v1");
    assertThat(type("lineage", "clean", "--up").out()).contains("dataset science@v1", "run " + id);
  }

  @Test
  void oldEntriesStayRegistered() throws IOException {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nregistered_datasets: true\n");
    Files.createDirectories(durable.resolve("manifests"));
    Path registry = durable.resolve("manifests/dataset_registry.yaml");
    Files.writeString(
        registry, "# of May\nscience: {rows: 3}  # by hand\nother: {rows: 1}  # too\n");

    assertThat(type("submit", "run.yaml", "--local", "--dry-run").exit()).isZero();
    assertThat(type("datasets", "list").err()).contains("people wrote: science, other");
    assertThat(type("datasets", "show", "other").err()).contains("has no versions");
    Screen screen = register();
    assertThat(screen.err()).contains("note: the entry 'science' in ", "was written again");
    assertThat(Files.readString(registry))
        .startsWith("# of May\nscience:\n  rows: 3\n")
        .endsWith("other: {rows: 1}  # too\n");
  }

  /** Everybody who may write to the registry may write anything into it. */
  @Test
  void hostileTextsOfTheRegistryAreOnlyText() throws IOException {
    register();
    Path registry = durable.resolve("manifests/dataset_registry.yaml");
    String text = Files.readString(registry);
    for (String hostile :
        List.of("=cmd|' /C calc'!A0", "\\u001b[2J", "a\\nb", "<b>|`x`", "$(id)")) {
      Files.writeString(
          registry,
          text.replace("MIT", hostile)
                  .replace("datasets/science\"", "datasets/" + hostile.replace("\\", "") + "\"")
                  .replaceAll(
                      "\"by\": \"[^\"]*\"",
                      java.util.regex.Matcher.quoteReplacement("\"by\": \"" + hostile + "\""))
              + "\""
              + hostile
              + "\": 1\n");
      for (String format : List.of("table", "csv", "markdown", "json")) {
        Screen screen = type("datasets", "list", "--format", format);
        assertThat(screen.exit()).isZero();
        assertThat(screen.out() + screen.err()).doesNotContain("\u001b", ",=cmd");
        assertThat(format.equals("markdown") && screen.out().contains("<b>|")).isFalse();
        assertThat(screen.err().lines()).hasSize(1);
      }
      assertThat(type("datasets", "list").out().lines()).hasSize(2);
      assertThat(type("datasets", "show", "science").out()).doesNotContain("\u001b", "\nb");
      assertThat(type("lineage", "science").out()).doesNotContain("\u001b", "\nb");
      assertThat(type("datasets", "verify", "science").exit()).isEqualTo(1);
    }
  }

  @Test
  void wrongWordsAreRefused() throws IOException {
    assertThat(type("datasets").exit()).isEqualTo(2);
    assertThat(type("datasets", "register", "/etc/passwd").err())
        .contains("neither below the durable tier")
        .contains("  → cp -a /etc/passwd " + durable + "/datasets/  # copies it there\n")
        .contains("  → nexa-slurm datasets register " + durable + "/datasets/passwd\n");
    assertThat(type("datasets", "promote", "science@").err()).doesNotContain("defect");
    assertThat(type("datasets", "register", durable + "/nope").err())
        .contains("there is no file or folder");
    assertThat(type("datasets", "register", durable + "/datasets/science", "--as", "3").err())
        .contains("--as: expected a version such as v3, got '3'");
    assertThat(
            type("datasets", "register", durable + "/datasets/science", "--parent", "x@v1").err())
        .contains("there is no dataset 'x'");
    assertThat(type("lineage", "nope").err()).contains("nope");
    Files.createDirectories(durable.resolve("manifests"));
    Files.writeString(durable.resolve("manifests/dataset_registry.yaml"), "a: 1\na: 2\n");
    assertThat(register().err()).contains("dataset_registry.yaml:2:1: a: duplicate key");
  }
}
