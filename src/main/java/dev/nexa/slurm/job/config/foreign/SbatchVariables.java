package dev.nexa.slurm.job.config.foreign;

import dev.nexa.slurm.job.config.foreign.SbatchWords.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The variables that sbatch reads like options, after the {@code #SBATCH} lines and before its
 * command line (sbatch(1), INPUT ENVIRONMENT VARIABLES; src/sbatch/opt.c of 22.05 to 25.11). Pure.
 */
public final class SbatchVariables {
  /** The names; behind {@code =} the option, where it is not the name in small letters. */
  private static final List<String> TABLE =
      List.of(
          """
          SBATCH_ACCOUNT SBATCH_ACCTG_FREQ SBATCH_ARRAY_INX=array SBATCH_BATCH SBATCH_BURST_BUFFER=bb SBATCH_CLUSTERS
          SLURM_CLUSTERS SBATCH_CLUSTER_CONSTRAINT SBATCH_CONSTRAINT SBATCH_CONTAINER SBATCH_CONTAINER_ID SBATCH_CORE_SPEC
          SBATCH_CPUS_PER_GPU SBATCH_CPU_FREQ_REQ=cpu-freq SBATCH_DEBUG=verbose SBATCH_DELAY_BOOT SBATCH_DISTRIBUTION
          SBATCH_ERROR SBATCH_EXCLUSIVE SBATCH_EXPORT SBATCH_GET_USER_ENV SBATCH_GPUS SBATCH_GPUS_PER_NODE
          SBATCH_GPUS_PER_SOCKET SBATCH_GPUS_PER_TASK SBATCH_GPU_BIND SBATCH_GPU_FREQ SBATCH_GRES SBATCH_GRES_FLAGS
          SLURM_HINT SBATCH_HINT SBATCH_IGNORE_PBS SBATCH_INPUT SBATCH_JOB_NAME SBATCH_MEM_BIND SBATCH_MEM_PER_CPU
          SBATCH_MEM_PER_GPU SBATCH_MEM_PER_NODE=mem SBATCH_NETWORK SBATCH_NO_KILL SBATCH_NO_REQUEUE SBATCH_OPEN_MODE
          SBATCH_OUTPUT SBATCH_OVERCOMMIT SBATCH_PARTITION SBATCH_POWER SBATCH_PROFILE SBATCH_QOS SBATCH_REQUEUE
          SBATCH_REQ_SWITCH=switches SBATCH_RESERVATION SBATCH_SEGMENT SBATCH_SIGNAL SBATCH_SPREAD_JOB
          SBATCH_THREADS_PER_CORE SBATCH_THREAD_SPEC SBATCH_TIMELIMIT=time SBATCH_TRES_BIND SBATCH_TRES_PER_TASK
          SBATCH_USE_MIN_NODES SBATCH_WAIT SBATCH_WAIT_ALL_NODES SBATCH_WCKEY
          """
              .strip()
              .split("\\s+", -1));

  private SbatchVariables() {}

  /** Returns the options that the variables say. */
  public static List<Word> words(Map<String, String> environment) {
    List<Word> words = new ArrayList<>();
    for (int at = 0; at < TABLE.size(); at++) {
      String variable = name(-1 - at);
      String value = environment.get(variable);
      if (value != null) {
        String plain = variable.substring(variable.indexOf('_') + 1).replace('_', '-');
        String entry = TABLE.get(at);
        String option =
            entry.equals(variable)
                ? plain.toLowerCase(Locale.ROOT)
                : entry.substring(variable.length() + 1);
        String wait = environment.getOrDefault("SBATCH_WAIT4SWITCH", "");
        String more = option.equals("switches") && !wait.isEmpty() ? "@" + wait : "";
        String word = word(ScriptOption.named(option).get(0), value + more);
        if (!word.isEmpty()) {
          words.add(new Word(word, -1 - at));
        }
      }
    }
    return words;
  }

  /** Returns the variable of a word's {@link Word#line}. */
  public static String name(int line) {
    return TABLE.get(-1 - line).replaceFirst("=.*", "");
  }

  /** Returns the option; empty if the value does not set it: a flag that is 0, no value at all. */
  private static String word(ScriptOption option, String value) {
    String name = "--" + option.name();
    if (option.argument() == '-') {
      return value.matches("yes|0*[1-9]\\d*|") ? name : "";
    }
    return !value.isEmpty() ? name + "=" + value : option.argument() == '?' ? name : "";
  }
}
