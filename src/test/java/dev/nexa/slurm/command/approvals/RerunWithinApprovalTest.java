package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.money.ledger.Lines;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * `rerun --failed` under one approval, against a model that knows only seconds and two prices. The
 * fake Slurm says of each task what the model says: it runs, or it ended after so many seconds.
 */
@Tag("long")
class RerunWithinApprovalTest {
  private static final int SEEDS = 8;
  private static final int TASKS = 8;
  private static final long FIRST_JOB = 4711;
  private static final BigDecimal CPU_HOUR = new BigDecimal("0.04");
  private static final BigDecimal GIB_HOUR = new BigDecimal("0.005");

  @TempDir Path temporary;
  private Path folder;
  private Site site;
  private Terminal ada;

  @BeforeEach
  void goToWork() throws IOException {
    goToWork("once");
  }

  private void goToWork(String name) throws IOException {
    folder = Files.createDirectory(temporary.resolve(name));
    site = new Site(folder);
    ada = site.workspace("ada");
    // A rerun below the limit needs no approval, like any run below it. Here none is below it.
    Path policy = ada.workspace.resolve("configs/policy.yaml");
    Site.write(policy, DurableFiles.read(policy).replace("amount: 1.00", "amount: 0.10"));
    ada.program(
        "sbatch",
        "n=$(/bin/cat $HOME/jobs 2>/dev/null || echo "
            + (FIRST_JOB - 100)
            + "); n=$((n + 100)); echo $n >$HOME/jobs\n"
            + """
            for a in "$@"; do
              case $a in
              --job-name=*) key=${a#*=}; echo $key >$HOME/key.$n ;;
              --array=*) tasks=${a#*=} ;;
              esac
            done
            IFS=,
            for range in ${tasks%%%%*}; do
              task=${range%%-*}
              while [ $task -le ${range#*-} ]; do
                printf '%s\\037%s\\037%s\\037RUNNING\\037None\\037N/A\\037N/A\\037%s\\n' \
                  $((n + 1 + task)) $n $task $key >>$HOME/new
                task=$((task + 1))
              done
            done
            echo $n
            """);
    ada.program("squeue", "[ ! -e $HOME/new ] || /bin/cat $HOME/new");
  }

  /** One attempt of a task; it is open until it has seconds. */
  private static final class Attempt {
    final long job;
    final int task;
    long seconds = -1;

    Attempt(long job, int task) {
      this.job = job;
      this.task = task;
    }
  }

  /** All failed after a second: the rerun costs what the run could cost, and a second more. */
  @Test
  void afterAnEarlyFailureNoSecondApprovalIsNeeded() throws IOException {
    approve();
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    List<Attempt> attempts = attempts(FIRST_JOB, List.of(0, 1, 2, 3, 4, 5, 6, 7));
    attempts.forEach(attempt -> attempt.seconds = 60);
    settle(attempts);

    Screen again = ada.type("rerun", "latest", "--failed");

    assertThat(again.exit()).as(again.err()).isZero();
    assertThat(ada.type("approvals", "list").out()).contains("used up  1/1");
  }

  /** The money of tasks that have not ended is theirs: no other task may run for it. */
  @Test
  void whatOpenTasksCanCostIsNotSpentOnReruns() throws IOException {
    approve();
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    List<Attempt> attempts = attempts(FIRST_JOB, List.of(0, 1, 2, 3, 4, 5, 6, 7));
    attempts.get(0).seconds = 5 * 3600;
    settle(attempts);

    Screen again = ada.type("rerun", "latest", "--failed");

    assertThat(again.exit()).as(again.toString()).isEqualTo(3);
    assertThat(again.err())
        .contains(
            "the run has cost 0.22 USD, its open tasks can cost 1.59 USD more, this can cost");
  }

  /** With its rerun a run is in one group: of the approval that allowed all of its cost. */
  @Test
  void costsAreGroupedByTheNewestApprovalOfARun() throws IOException {
    Lines.write(ada.workspace, "2025-10", Lines.line("'run_id': 'data_1', 'currency': 'USD'"));
    String first = approve().text("approval_id");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    List<Attempt> attempts = new ArrayList<>(attempts(FIRST_JOB, List.of(0, 1, 2, 3, 4, 5, 6, 7)));
    attempts.forEach(attempt -> attempt.seconds = 5 * 3600);
    settle(attempts);
    assertThat(runsByApproval()).containsExactly(first + ",USD,1", "-,USD,1");

    String second = approve("--again", "--up-to", "4").text("approval_id");
    Screen again = ada.type("rerun", "latest", "--failed");
    assertThat(again.exit()).as(again.err()).isZero();
    assertThat(ada.type("runs", "list", "--where", "approval=" + second, "--json").out())
        .contains("\"run_id\"");
    List<Attempt> more = attempts(FIRST_JOB + 100, List.of(0, 1, 2, 3, 4, 5, 6, 7));
    more.forEach(attempt -> attempt.seconds = 60);
    attempts.addAll(more);
    settle(attempts);

    assertThat(runsByApproval()).containsExactly(second + ",USD,1", "-,USD,1");
    assertThat(ada.type("costs", "--where", "approval=" + first).out())
        .contains("approval: no run has '" + first + "'; there is " + second);
  }

  /** Returns the first cells of each group: the approval, the currency and the number of runs. */
  private List<String> runsByApproval() {
    return ada.type("costs", "--by", "approval", "--format", "csv")
        .out()
        .lines()
        .skip(1)
        .map(line -> line.replaceFirst("((?:[^,]*,){2}[^,]*),.*", "$1"))
        .toList();
  }

  @Test
  void noSequenceOfFailuresAndRerunsCostsMoreThanWasApproved() throws IOException {
    int accepted = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      goToWork("seed" + seed);
      accepted += sequence(seed);
    }
    assertThat(accepted).isGreaterThan(SEEDS);
  }

  /** Returns how many reruns the run's approval covered. */
  private int sequence(long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    BigDecimal limit = new BigDecimal("1.85").add(BigDecimal.valueOf(seed * 20, 2));
    BigDecimal approved = new BigDecimal(approve("--up-to", limit.toString()).text("max_cost"));
    JsonObject submitted = ada.type("submit", "run.yaml", "--json").json();
    long longest = submitted.object("estimate").number("longest_attempt_seconds");
    List<Attempt> attempts = new ArrayList<>(attempts(FIRST_JOB, List.of(0, 1, 2, 3, 4, 5, 6, 7)));
    long job = FIRST_JOB;
    int accepted = 0;
    for (int round = 0; round < 12; round++) {
      for (Attempt attempt : attempts) {
        // Many fail at once, some late; each is a failure.
        if (attempt.seconds < 0 && random.nextInt(3) == 0) {
          attempt.seconds =
              random.nextInt(3) == 0 ? random.nextLong(longest) : random.nextLong(120);
        }
      }
      settle(attempts);
      List<Integer> failed = failed(attempts);
      if (failed.isEmpty()) {
        continue;
      }
      BigDecimal spent = spent(attempts);
      BigDecimal open = money((TASKS - failed.size()) * longest);
      BigDecimal most = spent.add(open).add(money(failed.size() * longest));

      Screen again = ada.type("rerun", "latest", "--failed");

      if (again.err().contains("[run-not-settled]")) {
        continue; // Nothing is known of the newest job until one of its tasks has ended.
      }
      String what = "seed " + seed + ", round " + round + ": " + most + " of " + approved;
      assertThat(again.exit())
          .as(what + "\n" + again.err())
          .isEqualTo(most.compareTo(approved) <= 0 ? 0 : 3);
      if (again.exit() == 0) {
        accepted++;
        job += 100;
        attempts.addAll(attempts(job, failed));
      }
    }
    for (Attempt attempt : attempts) {
      attempt.seconds = attempt.seconds < 0 ? longest : attempt.seconds;
    }
    settle(attempts);
    assertThat(spent(attempts)).isLessThanOrEqualTo(approved);
    return accepted;
  }

  /** Returns the signed statement. */
  private JsonObject approve(String... terms) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "approve",
                "--yes",
                "run.yaml",
                "--for",
                Site.ME,
                "--key",
                "" + site.boss,
                "--json"));
    command.addAll(List.of(terms));
    Screen signed = ada.type(command.toArray(String[]::new));
    assertThat(signed.exit()).as(signed.err()).isZero();
    return signed.json().object("statement");
  }

  private static List<Attempt> attempts(long job, List<Integer> tasks) {
    return tasks.stream().map(task -> new Attempt(job, task)).toList();
  }

  private static List<Integer> failed(List<Attempt> attempts) {
    List<Integer> failed = new ArrayList<>();
    for (int task = 0; task < TASKS; task++) {
      Attempt last = null;
      for (Attempt attempt : attempts) {
        last = attempt.task == task ? attempt : last;
      }
      if (last != null && last.seconds >= 0) {
        failed.add(task);
      }
    }
    return failed;
  }

  private static BigDecimal spent(List<Attempt> attempts) {
    long seconds = 0;
    for (Attempt attempt : attempts) {
      seconds += Math.max(0, attempt.seconds);
    }
    return money(seconds);
  }

  /** What one CPU and one GiB cost for so long: two lines, each rounded once. */
  private static BigDecimal money(long seconds) {
    BigDecimal cpu = CPU_HOUR.multiply(BigDecimal.valueOf(seconds));
    BigDecimal memory = GIB_HOUR.multiply(BigDecimal.valueOf(seconds));
    BigDecimal hour = BigDecimal.valueOf(3600);
    return cpu.divide(hour, 2, RoundingMode.HALF_EVEN)
        .add(memory.divide(hour, 2, RoundingMode.HALF_EVEN));
  }

  /** Makes squeue list the open attempts, and sacct the others; then makes a pass. */
  private void settle(List<Attempt> attempts) throws IOException {
    StringBuilder queue = new StringBuilder();
    StringBuilder rows = new StringBuilder();
    for (Attempt attempt : attempts) {
      String key = Files.readString(folder.resolve("ada/key." + attempt.job)).strip();
      if (attempt.seconds < 0) {
        queue.append(Terminal.queueRow(attempt.job, attempt.task, "RUNNING", "None", key) + "\n");
      }
      boolean open = attempt.seconds < 0;
      String end = open ? "Unknown" : "" + (1762000000 + attempt.seconds);
      rows.append(
          Terminal.accountingRow(attempt.job, attempt.task, open ? "RUNNING" : "FAILED", key)
                  .replace("1762003600", end)
                  .replace("\u001f3600\u001f", "\u001f" + Math.max(0, attempt.seconds) + "\u001f")
              + "\n");
    }
    // A job that was submitted since is in the queue too.
    Files.deleteIfExists(folder.resolve("ada/new"));
    ada.program("squeue", queue + "[ ! -e $HOME/new ] || /bin/cat $HOME/new");
    ada.program("sacct", rows.toString());
    Screen pass = ada.type("reconcile");
    assertThat(pass.exit()).as(pass.toString()).isZero();
  }
}
