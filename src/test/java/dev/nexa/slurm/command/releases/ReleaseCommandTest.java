package dev.nexa.slurm.command.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.storage.releases.Models;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a person types about releases of runs on this machine. */
class ReleaseCommandTest {
  private static final String BOTH = "nexa-slurm,nexa-slurm-release";

  @TempDir Path folder;
  private Terminal terminal = new Terminal(Path.of("/tmp"));
  private Path boss = Path.of("");

  @BeforeEach
  void makeWorkspace() throws IOException {
    folder = folder.toRealPath();
    boss = Keys.make(folder, "boss");
    Models.llama(folder.resolve("made"));
    Files.createDirectories(folder.resolve("shared"));
    terminal =
        new Terminal(folder)
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
    allow("boss@site", BOTH);
    policy("");
  }

  private void policy(String more) {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\napprovals: {directory: approvals, allowed_signers: %s/allowed_signers}\n"
                .formatted(folder)
            + more);
  }

  private void allow(String who, String namespaces) throws IOException {
    Files.writeString(
        folder.resolve("allowed_signers"),
        who + " namespaces=\"" + namespaces + "\" " + Keys.line(boss) + "\n");
  }

  private Screen type(String... arguments) {
    return terminal.type(arguments);
  }

  private String packaged(String... more) {
    assertThat(type("submit", "run.yaml", "--local", "--wait").exit()).isZero();
    String[] words = new String[more.length + 4];
    System.arraycopy(new String[] {"release", "package", "latest", "--json"}, 0, words, 0, 4);
    System.arraycopy(more, 0, words, 4, more.length);
    Screen screen = type(words);
    assertThat(screen.exit()).as(screen.err()).isZero();
    return screen.json().text("release");
  }

  @Test
  void aRunIsPackagedSignedAndVerified() throws IOException {
    String name = packaged("--licence", "Apache-2.0", "--tar", folder + "/demo.tar.zst");
    Path release = folder.resolve("durable/deploy/releases").resolve(name);

    assertThat(release.resolve("model/model.safetensors")).isRegularFile();
    assertThat(release.resolve("README.md"))
        .content()
        .startsWith("---\nlicense: \"apache-2.0\"\nbase_model: \"org/base\"\n---\n")
        .contains("| class | `LlamaForCausalLM` |", "## Gate\n\nNone.");
    assertThat(release.resolve("config.yaml")).content().contains("\"stage\": \"train\"");
    assertThat(release.resolve("cost.json")).exists();
    assertThat(SchemaCheck.published("release", Files.readString(release.resolve("release.json"))))
        .isEmpty();
    Screen unsigned = type("release", "verify", name);
    assertThat(unsigned.exit()).isEqualTo(3);
    assertThat(unsigned.err())
        .contains(
            "all files of " + name + " are right, but no signature of an approver on it counts",
            "nobody has signed it [release-unsigned]",
            "an approver types: nexa-slurm release sign " + name);

    for (String option : List.of("--format=ssh", "--json")) {
      Screen unasked = type("release", "sign", name, "--key", boss.toString(), option);
      assertThat(unasked.exit()).isEqualTo(2);
      assertThat(unasked.err()).contains("nobody can be asked here: Sign it?", "add --yes");
      assertThat(type("release", "verify", name).exit()).isEqualTo(3);
    }
    Screen signed = type("release", "sign", name, "--key", boss.toString(), "--yes");
    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.out())
        .contains("gate        none was found: `release deploy` needs a gate that passed")
        .contains("licence     Apache-2.0", "pickles     none", "signed by boss@site: ");
    assertThat(type("release", "sign", name, "--key", boss.toString(), "--yes").out())
        .startsWith("already signed by boss@site");
    Screen verified = type("release", "verify", name);
    assertThat(verified.exit()).as(verified.err()).isZero();
    assertThat(verified.out()).contains("signed by boss@site at ", name + " is right: ");
    assertThat(type("release", "list").out()).contains("boss@site", "none");
    assertThat(type("lineage", "latest").out()).contains("release " + name);
    assertThat(type("release", "verify", folder + "/demo.tar.zst").exit()).isEqualTo(3);
    assertThat(type("release", "package", "latest", "--licence", "Apache-2.0").out())
        .startsWith("already packaged: " + name);
    assertThat(type("release", "package", "latest").err())
        .contains("exists with the licence Apache-2.0, not unknown", "--licence Apache-2.0");

    Path file = release.resolve("model/config.json");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    Files.writeString(file, "{}");
    Screen damaged = type("release", "verify", name);
    assertThat(damaged.exit()).isEqualTo(1);
    assertThat(damaged.err())
        .contains("is damaged: 1 file is missing", "changed: model/config.json has 2 bytes, not ");
    JsonObject json = type("release", "verify", name, "--json").json();
    assertThat(json.flag("intact")).isFalse();
    assertThat(json.texts("problems")).hasSize(1);
    assertThat(type("release", "sign", name, "--key", boss.toString(), "--yes").exit())
        .isEqualTo(1);
  }

  /** A job can have ended before any pass has recorded it: `status` shows what squeue says. */
  @Test
  void aRunThatNoPassHasSettledNamesReconcile() throws Exception {
    assertThat(type("submit", "run.yaml", "--local").exit()).isZero();
    Screen early = type("release", "package", "latest");
    assertThat(early.exit()).as(early.out()).isNotZero();
    assertThat(early.err())
        .contains(" is not settled: ", "→ nexa-slurm reconcile ", "[run-not-settled]")
        .doesNotContain("has not ended");
    for (int i = 0; i < 600 && type("release", "package", "latest").exit() != 0; i++) {
      java.util.concurrent.TimeUnit.MILLISECONDS.sleep(100);
      type("reconcile");
    }
    assertThat(type("release", "package", "latest").out()).startsWith("already packaged: ");
  }

  @Test
  void onlyRightSignaturesOfOthersCount() throws IOException {
    String name = packaged();
    allow("boss@site", "nexa-slurm");
    Screen refused = type("release", "sign", name, "--key", boss.toString(), "--yes");
    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err()).contains("may not sign for nexa-slurm-release");

    allow(System.getProperty("user.name") + "@site", BOTH);
    Screen own = type("release", "sign", name, "--key", boss.toString(), "--yes");
    assertThat(own.exit()).isEqualTo(3);
    assertThat(own.err()).contains("submitters cannot sign releases of their own runs");

    allow("boss@site", BOTH);
    assertThat(type("release", "sign", name, "--key", boss.toString(), "--yes").exit()).isZero();
    allow(System.getProperty("user.name") + "@site", BOTH);
    Screen verified = type("release", "verify", name);
    assertThat(verified.exit()).isEqualTo(3);
    assertThat(verified.out()).contains("does not count: boss@site");
    Path signature =
        folder
            .resolve("durable/deploy/releases")
            .resolve(name)
            .resolve("signatures/boss@site.json");
    allow("boss@site", BOTH);
    Files.writeString(
        signature, Files.readString(signature).replace("signed_at\": \"2", "signed_at\": \"1"));
    assertThat(type("release", "verify", name).out()).contains("it was edited, or is forged");
  }

  @Test
  void theFormatOfOtherToolsIsSignedAndVerified() throws IOException {
    String name = packaged();
    Path key = Keys.make(folder, "model-key", "ecdsa", 256);
    Screen ed = type("release", "sign", name, "--format", "oms", "--key", boss.toString(), "--yes");
    assertThat(ed.exit()).isEqualTo(2);
    assertThat(ed.err()).contains("the key is of type ssh-ed25519; this format needs ECDSA");
    assertThat(
            type("release", "sign", name, "--format", "oms", "--key", key.toString(), "--yes")
                .exit())
        .isZero();
    Path model = folder.resolve("durable/deploy/releases").resolve(name);
    String[] verify = {"release", "verify", model.toString(), "--oms-key", key + ".pub"};
    assertThat(type(verify).exit()).as(type(verify).err()).isZero();
    Files.writeString(model.resolve("model/more"), "");
    assertThat(type(verify).err()).contains("not signed: more");
    String[] lenient = {
      verify[0], verify[1], verify[2], verify[3], verify[4], "--ignore-unsigned-files"
    };
    assertThat(type(lenient).exit()).isZero();
    Path other = Keys.make(folder, "other-key", "ecdsa", 256);
    Screen wrong = type("release", "verify", model.toString(), "--oms-key", other + ".pub");
    assertThat(wrong.exit()).isEqualTo(3);
    assertThat(wrong.err()).contains("the signature names another key");
  }

  @Test
  void thePolicyCanRefusePickles() throws IOException {
    policy("release_pickles: refuse\n");
    Files.write(folder.resolve("made/adapter.bin"), new byte[] {1});
    assertThat(type("submit", "run.yaml", "--local", "--wait").exit()).isZero();
    Screen refused = type("release", "package", "latest");
    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err())
        .contains("release_pickles: refuse", "has 1: model/adapter.bin [pickles-refused]");
    policy("");
    Screen dry = type("release", "package", "latest", "--dry-run");
    assertThat(dry.out()).contains("would package train_", "pickles     model/adapter.bin");
    assertThat(folder.resolve("durable/deploy/releases")).doesNotExist();
  }

  @Test
  void whatCannotBePackagedIsSaidInWords() throws IOException {
    terminal.file("bad.yaml", "stage: train\nbackend: shell\nrun: exit 3\nresources: {time: 1m}\n");
    assertThat(type("submit", "bad.yaml", "--local", "--wait").exit()).isEqualTo(5);
    assertThat(type("release", "package", "latest").err())
        .contains("is failed: only a completed run can be packaged", "nexa-slurm why");
    terminal.file(
        "no.yaml", "stage: train\nbackend: shell\nrun: \"true\"\nresources: {time: 1m}\n");
    assertThat(type("submit", "no.yaml", "--local", "--wait").exit()).isZero();
    assertThat(type("release", "package", "latest").err())
        .contains("reported no checkpoint", "--checkpoint DIR", "[model-invalid]");
    assertThat(
            type("release", "package", "latest", "--name", "../x", "--checkpoint", folder + "/made")
                .err())
        .contains("'../x' cannot name a release");
    assertThat(type("release", "package", "latest", "--licence", "a\nb").err()).contains("SPDX");
    assertThat(type("release", "package", "latest", "--tar", "x.zip").err()).contains(".tar.zst");
    assertThat(type("release", "verify", "demo").err()).contains("there is no release 'demo'");
    assertThat(type("release").exit()).isEqualTo(2);
    assertThat(type("release", "list").out()).startsWith("No releases in ");
  }
}
