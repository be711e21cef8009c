package dev.nexa.slurm.command.workspace.doctor;

import static dev.nexa.slurm.command.Team.ANN;
import static dev.nexa.slurm.command.Team.BOB;
import static dev.nexa.slurm.command.Team.GROUP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.command.Team;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** ann owns the team's workspace, and bob is a member. Faults are planted in its modes. */
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
          .forEach(line -> repair(line.replaceFirst(".*→ ", "")));
      assertThat(team.types(ANN, "init", "--group", GROUP).exit()).as(plant).isZero();
      assertThat(team.types(BOB, "doctor", "workspace", "team").exit()).as(plant).isZero();
    }
  }

  @Test
  void whereTheWorkspaceIsClosedTheOtherChecksAreMade() throws IOException {
    team.shell(ANN, "chmod 700 .");

    CommandResult looked = team.types(BOB, "doctor");

    assertThat(looked.exit()).as(looked.out()).isEqualTo(4);
    assertThat(looked.out()).contains("unknown  workspace ", "ok       slurm ");
  }

  private void repair(String command) {
    try {
      team.shell(ANN, command);
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }
}
