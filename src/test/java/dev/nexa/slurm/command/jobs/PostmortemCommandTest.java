package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.SecretLines;
import dev.nexa.slurm.command.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run on this machine that failed, with secrets in its log. */
@Tag("long")
class PostmortemCommandTest {
  /** Of the form of a token of Hugging Face's, in two parts so that no scanner finds it here. */
  private static final String TOKEN = "hf" + "_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

  @TempDir Path workspace;
  private String id = "";

  private record Typed(int exit, String out, String err) {}

  private Typed type(String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    int exit =
        Main.run(command, environment, new PrintWriter(out, true), new PrintWriter(err, true));
    return new Typed(exit, out.toString(), err.toString());
  }

  @BeforeEach
  void aFailedRun() throws IOException {
    Files.createDirectories(workspace.resolve("configs"));
    Files.writeString(
        workspace.resolve("configs/policy.yaml"), "approval_over: {amount: 10, currency: USD}\n");
    Path secret = workspace.resolve("secret");
    Files.writeString(
        secret,
        "token is "
            + TOKEN
            + "\n"
            + String.join("\n", SecretLines.SECRET)
            + "\n-----BEGIN OPENSSH PRIVATE KEY-----\nbm90aGluZw\n-----END OPENSSH PRIVATE KEY-----\n");
    Files.writeString(
        workspace.resolve("run.yaml"),
        """
        stage: train
        backend: shell
        run: |
          echo begin; cat %s
          mkdir -p "$NEXA_CHECKPOINTS/checkpoint-5"; echo weights >"$NEXA_CHECKPOINTS/checkpoint-5/w"
          echo "CUDA out of memory" >&2; exit 3
        resources: {time: 1m, memory: 50M}
        """
            .formatted(secret));
    Typed run =
        type("submit", workspace.resolve("run.yaml").toString(), "--local", "--wait", "--json");
    assertThat(run.exit()).as(run.out() + run.err()).isEqualTo(5);
    id = dev.nexa.slurm.base.json.Json.parseObject(run.out()).text("run_id");
    // As a server's folder has it; the log repeats it.
    Files.writeString(workspace.resolve("runs/" + id + "/api_key"), "k3y-of-a-server\n");
    Files.writeString(workspace.resolve("runs/" + id + "/logs/more.out"), "x k3y-of-a-server y\n");
  }

  private static String text(Path archive) throws IOException {
    try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(archive))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void theArchiveHoldsAllAndNoSecret() throws IOException {
    Path archive = workspace.resolve("pm.tar.gz");
    Typed typed = type("postmortem", id, "-o", archive.toString(), "--json");

    assertThat(typed.exit()).as(typed.err()).isZero();
    JsonObject json = dev.nexa.slurm.base.json.Json.parseObject(typed.out());
    assertThat(json.texts("entries"))
        .contains(
            "report.md",
            "why.txt",
            "accounting.txt",
            "checkpoints.tsv",
            "manifest.json",
            "cost.json",
            "config/run.yaml",
            "run/plan.json",
            "run/estimate.json",
            "run/job.sbatch",
            "run/journal.jsonl",
            "run/logs/more.out")
        .doesNotContain("run/api_key")
        .isSorted();
    String text = text(archive);
    assertThat(text)
        .contains("# Postmortem of " + id, "CUDA out of memory", "checkpoint-5/w\t8\t")
        .contains("[nexa-slurm left out a line that looks like ")
        .contains("x [the server's API key] y")
        .contains("run/api_key: a secret")
        .doesNotContain(TOKEN)
        .doesNotContain(SecretLines.MARK)
        .doesNotContain("k3y-of-a-server")
        .doesNotContain("bm90aGluZw")
        .doesNotContain("weights\n");
    Path second = workspace.resolve("pm2.tar.gz");
    type("postmortem", id, "-o", second.toString());
    assertThat(second).hasSameBinaryContentAs(archive);
    assertThat(type("postmortem", id, "-o", second.toString()).err())
        .contains("exists, and is not replaced");
  }

  /** The same filter stands before the report: of its log lines, its script and its config. */
  @Test
  void theReportHoldsNoSecretEither() throws IOException {
    Path page = workspace.resolve("report.html");
    Typed typed = type("report", "--out", page.toString());

    assertThat(typed.exit()).as(typed.err()).isZero();
    assertThat(Files.readString(page))
        .contains(id)
        .contains("left out a line that looks like ")
        .doesNotContain(SecretLines.MARK)
        .doesNotContain(TOKEN);
  }

  /** GNU tar reads it. */
  @Test
  void tarListsIt() throws Exception {
    Path archive = workspace.resolve("pm.tar.gz");
    type("postmortem", id, "-o", archive.toString());
    Process tar =
        new ProcessBuilder("tar", "-tzf", archive.toString()).redirectErrorStream(true).start();
    String listed = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(tar.waitFor()).as(listed).isZero();
    assertThat(listed).contains("postmortem/report.md\n", "postmortem/run/journal.jsonl\n");
  }

  @Test
  void onlyTheEndOfALargeLogGoesIn() throws IOException {
    Files.writeString(
        workspace.resolve("runs/" + id + "/logs/more.out"),
        "first line\n" + "0123456789abcde\n".repeat(700_000) + "last line\n");
    Path archive = workspace.resolve("pm.tar.gz");
    type("postmortem", id, "-o", archive.toString());
    assertThat(text(archive))
        .contains("last line", "run/logs/more.out: only its last 10 MB of 11200021 bytes")
        .doesNotContain("first line");
  }

  @Test
  void aRemediationIsInTheManifestAndAuditAcceptsIt() throws IOException {
    Files.delete(workspace.resolve("runs/" + id + "/api_key"));
    Typed typed = type("postmortem", id, "--remediation", "batch size halved");
    assertThat(typed.exit()).as(typed.err()).isZero();
    type("postmortem", id, "--remediation", "node n7 drained");

    assertThat(type("runs", "show", id).out()).contains("batch size halved", "node n7 drained");
    Path manifest = workspace.resolve("runs/manifests/" + id + ".json");
    String whole = Files.readString(manifest);
    assertThat(whole).contains("\"remediation\"");
    Typed audit = type("audit");
    assertThat(audit.out()).as(audit.err()).contains(" 0 differences");

    // As a call leaves it that is killed between the journal and the manifest.
    Files.writeString(manifest, whole.replace("node n7 drained", "node n8 drained"));
    Typed other = type("audit");
    assertThat(other.out())
        .as(
            Files.readString(manifest)
                + other.err()
                + Files.readString(workspace.resolve("runs/" + id + "/journal.jsonl")))
        .doesNotContain(" 0 differences");
    assertThat(type("postmortem", id, "--remediation", "x").exit()).isZero();
    assertThat(Files.readString(manifest)).contains("node n7 drained").doesNotContain("node n8");
    assertThat(type("audit").out()).contains(" 0 differences");
    Files.writeString(
        manifest, Files.readString(manifest).replace("\"stage\": \"train\"", "\"stage\": \"x\""));
    assertThat(type("postmortem", id, "--remediation", "x").err()).contains("was changed since");
    assertThat(type("audit", "--repair").exit()).isLessThan(3);
    assertThat(type("audit").out()).contains(" 0 differences");
    assertThat(Files.readString(manifest)).contains("batch size halved");
  }

  @Test
  void aRunThatWasRunAgainKeepsItsRemediation() {
    type("postmortem", id, "--remediation", "batch size halved");
    Typed again = type("rerun", "--failed", id, "--wait");
    assertThat(again.exit()).as(again.err()).isEqualTo(5);
    assertThat(type("runs", "show", id).out()).contains("batch size halved");
    assertThat(type("audit").out()).contains(" 0 differences");
  }
}
