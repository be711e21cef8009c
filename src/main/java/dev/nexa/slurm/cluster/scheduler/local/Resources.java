package dev.nexa.slurm.cluster.scheduler.local;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The resources of one task. They are reported to the script and to accounting, but not enforced.
 *
 * @param tasks number of processes that srun would start
 * @param tasksGiven whether the script names that number; only then SLURM_NTASKS is set
 * @param cpusPerTask CPUs of each process; 1 by default
 * @param cpus all CPUs
 * @param memoryMib memory of the node in MiB; empty if it is not requested, or all of it is
 * @param gpus number of GPUs
 * @param gpuType such as {@code h100}; empty for any
 * @param exclusive whether the whole machine is requested
 */
record Resources(
    int tasks,
    boolean tasksGiven,
    int cpusPerTask,
    int cpus,
    Optional<Long> memoryMib,
    int gpus,
    String gpuType,
    boolean exclusive) {
  private static final Pattern MEMORY = Pattern.compile("(\\d{1,15})([KMGT]?)");
  private static final Pattern GPU = Pattern.compile("(?:([^:,=]+):)?(\\d{1,6})");
  private static final Pattern NODES = Pattern.compile("(\\d{1,6})(?:-(\\d{1,6}))?");

  /**
   * Reads the options.
   *
   * @throws SbatchRefusal if a value is not valid, or more than one node is requested
   */
  static Resources of(OptionReader options, int processors) {
    requireOneNode(options);
    boolean tasksGiven =
        options.has(SbatchOption.NTASKS) || options.has(SbatchOption.NTASKS_PER_NODE);
    int tasks =
        options.has(SbatchOption.NTASKS)
            ? count(options, SbatchOption.NTASKS)
            : count(options, SbatchOption.NTASKS_PER_NODE);
    int cpusPerTask = count(options, SbatchOption.CPUS_PER_TASK);
    boolean exclusive = options.has(SbatchOption.EXCLUSIVE);
    int asked = tasks * cpusPerTask;
    Matcher gpu = gpu(options);
    boolean gpus = gpu.matches();
    return new Resources(
        tasks,
        tasksGiven,
        cpusPerTask,
        exclusive ? Math.max(asked, processors) : asked,
        options.get(SbatchOption.MEM).flatMap(Resources::mebibytes),
        gpus ? Integer.parseInt(gpu.group(2)) : 0,
        gpus && gpu.group(1) != null ? gpu.group(1) : "",
        exclusive);
  }

  private static void requireOneNode(OptionReader options) {
    Optional<String> text = options.get(SbatchOption.NODES);
    if (text.isEmpty()) {
      return;
    }
    Matcher nodes = NODES.matcher(text.get());
    if (!nodes.matches()) {
      throw SbatchRefusal.error("\"" + text.get() + "\" is not a valid node count");
    }
    if (Integer.parseInt(nodes.group(1)) != 1) {
      throw SbatchRefusal.submission(
          "Requested node configuration is not available (the local scheduler has one node)");
    }
  }

  private static int count(OptionReader options, SbatchOption option) {
    String text = options.get(option).orElse("1");
    if (!text.matches("[1-9]\\d{0,5}")) {
      throw SbatchRefusal.error(
          "Invalid numeric value \"" + text + "\" for --" + option.longName() + ".");
    }
    return Integer.parseInt(text);
  }

  /** Reads a size: MiB by default, rounded up; 0 means all memory (sbatch(1), --mem). */
  private static Optional<Long> mebibytes(String text) {
    Matcher matcher = MEMORY.matcher(text.toUpperCase(java.util.Locale.ROOT));
    if (!matcher.matches()) {
      throw SbatchRefusal.error("Invalid --mem specification");
    }
    long number = Long.parseLong(matcher.group(1));
    long mib =
        switch (matcher.group(2)) {
          case "K" -> (number + 1023) / 1024;
          case "G" -> number * 1024;
          case "T" -> number * 1024 * 1024;
          default -> number;
        };
    return mib == 0 ? Optional.empty() : Optional.of(mib);
  }

  /**
   * Reads {@code --gpus-per-node=h100:2}, or the gpu entry of {@code --gres=gpu:h100:2,tmpdisk:5}.
   */
  private static Matcher gpu(OptionReader options) {
    String text = options.text(SbatchOption.GPUS_PER_NODE);
    for (String entry : options.text(SbatchOption.GRES).split(",", -1)) {
      if (entry.equals("gpu")) {
        text = "1";
      } else if (entry.startsWith("gpu:")) {
        text = entry.substring("gpu:".length());
        text = text.matches("[^:]*[^:0-9][^:]*") ? text + ":1" : text;
      }
    }
    Matcher matcher = GPU.matcher(text);
    if (!text.isEmpty() && !matcher.matches()) {
      throw SbatchRefusal.submission("Invalid generic resource (gres) specification");
    }
    matcher.reset();
    return matcher;
  }

  /**
   * Returns the TRES as sacct prints them with {@code --noconvert}. Billing is the number of CPUs.
   */
  String tres() {
    StringBuilder text = new StringBuilder("billing=" + cpus + ",cpu=" + cpus);
    if (gpus > 0) {
      text.append(gpuType.isEmpty() ? "" : ",gres/gpu:" + gpuType + "=" + gpus);
      text.append(",gres/gpu=").append(gpus);
    }
    memoryMib.ifPresent(mib -> text.append(",mem=").append(mib).append('M'));
    return text.append(",node=1").toString();
  }
}
