package dev.nexa.slurm.job.config.foreign;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

/**
 * Scripts with random {@code #SBATCH} lines, written as people write them, and options typed before
 * them. A row of a table is how many of 1000 scripts have the option, its short name or a dot, its
 * long name, and its values; a bare {@code -} stands for no value.
 *
 * <p>The frequencies are those of 695 scripts in 87 public repositories, counted in November 2026;
 * an option that none of them has gets 4.
 */
final class RandomHeaders {
  private static final String COUNTED =
      """
      788 t time            5 17 2:30 1-0 1-02 0-01:30:00 12:00:00 24:00:00
      659 N nodes           1 1 1 1 1 1 2 2 2 4 2-2 1-2 2-4
      614 p partition       gpu gpu gpu cpu cpu,gpu
      609 o output          x-%j.out logs/%x_%A.log
      594 J job-name        a a\\#b x'y,z'w a#b long.name_of-it
      518 c cpus-per-task   1 2 3 4 8
      447 . ntasks-per-node 1 1 1 2 2 4 8
      364 . mem             100 200M 4G 2000K 16GB 0
      354 A account         lab
      298 e error           x-%j.err
      276 . gres            gpu:1 gpu:1 gpu:2 gpu:4 gpu:8 gpu gpu:h100:1 gpu:h100 gpu:0
      259 n ntasks          1 1 1 2 4 8
      184 . gpus-per-node   1 1 2 4 8 h100:2
      170 . exclusive       - - - - - user
      117 C constraint      a a b a|b [a|b] a&b
      89  q qos             normal
      85  . mail-type       END BEGIN,END,FAIL ALL
      79  . hint            nomultithread nomultithread multithread
      76  . mem-per-cpu     300 500M 2G
      69  G gpus            1 1 2 4 h100:2
      50  . reservation     held
      46  . gpus-per-task   1 1 2 h100:1
      45  . mem-per-gpu     300 1G
      40  a array           0-3 0-4%2 0,1,2 0 1-4
      36  . mail-user       ada@lab.test
      33  . open-mode       append truncate
      29  . requeue         -
      23  x exclude         p4 p[3-4]
      22  O overcommit      -
      16  . no-requeue      -
      14  . comment         c '-t 9'
      14  . wait-all-nodes  1 0
      10  . signal          USR1@60 B:USR1@120 B:10
      9   . cpus-per-gpu    2 4
      7   d dependency      singleton
      6   . ntasks-per-gpu  1 2
      4   . ntasks-per-core 1 2
      4   D chdir           /tmp
      3   . gpu-bind        closest none
      3   . parsable        -
      3   . tmp             100
      3   w nodelist        p1 p[1-2] p1,p2
      3   . ntasks-per-socket 1 2
      """;

  private static final String OTHERS =
      """
      . tasks-per-node 1 2
      b begin now+1hour 2037-01-01T00:00:00
      . deadline 2037-01-02T00:00:00
      . switches 1 2@10:00
      . nice - 5
      m distribution block:cyclic arbitrary cyclic
      . mincpus 2 4
      . threads-per-core 1
      B extra-node-info 1 1:2 1:2:1
      L licenses matlab matlab:2
      . contiguous -
      . spread-job -
      . use-min-nodes -
      . mem-bind local none
      . cpu-freq performance
      S core-spec 1
      . thread-spec 1
      . gres-flags enforce-binding disable-binding
      . delay-boot 10
      . time-min 1
      . priority 100
      k no-kill - off
      s oversubscribe -
      . kill-on-invalid-dep yes no
      . profile none
      . acctg-freq 30
      . reboot -
      . prefer a
      . gpus-per-socket 1
      . gpu-freq high
      . exclusive mcs
      H hold -
      . wckey w
      . propagate NONE
      . export ALL NONE
      Q quiet -
      v verbose -
      . network x
      """;

  /** What sbatch takes on the command line, and the same for us. */
  private static final List<List<String>> TYPED =
      List.of(
          List.of("--time=20", "--time=20m"),
          List.of("--nodes=2", "--nodes=2"),
          List.of("--cpus-per-task=3", "--cpus=3"),
          List.of("--mem=300M", "--mem=300M"),
          List.of("--partition=cpu", "--partition=cpu"),
          List.of("--account=other", "--account=other"),
          List.of("--ntasks=4", "--set=resources.ntasks=4"),
          List.of("--ntasks-per-node=2", "--set=resources.ntasks_per_node=2"),
          List.of("--mem-per-cpu=200M", "--set=resources.memory_per_cpu=200M"),
          List.of("--mem-per-gpu=900M", "--set=resources.memory_per_gpu=900M"),
          List.of("--hint=nomultithread", "--set=resources.hint=nomultithread"),
          List.of("--constraint=b", "--set=resources.constraint=b"),
          List.of("--exclude=p3", "--set=resources.exclude=p3"),
          List.of("--licenses=matlab:1", "--set=resources.licenses=matlab:1"),
          List.of("--exclusive", "--set=resources.exclusive=true"));

  private static final List<Row> ROWS = rows();

  private record Row(int perMille, String letter, String name, List<String> values) {}

  /**
   * A script, and what is typed before it.
   *
   * @param theirs options of sbatch
   * @param ours the same of ours
   */
  record Job(String script, List<String> theirs, List<String> ours) {
    @Override
    public String toString() {
      return "sbatch " + theirs + ", ours " + ours + "\n" + script;
    }
  }

  private final Random random;

  RandomHeaders(Random random) {
    this.random = random;
  }

  private static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (String line : (COUNTED + OTHERS.replaceAll("(?m)^", "4 ")).split("\n", -1)) {
      List<String> cells = List.of(line.split(" +", -1));
      if (cells.size() > 3) {
        List<String> values = cells.subList(3, cells.size());
        rows.add(new Row(Integer.parseInt(cells.get(0)), cells.get(1), cells.get(2), values));
      }
    }
    return List.copyOf(rows);
  }

  Job next() {
    List<String> options = new ArrayList<>();
    for (Row row : ROWS) {
      // One in 50 is there twice: the later one wins.
      for (int n = percent(2) ? 2 : 1; n > 0; n--) {
        if (random.nextInt(1000) < row.perMille()) {
          options.add(option(row));
        }
      }
    }
    Collections.shuffle(options, random);
    List<String> theirs = new ArrayList<>();
    List<String> ours = new ArrayList<>();
    for (int n = percent(20) ? 1 + random.nextInt(2) : 0; n > 0; n--) {
      List<String> typed = TYPED.get(random.nextInt(TYPED.size()));
      theirs.add(typed.get(0));
      ours.add(typed.get(1));
    }
    return new Job(script(options), theirs, ours);
  }

  private String script(List<String> options) {
    StringBuilder script = new StringBuilder("#!/bin/bash\n");
    for (int at = 0; at < options.size(); ) {
      // sbatch reads a line only if it begins so.
      script.append(percent(3) ? one("# SBATCH ", "  #SBATCH ", "##SBATCH ") : "#SBATCH");
      script.append(percent(90) ? " " : one("\t", "  ", "    "));
      int end = Math.min(options.size(), at + (percent(10) ? 2 + random.nextInt(2) : 1));
      script.append(String.join(one(" ", "  "), options.subList(at, end)));
      script.append(percent(8) ? one(" # -t 44", "   # a comment", " ", "\t#!") : "").append('\n');
      script.append(percent(8) ? one("\n", "# a comment\n", "   # another one\n") : "");
      at = end;
    }
    return script + "\nsrun true\n#SBATCH -t 55\n";
  }

  private String option(Row row) {
    String value = row.values().get(random.nextInt(row.values().size()));
    boolean isShort = !row.letter().equals(".") && percent(35);
    String name = isShort ? "-" + row.letter() : "--" + (percent(2) ? shortened(row) : row.name());
    if (value.equals("-")) {
      return name;
    }
    if (percent(4) && Pattern.matches("[\\w%.:,|&\\[\\]-]+", value)) {
      value = one("\"", "'").equals("'") ? "'" + value + "'" : "\"" + value + "\"";
    }
    boolean needsSign = ScriptOption.named(row.name()).get(0).argument() == '?';
    String gap = needsSign ? "" : percent(isShort ? 75 : 8) ? " " : "";
    return name + (gap.isEmpty() && !isShort ? "=" : gap) + value;
  }

  /** Returns the name without its last letters, as far as it is still the only such name. */
  private static String shortened(Row row) {
    String name = row.name();
    while (ScriptOption.named(name.substring(0, name.length() - 1)).size() == 1) {
      name = name.substring(0, name.length() - 1);
    }
    return name;
  }

  private boolean percent(int percent) {
    return random.nextInt(100) < percent;
  }

  private String one(String... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
