package dev.nexa.slurm.command.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.config.SchemaCheck;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class FailuresTest {
  @TempDir Path folder;

  @Test
  void withJsonAFailureIsADocumentToo() {
    Terminal terminal = new Terminal(folder);
    terminal.file("run.yaml", "stage: data\nbackend: shell\nrnu: 'true'\nresources: {time: 5m}\n");

    Screen screen = terminal.type("estimate", "run.yaml", "--json");
    JsonObject error = screen.json().object("error");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("rnu: unknown key").contains("[config-unknown-key]");
    assertThat(error.text("code")).isEqualTo("config-unknown-key");
    assertThat(error.number("exit_status")).isEqualTo(2);
    assertThat(error.text("group")).isEqualTo("user");
    assertThat(error.object("place").text("key")).isEqualTo("rnu");
    assertThat(error.object("place").text("file")).endsWith("run.yaml");
    assertThat(error.object("place").number("line")).isEqualTo(3);
    assertThat(problems(screen.out())).isEmpty();
    assertThat(error.text("explain")).isEqualTo("docs/errors/config-unknown-key.md");
  }

  private static List<String> problems(String document) {
    Path schema = Path.of("docs/schemas/error.schema.json");
    return SchemaCheck.problems(Json.parseObject(DurableFiles.read(schema)), document);
  }

  @Test
  void aWrongOptionIsADocumentToo() {
    JsonObject error =
        new Terminal(folder).type("runs", "list", "--json", "--limt", "3").json().object("error");

    assertThat(error.text("code")).isEqualTo("option-unknown");
    assertThat(error.objects("advice"))
        .anySatisfy(
            advice ->
                assertThat(advice.members())
                    .containsEntry("command", List.of("nexa-slurm", "runs", "list", "--help")));
  }

  @Test
  void aCommandWithoutJsonPrintsNoDocument() {
    Screen screen = new Terminal(folder).type("cancel", "--json");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.out()).isEmpty();
  }

  @Test
  void nothingIsAppendedToADocumentThatHasBegun() {
    StringWriter written = new StringWriter();
    DocumentWriter out = new DocumentWriter(written);
    CommandSpec spec =
        new RootCommand(Map.of(), folder, null)
            .spec()
            .addOption(CommandLine.Model.OptionSpec.builder("--json").build());
    CommandLine commandLine =
        new CommandLine(spec).setOut(out).setErr(new PrintWriter(new StringWriter()));
    NexaException failure = new NexaException(ErrorCode.RUN_UNKNOWN, "there is no run");

    out.print("{");
    assertThat(Failures.print(commandLine, failure)).isEqualTo(2);

    assertThat(written).hasToString("{");
  }

  /** The user can stand in another folder, where the command without the option would fail. */
  @Test
  void anAdvisedCommandHasTheWorkspaceThatWasTyped() {
    Terminal terminal = new Terminal(folder);
    String typed = terminal.workspace.toString();
    terminal.with("NEXA_WORKSPACE", "");

    Screen unknown = terminal.type("status", "nope", "--workspace", typed);
    Screen word = terminal.type("kill", "--workspace", typed);
    Screen usage = terminal.type("status", "--workspace", typed, "--jsn");

    assertThat(unknown.err()).contains("→ nexa-slurm --workspace " + typed + " runs list");
    assertThat(word.err())
        .contains("To end a run: nexa-slurm --workspace " + typed + " cancel RUN");
    assertThat(usage.err()).contains("→ nexa-slurm status --help\n");
    assertThat(terminal.type("runs", "list", "--workspace", typed).exit()).isZero();
  }

  @Test
  void adviceKeepsItsKind() {
    NexaException failure =
        new NexaException(
            ErrorCode.WORKSPACE_BUSY,
            "it is busy",
            Advice.note("cron runs"),
            Advice.step("wait"),
            Advice.command("shows it", "nexa-slurm", "runs", "show", "a b"));
    StringWriter err = new StringWriter();

    Failures.tell(new PrintWriter(err, true), failure);

    assertThat(err)
        .hasToString(
            """
            nexa-slurm: it is busy [workspace-busy]
            note: cron runs
              → wait
              → nexa-slurm runs show 'a b'  # shows it
            """);
    assertThat(problems(Failures.json(failure))).isEmpty();
    assertThat(Json.parseObject(Failures.json(failure)).object("error").objects("advice"))
        .extracting(JsonObject::toString)
        .containsExactly(
            "{\"note\":\"cron runs\"}",
            "{\"step\":\"wait\"}",
            "{\"command\":[\"nexa-slurm\",\"runs\",\"show\",\"a b\"],\"why\":\"shows it\"}");
  }
}
