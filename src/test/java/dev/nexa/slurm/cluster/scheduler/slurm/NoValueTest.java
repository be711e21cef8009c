package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Slurm's words and numbers for "no value", and what is no value at all, in each place of what
 * slurmctld printed: no reader falls over, and the other jobs are read as before.
 */
class NoValueTest {
  private static final String SHOWN =
      DurableFiles.read(
          Path.of("src/test/resources/scontrol/22.05.8-show-job-without-accounting.txt"));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "4294967294",
        "4294967295",
        "18446744073709551614",
        "18446744073709551615",
        "65534",
        "-1",
        "",
        "0",
        "N/A",
        "Unknown",
        "UNLIMITED",
        "None",
        "NONE",
        "INVALID",
        "(null)",
        "[0-3%2]",
        "0-3%2",
        "0,2",
        "0-2,...",
        "1e9",
        "garbage",
        "99999999999999999999999999"
      })
  void inNoPlaceDoesItHoldUpTheOtherJobs(String value) {
    List<String> lines = SHOWN.lines().filter(line -> !line.isBlank()).toList();
    List<ControllerJob> whole = JobText.read(SHOWN);
    for (String key : keys(lines.get(0))) {
      List<String> broken = new ArrayList<>(lines);
      broken.set(0, lines.get(0).replaceAll("(?<= |^)" + key + "=\\S*", key + "=" + quoted(value)));
      List<ControllerJob> read = JobText.read(String.join("\n", broken));
      assertThat(read).as(key).containsAll(whole.subList(1, whole.size()));
    }
    String[] fields = {"101", "100", "1", "RUNNING", "None", "1795267908", "1795267999", "ours"};
    String other = "7\u001f7\u001f0\u001fPENDING\u001fNone\u001fN/A\u001fN/A\u001fother\n";
    for (int i = 0; i < fields.length; i++) {
      String[] broken = fields.clone();
      broken[i] = value;
      List<QueueEntry> read = SqueueText.read(String.join("\u001f", broken) + "\n" + other);
      assertThat(read).as("column %s", i).extracting(QueueEntry::name).contains("other");
    }
  }

  private static String quoted(String value) {
    return java.util.regex.Matcher.quoteReplacement(value);
  }

  private static List<String> keys(String line) {
    List<String> keys = new ArrayList<>();
    for (String word : line.split(" +", -1)) {
      int equals = word.indexOf('=');
      if (equals > 0 && word.substring(0, equals).chars().allMatch(Character::isLetter)) {
        keys.add(word.substring(0, equals));
      }
    }
    assertThat(keys).contains("JobId", "ArrayTaskId", "Restarts", "NumNodes", "StartTime");
    return keys;
  }
}
