package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.code.GitRepo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An approval covers the code: what was approved is what runs. */
class ApprovedCodeTest {
  @TempDir Path folder;
  private Site site;
  private Terminal terminal;
  private GitRepo repo;

  @BeforeEach
  void begin() {
    site = new Site(folder);
    terminal = site.workspace("ada");
    terminal.program("git", "exec /usr/bin/git \"$@\"");
    terminal.file("run.yaml", Site.run("echo approved", "5h") + "code: {}\n");
    repo = GitRepo.make(folder.resolve("ada/workspace")).file("train.py", "print(1)\n").commit();
  }

  @Test
  void codeThatChangedAfterTheApprovalIsRefused() throws IOException {
    site.estimate(terminal);
    site.approve(terminal);
    repo.file("train.py", "print(2)\n");

    Screen refused = terminal.type("submit", "run.yaml");

    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err())
        .contains("the code: it changed; SHA-256 ", " was approved, this is ")
        .doesNotContain("the script: not the bytes");
    assertThat(Site.submitted(terminal)).isFalse();
    assertThat(repo.path().resolve("code")).doesNotExist();

    repo.file("train.py", "print(1)\n").commit();
    Screen submitted = terminal.type("submit", "run.yaml");

    assertThat(submitted.exit()).as(submitted.err()).isZero();
    assertThat(Site.submitted(terminal)).isTrue();
    assertThat(Site.names(repo.path().resolve("code"))).hasSize(1);
  }

  @Test
  void theApproverSeesTheDigestOfTheCode() throws IOException {
    JsonObject estimate = site.estimate(terminal);
    String digest = estimate.object("what_runs").text("code_sha256");
    site.approve(terminal);
    String id = terminal.type("approvals", "list", "--json").out();

    assertThat(digest).hasSize(64);
    assertThat(id).isNotEmpty();
    assertThat(terminal.type("estimate", "run.yaml").err()).contains("code: 4 files, ", digest);
    assertThat(terminal.type("render", "run.yaml").out()).contains(digest);
    Screen dry = terminal.type("submit", "run.yaml", "--dry-run");
    assertThat(dry.out()).contains("# code: 4 files, ", digest);
    JsonObject json = terminal.type("submit", "run.yaml", "--dry-run", "--json").json();
    assertThat(json.object("code").text("sha256")).isEqualTo(digest);
    assertThat(repo.path().resolve("code")).doesNotExist();
  }

  @Test
  void anArchiveIsStoredOnceAndAnotherFileUnderItsNameIsRefused() throws IOException {
    terminal.file("small.yaml", Site.run("'true'", "1m") + "code: {exclude: ['*.yaml']}\n");
    assertThat(terminal.type("submit", "small.yaml").exit()).isZero();
    Path code = repo.path().resolve("code");
    Path archive = code.resolve(Site.names(code).get(0));
    Object inode = Files.getAttribute(archive, "unix:ino");
    assertThat(terminal.type("submit", "small.yaml").exit()).isZero();
    assertThat(Files.getAttribute(archive, "unix:ino")).isEqualTo(inode);

    Files.delete(archive);
    Files.writeString(archive, "something else");
    int before = runs();
    Screen refused = terminal.type("submit", "small.yaml");

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err())
        .contains(archive + " is not what its name says: its SHA-256 is ", "rm -f " + archive);
    assertThat(runs()).isEqualTo(before);
  }

  @Test
  void aTemplateThatDoesNotUnpackTheCodeIsRefused() throws IOException {
    String own = Files.readString(Path.of("templates/task.sbatch.ftl"));
    terminal.file("templates/task.sbatch.ftl", own.replace("<#include \"lib/code.ftl\">", ""));
    terminal.file("templates/lib/preamble.ftl", "nexa_preamble() {\n  :\n}\n");
    terminal.file(
        "templates/task.sbatch.ftl",
        "#!/bin/bash\n<#include \"lib/directives.ftl\">\n[=command[0]]\n");

    Screen refused = terminal.type("render", "run.yaml");

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains("this template never unpacks it: include lib/code.ftl");
  }

  @Test
  void aRunWithoutCodeHasNoKeyForIt() throws IOException {
    terminal.file("small.yaml", Site.run("'true'", "1m"));
    assertThat(terminal.type("submit", "small.yaml").exit()).isZero();

    try (Stream<Path> plans = Files.walk(repo.path().resolve("runs"))) {
      List<Path> found = plans.filter(file -> file.endsWith("plan.json")).toList();
      assertThat(found).hasSize(1);
      assertThat(Json.parseObject(Files.readString(found.get(0))).members())
          .doesNotContainKey("code");
    }
    assertThat(terminal.type("render", "small.yaml").out()).doesNotContain("NEXA_CODE", "unpack");
  }

  private int runs() throws IOException {
    try (Stream<Path> plans = Files.walk(repo.path().resolve("runs"))) {
      return (int) plans.filter(file -> file.endsWith("plan.json")).count();
    }
  }
}
