package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ApproveCommandTest {
  @TempDir Path folder;
  private Site site;
  private Terminal ada;

  @BeforeEach
  void goToWork() {
    site = new Site(folder);
    ada = site.workspace("ada");
  }

  @Test
  void aConfigOrTheBeginningOfADigestNamesTheEstimateToo() {
    String digest = site.estimate(ada).text("config_digest");

    JsonObject byConfig = approve("run.yaml").json();
    JsonObject byDigest = approve(digest.substring(0, 12), "--again").json();

    assertThat(byConfig.object("statement").text("config_digest")).isEqualTo(digest);
    assertThat(byConfig.object("statement").object("what_runs").toString())
        .isEqualTo(byDigest.object("statement").object("what_runs").toString());
    assertThat(Site.names(site.approvals)).hasSize(2).allMatch(name -> name.endsWith(".approval"));
  }

  /** The name that a refusal prints, as a path that a shell completes, in any workspace. */
  @Test
  void theBeginningOfAPathNamesTheEstimateToo() {
    String digest = site.estimate(ada).text("config_digest");
    Path estimates = ada.workspace.resolve("estimates");
    ada.file("estimates/" + digest.substring(0, 6) + "0".repeat(58) + ".json", "{}");

    JsonObject relative = approve("estimates/" + digest.substring(0, 12)).json();
    JsonObject absolute =
        approve(estimates.resolve(digest.substring(0, 9)).toString(), "--again").json();
    JsonObject written =
        approve("estimates/" + digest.substring(0, 8) + "….json", "--again").json();
    Screen two = ada.type("approve", "--yes", "estimates/" + digest.substring(0, 5));
    Screen none = ada.type("approve", "--yes", "estimates/ffffffff");
    Screen slip = ada.type("approve", "--yes", "estimate/a1753");

    for (JsonObject one : List.of(relative, absolute, written)) {
      assertThat(one.object("statement").text("config_digest")).isEqualTo(digest);
      assertThat(one.flag("signed")).isTrue();
    }
    assertThat(two.exit()).isEqualTo(2);
    assertThat(two.err()).contains("2 estimates start with estimates/" + digest.substring(0, 5));
    assertThat(none.exit()).isEqualTo(2);
    assertThat(none.err())
        .contains(
            "no estimate is called estimates/ffffffff; approve takes an estimate that submit wrote");
    assertThat(slip.err())
        .contains(
            "no estimate is called estimate/a1753; approve takes an estimate that submit wrote");
  }

  @Test
  void theApproverSeesWhatIsSignedAndIsAsked() {
    ada.file(
        "run.yaml",
        Site.run("echo approved", "5h").replace("stage:", "tags: ['project:nlp']\nstage:"));
    String digest = site.estimate(ada).text("config_digest");
    Site.write(
        ada.workspace.resolve("configs/policy.yaml"),
        DurableFiles.read(ada.workspace.resolve("configs/policy.yaml"))
            + "budgets:\n  - {scope: project, name: nlp, amount: 20, currency: USD, period: month}\n"
            + "  - {scope: user, name: nobody, amount: 20, currency: USD, period: month}\n");
    String[] command = {"approve", digest.substring(0, 8), "--key", "" + site.boss};

    Screen nobody = ada.type(command);
    assertThat(nobody.exit()).isEqualTo(2);
    assertThat(nobody.err())
        .contains("nobody can be asked here whether to sign it, so nothing was signed")
        .contains("→ add --yes to sign it, or --dry-run to only look");
    Screen no = ada.answering("n\n").type(command);
    Screen silent = ada.answering("").type(command);
    assertThat(site.approvals).doesNotExist();
    Screen yes = ada.answering("y\n").type(command);

    for (Screen screen : List.of(no, silent)) {
      assertThat(screen.exit()).isEqualTo(3);
      assertThat(screen.err()).contains("Sign it? [y/N] ");
      assertThat(screen.out())
          .contains("one run of run.yaml: can cost 1.81 USD", "8 tasks of 1 node")
          .contains("project    nlp\n", "submitter  " + Site.ME, "expires    2")
          .containsPattern(
              "budget     project nlp, 20..-..: 20.00 of 20.00 USD left, 18.19 after this, by the runs of \\S+ only\n")
          .contains("key        " + site.boss + " (SHA256:")
          .endsWith("nothing was signed\n")
          .doesNotContain("nobody");
    }
    assertThat(yes.exit()).as(yes.err()).isZero();
    assertThat(yes.out()).contains("approved: ");
  }

  @Test
  void aBudgetWithTooLittleLeftIsSaidBeforeSubmitRefuses() {
    String digest = site.estimate(ada).text("config_digest");
    Site.write(
        ada.workspace.resolve("configs/policy.yaml"),
        DurableFiles.read(ada.workspace.resolve("configs/policy.yaml"))
            + "budgets:\n  - {scope: all, amount: 0.01, currency: USD, period: month}\n");

    assertThat(approve(digest).err())
        .contains("submit will refuse the run: budget all has too little left");
    assertThat(ada.type("approve", digest, "--key", "" + site.boss, "--over-budget", "--yes").err())
        .doesNotContain("too little left");
  }

  /** A variable of a script may be empty. */
  @ParameterizedTest
  @ValueSource(strings = {"", " ", "bob,eve", "bob eve"})
  void theSubmitterIsOneUser(String user) {
    String digest = site.estimate(ada).text("config_digest");

    Screen screen = ada.type("approve", digest, "--key", "" + site.boss, "--for", user, "--yes");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("--for '" + user + "': expected one login name, or any");
    assertThat(site.approvals).doesNotExist();
  }

  /** A folder of a run is no config, and the folder of estimates may not be there. */
  @Test
  void aRunIsNotAConfig() throws IOException {
    site.approve(ada);
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    Path latest = ada.workspace.resolve("runs/latest");
    Path estimate = latest.toRealPath().resolve("estimate.json");

    for (String typed : List.of(latest.toString(), "latest")) {
      Screen screen = ada.type("approve", "--yes", typed, "--key", "" + site.boss);
      assertThat(screen.exit()).isEqualTo(2);
      assertThat(screen.err())
          .contains(typed + " is a run that was submitted already; its estimate is " + estimate)
          .contains("→ nexa-slurm approve " + estimate + "  # approves a rerun")
          .contains("→ there is no folder " + ada.workspace.resolve("estimates") + ": submit makes")
          .doesNotContain("config");
    }
    Screen named = ada.type("approve", "" + estimate, "--key", "" + site.boss, "--again", "--yes");
    assertThat(named.exit()).as(named.err()).isZero();
  }

  /** The config of another workspace has another plan here: the approver and submit say so. */
  @Test
  void anApprovalOfTheSameConfigFromAnotherFolderIsNamed() {
    Terminal bob = site.workspace("bob");
    bob.file("configs/clusters/default.yaml", Site.PROFILE + "account: bobs\n");

    Screen signed =
        bob.type(
            "approve",
            "--yes",
            ada.workspace + "/run.yaml",
            "--for",
            Site.ME,
            "--key",
            "" + site.boss);
    Screen submit = ada.type("submit", "run.yaml");

    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.out())
        .contains("note: the plan of this workspace is signed, " + bob.workspace + ": submit in");
    assertThat(submit.exit()).isEqualTo(3);
    assertThat(submit.err()).contains("by boss@site");
  }

  /** The message names the line of the policy, not only the file that it leads to. */
  @Test
  void aFolderInThePlaceOfAFileIsNamedWithItsKey() throws IOException {
    Files.delete(site.allowedSigners);
    Files.createDirectory(site.allowedSigners);
    Screen signers = ada.type("approvals", "list");
    Files.delete(site.allowedSigners);
    site.allow("boss@site " + Keys.line(site.boss) + "\n");
    Site.write(site.approvals, "a file\n");
    Screen approvals = ada.type("approvals", "list");

    String policy = ada.workspace.resolve("configs/policy.yaml").toString();
    assertThat(signers.err())
        .contains(policy + ":4:20: approvals.allowed_signers: " + site.allowedSigners)
        .contains(" is a folder [approvals-unusable]\n  → write the path of a file there");
    assertThat(approvals.err())
        .contains(policy + ":3:14: approvals.directory: " + site.approvals + " is a file");
  }

  @Test
  void threeCharactersOfADigestAreTooFew() {
    String digest = site.estimate(ada).text("config_digest");

    assertThat(ada.type("approve", "--yes", digest.substring(0, 2)).err())
        .contains("Type at least 4 characters of an estimate's name");
  }

  @Test
  void yesSignsWithoutAQuestionAndADryRunSignsNothing() {
    String digest = site.estimate(ada).text("config_digest");
    String[] command = {"approve", digest, "--key", "" + site.boss, "--dry-run", "--json"};

    Screen dry = ada.answering("y\n").type(command);
    assertThat(site.approvals).doesNotExist();
    command[4] = "--yes";
    Screen signed = ada.answering("n\n").type(command);

    assertThat(dry.exit()).as(dry.err()).isZero();
    assertThat(dry.json().flag("signed")).isFalse();
    assertThat(dry.json().object("statement").text("config_digest")).isEqualTo(digest);
    assertThat(dry.err() + signed.err()).doesNotContain("Sign it?");
    assertThat(signed.exit()).as(signed.err()).isZero();
    assertThat(signed.json().flag("signed")).isTrue();
  }

  @Test
  void theTermsAreSignedAndShown() {
    Screen screen =
        ada.type(
            "approve",
            "--yes",
            "run.yaml",
            "--key",
            site.boss + ".pub",
            "--expires",
            "2d",
            "--uses",
            "3",
            "--up-to",
            "500",
            "--over-budget",
            "--for",
            "any",
            "--note",
            "for the paper");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .contains(
            "8 tasks of 1 node, 1 CPU, 1GiB, 5 hours each",
            "allows     at most 500.00 USD a run, 3 times, also over a budget; 498.19 USD of it"
                + " only for `rerun --failed`",
            "submitter  anybody",
            "signed by  boss@site",
            "note       for the paper");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    assertThat(ada.type("runs", "show", "latest").out())
        .containsPattern("\napproved +by boss@site on 2\\S+ \\S+ UTC, up to \\d+\\.\\d\\d USD\n");
    assertThat(ada.type("runs", "show", "latest", "--json").json().object("approval"))
        .satisfies(signed -> assertThat(signed.text("approver")).isEqualTo("boss@site"));
  }

  @Test
  void anAgentsKeyIsNamedByItsPublicHalf() throws Exception {
    Path socket = folder.resolve("agent");
    Process agent =
        new ProcessBuilder("ssh-agent", "-D", "-a", socket.toString())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      for (int i = 0; i < 200 && !Files.exists(socket); i++) {
        Thread.sleep(10);
      }
      ProcessBuilder add = new ProcessBuilder("ssh-add", "-q", site.boss.toString());
      add.environment().put("SSH_AUTH_SOCK", socket.toString());
      assertThat(add.start().waitFor()).isZero();
      Files.delete(site.boss);

      Screen without =
          ada.type("approve", "--yes", "run.yaml", "--for", Site.ME, "--key", site.boss + ".pub");
      Screen with =
          ada.with("SSH_AUTH_SOCK", socket.toString())
              .type("approve", "--yes", "run.yaml", "--for", "any", "--key", site.boss + ".pub");

      assertThat(without.exit()).isEqualTo(2);
      assertThat(without.err())
          .contains(
              "no private key belongs to " + site.boss + ".pub",
              "no ssh-agent is running (SSH_AUTH_SOCK is not set)",
              "eval \"$(ssh-agent)\"; ssh-add");
      assertThat(with.exit()).as(with.err()).isZero();
    } finally {
      agent.destroy();
    }
  }

  /** Each cause has its own sentence, and the command that removes it. */
  @Test
  void aKeyThatCannotSignIsNamedWithItsCause() throws IOException {
    Path key = folder.resolve("key");
    Files.copy(site.boss, key);

    assertThat(withKey(key))
        .contains(
            "there is no " + key + ".pub: ", "ssh-keygen -y -f " + key + " > " + key + ".pub");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    assertThat(withKey(key))
        .contains("other users can access the private key " + key + " (mode 0644)")
        .contains("→ chmod 600 " + key + " ");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    Files.copy(Path.of(site.mallory + ".pub"), Path.of(key + ".pub"));
    site.allow("boss@site " + Keys.line(site.mallory) + "\n");
    assertThat(withKey(key)).contains(key + ".pub is not the public half of " + key);
    Site.write(Path.of(key + ".pub"), "ssh-ed25519 nonsense\n");
    assertThat(withKey(key)).contains(key + ".pub is not a public key", "ssh-keygen -y -f " + key);
    assertThat(withKey(folder.resolve("none")))
        .contains("--key: the file " + folder.resolve("none") + " does not exist");
    assertThat(withKey(folder.resolve("none")))
        .contains("→ ssh-keygen -t ed25519 ")
        .doesNotContain("→ ls " + folder + " ");
    Path weak = Keys.make(folder, "weak", "rsa", 1024);
    assertThat(withKey(weak))
        .contains(weak + ".pub is an RSA key of 1024 bits, and only RSA keys of at least 2048 bits")
        .contains("→ ssh-keygen -t ed25519  # makes a new key, which can sign")
        .doesNotContain("ssh-keygen -y");
    assertThat(withKey(folder)).contains(folder + " is not a file");
    assertThat(withKey(Site.write(folder.resolve("notes"), "my key\n")))
        .contains(folder.resolve("notes") + " is not an SSH private key");
    assertThat(
            withKey(
                Site.write(
                    folder.resolve("crlf"), Files.readString(site.boss).replace("\n", "\r\n"))))
        .contains("has Windows line ends");
    assertThat(site.approvals).doesNotExist();
  }

  @Test
  void aKeyWithAPassphraseNeedsATerminalOrTheRightPassphrase() {
    Path key = folder.resolve("locked");
    Keys.run(folder, "ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", "" + key);
    site.allow("boss@site " + Keys.line(key) + "\n");
    ada.program("ask", "echo wrong");

    assertThat(withKey(key))
        .contains("needs a passphrase, and there is no terminal", "→ ssh-add " + key);
    ada.with("SSH_ASKPASS", ada.bin.resolve("ask").toString());
    ada.with("SSH_ASKPASS_REQUIRE", "force");
    assertThat(withKey(key)).contains("the passphrase for " + key + " is wrong");
  }

  private String withKey(Path key) {
    Screen screen = ada.type("approve", "--yes", "run.yaml", "--for", "any", "--key", "" + key);
    assertThat(screen.exit()).as(screen.err()).isEqualTo(2);
    assertThat(screen.err()).contains("  → ").doesNotContain("Exception");
    return screen.err();
  }

  @Test
  void aSecondApprovalOfTheSameIsNotSigned() throws IOException {
    String id = approve("run.yaml").json().text("approval_id");

    Screen again =
        ada.type("approve", "--yes", "run.yaml", "--for", Site.ME, "--key", "" + site.boss);
    JsonObject json = approve("run.yaml").json();
    Screen dry = ada.type("approve", "run.yaml", "--for", Site.ME, "--dry-run");

    assertThat(again.exit()).as(again.err()).isZero();
    assertThat(again.out())
        .contains("already approved: ", "approval " + id + " of 2", " by boss@site\n")
        .contains("for 1 more run of at most 1.83 USD\n", "add --again to sign one more approval");
    assertThat(json.flag("signed")).isFalse();
    assertThat(json.flag("already_approved")).isTrue();
    assertThat(json.text("approval_id")).isEqualTo(id);
    assertThat(dry.out()).startsWith("already approved: ");
    assertThat(Site.names(site.approvals)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--again", "--uses=2", "--up-to=500", "--expires=20d", "--over-budget"})
  void anApproverWhoAllowsMoreSignsOnceMore(String more) {
    approve("run.yaml");

    assertThat(approve("run.yaml", more).json().flag("signed")).isTrue();
    assertThat(Site.names(site.approvals)).hasSize(2);
  }

  @Test
  void aUsedUpOrRevokedApprovalIsSignedAnew() {
    approve("run.yaml");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    String second = approve("run.yaml").json().text("approval_id");
    ada.type("approvals", "revoke", second);

    assertThat(approve("run.yaml").json().flag("signed")).isTrue();
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
  }

  @Test
  void theListFitsATerminalAndCutsNoId() throws IOException {
    String id = approve("run.yaml", "--uses=1000").json().text("approval_id");
    Context context = new Context(ada.workspace, Map.of("PATH", ada.bin + ":/usr/bin:/bin"));

    String table = ApprovalText.table(new ShowApprovals(context).list(), new TableStyle(80, false));

    assertThat(table.lines()).allMatch(line -> line.length() <= 80);
    assertThat(table).contains(id, "UP TO", "for run.yaml");
  }

  @Test
  void whatIsMissingIsSaidInASentence() {
    assertThat(ada.type("approve").err()).contains("approve needs an estimate: type `approve EST");
    assertThat(ada.type("approve", "--yes", "run.yaml", "--envelope", "e").err())
        .contains("approve takes an estimate or --envelope NAME, not both");
    assertThat(ada.type("approve", "--yes", "run.yaml", "--uses", "none").err())
        .contains("--uses: expected a whole number, got 'none'")
        .doesNotContain(" int");
    assertThat(ada.type("approvals").err()).contains("approvals needs a command: type `approvals");
  }

  @Test
  void anEnvelopeIsNotSignedTwice() {
    String[] command = {
      "approve",
      "--yes",
      "--envelope",
      "e",
      "--users",
      "eve",
      "--up-to",
      "5",
      "--key",
      "" + site.boss
    };

    assertThat(ada.type(command).out()).contains("approved: ").doesNotContain("already");
    assertThat(ada.type(command).out()).contains("already approved: ", "for 1000 more runs");
    command[6] = "6";
    assertThat(ada.type(command).out()).doesNotContain("already approved");
  }

  @Test
  void theFirstOfSshsOwnKeysSigns() throws IOException {
    Path ssh = Files.createDirectory(folder.resolve("ada/.ssh"));
    Files.copy(site.boss, ssh.resolve("id_ed25519"));
    Files.copy(Path.of(site.boss + ".pub"), ssh.resolve("id_ed25519.pub"));

    assertThat(ada.type("approve", "--yes", "run.yaml", "--for", Site.ME).exit()).isZero();
  }

  @Test
  void whatSubmitWouldRefuseIsNotSigned() {
    Screen stranger =
        ada.type(
            "approve", "--yes", "run.yaml", "--for", Site.ME, "--key", site.mallory.toString());
    Screen claims =
        ada.type(
            "approve",
            "--yes",
            "run.yaml",
            "--for",
            Site.ME,
            "--key",
            site.mallory.toString(),
            "--as",
            "boss@site");
    Screen longer =
        ada.type(
            "approve",
            "--yes",
            "run.yaml",
            "--for",
            Site.ME,
            "--key",
            "" + site.boss,
            "--expires",
            "60d");
    Screen less =
        ada.type(
            "approve",
            "--yes",
            "run.yaml",
            "--for",
            Site.ME,
            "--key",
            "" + site.boss,
            "--up-to",
            "0.10");
    Screen never =
        ada.type(
            "approve",
            "--yes",
            "run.yaml",
            "--for",
            Site.ME,
            "--key",
            "" + site.boss,
            "--uses",
            "0");
    site.allow(Site.ME + " " + Keys.line(site.boss) + "\n");
    Screen own =
        ada.type("approve", "--yes", "run.yaml", "--for", Site.ME, "--key", "" + site.boss);

    assertThat(stranger.err())
        .contains("your key " + site.mallory + " (SHA256:", " is not in " + site.allowedSigners)
        .contains(
            "→ " + Site.ME + " submits this run, and submitters cannot approve their own runs")
        .contains("→ ask boss@site to type this command\n")
        .doesNotContain("can add this line");
    assertThat(claims.exit()).isEqualTo(3);
    assertThat(claims.err())
        .contains(
            "submit would refuse this approval", "boss@site namespaces=\"nexa-slurm\" ssh-ed25519");
    assertThat(longer.err()).contains("lets an approval last 30 days at most");
    assertThat(less.err()).contains("--up-to 0.10 USD is less than the run can cost");
    assertThat(never.err()).contains("--uses: expected 1 or more, got 0");
    assertThat(own.exit()).isEqualTo(3);
    assertThat(own.err()).contains("submitters cannot approve their own runs");
    assertThat(site.approvals).doesNotExist();
  }

  /** What is signed is what was priced: an estimate for one task is none for a thousand. */
  @ParameterizedTest
  @ValueSource(strings = {"tasks", "attempts", "time_limit_seconds"})
  void anEstimateThatWasPricedForLessIsNotSigned(String limit) throws IOException {
    JsonObject estimate = site.estimate(ada);
    estimate.object("limits").with(limit, estimate.number(limit) * 100);
    ada.file("edited.json", Json.pretty(estimate));

    Screen screen = ada.type("approve", "--yes", "edited.json", "--key", "" + site.boss);

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("is no estimate that can be approved: its " + limit);
    assertThat(site.approvals).doesNotExist();
  }

  @Test
  void anEstimateThatCantBeCountedIsOneThatWasEdited() {
    JsonObject estimate = site.estimate(ada).with("longest_attempt_seconds", Long.MAX_VALUE);
    ada.file("edited.json", Json.pretty(estimate));

    assertThat(ada.type("approve", "--yes", "edited.json", "--key", "" + site.boss).exit())
        .isEqualTo(2);
  }

  /** Prices are who wants the money's word: the approver's own stand beside them. */
  @Test
  void pricesThatAreNotTheApproversOwnAreShownAndRefused() {
    ada.file(
            "configs/prices/cheap.yaml",
            "currency: USD\nas_of: 2025-11-01\ngpu_hour: {h100: {price: 0.10, source: mine}}\n"
                + "cpu_hour: {price: 0.03, source: mine}\n")
        .file("configs/clusters/default.yaml", Site.PROFILE + "price_book: cheap\n");
    JsonObject estimate = site.estimate(ada);
    Terminal boss = site.workspace("boss-works").file("asked.json", Json.pretty(estimate));
    String key = site.boss.toString();

    Screen lower = boss.type("approve", "--yes", "asked.json", "--key", key);
    boss.file("unknown.json", Json.pretty(estimate).replace("\"default\",\n", "\"elsewhere\",\n"));
    Screen unknown = boss.type("approve", "--yes", "unknown.json", "--key", key);
    assertThat(site.approvals).doesNotExist();
    Screen trusted = boss.type("approve", "--yes", "asked.json", "--key", key, "--trust-prices");

    assertThat(lower.exit()).as(lower.toString()).isEqualTo(3);
    assertThat(lower.err())
        .contains("its prices are not yours", "cpu_hour.price: 0.04 here, there 0.03")
        .contains("the run: 1.21 USD by the estimate, 1.81 USD by your prices", "--trust-prices");
    assertThat(unknown.exit()).as(unknown.toString()).isEqualTo(3);
    assertThat(unknown.err()).contains("can't be checked here", "elsewhere", "by your prices");
    assertThat(trusted.exit()).as(trusted.toString()).isZero();
    assertThat(trusted.out()).contains("note: --trust-prices: its prices are not yours");
  }

  @Test
  void aConfigDoesNotSayWhoSubmitsAndAnUnknownUserIsTold() {
    String key = site.boss.toString();

    Screen nobody = ada.type("approve", "--yes", "run.yaml", "--key", key);
    Screen stranger =
        ada.type("approve", "--yes", "run.yaml", "--key", key, "--for", "no-such-user");

    assertThat(nobody.exit()).isEqualTo(2);
    assertThat(nobody.err()).contains("the submitter is not known", "→ add --for USER");
    assertThat(ada.type("approve", "--yes", "/tmp", "--key", key).err())
        .contains("/tmp is a folder; expected an estimate or a config");
    assertThat(stranger.out())
        .contains("note: --for no-such-user: this machine knows no such user");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--users",
        "--accounts",
        "--configs",
        "--stages",
        "--clusters",
        "--projects",
        "--month"
      })
  void whatOnlyAnEnvelopeHasIsNotIgnored(String option) {
    Screen screen =
        ada.type(
            "approve", "--yes", "run.yaml", "--for", "any", "--key", "" + site.boss, option, "5");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(option + " works only with --envelope", "→ leave it out");
    assertThat(site.approvals).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "--up-to,banana,expected an amount such as 500",
    "--up-to,-5,expected an amount such as 500",
    "--up-to,0.01,leave out --up-to",
    "--expires,2020-01-01T00:00:00Z,expected a time to come",
    "--expires,soon,expected a duration such as 7d",
    "--uses,0,expected 1 or more",
  })
  void aTermThatCantBeNamesWhatCould(String option, String value, String expected) {
    Screen screen =
        ada.type(
            "approve",
            "--yes",
            "run.yaml",
            "--for",
            "any",
            "--key",
            "" + site.boss,
            option + "=" + value);

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(expected, "  → ").doesNotContain("Exception");
    assertThat(site.approvals).doesNotExist();
  }

  @Test
  void aDayExpiresAtItsEndAndTimesHaveSeconds() {
    String day = LocalDate.now(ZoneOffset.UTC).plusDays(3).toString();

    JsonObject signed = approve("run.yaml", "--expires", day).json();

    assertThat(signed.object("statement").text("expires")).isEqualTo(day + "T23:59:59Z");
    assertThat(ada.type("approvals", "list").out()).contains(day + " 23:59:59 UTC");
    assertThat(ada.type("approvals", "show", signed.object("statement").text("approval_id")).out())
        .contains("expires    " + day + " 23:59:59 UTC");
  }

  @Test
  void aKeyIsNotAdvisedUnderAnothersName() {
    site.allow(
        "boss@site " + Keys.line(site.boss) + "\nada@site " + Keys.line(site.mallory) + "\n");

    Screen screen =
        ada.type(
            "approve",
            "--yes",
            "run.yaml",
            "--for",
            "any",
            "--key",
            "" + site.mallory,
            "--as",
            "boss@site");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("this key belongs to ada@site: type the command again without --as")
        .doesNotContain("can add this line");
  }

  @Test
  void theLineOfAnUnlistedKeyNamesItsOwner() {
    Screen screen =
        ada.type("approve", "--yes", "run.yaml", "--for", "bob", "--key", "" + site.mallory);

    assertThat(screen.err())
        .contains("your key " + site.mallory + " (SHA256:", " is not in " + site.allowedSigners)
        .contains(" can add this line to " + site.allowedSigners + ":\n")
        .contains("→ " + Site.ME + " namespaces=\"nexa-slurm\" " + Keys.line(site.mallory) + "\n");
  }

  /** submit refuses whatever such a key signs, so nothing is signed. */
  @ParameterizedTest
  @ValueSource(strings = {"", "--as boss@site", "--as boss@elsewhere"})
  void aPatternNamesNobody(String as) {
    site.allow("*@site " + Keys.line(site.boss) + "\n");
    for (String submitter : List.of("bob", "any")) {
      List<String> words =
          new ArrayList<>(
              List.of("approve", "--yes", "run.yaml", "--for", submitter, "--key", "" + site.boss));
      words.addAll(as.isEmpty() ? List.of() : List.of(as.split(" ")));

      Screen screen = ada.type(words.toArray(String[]::new));

      assertThat(screen.exit()).isEqualTo(3);
      assertThat(screen.err())
          .contains("gives this key only to the pattern *@site. A pattern names nobody")
          .contains("writes a line with the name of the key's owner in its place:\n")
          .contains("→ NAME@site namespaces=\"nexa-slurm\" " + Keys.line(site.boss) + "\n")
          .doesNotContain("--as");
    }
    assertThat(ada.type("submit", "run.yaml").err())
        .contains("nobody may approve it now: ")
        .doesNotContain("ask *@site");
    assertThat(site.approvals).doesNotExist();
  }

  @Test
  void aBrokenLineIsNamedBeforeTheKey() {
    site.allow(Keys.line(site.boss) + "\n");

    Screen approve =
        ada.type("approve", "--yes", "run.yaml", "--for", "bob", "--key", "" + site.boss);
    Screen submit = ada.type("submit", "run.yaml");

    for (Screen screen : List.of(approve, submit)) {
      assertThat(screen.exit()).isEqualTo(3);
      assertThat(screen.err())
          .contains(
              "nobody can approve until this is fixed: "
                  + site.allowedSigners
                  + ":1: no name before the key: expected such as ada@site ssh-ed25519 AAAA…");
    }
    assertThat(approve.err()).contains(", who owns " + site.allowedSigners + ", can fix it");
  }

  @Test
  void revokedKeysAreNotAskedToSign() {
    Path revoked = Site.write(folder.resolve("revoked"), "nonsense\n");
    site.policy("  revoked_keys: " + revoked + "\n");
    ada = site.workspace("ada");
    String[] approve = {"approve", "--yes", "run.yaml", "--for", "bob", "--key", "" + site.boss};

    Screen broken = ada.type(approve);
    Screen submit = ada.type("submit", "run.yaml");
    Site.write(revoked, Keys.line(site.boss) + "\n");
    Screen gone = ada.type(approve);
    Screen nobody = ada.type("submit", "run.yaml");

    for (Screen screen : List.of(broken, submit)) {
      assertThat(screen.exit()).isEqualTo(3);
      assertThat(screen.err())
          .contains("nobody can approve until this is fixed: " + revoked + ":1: expected a");
    }
    assertThat(broken.err()).contains(", who owns " + revoked + ", can fix it");
    assertThat(submit.err()).doesNotContain("boss@site");
    assertThat(gone.exit()).isEqualTo(3);
    assertThat(gone.err())
        .contains(" is revoked", "sign with another key of boss@site: --key PATH")
        .contains("can add the new key's line to " + site.allowedSigners)
        .doesNotContain("can correct it");
    assertThat(nobody.err())
        .contains("nobody may approve it now: ", "a key that is not revoked")
        .doesNotContain("ask boss@site");
    assertThat(site.approvals).doesNotExist();
  }

  @Test
  void whereThePolicyNamesNoApproversThatIsSaid() {
    ada.file("configs/policy.yaml", "approval_over: {amount: 1.00, currency: USD}\n");

    for (Screen screen :
        List.of(
            ada.type("approve", "--yes", "run.yaml", "--for", "any", "--key", "" + site.boss),
            ada.type("approvals", "list"))) {
      assertThat(screen.exit()).isEqualTo(2);
      assertThat(screen.err()).contains("it has no `approvals`");
    }
  }

  @Test
  void slurmIsToldOfNobodysOwnApproval() {
    String file =
        site.put("own.approval", Site.signed(site.boss, "nexa-slurm", site.statement(ada)))
            .toString();
    site.allow("boss@site," + Site.ME + " " + Keys.line(site.boss) + "\n");

    Screen screen = ada.type("approvals", "install", file, "--to", folder.resolve("to").toString());

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("submitters cannot approve their own runs", "nothing was written");
  }

  @Test
  void anEnvelopeLetsAFamilyThroughUpToItsMonth() {
    JsonObject envelope =
        ada.type(
                "approve",
                "--yes",
                "--envelope",
                "nightly",
                "--configs",
                "*.yaml,configs/**",
                "--users",
                Site.ME,
                "--up-to",
                "2",
                "--month",
                "4",
                "--key",
                "" + site.boss,
                "--json")
            .json();

    assertThat(envelope.object("statement").texts("configs"))
        .containsExactly("*.yaml", "configs/**");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    Screen third = ada.type("submit", "run.yaml");
    assertThat(third.exit()).isEqualTo(3);
    assertThat(third.err()).contains("needs 1.81 USD, left 0.38 of 4.00 USD");
    Screen larger = ada.type("submit", "run.yaml", "--set", "resources.time=6h");
    assertThat(larger.err())
        .contains("the reservation: at most 2.00 USD was approved, this is 2.1");
    assertThat(ada.type("approve", "--yes", "--envelope", "all", "--up-to", "1").err())
        .contains("the envelope has no limits: add --configs");
    assertThat(
            ada.type("approve", "--yes", "--envelope", "x", "--configs", "[", "--up-to", "1")
                .exit())
        .isEqualTo(2);
  }

  @Test
  void listShowAndVerifyTellHowItStands() {
    String id = approve("run.yaml").json().text("approval_id");
    site.put("0123456789abcdef-0123456789abcdef.approval", "nonsense");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();

    Screen list = ada.type("approvals", "list");
    Screen show = ada.type("approvals", "show", id.substring(0, 6));
    JsonObject json = ada.type("approvals", "show", id, "--json").json();
    Path kept = ada.workspace.resolve("runs/latest/approval");
    Screen verify = ada.type("approvals", "verify", kept.toString());

    assertThat(list.out()).contains(id + "  used up  1/1", "broken", "has no SSH signature");
    assertThat(list.err()).isEmpty();
    assertThat(show.out()).contains("used up", "use 1  1.81 USD, data_", "ssh-ed25519 SHA256:");
    assertThat(json.number("uses_taken")).isEqualTo(1);
    assertThat(json.objects("uses").get(0).text("user")).isEqualTo(Site.ME);
    assertThat(verify.exit()).isEqualTo(3);
    assertThat(ada.type("approvals", "revoke", id).out()).contains(id + ": revoked");
    assertThat(ada.type("approvals", "revoke", id, "--json").json().flag("was_revoked")).isTrue();
  }

  @Test
  void whoSubmitsAndWhoRevokedAreTold() {
    String id = approve("run.yaml").json().text("approval_id");
    ada.type("approvals", "revoke", id, "--reason", "wrong data");

    Screen show = ada.type("approvals", "show", id);

    assertThat(ada.type("approvals", "list").out())
        .containsPattern("BY +USER +FOR")
        .containsPattern("boss@site +" + Site.ME + " +run.yaml");
    assertThat(show.out())
        .containsPattern("revoked    by " + Site.ME + " at 20.*Z: wrong data\n")
        .doesNotContain("{");
    assertThat(ada.type("approvals", "show", id, "--json").out())
        .startsWith("{\n  \"schema_version\"");
  }

  @Test
  void whoMayNotRevokeIsToldWhoMay() throws IOException {
    String id = approve("run.yaml").json().text("approval_id");
    Files.setPosixFilePermissions(site.approvals, PosixFilePermissions.fromString("r-xr-xr-x"));
    // Root may write anywhere.
    assumeFalse(Files.isWritable(site.approvals));

    Screen screen = ada.type("approvals", "revoke", id);

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("may not revoke", "→ ask " + Site.ME + ", who owns " + site.approvals);
  }

  @Test
  void anEnvelopeSaysWhatItLacks() {
    String key = site.boss.toString();

    Screen most = ada.type("approve", "--yes", "--envelope", "x", "--users", "ada", "--key", key);
    Screen whose = ada.type("approve", "--yes", "--envelope", "x", "--for", "ada", "--key", key);

    assertThat(most.err()).contains("--envelope needs --up-to", "→ add --up-to AMOUNT");
    assertThat(whose.err()).contains("an envelope has --users, not --for", "→ --users ada");
  }

  @Test
  void anApprovalThatIsNotThereIsNamed() {
    for (Screen screen :
        List.of(
            ada.type("submit", "run.yaml", "--approval", "none.approval"),
            ada.type("approvals", "install", "none.approval"))) {
      assertThat(screen.exit()).isEqualTo(2);
      assertThat(screen.err())
          .contains("cannot read the approval ", "it does not exist", "→ name a file that");
    }
  }

  @Test
  void whereTheSchedulerIsAwayTheUseIsGivenBack() throws IOException {
    site.approve(ada);
    Files.delete(folder.resolve("ada/bin/sbatch"));
    assertThat(ada.type("submit", "run.yaml").exit()).isEqualTo(4);

    ada.withSlurm();

    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    assertThat(ada.type("approvals", "list").out()).contains("used up  1/1");
  }

  @Test
  void whoDiesBeforeSbatchHasUsedItAndShowSaysSo() {
    String id = approve("run.yaml").json().text("approval_id");
    Map<String, String> environment = Map.of("PATH", folder.resolve("ada/bin").toString());
    Context dying =
        new Context(
            ada.workspace,
            environment,
            point -> {
              throw new AssertionError("died at " + point); // no code of ours catches it
            });

    assertThatThrownBy(
            () ->
                new SubmitRun(dying)
                    .submit(
                        new Prepared.Request(
                            ada.workspace + "/run.yaml", List.of(), Optional.of("default")),
                        Optional.empty(),
                        Optional.empty()))
        .hasMessage("died at RUN_NAMED");

    assertThat(ada.type("approvals", "show", id).out())
        .contains("no run known by " + Site.ME, "no run holds it: it is used all the same");
    assertThat(ada.type("submit", "run.yaml").exit()).isEqualTo(3);
  }

  @Test
  void failedTasksRunAgainByTheRunsOwnApprovalUntilItIsSpent() {
    String id = approve("run.yaml").json().text("approval_id");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    ended();

    Screen half = ada.type("rerun", "latest", "--failed");

    assertThat(half.exit()).as(half.err()).isEqualTo(3);
    assertThat(half.err()).contains("the run has cost 0.36 USD, this can cost 1.81 USD more");
    assertThat(
            ada.type(
                    "approve",
                    "--yes",
                    "run.yaml",
                    "--for",
                    Site.ME,
                    "--key",
                    "" + site.boss,
                    "--up-to",
                    "5")
                .exit())
        .isZero();
    Screen again = ada.type("rerun", "latest", "--failed");
    assertThat(again.exit()).as(again.err()).isZero();
    assertThat(ada.argv("sbatch"))
        .anyMatch(word -> word.startsWith("--comment=nexa:v1:") && !word.endsWith(id));
  }

  @Test
  void withinWhatWasApprovedARerunTakesNoOtherUse() {
    ada.type(
        "approve", "--yes", "run.yaml", "--for", Site.ME, "--key", "" + site.boss, "--up-to", "5");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    ended();

    Screen again = ada.type("rerun", "latest", "--failed");

    assertThat(again.exit()).as(again.err()).isZero();
    assertThat(ada.type("approvals", "list").out()).contains("used up  1/1");
    assertThat(ada.type("rerun", "latest").exit()).as("a new run takes a use").isEqualTo(3);
  }

  @Test
  void aRerunMustFitIntoTheMonthOfItsEnvelope() throws IOException {
    String first = firstOfTwo("3.90");

    Screen again = ada.type("rerun", first, "--failed");

    assertThat(again.exit()).as(again.toString()).isEqualTo(3);
    assertThat(again.err()).contains("needs 2.17 USD in all, left 2.09 of 3.90 USD");
    assertThat(ada.workspace.resolve("runs/open").resolve(first)).doesNotExist();
    assertThat(ada.type("approvals", "list").out()).contains("2/100");
  }

  @Test
  void theUseOfARunThatRunsAgainCarriesWhatItCanCostInAll() throws IOException {
    String first = firstOfTwo("4.00");

    Screen again = ada.type("rerun", first, "--failed");

    assertThat(again.exit()).as(again.toString()).isZero();
    assertThat(ada.type("approvals", "list").out()).contains("2/100");
    List<JsonObject> uses = ada.type("approvals", "list", "--json").json().objects("approvals");
    assertThat(uses.get(0).objects("uses"))
        .filteredOn(use -> !use.flag("released") && use.text("run").endsWith(first))
        .singleElement()
        .satisfies(use -> assertThat(use.text("reservation")).isEqualTo("2.17"));
  }

  /** Of two runs of an envelope the first, which failed for 0.36 USD; the other is under way. */
  private String firstOfTwo(String month) throws IOException {
    Screen envelope =
        ada.type(
            ("approve --yes --envelope nightly --configs *.yaml --up-to 3 --month "
                    + month
                    + " --key")
                .concat(" " + site.boss)
                .split(" "));
    assertThat(envelope.exit()).as(envelope.err()).isZero();
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    Path argv = folder.resolve("first.argv");
    Files.copy(folder.resolve("ada/bin/sbatch.argv"), argv);
    String first = Files.readSymbolicLink(ada.workspace.resolve("runs/latest")).toString();
    ended(argv);
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    return first;
  }

  @Test
  void aSmallRunNeedsNoneAndReadsNone() {
    Screen screen = ada.type("submit", "run.yaml", "--set", "resources.time=1h");

    assertThat(screen.exit()).isZero();
    assertThat(ada.argv("sbatch")).noneMatch(word -> word.startsWith("--comment"));
    JsonObject kept =
        Json.parseObject(DurableFiles.read(ada.workspace.resolve("runs/latest/estimate.json")));
    assertThat(kept.members().get("quote")).isNull();
    assertThat(kept.object("what_runs").text("script_sha256")).hasSize(64);
    assertThat(kept.object("limits").number("tasks")).isEqualTo(8);
    assertThat(kept.object("submitter").text("user")).isEqualTo(Site.ME);
  }

  private Screen approve(String estimate, String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "approve", "--yes", estimate, "--for", Site.ME, "--key", "" + site.boss, "--json"));
    words.addAll(List.of(more));
    Screen screen = ada.type(words.toArray(new String[0]));
    assertThat(screen.exit()).as(screen.err()).isZero();
    return screen;
  }

  /** Every task failed after an hour. */
  private void ended() {
    ended(folder.resolve("ada/bin/sbatch.argv"));
  }

  private void ended(Path argv) {
    StringBuilder rows = new StringBuilder();
    for (int task : List.of(0, 1, 2, 3, 4, 5, 6, 7)) {
      rows.append(Terminal.accountingRow(4711, task, "FAILED", "'\"$name\"'")).append('\n');
    }
    ada.program(
        "sacct",
        "while read -r a; do case $a in --job-name=*) name=${a#*=};; esac; done <"
            + argv
            + "\n"
            + rows);
    ada.type("reconcile");
  }
}
