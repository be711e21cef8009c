package dev.nexa.slurm.job.config.foreign;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * An option of sbatch, and its treatment in the {@code #SBATCH} lines of a script. An option that
 * changes what runs, where it runs or what it costs is taken, handed on or refused.
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
    /** A key of ours says the same. */
    TAKE,
    /** It is handed on to sbatch unchanged. */
    HAND,
    NOTE,
    REFUSE
  }

  /** The options of sbatch 22.05 and 24.11, and Pyxis' option for the image. */
  private static final String TABLE =
      """
      account             A = TAKE   --account             |
      acctg-freq          . = HAND   .                     |
      array               a = TAKE   --array               |
      begin               b = HAND   .                     |
      chdir               D = TAKE   workdir               |
      cluster             . = REFUSE --cluster             | type --cluster NAME, the profile of that cluster
      clusters            M = REFUSE --cluster             | type --cluster NAME, the profile of that cluster
      comment             . = HAND   .                     |
      constraint          C = TAKE   resources.constraint  |
      container           . = REFUSE software.container    | type --set software.container=IMAGE
      container-image     . = REFUSE software.container    | type --set software.container=IMAGE
      core-spec           S = REFUSE .                     | Slurm then gives whole nodes: write #SBATCH --exclusive instead
      cores-per-socket    . = REFUSE .                     | Slurm then gives a CPU of each: write #SBATCH --mincpus=N
      cpus-per-gpu        . = TAKE   resources.cpus_per_gpu |
      cpus-per-task       c = TAKE   --cpus                |
      dependency          d = REFUSE --dependency          | type --dependency TYPE:RUN
      error               e = NOTE   .                     | nexa-slurm logs RUN prints it
      exclude             x = TAKE   resources.exclude     |
      exclusive           . ? TAKE   resources.exclusive   | write #SBATCH --exclusive, which asks for whole nodes
      export              . = TAKE   env.                  | type --set env.NAME=VALUE for each variable
      export-file         . = REFUSE env_file              | type --set env_file=FILE
      extra-node-info     B = REFUSE .                     | write #SBATCH --mincpus=N and --threads-per-core=N
      get-user-env        . ? REFUSE .                     | for a login shell write #!/bin/bash -l in the first line
      gpus                G = TAKE   resources.gpus        |
      gpus-per-node       . = TAKE   --gpus                |
      gpus-per-socket     . = REFUSE --gpus                | write #SBATCH --gpus-per-node=N
      gpus-per-task       . = TAKE   resources.gpus_per_task |
      gres                . = TAKE   --gpus                |
      help                h - NOTE   .                     | sbatch ignores it, too
      hint                . = TAKE   resources.hint        |
      hold                H - HAND   .                     |
      ignore-pbs          . - NOTE   .                     | nexa-slurm reads no #PBS lines
      input               i = REFUSE .                     | redirect the input in the script
      job-name            J = TAKE   --name                |
      kill-on-invalid-dep . = NOTE   .                     | nexa-slurm watches its dependencies
      licenses            L = TAKE   resources.licenses    |
      mail-type           . = TAKE   mail.type             | type --set mail.user=ADDRESS --set mail.type=EVENTS
      mail-user           . = TAKE   mail.user             | type --set mail.user=ADDRESS --set mail.type=EVENTS
      mem                 . = TAKE   --mem                 |
      mem-per-cpu         . = TAKE   resources.memory_per_cpu |
      mem-per-gpu         . = TAKE   resources.memory_per_gpu |
      mincpus             . = TAKE   resources.mincpus     |
      no-requeue          . - TAKE   --requeue             |
      nodefile            F = REFUSE resources.nodelist    | type --set resources.nodelist=NODES
      nodelist            w = TAKE   resources.nodelist    |
      nodes               N = TAKE   --nodes               | type --nodes N
      ntasks              n = TAKE   resources.ntasks      |
      ntasks-per-core     . = TAKE   resources.ntasks_per_core |
      ntasks-per-gpu      . = TAKE   resources.ntasks_per_gpu |
      ntasks-per-node     . = TAKE   resources.ntasks_per_node |
      ntasks-per-socket   . = TAKE   resources.ntasks_per_socket |
      ntasks-per-tres     . = REFUSE .                     | write #SBATCH --ntasks-per-gpu=N
      open-mode           . = NOTE   .                     | nexa-slurm logs RUN prints all attempts
      output              o = NOTE   .                     | nexa-slurm logs RUN prints it
      parsable            . - NOTE   .                     | type --json
      partition           p = TAKE   --partition           |
      qos                 q = TAKE   resources.qos         |
      quiet               Q - NOTE   .                     | it changes only what sbatch prints
      reboot              . - REFUSE .                     | the nodes are paid for while they start; delete this line
      requeue             . - TAKE   --requeue             |
      reservation         . = TAKE   resources.reservation |
      signal              . = HAND   warn_before_end       | type --set warn_before_end=TIME --set requeues=1; the script gets SIGTERM
      sockets-per-node    . = REFUSE .                     | Slurm then gives a CPU of each: write #SBATCH --mincpus=N
      tasks-per-node      . = TAKE   resources.ntasks_per_node |
      test-only           . - REFUSE .                     | delete this line, and type --dry-run
      thread-spec         . = REFUSE .                     | Slurm then gives whole nodes: write #SBATCH --exclusive instead
      threads-per-core    . = TAKE   resources.threads_per_core |
      time                t = TAKE   --time                |
      tres-per-task       . = REFUSE .                     | write --gpus-per-task, --cpus-per-task and --mem-per-cpu
      usage               . - NOTE   .                     | sbatch ignores it, too
      verbose             v - NOTE   .                     | it changes only what sbatch prints
      version             V - NOTE   .                     | sbatch ignores it, too
      wait                W - NOTE   .                     | type --wait
      wrap                . = REFUSE .                     | delete this line; the script itself runs
      """;

  /**
   * Options that change neither the size nor the price of a job: the name, the letter behind a
   * comma, and the argument. The last ones are of Shifter's and CSCS' plugins.
   */
  private static final String HANDED_ON =
      """
      batch= bb= bbf= context= contiguous- cpu-freq= deadline= delay-boot=
      distribution,m= extra= gpu-bind= gpu-freq= gres-flags= mcs-label= mem-bind= network= nice?
      no-kill,k? oom-kill-step? overcommit,O- oversubscribe,s- power= prefer= priority= profile=
      propagate? resv-ports? segment= spread-job- stepmgr- switches= time-min=
      tmp= tres-bind= use-min-nodes- wait-all-nodes= wckey= environment= image= module= volume=
      """;

  /** Options that only some people or clusters can use. */
  private static final String REFUSED = "autocomplete= cluster-constraint= container-id= gid= uid=";

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
        String remark = halves[1].strip();
        options.add(new ScriptOption(cells[0], cells[1], cells[2].charAt(0), fate, ours, remark));
      }
    }
    others(HANDED_ON, Fate.HAND, options);
    others(REFUSED, Fate.REFUSE, options);
    return List.copyOf(options);
  }

  private static void others(String words, Fate fate, List<ScriptOption> options) {
    for (String word : words.strip().split("\\s+", -1)) {
      String[] names = word.substring(0, word.length() - 1).split(",", 2);
      char argument = word.charAt(word.length() - 1);
      String letter = names.length == 1 ? "." : names[1];
      options.add(new ScriptOption(names[0], letter, argument, fate, "", ""));
    }
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
