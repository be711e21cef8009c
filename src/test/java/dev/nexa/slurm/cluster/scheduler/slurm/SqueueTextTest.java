package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SqueueTextTest {

  @Test
  void eachTaskIsAnEntry() {
    String text =
        line("2881", "2878", "1", "RUNNING", "None", "1795267908", "1795267999", "train_1.abc")
            + line(
                "2878", "2878", "3", "PENDING", "JobArrayTaskLimit", "N/A", "N/A", "train_1.abc");

    assertThat(SqueueText.read(text))
        .containsExactly(
            new QueueEntry(
                2881,
                2878,
                1,
                JobState.RUNNING,
                "None",
                Optional.of(Instant.ofEpochSecond(1795267908L)),
                Optional.of(Instant.ofEpochSecond(1795267999L)),
                "train_1.abc"),
            new QueueEntry(
                2878,
                2878,
                3,
                JobState.PENDING,
                "JobArrayTaskLimit",
                Optional.empty(),
                Optional.empty(),
                "train_1.abc"));
  }

  @Test
  void aJobThatIsNoArrayHasNoTask() {
    assertThat(SqueueText.read(line("7", "7", "N/A", "RUNNING", "None", "N/A", "N/A", "shell")))
        .extracting(QueueEntry::task)
        .containsExactly(0);
  }

  @Test
  void aComponentOfAHeterogeneousJobIsATask() {
    assertThat(SqueueText.read(line("8", "7+1", "N/A", "RUNNING", "None", "N/A", "N/A", "two")))
        .extracting(QueueEntry::rawJobId, QueueEntry::arrayJobId, QueueEntry::task)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(8L, 7L, 1));
  }

  @Test
  void aNameMayHoldAnything() {
    List<QueueEntry> entries =
        SqueueText.read(
            line("7", "7", "0", "PENDING", "None", "N/A", "N/A", "a\u001fb|c")
                + line("8", "8", "0", "PENDING", "None", "N/A", "N/A", "two\nlines"));

    assertThat(entries).extracting(QueueEntry::name).containsExactly("a\u001fb|c", "two");
  }

  @Test
  void headingsAndEmptyLinesAreNoEntries() {
    assertThat(SqueueText.read("CLUSTER: nexa\n\n")).isEmpty();
    assertThat(SqueueText.read("")).isEmpty();
  }

  @Test
  void aJobCanHideOnlyInALineWithTheDelimiter() {
    String whole = line("7", "7", "0", "PENDING", "None", "N/A", "N/A", "two\nlines");
    String cut = whole.substring(0, 20);
    String noId = line("job 7", "7", "0", "PENDING", "None", "N/A", "N/A", "train");

    assertThat(SqueueText.broken("CLUSTER: nexa\nThe cluster stops at 18:00.\n" + whole)).isEmpty();
    assertThat(SqueueText.odd("CLUSTER: nexa\n" + whole)).isEmpty();
    assertThat(SqueueText.odd("lines\n" + whole)).contains("lines");
    assertThat(SqueueText.odd(whole + "CLUSTER: other\nlines")).contains("lines");
    assertThat(SqueueText.odd(whole + cut)).contains(cut);
    assertThat(SqueueText.broken(whole + cut)).contains(cut);
    assertThat(SqueueText.broken(whole + noId)).contains(noId.strip());
  }

  private static String line(String... fields) {
    return String.join("\u001f", fields) + "\n";
  }
}
