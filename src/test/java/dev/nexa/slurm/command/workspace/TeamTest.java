package dev.nexa.slurm.command.workspace;

import static dev.nexa.slurm.command.Team.ALL;
import static dev.nexa.slurm.command.Team.ANN;
import static dev.nexa.slurm.command.Team.BOB;
import static dev.nexa.slurm.command.Team.EVE;
import static dev.nexa.slurm.command.Team.GROUP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.command.Team;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * One workspace, three Unix users: ann shared it, bob works in it, eve does what she should not.
 * {@code init} asks Slurm, so all of it needs Slurm.
 */
@Tag("long")
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@ResourceLock("the users of Team")
@Order(1)
class TeamTest {
  private static final String RUN =
      "stage: data\nbackend: shell\nresources: {time: %s, memory: 50M}\n"
          + "run: |\n  echo '{}' >\"$NEXA_METRICS\"\n";

  /** The home folder of the second user. */
  private static final String HOME = "/tmp/" + BOB;

  private Team team;

  @BeforeEach
  void makeUsers() throws IOException {
    team = Team.make();
  }

  @AfterEach
  void deleteUsers() throws IOException {
    if (team != null) {
      team.close();
    }
  }

  @Test
  void aPrivateWorkspaceIsSharedWithoutItsSecrets() throws IOException {
    shared("077", "init");
    team.file("run.yaml", RUN.formatted("5m"));
    well(team.typesUnder("077", ANN, "submit", "run.yaml", "--local", "--wait"));
    String run = runs(ANN).get(0);
    String secrets = "configs/token runs/" + run + "/api_key";
    team.shell(ANN, "umask 077; for file in " + secrets + "; do echo secret >$file; done");
    well(team.typesUnder("077", ANN, "reconcile"));
    assertThat(team.types(EVE, "submit", "run.yaml", "--local").exit()).isNotZero();

    String said = well(team.typesUnder("077", ANN, "init", "--group", GROUP));

    assertThat(said).contains("shared " + team.workspace() + "/runs").contains("NEXA_WORKSPACE=");
    assertThat(mode("")).isEqualTo("2750");
    assertThat(mode(".nexa")).isEqualTo("2770");
    for (String name : List.of("runs", "runs/open", "runs/manifests", "estimates", ".nexa-local")) {
      assertThat(mode(name)).as(name).isEqualTo("3770");
    }
    assertThat(mode("runs/" + run)).isEqualTo("3750");
    assertThat(mode("runs/" + run + "/journal.jsonl")).isEqualTo("640");
    assertThat(mode("runs/" + run + "/plan.json")).isEqualTo("440");
    assertThat(mode("configs/policy.yaml")).isEqualTo("640");
    for (String secret : secrets.split(" ", -1)) {
      assertThat(team.shell(BOB, "cat " + secret)).as(secret).contains("Permission denied");
    }
    assertThat(team.shell(BOB, "cat .nexa-local/jobs/1/job.json")).contains("Permission denied");
    assertThat(well(team.types(BOB, "runs", "show", run)))
        .contains("status      completed", "user        " + ANN);
    assertThat(well(team.types(ANN, "init", "--group", GROUP)))
        .contains("shared with the group " + GROUP + " already")
        .doesNotContain("\nshared ");
  }

  /** bob approves, and the folder of approvals and the workspace are ann's. */
  @Test
  @Tag("full")
  void anApproverWhoMayNotWriteWhereSubmitLooksSeesWhatToType() throws IOException {
    shared("022", "init");
    well(team.types(ANN, "init", "--group", GROUP));
    team.shell(
        BOB,
        "umask 077; mkdir -p "
            + HOME
            + "/.ssh && ssh-keygen -q -t ed25519 -N '' -f"
            + " "
            + HOME
            + "/.ssh/key");
    Path approvals = team.workspace().resolve("configs/approvals");
    try {
      String key = team.shell(BOB, "cat " + HOME + "/.ssh/key.pub").strip();
      team.shell(ANN, "mkdir " + approvals);
      team.file("configs/signers", "bob@site " + key + "\n");
      team.file(
          "configs/policy.yaml",
          "approval_over: {amount: 0.01, currency: USD}\napprovals:\n  directory: "
              + approvals
              + "\n  allowed_signers: configs/signers\n");
      team.file("run.yaml", RUN.formatted("5h"));
      String approve =
          "approve --yes run.yaml --for " + ANN + " --key " + HOME + "/.ssh/key --workspace ";

      CommandResult nowhere = team.types(BOB, (approve + team.workspace()).split(" "));
      CommandResult eve =
          team.types(
              EVE, "approve", "--yes", "run.yaml", "--for", BOB, "--key", HOME + "/.ssh/key");
      String signed =
          team.shell(BOB, "cd " + HOME + " && " + team.command(approve + team.workspace()));
      String again =
          team.shell(BOB, "cd " + HOME + " && " + team.command(approve + team.workspace()));

      assertThat(nowhere.exit()).isEqualTo(3);
      assertThat(nowhere.err())
          .contains("you may write neither to " + approvals + " nor to " + team.workspace())
          .contains("→ type this in a folder of your own")
          .contains(ANN + " types: install -d -m 2775 -g APPROVERS " + approvals);
      assertThat(eve.err())
          .contains("--key: you may not look into " + HOME + ", which belongs to " + BOB)
          .doesNotContain("does not exist");
      assertThat(signed)
          .contains(
              "note: you may not write to " + approvals + ", where submit looks for approvals\n",
              "note: for submit to find it, " + ANN + " types: install -m 644 " + HOME + "/",
              "note: or the submitter adds to the command: --approval " + HOME + "/",
              "approved: " + HOME + "/",
              "  nexa-slurm --workspace " + team.workspace() + " approvals verify " + HOME + "/")
          .doesNotContain("approvals show", "approvals revoke");
      assertThat(again).contains("approved: " + HOME + "/").doesNotContain("already");
    } finally {
      team.shell(BOB, "rm -rf " + HOME);
    }
  }

  /** Each failure says whose the file or folder is, and what its owner can type. */
  @Test
  @Tag("full")
  void aFileThatIsClosedNamesItsOwner() throws IOException {
    shared("022", "init");
    team.shell(ANN, "chmod 600 configs/policy.yaml");
    team.file("run.yaml", RUN.formatted("5m"));
    team.shell(ANN, "chmod a+r run.yaml");

    CommandResult policy = team.types(EVE, "estimate", "run.yaml");
    CommandResult init = team.types(EVE, "init", "--workspace", team.workspace() + "/none");
    team.shell(ANN, "chmod 644 configs/policy.yaml");
    CommandResult write = team.types(EVE, "submit", "run.yaml", "--local");

    assertThat(policy.err())
        .contains("policy.yaml belongs to " + ANN)
        .contains("ask " + ANN + " to let you read it, or name another path")
        .doesNotContain("chmod");
    assertThat(init.err())
        .contains("you may not write to " + team.workspace() + ", which belongs to " + ANN);
    assertThat(write.err())
        .contains(
            "you may not submit runs in " + team.workspace() + ", which belongs to " + ANN,
            "for a workspace of your own: mkdir ~/runs && cd ~/runs && nexa-slurm init",
            ANN + " types: nexa-slurm init --workspace " + team.workspace() + " --group GROUP");
  }

  @Test
  void membersWriteDataAndTheGroupKeepsIt() throws IOException {
    shared("022", "init", "--examples");
    team.shell(ANN, "echo a >data/raw/ann.txt; mkdir data/raw/corpus; ln -s /tmp data/raw/link");
    team.shell(ANN, "umask 077; echo s >data/raw/secret");
    int tmp = (Integer) Files.getAttribute(Path.of("/tmp"), "unix:mode");

    well(team.typesUnder("077", ANN, "init", "--group", GROUP));

    for (String name : List.of("data", "data/raw", "data/processed", "data/processed/training")) {
      assertThat(mode(name)).as(name).isEqualTo("3770");
    }
    assertThat(mode("data/raw/corpus")).isEqualTo("2750");
    assertThat(mode("data/raw/ann.txt")).isEqualTo("640");
    assertThat(mode("data/raw/secret")).isEqualTo("600");
    assertThat(Files.getAttribute(Path.of("/tmp"), "unix:mode")).isEqualTo(tmp);
    assertThat(team.shell(BOB, "cat data/raw/ann.txt")).contains("a");
    assertThat(team.shell(BOB, "umask 022; echo b >data/raw/bob.txt; stat -c %G data/raw/bob.txt"))
        .contains(GROUP);
    assertThat(team.shell(BOB, "rm -f data/raw/ann.txt")).contains("not permitted");
    assertThat(well(team.types(ANN, "init", "--group", GROUP))).contains("already");
  }

  @Test
  @Tag("full")
  void onlyTheOwnerOfEverythingSharesAWorkspace() throws IOException {
    shared("022", "init");
    team.shell(ANN, "mkdir -m 777 runs");
    team.shell(BOB, "touch runs/mine");

    assertThat(team.types(BOB, "init", "--group", GROUP).err()).contains("belongs to " + ANN);
    assertThat(team.types(ANN, "init", "--group", GROUP).err())
        .contains("runs/mine belongs to " + BOB, "nothing was changed");
    assertThat(team.types(ANN, "init", "--group", "root").err())
        .contains("you can't give files in ");
    assertThat(team.types(ANN, "init", "--group", "nosuch").err()).contains("no group nosuch");
    assertThat(mode("")).isEqualTo("755");
  }

  @Test
  @Tag("full")
  void threeUsersSubmitAtOnceAndEachPassSettlesItsOwnUsersRuns() throws Exception {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("5m"));
    List<String> umasks = List.of("000", "077", "022");
    atOnce(3, i -> team.typesUnder(umasks.get(i), ALL.get(i), "submit", "run.yaml", "--local"));

    assertEachSettlesItsOwn("3 runs, 1 rows read, 0 differences");
  }

  @Test
  void threeUsersShareAWorkspaceOnSlurm() throws Exception {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("5m"));
    team.file(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nstorage: {scratch: \"${workspace}/storage/scratch\", durable:"
            + " \"${workspace}/storage/durable\", shared: \"${workspace}/storage/shared\"}\n");
    List<String> umasks = List.of("000", "077", "022");
    atOnce(3, i -> team.typesUnder(umasks.get(i), ALL.get(i), "submit", "run.yaml"));

    // sacct shows the jobs of other users too.
    assertEachSettlesItsOwn("3 runs, \\d rows read, 0 differences");
  }

  @Test
  @Tag("full")
  void eachUserRunsPipelinesOfTheirOwn() throws Exception {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("5m"));
    team.file(
        "two.yaml",
        "stages:\n  one: {config: run.yaml}\n  two: {config: run.yaml, after: [one]}\n");
    List<String> umasks = List.of("000", "077", "022");
    atOnce(
        3,
        i -> team.typesUnder(umasks.get(i), ALL.get(i), "pipeline", "run", "two.yaml", "--local"));

    JsonObject list = Json.parseObject(well(team.types(EVE, "pipeline", "list", "--json")));
    assertThat(list.objects("pipelines"))
        .extracting(pipeline -> pipeline.text("user"))
        .containsExactlyInAnyOrderElementsOf(ALL);
    String ofBob =
        list.objects("pipelines").stream()
            .filter(pipeline -> pipeline.text("user").equals(BOB))
            .findFirst()
            .orElseThrow()
            .text("pipeline_id");
    assertThat(team.types(EVE, "pipeline", "resume", ofBob).err()).contains("another user");
    for (String user : ALL) {
      settle(user);
      well(team.types(user, "reconcile"));
    }
    for (String user : ALL) {
      JsonObject now =
          Json.parseObject(well(team.types(user, "pipeline", "status", ofBob, "--json")));
      assertThat(now.text("state")).as(user).isEqualTo("completed");
    }
  }

  @Test
  @Tag("full")
  void aPipelineMayReuseTheRunOfAnotherUser() throws Exception {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("5m"));
    team.file(
        "two.yaml",
        "stages:\n  one: {config: run.yaml}\n  two: {config: run.yaml, after: [one]}\n");
    well(team.types(BOB, "pipeline", "run", "two.yaml", "--local"));
    settle(BOB);
    well(team.types(BOB, "reconcile"));
    List<String> made = runs(BOB);

    CommandResult begun =
        team.types(EVE, "pipeline", "run", "two.yaml", "--local", "--start-at", "two", "--json");
    assertThat(begun.exit()).as(begun.err()).isZero();
    String id = Json.parseObject(begun.out()).text("pipeline_id");
    assertThat(team.types(BOB, "pipeline", "cancel", id).err()).contains("belongs to " + EVE);
    settle(EVE);
    well(team.types(EVE, "reconcile"));

    assertThat(runs(BOB)).isEqualTo(made);
    JsonObject end = Json.parseObject(well(team.types(ANN, "pipeline", "status", id, "--json")));
    assertThat(end.text("state")).isEqualTo("completed");
    assertThat(made).contains(end.objects("stages").get(0).text("run_id"));
    assertThat(runs(EVE)).containsExactly(end.objects("stages").get(1).text("run_id"));
    assertThat(team.workspace().resolve("pipelines/open/" + id)).doesNotExist();
  }

  private void assertEachSettlesItsOwn(String audited) throws Exception {
    assertThat(runs(BOB)).hasSize(1);
    assertThat(well(team.types(BOB, "status")))
        .contains(ANN, "as of the last pass of " + EVE)
        .doesNotContain("as of the last pass of " + BOB);
    for (int i = 0; i < 3; i++) {
      settle(ALL.get(i));
      List<String> left = ALL.subList(i + 1, 3);
      String said = well(team.types(ALL.get(i), "reconcile"));
      if (left.isEmpty()) {
        assertThat(said).doesNotContain("left to");
      } else {
        assertThat(said).contains("left to " + String.join(", ", left));
      }
    }
    JsonObject list = Json.parseObject(well(team.types(EVE, "runs", "list", "--json")));
    assertThat(list.objects("runs"))
        .extracting(run -> run.text("user"))
        .containsExactlyInAnyOrderElementsOf(ALL);
    assertThat(list.objects("runs")).allMatch(run -> run.text("status").equals("completed"));
    for (String user : ALL) {
      assertThat(well(team.types(user, "status", "latest"))).contains(runs(user).get(0));
      assertThat(well(team.types(user, "costs", "--by", "user"))).contains(ALL);
      assertThat(well(team.types(user, "audit", "--repair"))).containsPattern(audited);
    }
    assertNobodyElseWrites(runs(BOB).get(0));
  }

  private void assertNobodyElseWrites(String run) throws IOException {
    assertThat(well(team.types(EVE, "logs", run))).isNotEmpty();
    for (String command : List.of("cancel", "rerun --failed", "interrupt")) {
      CommandResult refused = team.types(EVE, (command + " " + run).split(" ", -1));
      assertThat(refused.exit()).as(command).isEqualTo(2);
    }
    assertThat(team.types(EVE, "cancel", run).err()).contains(run + " belongs to " + BOB);
    well(team.types(EVE, "rerun", run));
    assertThat(runs(EVE)).as("a rerun is a run of who typed it").hasSize(2);
    settle(EVE);
    String before = listed();
    team.shell(
        EVE,
        "for file in $(find runs -user "
            + BOB
            + "); do echo x >>$file; mv $file moved; ln $file linked; rm -rf $file; done;"
            + " mv runs moved; mv runs/open moved; rm -rf runs; touch configs/new");
    assertThat(listed()).isEqualTo(before);
    assertThat(well(team.types(BOB, "audit", run))).contains("0 differences");
  }

  @Test
  void threeUsersGetExactlyWhatABudgetHolds() throws Exception {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("100h"));
    // A run reserves 100 h of one CPU and of 50 MB: 4.02 USD.
    team.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1000, currency: USD}\n"
            + "budgets: [{scope: all, amount: 18, currency: USD, period: month}]\n");

    List<CommandResult> all =
        atOnce(9, i -> team.types(ALL.get(i % 3), "submit", "run.yaml", "--local"));

    assertThat(all).extracting(CommandResult::exit).containsOnly(0, 3);
    assertThat(all).filteredOn(one -> one.exit() == 0).hasSize(4);
    assertThat(all).filteredOn(one -> one.exit() == 3).allMatch(one -> one.err().contains("18"));
    assertThat(team.shell(ANN, "ls estimates")).contains(".json");
  }

  @Test
  void aDeadUsersLockIsTakenOverByAnotherUser() throws IOException {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("5m"));
    team.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1000, currency: USD}\n"
            + "budgets: [{scope: all, amount: 18, currency: USD, period: month}]\n");
    String dead =
        ProcessIdentity.localHost() + " 4194303 2025-11-01T00:00:00Z " + Instant.now() + " 1 1";
    team.shell(ANN, "echo '" + dead + "' >.nexa/budgets.lock; chmod 640 .nexa/budgets.lock");

    well(team.types(BOB, "submit", "run.yaml", "--local", "--wait"));

    assertThat(team.workspace().resolve(".nexa/budgets.lock")).doesNotExist();
  }

  @Test
  void aPlantedLedgerIsReportedAndNotWrittenTo() throws IOException {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("5m"));
    team.shell(BOB, "umask 022; echo 'do not touch' >/tmp/nexa-team-target");
    String month = LocalDate.now(ZoneOffset.UTC).toString().substring(0, "2025-11".length());
    String planted = "runs/ledger-" + month + "." + BOB + ".jsonl";
    team.shell(EVE, "ln -s /tmp/nexa-team-target " + planted);
    well(team.types(BOB, "submit", "run.yaml", "--local"));

    CommandResult waited = null;
    for (int i = 0; i < 40 && (waited == null || waited.err().isEmpty()); i++) {
      waited = team.types(BOB, "reconcile");
    }

    assertThat(waited.err()).contains(planted + ": another user has put it there");
    assertThat(Files.readString(Path.of("/tmp/nexa-team-target"))).isEqualTo("do not touch\n");
    assertThat(team.types(ANN, "costs").err())
        .contains(planted + " belongs to " + EVE + ": its lines are not counted");
    team.shell(EVE, "rm " + planted);
    settle(BOB);
    team.shell(BOB, "rm /tmp/nexa-team-target");
    team.shell(EVE, "cp " + planted + " runs/ledger-" + month + "." + EVE + ".jsonl");
    assertThat(team.types(ANN, "costs").err()).contains("has lines in the ledgers of two users");
  }

  /** Bob may read the policy, and not write it; ann may. */
  @Test
  @Tag("full")
  void onlyAUserWhoCanChangeThePolicyIsTold() throws IOException {
    shared("022", "init", "--group", GROUP);
    team.file("run.yaml", RUN.formatted("2d"));
    team.file(
        "configs/policy.yaml",
        "approval_over: {amount: 0, currency: USD}\napprovals:\n  directory: approvals\n"
            + "  allowed_signers: allowed_signers\n");
    team.file("allowed_signers", "");
    String note = "note: This limit is set in the workspace, not by the admin: you can change it";

    CommandResult ann = team.types(ANN, "submit", "run.yaml", "--local");
    CommandResult bob = team.types(BOB, "submit", "run.yaml", "--local");
    team.shell(ANN, "chmod g+w configs/policy.yaml");
    CommandResult writer = team.types(BOB, "submit", "run.yaml", "--local");

    for (CommandResult refused : List.of(ann, bob, writer)) {
      assertThat(refused.exit()).as(refused.err()).isEqualTo(3);
    }
    assertThat(ann.err()).contains(note);
    assertThat(bob.err()).doesNotContain("note: This limit");
    assertThat(writer.err()).contains(note);
  }

  private void shared(String umask, String... command) throws IOException {
    well(team.typesUnder(umask, ANN, command));
  }

  private static String well(CommandResult result) {
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
    return result.out() + result.err();
  }

  /** Passes of a user until all runs of that user have ended. */
  private void settle(String user) throws IOException {
    for (int i = 0; i < 60; i++) {
      well(team.types(user, "reconcile"));
      String open = team.shell(user, "find runs/open -type f -user " + user);
      if (open.isEmpty()) {
        return;
      }
    }
    throw new AssertionError("the runs of " + user + " did not end");
  }

  private interface Typed {
    CommandResult type(int who) throws IOException;
  }

  private static List<CommandResult> atOnce(int count, Typed typed) throws Exception {
    ExecutorService persons = Executors.newFixedThreadPool(count);
    List<Future<CommandResult>> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int who = i;
      all.add(persons.submit(() -> typed.type(who)));
    }
    List<CommandResult> results = new ArrayList<>();
    for (Future<CommandResult> one : all) {
      results.add(one.get());
    }
    persons.shutdown();
    return results;
  }

  private List<String> runs(String user) throws IOException {
    try (Stream<Path> folders = Files.list(team.workspace().resolve("runs"))) {
      List<String> runs = new ArrayList<>();
      for (Path folder : (Iterable<Path>) folders::iterator) {
        boolean isRun = folder.getFileName().toString().startsWith("data_");
        if (isRun && Files.getOwner(folder).getName().equals(user)) {
          runs.add(folder.getFileName().toString());
        }
      }
      return runs;
    }
  }

  /** Bob's files with their modes, sizes and times. */
  private String listed() throws IOException {
    return team.shell("root", "find runs -user " + BOB + " -printf '%p %m %u %s %T@ %n\\n' | sort");
  }

  private String mode(String name) throws IOException {
    Path path = team.workspace().resolve(name);
    int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    return Integer.toOctalString(mode & 07777);
  }
}
