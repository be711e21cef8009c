package dev.nexa.slurm.base.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessTableTest {
  /** A bash that killed itself with signal 9, under a parent that does not wait for it. */
  private static final String ZOMBIE =
      "23620 (bash) Z 23617 23620 23617 0 -1 4228108 293 722 0 2 0 0 0 0 20 0 1 0 212581 0 0"
          + " 18446744073709551615 0 0 0 0 0 0 0 6 65536 1 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 9\n";

  @Test
  void readsAStatLine() {
    ProcessTable.Entry entry = ProcessTable.parse(ZOMBIE);
    assertThat(entry).isEqualTo(new ProcessTable.Entry(23620, 'Z', 23617, 23617, 1, 212581, 9));
    assertThat(entry.dead()).isTrue();
  }

  @Test
  void isNotFooledByNames() {
    String odd = ZOMBIE.replace("(bash)", "(a) S 1 (b) 2)");
    assertThat(ProcessTable.parse(odd)).isEqualTo(ProcessTable.parse(ZOMBIE));
  }

  @Test
  void takesALeaderWithLivingThreadsForAlive() {
    assertThat(ProcessTable.parse(ZOMBIE.replace(" 20 0 1 0 ", " 20 0 3 0 ")).dead()).isFalse();
  }

  @Test
  void knowsThisProcess() {
    long pid = ProcessHandle.current().pid();
    assertThat(ProcessTable.read(pid)).hasValueSatisfying(us -> assertThat(us.dead()).isFalse());
    assertThat(ProcessTable.hasVariable(pid, "PATH=" + System.getenv("PATH"))).isTrue();
    assertThat(ProcessTable.hasVariable(pid, "ATH=" + System.getenv("PATH"))).isFalse();
  }
}
