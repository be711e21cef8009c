package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** {@code software.uv}: the job compares the environment with uv.lock before its command. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class UvOnSlurmTest {
  private static final String LOCK =
      """
      version = 1
      revision = 3
      requires-python = ">=3.11"

      [[package]]
      name = "colorama"
      version = "0.4.6"
      source = { registry = "https://pypi.org/simple" }

      [[package]]
      name = "project"
      version = "0.1.0"
      source = { editable = "." }
      dependencies = [
          { name = "torch" },
      ]

      [package.metadata]
      requires-dist = [{ name = "torch", specifier = ">=2.6" }]

      [[package]]
      name = "torch"
      version = "2.7.1"
      source = { registry = "https://pypi.org/simple" }
      """;

  @TempDir Path workspace;
  private Path project;
  private Path packages;
  private Path bin;
  private Person person;
  private String submitted = "";

  @BeforeEach
  void begin() throws IOException {
    bin = Files.createDirectory(workspace.resolve("bin"));
    person = new Person(workspace, Map.of("PATH", bin + ":" + System.getenv("PATH")));
    person.slurmProfile("accelerator: cpu\nhealth_check: false\n");
    project = Files.createDirectory(workspace.resolve("my project"));
    Path venv = project.resolve(".venv");
    Files.createDirectories(venv.resolve("bin"));
    Files.writeString(venv.resolve("bin/activate"), "export VIRTUAL_ENV=active\n");
    packages = Files.createDirectories(venv.resolve("lib/python3.11/site-packages"));
    Files.writeString(project.resolve("uv.lock"), LOCK);
    // Editable, so that its version may be an older one.
    installed("project-0.0.9");
  }

  private void installed(String... names) throws IOException {
    for (String name : names) {
      Files.createDirectory(packages.resolve(name + ".dist-info"));
    }
  }

  /** Stands in for uv, which Debian does not have; it records its arguments. */
  private void uv(String answer) throws IOException {
    StandIn.bash(
        bin.resolve("uv"),
        "echo \"$UV_PROJECT_ENVIRONMENT: $*\" >'" + called() + "'\n" + answer + "\n");
  }

  private Path called() {
    return workspace.resolve("uv.called");
  }

  private String log(String status) throws Exception {
    Path file =
        Files.writeString(
            workspace.resolve("run.yaml"),
            """
            stage: work
            backend: shell
            run: echo "the environment is $VIRTUAL_ENV"
            software: {uv: "%s"}
            resources: {memory: 50M, time: 5m}
            """
                .formatted(project));
    JsonObject run = person.submit(file.toString());
    submitted = run.toString();
    assertThat(person.finish(run).text("status")).isEqualTo(status);
    String log = person.says("logs", run.text("run_id"));
    if (status.equals("failed")) {
      assertThat(log).doesNotContain("the environment is");
      assertThat(person.says("why", run.text("run_id")))
          .contains("The environment of the uv project is not the one of its uv.lock.");
    } else {
      assertThat(log).contains("the environment is active");
    }
    return log;
  }

  @Test
  void anEnvironmentThatAgreesIsUsedAndWhatIsMissingIsANote() throws Exception {
    installed("torch-2.7.1", "extra-1.0");

    assertThat(log("completed"))
        .contains(
            "nexa-slurm: in uv.lock and not in %s/.venv, for other machines or extras: colorama\n"
                .formatted(project));
  }

  @Test
  void anotherVersionFailsTheTaskBeforeItsCommand() throws Exception {
    installed("torch-2.6.0+cu124");

    assertThat(log("failed"))
        .contains(
            ("nexa-slurm: %s/.venv does not agree with uv.lock: torch is 2.6.0+cu124 and should be"
                    + " 2.7.1; the command was not started. Next: cd %s && uv sync --locked\n")
                .formatted(project, project.toString().replace(" ", "\\ ")));
  }

  @Test
  void aMissingEnvironmentIsNotedAtTheSubmitAndFailsTheTask() throws Exception {
    Files.delete(project.resolve(".venv/bin/activate"));

    assertThat(log("failed"))
        .containsPattern("/\\.venv is not an environment that n[1-4] can read; the command was");
    assertThat(submitted).contains("software.uv: there is no " + project + "/.venv on this host: ");
  }

  @Test
  void uvIsAskedWithoutNetworkAndItsNoCounts() throws Exception {
    installed("torch-2.7.1");
    uv(
        """
        printf 'Would install 1 package\\n + colorama==0.4.6\\n' >&2
        echo 'The environment is outdated; run `uv sync` to update the environment' >&2
        exit 1""");

    assertThat(log("failed"))
        .contains("does not agree with uv.lock: uv sync would change + colorama==0.4.6; the");
    assertThat(called())
        .hasContent(
            project
                + "/.venv: sync --check --frozen --offline --no-cache --inexact"
                + " --no-default-groups --no-install-workspace");
  }

  @Test
  void aUvThatHangsOrDoesNotKnowTheOptionIsOnlyANote() throws Exception {
    installed("torch-2.7.1");
    uv("sleep 300");
    assertThat(log("completed")).contains("could not tell: no answer within 30 s; what is");

    uv("echo \"error: unexpected argument '--check' found\" >&2; exit 2");
    assertThat(log("completed")).contains("could not tell: error: unexpected argument '--check'");
  }

  /** What docker/bootstrap_env.sh installed beside the lock. */
  @Test
  void pinnedPackagesAreComparedWithTheirPins() throws Exception {
    uv("exit 0");
    installed("torch-2.6.0+cu124", "triton-3.1.0");
    Path pins = project.resolve(".venv/nexa_pins.txt");
    Files.writeString(pins, "# CUDA 12.4\ntorch==2.6.0\ntriton==3.2.0\n");
    assertThat(log("failed"))
        .contains(
            "uv.lock: triton is 3.1.0 and should be 3.2.0; ", "Next: docker/bootstrap_env.sh");

    Files.writeString(pins, "# CUDA 12.4\ntorch==2.6.0\n");
    assertThat(log("completed")).doesNotContain("nexa-slurm: in uv.lock");
    assertThat(called()).content().endsWith(" --no-install-package torch\n");
  }
}
