package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.cluster.scheduler.slurm.SacctRows;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A job's life, made at random second by second, and its rows as Slurm prints them. What the job
 * held is known, because it was added up while it was made, and not from the rows.
 *
 * <p>Tasks wait, start, are suspended, shrink and grow, have a longer time limit, are requeued and
 * end. Other clusters of a federation had the job too. sacct prints the rows in any order, some of
 * them twice.
 */
final class SacctHistory {
  static final List<String> COLUMNS = columns();

  private static final String US = SacctRows.US;
  private static final long FIRST = Rows.NOON.getEpochSecond() + 60;
  private static final int GPUS = 2;
  private static final int CPUS = 4;
  private static final int GIB = 8;

  private final Random random;
  private final int tasks;
  private final List<Map<String, String>> rows = new ArrayList<>();
  private long nodeSeconds;
  private long wasted;
  private int resizes;

  SacctHistory(Random random, int tasks) {
    this.random = random;
    this.tasks = tasks;
    for (int task = 0; task < tasks; task++) {
      task(task);
    }
    for (int sibling = random.nextInt(4) == 0 ? 1 + random.nextInt(2) : 0; sibling > 0; sibling--) {
      for (int task = 0; task < tasks; task++) {
        revoked(task, "sister" + sibling);
      }
    }
  }

  /** Nodes times seconds; each node has the same GPUs, CPUs and memory. */
  long nodeSeconds() {
    return nodeSeconds;
  }

  /** Those of attempts that did not complete. */
  long wastedNodeSeconds() {
    return wasted;
  }

  int resizes() {
    return resizes;
  }

  static long gpus() {
    return GPUS;
  }

  static long cpus() {
    return CPUS;
  }

  static long gib() {
    return GIB;
  }

  private void task(int task) {
    long now = FIRST + random.nextInt(100);
    boolean again = true;
    while (again) {
      again = random.nextInt(3) == 0;
      long submit = now;
      // Slurm may start a job in the second in which it was queued.
      long start = submit + (long) random.nextInt(3) * random.nextInt(50);
      int asked = 1 + random.nextInt(4);
      int nodes = asked;
      long held = 0;
      long begun = start;
      for (int part = random.nextInt(3) == 0 ? random.nextInt(5) : 0; part >= 0; part--) {
        // Some have got a longer limit than the hour that was planned.
        long length = random.nextInt(20) == 0 ? random.nextInt(400_000) : random.nextInt(300);
        long suspended = random.nextInt(4) == 0 ? random.nextInt((int) length + 1) : 0;
        String state = part > 0 ? "RESIZING" : again ? "REQUEUED" : "COMPLETED";
        now = begun + length;
        held += nodes * (length - suspended);
        row(task, state, submit, start, now, suspended, nodes, asked);
        if (part > 0) {
          resizes++;
          nodes = 1 + random.nextInt(5);
          // The controller may take a second. No two rows of a job have the same Submit.
          begun = now + (now == submit || random.nextInt(3) == 0 ? 1 : 0);
          submit = begun;
        }
      }
      nodeSeconds += held;
      wasted += again ? held : 0;
      now += 1 + random.nextInt(200);
    }
  }

  private void row(
      int task,
      String state,
      long submit,
      long start,
      long end,
      long suspended,
      int nodes,
      int asked) {
    Map<String, String> cells = named(task, state, "nexa");
    cells.put("Submit", "" + submit);
    cells.put("Start", "" + start);
    cells.put("End", "" + end);
    cells.put("ElapsedRaw", "" + (end - start - suspended));
    cells.put(
        "Suspended",
        "%d-%02d:%02d:%02d"
            .formatted(
                suspended / 86_400, suspended / 3600 % 24, suspended / 60 % 60, suspended % 60));
    cells.put("NNodes", "" + nodes);
    cells.put("NodeList", "n[1-" + nodes + "]");
    cells.put("AllocCPUS", "" + CPUS * nodes);
    cells.put("AllocTRES", tres(nodes));
    cells.put("ReqTRES", tres(asked));
    rows.add(cells);
  }

  /** A row of one task that completed on one node, whose ElapsedRaw is what its times say. */
  static String row(long submit, long start, long end) {
    SacctHistory none = new SacctHistory(new Random(0), 0);
    none.row(0, "COMPLETED", submit, start, end, 0, 1, 1);
    none.rows.get(0).put("ElapsedRaw", "" + Math.max(0, end - start));
    return none.line(none.rows.get(0)) + "\n";
  }

  private String line(Map<String, String> row) {
    List<String> cells = new ArrayList<>();
    COLUMNS.forEach(column -> cells.add(row.getOrDefault(column, "")));
    return String.join(US, cells);
  }

  /** As fed_mgr_job_revoke in fed_mgr.c leaves it: with a start, and without an allocation. */
  private void revoked(int task, String cluster) {
    Map<String, String> cells = named(task, "REVOKED", cluster);
    cells.put("Submit", "" + FIRST);
    cells.put("Start", "" + (FIRST + 200));
    cells.put("End", "" + (FIRST + 200));
    cells.put("ElapsedRaw", "0");
    cells.put("Suspended", "00:00:00");
    cells.put("NNodes", "1");
    cells.put("NodeList", "None assigned");
    cells.put("AllocCPUS", "0");
    cells.put("AllocTRES", "");
    cells.put("ReqTRES", tres(1));
    rows.add(cells);
  }

  private static Map<String, String> named(int task, String state, String cluster) {
    Map<String, String> cells = new HashMap<>();
    cells.put("JobIDRaw", "" + (Rows.JOB + 1 + task));
    cells.put("JobID", Rows.JOB + "_" + task);
    cells.put("JobName", Rows.KEY);
    cells.put("Cluster", cluster);
    cells.put("User", "ada");
    cells.put("Account", "nlp");
    cells.put("Partition", "gpu");
    cells.put("State", state);
    cells.put("ExitCode", "0:0");
    cells.put("Reason", "None");
    return cells;
  }

  private static String tres(int nodes) {
    return "billing=%d,cpu=%d,gres/gpu:h100=%d,gres/gpu=%d,mem=%dG,node=%d"
        .formatted(CPUS * nodes, CPUS * nodes, GPUS * nodes, GPUS * nodes, GIB * nodes, nodes);
  }

  /** The rows in another order each time, some twice. */
  String printed() {
    List<String> lines = new ArrayList<>();
    for (Map<String, String> row : rows) {
      for (int times = random.nextInt(6) == 0 ? 2 + random.nextInt(2) : 1; times > 0; times--) {
        lines.add(line(row));
      }
    }
    Collections.shuffle(lines, random);
    return String.join("\n", lines) + "\n";
  }

  int tasks() {
    return tasks;
  }

  private static List<String> columns() {
    List<String> columns = new ArrayList<>(SacctText.FIELDS);
    columns.addAll(SacctText.CHECKS);
    return columns;
  }
}
