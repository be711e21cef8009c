package dev.nexa.slurm.scheduler.local;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What one task is given of this machine. Nothing is enforced: it is told to the script and to
 * accounting.
 *
 * @param tasks processes that srun would start
 * @param tasksGiven whether the script said so, which decides if it sees SLURM_NTASKS
 * @param cpusPerTask 1 unless given
 * @param cpus all of them
 * @param memoryMib memory of the node; empty where not asked for, or all of it
 * @param gpuType {@code h100}, or empty text
 * @param exclusive whether the whole machine was asked for
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
   * @throws Refusal if one is no number, or more than one node is asked for
   */
  static Resources of(Options options, int processors) {
    requireOneNode(options);
    boolean tasksGiven = options.has(Option.NTASKS) || options.has(Option.NTASKS_PER_NODE);
    int tasks =
        options.has(Option.NTASKS)
            ? count(options, Option.NTASKS)
            : count(options, Option.NTASKS_PER_NODE);
    int cpusPerTask = count(options, Option.CPUS_PER_TASK);
    boolean exclusive = options.has(Option.EXCLUSIVE);
    int asked = tasks * cpusPerTask;
    Matcher gpu = gpu(options);
    boolean gpus = gpu.matches();
    return new Resources(
        tasks,
        tasksGiven,
        cpusPerTask,
        exclusive ? Math.max(asked, processors) : asked,
        options.get(Option.MEM).flatMap(Resources::mebibytes),
        gpus ? Integer.parseInt(gpu.group(2)) : 0,
        gpus && gpu.group(1) != null ? gpu.group(1) : "",
        exclusive);
  }

  private static void requireOneNode(Options options) {
    Optional<String> text = options.get(Option.NODES);
    if (text.isEmpty()) {
      return;
    }
    Matcher nodes = NODES.matcher(text.get());
    if (!nodes.matches()) {
      throw Refusal.error("\"" + text.get() + "\" is not a valid node count");
    }
    if (Integer.parseInt(nodes.group(1)) != 1) {
      throw Refusal.submission(
          "Requested node configuration is not available (the local scheduler has one node)");
    }
  }

  private static int count(Options options, Option option) {
    String text = options.get(option).orElse("1");
    if (!text.matches("[1-9]\\d{0,5}")) {
      throw Refusal.error(
          "Invalid numeric value \"" + text + "\" for --" + option.longName() + ".");
    }
    return Integer.parseInt(text);
  }

  /**
   * Slurm's sizes: MiB where there is no suffix, rounded up; 0 is all memory (sbatch(1), --mem).
   */
  private static Optional<Long> mebibytes(String text) {
    Matcher matcher = MEMORY.matcher(text.toUpperCase(java.util.Locale.ROOT));
    if (!matcher.matches()) {
      throw Refusal.error("Invalid --mem specification");
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

  /** {@code --gpus-per-node=h100:2}, or the gpu entry of {@code --gres=gpu:h100:2,tmpdisk:5}. */
  private static Matcher gpu(Options options) {
    String text = options.text(Option.GPUS_PER_NODE);
    for (String entry : options.text(Option.GRES).split(",", -1)) {
      if (entry.equals("gpu")) {
        text = "1";
      } else if (entry.startsWith("gpu:")) {
        text = entry.substring("gpu:".length());
        text = text.matches("[^:]*[^:0-9][^:]*") ? text + ":1" : text;
      }
    }
    Matcher matcher = GPU.matcher(text);
    if (!text.isEmpty() && !matcher.matches()) {
      throw Refusal.submission("Invalid generic resource (gres) specification");
    }
    matcher.reset();
    return matcher;
  }

  /** The trackable resources as sacct prints them with {@code --noconvert}; billing is the CPUs. */
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
