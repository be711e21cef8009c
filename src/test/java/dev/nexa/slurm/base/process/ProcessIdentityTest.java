package dev.nexa.slurm.base.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ProcessIdentityTest {

  @Test
  void thisProcessLives() {
    ProcessIdentity me = ProcessIdentity.ofThisProcess();

    assertThat(me.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(me.host()).isEqualTo(ProcessIdentity.localHost());
    assertThat(me.started()).isAfter(Instant.EPOCH);
    assertThat(me.alive()).contains(true);
  }

  @Test
  void aPidThatWasGivenAgainIsAnotherProcess() {
    ProcessIdentity me = ProcessIdentity.ofThisProcess();
    ProcessIdentity earlier =
        new ProcessIdentity(me.host(), me.pid(), me.started().minusSeconds(9));

    assertThat(earlier.alive()).contains(false);
  }

  @Test
  void anEndedProcessIsDead() throws IOException, InterruptedException {
    Process process = new ProcessBuilder("true").start();
    ProcessIdentity identity = ProcessIdentity.of(process.toHandle());
    process.waitFor();

    assertThat(identity.alive()).contains(false);
  }

  @Test
  void ofAnotherHostsProcessNothingIsKnown() {
    ProcessIdentity me = ProcessIdentity.ofThisProcess();

    assertThat(new ProcessIdentity("elsewhere", me.pid(), me.started()).alive()).isEmpty();
  }
}
