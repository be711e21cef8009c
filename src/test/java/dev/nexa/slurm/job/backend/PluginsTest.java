package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.PluginSource;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Backends from jars in the workspace's plugins/. */
class PluginsTest {
  private static final Path EXAMPLE = Path.of("docs/examples/plugin");
  private static final String NOTHING = "return new Launch(Launch.TASK, List.of(), List.of());";

  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal =
        new Terminal(folder)
            .with("PATH", System.getenv("PATH"))
            .file("run.yaml", "stage: data\nbackend: mine\nresources: {time: 1m}\n");
  }

  @Test
  void theExampleOfTheDocsRendersAndRuns() throws IOException {
    Path jar = example();

    assertThat(terminal.type("render", "hello.yaml", "--local").out())
        .contains("export MALLOC_ARENA_MAX=1\n")
        .contains("  nexa_run java -Xmx64m \"$NEXA_RUN_DIR\"/runner/Hello.java from 'a plugin'\n");
    JsonObject rendered = terminal.type("render", "hello.yaml", "--local", "--json").json();
    assertThat(rendered.text("template")).isEqualTo("plugins/java.jar:templates/java.sbatch.ftl");
    Screen screen = terminal.type("submit", "hello.yaml", "--local", "--wait", "--verbose");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.err()).contains("from the workspace: plugins/java.jar\n");
    assertThat(terminal.type("logs", "latest", "--task", "1").out())
        .contains("hello from a plugin, task 1\n");
    JsonObject plan =
        Json.parseObject(DurableFiles.read(terminal.workspace.resolve("runs/latest/plan.json")));
    assertThat(plan.object("plugin").text("file")).isEqualTo("plugins/java.jar");
    assertThat(plan.object("plugin").text("sha256"))
        .isEqualTo(Sha256.of(Files.readAllBytes(jar)))
        .isEqualTo(rendered.object("plugin").text("sha256"));
  }

  @Test
  void aPluginTellsWhereTheConfigIsWrong() throws IOException {
    example();

    Screen screen = terminal.type("render", "hello.yaml", "--local", "--set", "options.stack=1m");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("options.stack: backend java knows only heap");
  }

  @Test
  void theWorkspacesTemplateWinsOverThePlugins() throws IOException {
    example();
    terminal.file(
        "templates/java.sbatch.ftl", "#!/bin/bash\n# my own\n<#include \"lib/directives.ftl\">\n");

    assertThat(terminal.type("render", "hello.yaml", "--local").out())
        .startsWith("#!/bin/bash\n# my own\n#SBATCH --");
  }

  @Test
  void aPluginsTemplateIsLintedToo() throws IOException {
    PluginSource.ofOne(folder.resolve("s"), "mine", NOTHING.replace("Launch.TASK", "\"m.ftl\""))
        .with("templates/m.ftl", "#!/bin/bash\necho \"[=stage]\"\n")
        .jar(terminal.workspace, "m.jar");

    Screen screen = terminal.type("render", "run.yaml", "--local");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("plugins/m.jar:templates/m.ftl:2: an interpolation inside quotes");
  }

  @Test
  void aTemplateThatIsNowhereIsToldWithEveryPlaceThatWasLookedIn() throws IOException {
    PluginSource.ofOne(folder.resolve("s"), "mine", NOTHING.replace("Launch.TASK", "\"m.ftl\""))
        .jar(terminal.workspace, "m.jar");

    Screen screen = terminal.type("render", "run.yaml", "--local");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("m.ftl", "then the jar's, then that of plugins/m.jar");
  }

  @Test
  void anUnknownBackendIsToldWithThePluginsNamesToo() throws IOException {
    example();
    terminal.file("run.yaml", "stage: data\nbackend: jav\nresources: {time: 1m}\n");

    Screen screen = terminal.type("render", "run.yaml", "--local");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains(
            "run.yaml:2:10: backend: there is no backend 'jav' (did you mean 'java'?); there are"
                + " shell, python, ")
        .contains(", java (plugins/java.jar) [config-invalid-value]\n");
  }

  @Test
  void withoutPluginsTheBuiltInNamesAreTold() {
    terminal.file("run.yaml", "stage: data\nbackend: pyton\nresources: {time: 1m}\n");

    assertThat(terminal.type("render", "run.yaml", "--local").err())
        .contains(
            "run.yaml:2:10: backend: there is no backend 'pyton' (did you mean 'python'?); there"
                + " are shell, python, ")
        .doesNotContain("plugins");
  }

  /** Start-up does not change, and a broken jar holds up nobody who does not need one. */
  @Test
  void aBuiltInBackendIsFoundWithoutALookIntoPlugins() {
    terminal
        .file("plugins/broken.jar", "no jar")
        .file("run.yaml", "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1m}\n");

    assertThat(terminal.type("render", "run.yaml", "--local").exit()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"mine, plugins/a.jar and plugins/b.jar", "ax, nexa-slurm itself and plugins/b.jar"})
  void twoBackendsOfOneNameAreToldWithBothJars(String name, String owners) throws IOException {
    PluginSource.ofOne(folder.resolve("a"), "mine", NOTHING).jar(terminal.workspace, "a.jar");
    PluginSource.ofOne(folder.resolve("b"), name, NOTHING).jar(terminal.workspace, "b.jar");

    Screen screen = terminal.type("render", "run.yaml", "--local");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("two backends have the name '" + name + "': " + owners);
  }

  @ParameterizedTest
  @CsvSource({
    "no jar, is no jar that can be read",
    "no service, holds no backend: it has no META-INF/services/",
    "no class, Provider X not found",
    "another class, not a subtype",
    "nothing of its own, names no class of its own",
    "newer Java, is built for a newer Java than this",
    "missing class, java.lang.NoClassDefFoundError: Y",
  })
  void aJarThatCannotBeUsedIsNamedWithWhatToDo(String wrong, String told) throws IOException {
    Path jar = terminal.workspace.resolve("plugins/m.jar");
    Path sources = folder.resolve("s");
    PluginSource plugin = PluginSource.ofOne(sources, "mine", NOTHING);
    switch (wrong) {
      case "no jar" -> terminal.file("plugins/m.jar", "<html>404</html>");
      case "no service" -> plugin.without(PluginSource.SERVICE).jar(terminal.workspace, "m.jar");
      case "no class" -> plugin.without("X.class").jar(terminal.workspace, "m.jar");
      case "another class" ->
          plugin
              .compiled(Files.writeString(sources.resolve("X.java"), "public class X {}"))
              .jar(terminal.workspace, "m.jar");
      case "nothing of its own" ->
          plugin.with(PluginSource.SERVICE, "# later\n").jar(terminal.workspace, "m.jar");
      // Bytes 6 and 7 of a class file are its version; 61 is Java 17's.
      case "newer Java" -> plugin.patched("X.class", 7, 127).jar(terminal.workspace, "m.jar");
      default -> {
        Path file =
            Files.writeString(
                sources.resolve("X.java"),
                "public class X extends Y {} class Y implements dev.nexa.slurm.job.backend.Backend {"
                    + " public String name() { return \"\"; } public dev.nexa.slurm.job.backend.Launch"
                    + " launch(dev.nexa.slurm.job.plan.Plan plan) { return null; } }");
        plugin.compiled(file).without("Y.class").jar(terminal.workspace, "m.jar");
      }
    }

    Screen screen = terminal.type("render", "run.yaml", "--local");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .startsWith("nexa-slurm: " + jar + " ")
        .contains(told)
        .contains("\n  → ")
        .doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({
    "throw new IllegalStateException(\"ouch\");, java.lang.IllegalStateException: ouch",
    "return null;, launch() gave null",
    "throw new NoSuchMethodError(\"gone\");, java.lang.NoSuchMethodError: gone",
  })
  void aBackendThatFailsIsNoDefectOfOurs(String launch, String told) throws IOException {
    PluginSource.ofOne(folder.resolve("s"), "mine", launch).jar(terminal.workspace, "m.jar");

    Screen screen = terminal.type("render", "run.yaml", "--local");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err())
        .startsWith("nexa-slurm: plugins/m.jar: backend 'mine' failed: ")
        .contains(told)
        .doesNotContain("this is a defect")
        .doesNotContain("\tat ");
  }

  /** Exactly what docs/plugins.md shows, built as its {@code build} does. */
  private Path example() throws IOException {
    for (String file : new String[] {"hello.yaml", "Hello.java"}) {
      terminal.file(file, Files.readString(EXAMPLE.resolve(file)));
    }
    return new PluginSource(folder.resolve("example"))
        .compiled(EXAMPLE.resolve("JavaBackend.java"))
        .withFiles(EXAMPLE, "META-INF/services")
        .withFiles(EXAMPLE, "templates")
        .jar(terminal.workspace, "java.jar");
  }
}
