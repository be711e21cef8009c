package dev.nexa.slurm.command.workspace.doctor;

import static dev.nexa.slurm.command.Team.ANN;
import static dev.nexa.slurm.command.Team.BOB;
import static dev.nexa.slurm.command.Team.EVE;
import static dev.nexa.slurm.command.Team.GROUP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.command.Team;
import dev.nexa.slurm.records.approvals.Keys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** ann owns the team's workspace, and bob is a member. Faults are planted in its modes. */
@Tag("long")
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@ResourceLock("the users of Team")
class DoctorTeamTest {
  private Team team;

  @BeforeEach
  void share() throws IOException {
    team = Team.make();
    assertThat(team.types(ANN, "init", "--group", GROUP).exit()).isZero();
    assertThat(team.types(ANN, "storage", "init").exit()).isZero();
  }

  @AfterEach
  void deleteUsers() throws IOException {
    if (team != null) {
      team.close();
    }
  }

  /** A member who was told to ask for more than docs/teams.md gives could replace the policy. */
  @Test
  void aMemberOfAHealthyTeamLacksNothing() throws IOException {
    for (String user : new String[] {ANN, BOB}) {
      CommandResult looked = team.types(user, "doctor", "workspace", "tiers", "team", "policy");
      assertThat(looked.out()).contains("0 failed, 0 unknown").doesNotContain("chmod");
    }
  }

  @Test
  void aModeThatIsLostIsFoundByAllAndRepairedByTheOwner() throws IOException {
    for (String plant :
        new String[] {"chmod 2750 .nexa", "chmod 2770 runs", "chmod -R g+w configs"}) {
      team.shell(ANN, plant);

      CommandResult member = team.types(BOB, "doctor", "workspace", "team");
      assertThat(member.exit()).as(plant).isEqualTo(1);
      assertThat(member.out()).contains("1 failed", "next: ask " + ANN + ", who types: ");
      CommandResult owner = team.types(ANN, "doctor", "workspace", "team");
      assertThat(owner.out()).contains("1 failed", " init --group " + GROUP);
      owner
          .out()
          .lines()
          .filter(line -> line.contains("→ chmod "))
          .forEach(line -> repair(ANN, line.replaceFirst(".*→ ", "")));
      assertThat(team.types(ANN, "init", "--group", GROUP).exit()).as(plant).isZero();
      assertThat(team.types(BOB, "doctor", "workspace", "team").exit()).as(plant).isZero();
    }
  }

  /** A member in the group root, which was printed to type, may read what root's group may. */
  @Test
  void aGroupThatIsNoTeamsIsNotJoinedButChangedBack() throws IOException {
    for (String plant : new String[] {"chgrp root .", "chgrp shadow .", "chgrp -R root ."}) {
      team.shell("root", plant);

      CommandResult member = team.types(BOB, "doctor", "workspace", "tiers", "team");
      assertThat(member.out()).as(plant).doesNotContain("usermod", "ledger", " ok  ");
      assertThat(member.out())
          .contains("next: " + ANN + " types, with the team's group for TEAM: nexa-slurm ");
      CommandResult owner = team.types(ANN, "doctor", "workspace", "tiers", "team");
      assertThat(owner.exit()).as(plant).isEqualTo(1);
      assertThat(owner.out()).contains(" init --group ").doesNotContain("usermod");
      typed(owner.out(), "find ").forEach(line -> repair("root", line.replace("TEAM", GROUP)));
      assertThat(team.types(ANN, "init", "--group", GROUP).exit()).as(plant).isZero();
      for (String user : new String[] {ANN, BOB, "root"}) {
        assertThat(team.types(user, "doctor", "workspace", "tiers", "team").out())
            .as(plant + user)
            .contains("0 failed, 0 unknown");
      }
    }
  }

  @Test
  void aPathIsOneWordOfTheCommandThatRootTypes() throws IOException {
    String profile = team.workspace() + "/configs/clusters/default.yaml";
    String text = Files.readString(Path.of(profile)).replaceAll("(?m)^storage:.*\n( .*\n)*", "");
    String tier = "/gone /etc/cron.d; it's";
    team.file(
        "configs/clusters/default.yaml",
        text + "storage: {scratch: /tmp, shared: /tmp, durable: \"" + tier + "\"}\n");

    assertThat(team.types(BOB, "doctor", "tiers").out())
        .contains("→ install -d -m 1777 '/gone /etc/cron.d; it'\\''s'  # root types it");
  }

  /**
   * A colleague's folder in a folder of one's own stays the colleague's; root's was made by sudo.
   */
  @Test
  void aFolderOfAColleaguesIsNotTaken() throws IOException {
    Path tiers = Path.of("/tmp", ANN + "-tiers");
    String profile = team.workspace() + "/configs/clusters/default.yaml";
    String text = Files.readString(Path.of(profile)).replaceAll("(?m)^storage:.*\n( .*\n)*", "");
    String storage = "storage: {scratch: /tmp, shared: /tmp, durable: " + tiers + "/durable}\n";
    team.file("configs/clusters/default.yaml", text + storage);
    try {
      team.shell("root", "install -d -o " + ANN + " " + tiers);
      team.shell("root", "install -d -m 700 -o " + BOB + " " + tiers + "/durable");
      assertThat(team.types(ANN, "doctor", "--timeout", "5m", "tiers").out())
          .contains("ask " + BOB)
          .doesNotContain("chown");

      team.shell("root", "chown root: " + tiers + "/durable");
      String found = team.types(ANN, "doctor", "--timeout", "5m", "tiers").out();
      typed(found, "chown ").forEach(line -> repair("root", line));
      assertThat(team.types(ANN, "doctor", "--timeout", "5m", "tiers").out())
          .doesNotContain("cannot write");
    } finally {
      team.shell("root", "rm -r " + tiers);
    }
  }

  @Test
  void aPolicyThatMembersCannotReadIsFoundByItsOwner() throws IOException {
    for (String plant : List.of("chmod 600", "chgrp " + ANN)) {
      team.shell(ANN, plant + " configs/policy.yaml configs/clusters/*.yaml");

      String found = team.types(ANN, "doctor", "workspace", "team").out();
      assertThat(found).contains("1 failed", "members cannot read ", "/configs/");
      typed(found, "chgrp ").forEach(line -> repair(ANN, line));
      typed(found, "chmod ").forEach(line -> repair(ANN, line));
      for (String user : new String[] {ANN, BOB}) {
        assertThat(team.types(user, "doctor", "workspace", "team").exit()).as(user).isZero();
      }
    }
    team.shell("root", "chown root:root configs/policy.yaml");
    String found = team.types(ANN, "doctor", "workspace").out();
    typed(found, "chown ").forEach(line -> repair("root", line));
    assertThat(team.types(BOB, "doctor", "workspace", "team").exit()).isZero();
  }

  @Test
  void recordsThatOthersCanChangeAreFound() throws IOException {
    team.file("ends.yaml", "stage: data\nbackend: shell\nrun: exit\nresources: {time: 1m}\n");
    assertThat(team.types(BOB, "submit", "--local", "--wait", "ends.yaml").exit()).isZero();
    assertThat(team.types(ANN, "doctor", "team").exit()).isZero();

    team.shell("root", "chmod -R a+w runs/*_* runs/manifests/* runs/ledger-*");

    String found = team.types(ANN, "doctor", "team").out();
    assertThat(found).contains("1 failed", "others than the owner can change ", "/runs/");
    typed(found, "find ").forEach(line -> repair("root", line));
    assertThat(team.types(ANN, "doctor", "team").exit()).isZero();
    assertThat(team.shell("root", "find runs/*_* runs/manifests/* -type f -perm /022")).isEmpty();
  }

  /** Members own their runs in it: who shares it again must not have to take them. */
  @Test
  void aTeamsWorkspaceWhoseModesAreLostIsSharedAgain() throws IOException {
    team.file("ends.yaml", "stage: data\nbackend: shell\nrun: exit\nresources: {time: 1m}\n");
    assertThat(team.types(BOB, "submit", "--local", "--wait", "ends.yaml").exit()).isZero();
    for (String plant : List.of("chmod -R 777 .", "chmod -R g-s,o-t,g-w .")) {
      team.shell("root", plant);

      String found = team.types(ANN, "doctor", "team").out();
      assertThat(found)
          .contains("was shared, and its modes are lost", " init --group " + GROUP)
          .doesNotContain("chown");
      assertThat(team.types(ANN, "init", "--group", GROUP).exit()).isZero();
      typed(found, "find ").forEach(line -> repair("root", line));
      for (String user : List.of(ANN, BOB)) {
        assertThat(team.types(user, "doctor", "team").out()).as(plant).contains("0 failed");
      }
      assertThat(team.types(BOB, "submit", "--local", "--wait", "ends.yaml").exit()).isZero();
    }
    assertThat(team.shell("root", "find runs/*_* -user " + ANN)).isEmpty();
  }

  @Test
  void whatRulesForAllBelongsToNoMember() throws IOException {
    for (String given : List.of(" configs", ": configs/policy.yaml")) {
      team.shell("root", "chown -R " + BOB + given);
      String found = team.types(ANN, "doctor", "team").out();
      assertThat(found).contains("belongs to " + BOB + ", who can change it for all");
      typed(found, "chown ").forEach(line -> repair("root", line));
      assertThat(team.types(ANN, "doctor", "team").exit()).isZero();
      assertThat(team.types(BOB, "doctor", "workspace").exit()).isZero();
      assertThat(team.shell("root", "find configs ! -user " + ANN)).isEmpty();
    }
    team.shell("root", "chown -hR root .");
    assertThat(team.types("root", "doctor", "team", "leftovers").out())
        .contains("0 failed, 0 unknown");
    team.shell("root", "chown 54321 .");
    assertThat(team.types(ANN, "doctor", "team").out())
        .contains("belongs to the user id 54321, which has no account", " -uid 54321 -exec chown");
  }

  @Test
  void anUnfinishedRunOfWhoHasLeftGetsASuccessor() throws IOException {
    team.file("sleep.yaml", "stage: data\nbackend: shell\nrun: sleep 1\nresources: {time: 1m}\n");
    assertThat(team.types(BOB, "submit", "--local", "sleep.yaml").exit()).isZero();
    team.shell("root", "chown -hR 54321 runs/*_* runs/open/* runs/manifests/*");

    String found = team.types(ANN, "doctor", "leftovers").out();

    assertThat(found).contains("belongs to the user id 54321, which has no account");
    typed(found, "chown ").forEach(line -> repair("root", line));
    assertThat(team.types(ANN, "doctor", "leftovers").exit()).isZero();
    assertThat(team.shell("root", "find runs -user 54321")).isEmpty();
  }

  @Test
  void aRecordOfAnotherOwnerThatBearsAMembersNameIsGivenToTheMember() throws IOException {
    team.file("ends.yaml", "stage: data\nbackend: shell\nrun: exit\nresources: {time: 1m}\n");
    assertThat(team.types(BOB, "submit", "--local", "--wait", "ends.yaml").exit()).isZero();
    team.shell("root", "chown -h " + ANN + " runs/latest." + BOB + " runs/ledger-*." + BOB + ".*");

    String found = team.types(BOB, "doctor", "workspace").out();

    assertThat(found).contains("2 failed", "/runs/latest." + BOB + " belongs to " + ANN);
    typed(found, "chown ").forEach(line -> repair("root", line));
    assertThat(team.types(BOB, "doctor", "workspace").exit()).isZero();
    assertThat(team.types(BOB, "submit", "--local", "--wait", "ends.yaml").exit()).isZero();
  }

  @Test
  void theFolderOfApprovalsIsOpenToMembers() throws IOException {
    String policy =
        "approval_over: {amount: 1, currency: USD}\n"
            + "approvals: {directory: %s, allowed_signers: %s}\n";
    Path root = team.workspace();
    team.file(
        "configs/policy.yaml",
        policy.formatted(root.resolve("approvals"), root.resolve("signers")));
    team.file("signers", "eve@site " + Keys.line(Keys.make(root, "key")) + "\n");
    team.shell(ANN, "mkdir -m 700 approvals");

    for (String user : List.of(ANN, BOB)) {
      String found = team.types(user, "doctor", "approvers").out();
      assertThat(found).contains("submits cannot count uses of approvals", ANN + " types it");
      typed(found, "chmod ").forEach(line -> repair(ANN, line));
      typed(found, "install ").forEach(line -> repair(ANN, line));
      for (String member : List.of(ANN, BOB)) {
        assertThat(team.types(member, "doctor", "approvers").out()).doesNotContain("cannot count");
      }
      team.shell(ANN, "chmod 2700 approvals");
    }
    team.shell(ANN, "chmod 0777 approvals approvals/used");
    String found = team.types(ANN, "doctor", "approvers").out();
    assertThat(found).contains("members can remove others' uses of approvals");
    typed(found, "install ").forEach(line -> repair(ANN, line));
    assertThat(team.types(ANN, "doctor", "approvers").out()).doesNotContain("can remove");
  }

  @Test
  void whoWasAddedAfterTheLoginIsNotToldToBeAdded() throws IOException {
    String early = "setpriv --reuid " + BOB + " --regid " + BOB + " --clear-groups ";

    assertThat(team.shell("root", early + team.command("doctor")))
        .contains("→ newgrp " + GROUP)
        .doesNotContain("usermod");
  }

  /** A checkout in a closed home: the folder that is closed is named, and not the workspace. */
  @Test
  void aLinkIntoAClosedFolderNamesThatFolder() throws IOException {
    team.shell(ANN, "mkdir -m 750 home && mv configs home/ && ln -s home/configs configs");
    team.shell("root", "chown " + EVE + ": home; chmod 700 home");

    String found = team.types(ANN, "doctor", "workspace", "policy").out();

    assertThat(found)
        .contains("you may not enter " + team.workspace() + "/home", "ask " + EVE + " to let you")
        .doesNotContain("you may not write to", "look what is there");
  }

  @Test
  void aRecordInAClosedFolderIsNotCalledLost() throws IOException {
    team.shell("root", "mkdir -m 700 home; touch home/ledger; chown -R " + EVE + ": home");
    team.shell(ANN, "ln -s ../home/ledger runs/ledger-2026-11.jsonl");
    assertThat(team.types(ANN, "doctor", "workspace").out())
        .contains("/runs/ledger-2026-11.jsonl is a link into a folder that is closed to you")
        .doesNotContain("where nothing is", "mv ");
  }

  @Test
  void anUnfinishedRunOfWhoHasLeftTheGroupGetsASuccessor() throws IOException {
    team.file("sleep.yaml", "stage: data\nbackend: shell\nrun: sleep 1\nresources: {time: 1m}\n");
    assertThat(team.types(BOB, "submit", "--local", "sleep.yaml").exit()).isZero();
    assertThat(team.types(ANN, "doctor", "leftovers").exit()).isZero();
    team.shell("root", "PATH=$PATH:/usr/sbin usermod -G '' " + BOB);

    String found = team.types(ANN, "doctor", "leftovers").out();

    assertThat(found).contains("belongs to " + BOB + ", who has left the group");
    typed(found, "chown ").forEach(line -> repair("root", line));
    assertThat(team.types(ANN, "doctor", "leftovers").exit()).isZero();
  }

  /** A colleague has frozen the folder: one command thaws all that passes write. */
  @Test
  void aFrozenWorkspaceIsThawedAtOnce() throws IOException {
    Path own = team.workspace().resolve("own");
    String at = "--workspace=" + own;
    team.file("ends.yaml", "stage: data\nbackend: shell\nrun: sleep 2\nresources: {time: 1m}\n");
    assertThat(team.types(ANN, at, "init").exit()).isZero();
    assertThat(team.types(ANN, at, "submit", "--local", "ends.yaml").err()).isEmpty();
    team.shell(ANN, "chmod -R a-w own");

    String found = team.types(ANN, at, "doctor", "workspace").out();

    assertThat(found).contains("1 failed");
    typed(found, "find ").forEach(line -> repair(ANN, line));
    for (String command : List.of("doctor workspace leftovers", "reconcile")) {
      CommandResult after = team.types(ANN, (at + " " + command).split(" "));
      assertThat(after.exit()).as("%s", after).isZero();
    }
    assertThat(team.types(ANN, at, "submit", "--local", "--wait", "ends.yaml").exit()).isZero();
  }

  /** A sticky folder keeps a member's file from all but the member, its own owner and root. */
  @Test
  void whatStandsInTheWayOfALinkIsMovedByWhoOwnsIt() throws IOException {
    team.shell(ANN, "mkdir runs/latest." + BOB);

    assertThat(team.types(BOB, "doctor", "workspace").out())
        .contains("next: ask " + ANN + ", who types: mv ");
  }

  @Test
  void runsThatCameToRootAreGivenBackAndRootsOwnAreNot() throws IOException {
    Path own = team.workspace().resolve("own");
    team.file("sleep.yaml", "stage: data\nbackend: shell\nrun: sleep 5\nresources: {time: 1m}\n");
    String at = "--workspace=" + own;
    assertThat(team.types(ANN, at, "init").exit()).isZero();
    assertThat(team.types(ANN, at, "storage", "init").exit()).isZero();
    assertThat(team.types(ANN, at, "submit", "--local", "sleep.yaml").err()).isEmpty();
    assertThat(team.types(ANN, at, "doctor", "leftovers").exit()).isZero();
    team.shell("root", "chown -R root: own/runs");
    team.shell("root", "chown root: own/configs/policy.yaml; chmod 600 own/configs/policy.yaml");
    String closed = team.types(ANN, at, "doctor", "workspace").out();
    assertThat(closed).contains("you cannot read " + own + "/configs/policy.yaml");
    typed(closed, "chown -h ").forEach(line -> repair("root", line));
    assertThat(team.shell(ANN, "head -c 1 own/configs/policy.yaml")).isNotEmpty();

    for (int i = 0; i < 2; i++) {
      String found = team.types(ANN, at, "doctor", "workspace", "leftovers").out();
      assertThat(found).contains("chown -hR " + ANN + ": " + own + "/runs");
      typed(found, "chown ").forEach(line -> repair("root", line));
      assertThat(team.types(ANN, at, "doctor", "workspace", "leftovers").exit()).isZero();
      assertThat(team.shell(ANN, "find own/runs -user root")).isEmpty();
      team.shell("root", "chown -R root: own/runs/*_*");
    }
    team.shell("root", "chown -R " + ANN + ": own/runs");
    assertThat(team.types("root", at, "doctor", "cron").out())
        .contains("the passes here are those of " + ANN);
    assertThat(team.types("root", at, "reconcile").exit()).isZero();
    assertThat(own.resolve(".nexa/heartbeat.json")).doesNotExist();
    team.shell(ANN, "chmod u+w own/runs/latest/plan.json; truncate -s 9 own/runs/latest/plan.json");
    assertThat(team.types(ANN, at, "doctor", "leftovers").out())
        .contains("1 failed", "/plan.json was changed after the submit", "explain file-changed");
    assertThat(team.types("root", at, "submit", "--local", "sleep.yaml").exit()).isZero();

    assertThat(team.types(ANN, at, "doctor", "leftovers").out())
        .contains("belongs to root, who submitted it")
        .doesNotContain("chown");
  }

  @Test
  void whereTheWorkspaceIsClosedTheOtherChecksAreMade() throws IOException {
    team.shell(ANN, "chmod 700 .");

    CommandResult looked = team.types(BOB, "doctor");

    assertThat(looked.exit()).as(looked.out()).isEqualTo(4);
    assertThat(looked.out()).contains("unknown  workspace ", "ok       slurm ");
  }

  /** What a finding says to type that begins so. */
  private static List<String> typed(String found, String begins) {
    return found
        .lines()
        .filter(line -> line.contains(": " + begins) || line.contains("→ " + begins))
        .map(line -> line.substring(line.indexOf(" " + begins) + 1))
        .toList();
  }

  private void repair(String user, String command) {
    try {
      assertThat(team.shell(user, command)).isEmpty();
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }
}
