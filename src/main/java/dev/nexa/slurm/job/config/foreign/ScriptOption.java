package dev.nexa.slurm.job.config.foreign;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * An option of sbatch, and its treatment in the {@code #SBATCH} lines of a script. An option that
 * changes what runs, where it runs or what it costs is taken or refused.
 *
 * @param name its long name, without dashes
 * @param letter its short name; a dot for none
 * @param argument {@code =} if it needs a value, {@code ?} if the value may be missing and is never
 *     the next word, {@code -} if it has none
 * @param ours the option or key of ours that says the same; if a person types that, the line does
 *     not count. A text that ends with a dot is the beginning of keys. Empty for none
 * @param remark why a note is enough, or what to do if the option is refused; may be empty
 */
record ScriptOption(
    String name, String letter, char argument, Fate fate, String ours, String remark) {
  /** The ways to treat an option. */
  enum Fate {
    TAKE,
    NOTE,
    REFUSE
  }

  /** The options of sbatch 22.05 and 24.11, and Pyxis' option for the image. */
  private static final String TABLE =
      """
      account             A = TAKE   --account             |
      acctg-freq          . = NOTE   .                     | Slurm samples the job as often as its settings say
      array               a = TAKE   --array               |
      begin               b = REFUSE .                     | delete this line, and submit at that time
      chdir               D = TAKE   workdir               |
      cluster             . = REFUSE --cluster             | type --cluster NAME, the profile of that cluster
      clusters            M = REFUSE --cluster             | type --cluster NAME, the profile of that cluster
      comment             . = NOTE   .                     | nexa-slurm writes its own
      constraint          C = TAKE   resources.constraint  |
      container           . = REFUSE software.container    | type --set software.container=IMAGE
      container-image     . = REFUSE software.container    | type --set software.container=IMAGE
      cpus-per-gpu        . = REFUSE --cpus                | type --cpus N, the CPUs on each node
      cpus-per-task       c = TAKE   --cpus                |
      dependency          d = REFUSE --dependency          | type --dependency TYPE:RUN
      error               e = NOTE   .                     | nexa-slurm logs RUN prints it
      exclude             x = TAKE   resources.exclude     |
      exclusive           . ? TAKE   resources.exclusive   | write #SBATCH --exclusive, which asks for whole nodes
      export              . = REFUSE env.                  | type --set env.NAME=VALUE for each variable
      export-file         . = REFUSE env_file              | type --set env_file=FILE
      get-user-env        . ? REFUSE .                     | for a login shell write #!/bin/bash -l in the first line
      gpus                G = REFUSE --gpus                |
      gpus-per-node       . = TAKE   --gpus                |
      gpus-per-socket     . = REFUSE --gpus                |
      gpus-per-task       . = REFUSE --gpus                |
      gres                . = TAKE   --gpus                |
      help                h - NOTE   .                     | sbatch ignores it, too
      hold                H - REFUSE .                     | delete this line, and submit when the job may start
      ignore-pbs          . - NOTE   .                     | nexa-slurm reads no #PBS lines
      input               i = REFUSE .                     | redirect the input in the script
      job-name            J = TAKE   --name                |
      kill-on-invalid-dep . = NOTE   .                     | nexa-slurm watches its dependencies
      licenses            L = TAKE   resources.licenses    |
      mail-type           . = TAKE   mail.type             | type --set mail.user=ADDRESS --set mail.type=EVENTS
      mail-user           . = TAKE   mail.user             | type --set mail.user=ADDRESS --set mail.type=EVENTS
      mem                 . = TAKE   --mem                 |
      mem-per-cpu         . = REFUSE --mem                 | type --mem SIZE, the memory on each node
      mem-per-gpu         . = REFUSE --mem                 | type --mem SIZE, the memory on each node
      mincpus             . = REFUSE --cpus                | type --cpus N, the CPUs on each node
      nice                . ? NOTE   .                     | the job has the usual priority
      no-requeue          . - TAKE   --requeue             |
      nodefile            F = REFUSE resources.nodelist    | type --set resources.nodelist=NODES
      nodelist            w = TAKE   resources.nodelist    |
      nodes               N = TAKE   --nodes               | type --nodes N, one number of nodes
      ntasks              n = REFUSE .                     | TASKS
      ntasks-per-core     . = REFUSE .                     | TASKS
      ntasks-per-gpu      . = REFUSE .                     | TASKS
      ntasks-per-node     . = REFUSE .                     | TASKS
      ntasks-per-socket   . = REFUSE .                     | TASKS
      ntasks-per-tres     . = REFUSE .                     | TASKS
      open-mode           . = NOTE   .                     | nexa-slurm logs RUN prints all attempts
      output              o = NOTE   .                     | nexa-slurm logs RUN prints it
      parsable            . - NOTE   .                     | type --json
      partition           p = TAKE   --partition           |
      prefer              . = REFUSE resources.constraint  | type --set resources.constraint=FEATURES
      priority            . = NOTE   .                     | the job has the usual priority
      profile             . = NOTE   .                     | nexa-slurm monitor shows the use of the nodes
      propagate           . ? REFUSE .                     | set the limits in the script, with ulimit
      qos                 q = TAKE   resources.qos         |
      quiet               Q - NOTE   .                     | it changes only what sbatch prints
      requeue             . - TAKE   --requeue             |
      reservation         . = TAKE   resources.reservation |
      signal              . = REFUSE warn_before_end       | type --set warn_before_end=TIME --set requeues=1; the script gets SIGTERM
      tasks-per-node      . = REFUSE .                     | TASKS
      test-only           . - REFUSE .                     | delete this line, and type --dry-run
      time                t = TAKE   --time                |
      time-min            . = REFUSE --time                | type --time LIMIT
      usage               . - NOTE   .                     | sbatch ignores it, too
      use-min-nodes       . - NOTE   .                     | nexa-slurm asks for one number of nodes
      verbose             v - NOTE   .                     | it changes only what sbatch prints
      version             V - NOTE   .                     | sbatch ignores it, too
      wait                W - NOTE   .                     | type --wait
      wrap                . = REFUSE .                     | delete this line; the script itself runs
      """;

  /** The others, all refused: the name, the letter behind a comma, and the argument. */
  private static final String OTHERS =
      """
      autocomplete= batch= bb= bbf= cluster-constraint= container-id= context= contiguous-
      core-spec,S= cores-per-socket= cpu-freq= deadline= delay-boot= distribution,m=
      extra= extra-node-info,B= gid= gpu-bind= gpu-freq= gres-flags= hint= mcs-label=
      mem-bind= network= no-kill,k? oom-kill-step? overcommit,O- oversubscribe,s- power=
      reboot- resv-ports? segment= sockets-per-node= spread-job- stepmgr- switches=
      thread-spec= threads-per-core= tmp= tres-bind= tres-per-task= uid= wait-all-nodes=
      wckey=
      """;

  private static final String TASKS =
      "delete this line, write the CPUs of all tasks of a node in --cpus-per-task, and name the tasks"
          + " where they start: srun --ntasks=N --ntasks-per-node=N --cpus-per-task=N";

  /** All options. */
  static final List<ScriptOption> ALL = read();

  private static List<ScriptOption> read() {
    List<ScriptOption> options = new ArrayList<>();
    for (String line : TABLE.split("\n", -1)) {
      String[] halves = line.split("\\|", 2);
      String[] cells = halves[0].strip().split(" +", 5);
      if (halves.length == 2) {
        Fate fate = Fate.valueOf(cells[3]);
        String ours = cells[4].equals(".") ? "" : cells[4];
        String remark = halves[1].strip().replace("TASKS", TASKS);
        options.add(new ScriptOption(cells[0], cells[1], cells[2].charAt(0), fate, ours, remark));
      }
    }
    for (String word : OTHERS.strip().split("\\s+", -1)) {
      String[] names = word.substring(0, word.length() - 1).split(",", 2);
      char argument = word.charAt(word.length() - 1);
      String letter = names.length == 1 ? "." : names[1];
      options.add(new ScriptOption(names[0], letter, argument, Fate.REFUSE, "", ""));
    }
    return List.copyOf(options);
  }

  /**
   * Returns the option of this long name, or else those whose names begin so: getopt_long(3) takes
   * an abbreviation if it is the only one.
   */
  static List<ScriptOption> named(String name) {
    List<ScriptOption> begin = ALL.stream().filter(option -> option.name.startsWith(name)).toList();
    Stream<ScriptOption> same = begin.stream().filter(option -> option.name.equals(name));
    return same.findFirst().map(List::of).orElse(begin);
  }

  /** Returns the option with this short name. */
  static Optional<ScriptOption> lettered(String letter) {
    return ALL.stream().filter(option -> option.letter.equals(letter)).findFirst();
  }
}
