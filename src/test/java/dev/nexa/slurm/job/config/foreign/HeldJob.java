package dev.nexa.slurm.job.config.foreign;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.command.PrivateSlurm;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Slurm says of a job that is held: all that sizes it, places it and times it. */
record HeldJob(Map<String, String> fields) {
  /**
   * Fields that differ by design: the job has a name, a folder, files, a comment and a mail's
   * address of ours, runs again only if asked to, and watches its dependencies itself. The others
   * differ between any two jobs.
   */
  private static final Set<String> OURS =
      Set.of(
          "JobId",
          "ArrayJobId",
          "JobName",
          "Command",
          "WorkDir",
          "StdErr",
          "StdIn",
          "StdOut",
          "SubmitLine",
          "Comment",
          "MailUser",
          "MailType",
          "Requeue",
          "KillOInInvalidDependent",
          "AllocNode:Sid",
          "SubmitTime",
          "AccrueTime",
          "LastSchedEval");

  private static final Pattern FIELD = Pattern.compile("(?:^|\\s)([A-Za-z/:]+)=(\\S*)");

  /** Submits the script; the job says nothing if sbatch refuses it. */
  static HeldJob of(PrivateSlurm slurm, String script, List<String> typed) throws IOException {
    Path file = Files.writeString(slurm.folder.resolve("job.sh"), script);
    List<String> sbatch = new ArrayList<>(List.of("sbatch", "--parsable", "--hold"));
    sbatch.addAll(typed);
    sbatch.add(file.toString());
    CommandResult answer = slurm.root(sbatch.toArray(String[]::new));
    Matcher id = Pattern.compile("(?m)^\\d+$").matcher(answer.out());
    if (!id.find()) {
      return new HeldJob(Map.of("refused", (answer.out() + answer.err()).strip()));
    }
    String job = slurm.root("scontrol", "show", "job", id.group()).out();
    slurm.root("scancel", id.group());
    Map<String, String> fields = new TreeMap<>();
    Matcher field = FIELD.matcher(job.split("\n\n", 2)[0]);
    while (field.find()) {
      fields.putIfAbsent(field.group(1), field.group(2));
    }
    return new HeldJob(fields);
  }

  boolean refused() {
    return fields.containsKey("refused");
  }

  String field(String name) {
    return fields.getOrDefault(name, "");
  }

  /**
   * Returns what Slurm counts of the job while it waits: it will hold no less. A job on whole nodes
   * of 16 CPUs holds them all.
   */
  private Map<String, Long> least() {
    Tres tres = Tres.parse(field(fields.containsKey("TRES") ? "TRES" : "ReqTRES"));
    long whole = field("OverSubscribe").equals("NO") ? 16 * Long.parseLong(nodes(this)) : 0;
    return Map.of(
        "CPUs", Math.max(whole, tres.cpus()),
        "MiB", tres.memoryBytes() >> 20,
        "GPUs",
            Math.max(
                gpus("TresPerNode") * Long.parseLong(nodes(this)),
                Math.max(
                    gpus("TresPerJob"),
                    gpus("TresPerTask") * Long.parseLong("0" + field("NumTasks")))));
  }

  private static String tasks(String array) {
    String[] parts = array.split("%", 2);
    String together = parts.length == 2 ? "%" + parts[1] : "";
    return IndexRange.parse(parts[0]).indices().size() + together;
  }

  /** Returns whether the GPUs of the job are those on each of its nodes. */
  private boolean isOfNodes(String ofJob) {
    return !ofJob.isEmpty()
        && gpus("TresPerJob") == gpus("TresPerNode") * Long.parseLong(nodes(this));
  }

  /** Without accounting, Slurm counts no GPUs in TRES. */
  private long gpus(String name) {
    String gres = gres(field(name), field(name));
    Matcher gpus = Pattern.compile("gpu(?::h100)?:(\\d+)(?=,|$)").matcher(gres);
    return gpus.find() ? Long.parseLong(gpus.group(1)) : 0;
  }

  /** Returns what the price before the submit counts less of than the job asks for. */
  List<String> below(JsonObject estimate) {
    BigDecimal hours =
        BigDecimal.valueOf(estimate.number("longest_attempt_seconds"))
            .multiply(BigDecimal.valueOf(estimate.number("tasks") * estimate.number("attempts")))
            .divide(BigDecimal.valueOf(3600), MathContext.DECIMAL64);
    BigDecimal gib =
        estimate.object("reservation").objects("lines").stream()
            .filter(line -> line.text("what").equals("memory"))
            .map(line -> new BigDecimal(line.text("quantity")))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    Map<String, BigDecimal> priced =
        Map.of(
            "CPUs", new BigDecimal(estimate.text("cpu_hours")),
            "GPUs", new BigDecimal(estimate.text("gpu_hours")),
            "MiB", gib.multiply(BigDecimal.valueOf(1024)));
    List<String> below = new ArrayList<>();
    least()
        .forEach(
            (what, count) -> {
              BigDecimal least = hours.multiply(BigDecimal.valueOf(count));
              BigDecimal found = priced.getOrDefault(what, BigDecimal.ZERO);
              // Quantities have four digits, and those of memory are in GiB.
              BigDecimal half = new BigDecimal(what.equals("MiB") ? "0.06" : "0.00006");
              if (found.add(half).compareTo(least) < 0) {
                below.add("the price counts " + found + " " + what + " hours, not " + least);
              }
            });
    return below;
  }

  /**
   * Returns the fields in which our job is another one.
   *
   * @param memory whether the script says a memory; else ours is the config's default
   */
  List<String> differences(HeldJob ours, boolean memory) {
    Set<String> names = new TreeSet<>(fields.keySet());
    names.addAll(ours.fields.keySet());
    names.removeAll(OURS);
    if (!memory) {
      names.removeIf(name -> name.startsWith("MinMemory"));
    }
    List<String> differences = new ArrayList<>();
    for (String name : names) {
      String theirs = field(name);
      String made = ours.field(name);
      if (!isSame(name, theirs, made, ours, memory)) {
        differences.add(name + " is " + made + " and not " + theirs);
      }
    }
    return differences;
  }

  private boolean isSame(String name, String theirs, String made, HeldJob ours, boolean memory) {
    if (theirs.equals(made)) {
      return true;
    }
    return switch (name) {
      // Our jobs are arrays.
      // Our tasks are numbered from 0; the script sees its own indices (ArrayIndicesTest).
      case "ArrayTaskId" -> theirs.isEmpty() ? made.equals("0") : tasks(made).equals(tasks(theirs));
      // One task has one node, also where Slurm shows more of a job that waits, as for -n1 -c2.
      // So has a job whose tasks may all be on one: it waits until one node has room for them.
      case "NumNodes" ->
          (made.matches("1(-1)?") && tasksOfNode() >= Long.parseLong(field("NumTasks")))
              // Slurm works out how many, as of a list or from two numbers of GPUs; ours says it.
              || theirs.equals(made + "-" + made)
              || made.equals(theirs + "-" + theirs);
      // Ours always say it.
      case "NtasksPerN:B:S:C" ->
          made.equals(theirs.replaceFirst("^0", "1")) && field("NumTasks").equals(nodes(ours));
      case "TRES", "ReqTRES" -> tres(theirs, "", memory).equals(tres(made, theirs, memory));
      // Without GPUs, Slurm gives nothing for them.
      case "CpusPerTres" ->
          made.isEmpty() && fields.keySet().stream().noneMatch(one -> one.startsWith("TresPer"));
      // Of GPUs on each node and the same GPUs of the job, which people write both, we keep one.
      case "TresPerJob" -> gres(theirs, theirs).equals(gres(made, theirs)) || isOfNodes(theirs);
      // From 23.11 on it repeats CPUs/Task, which is compared itself.
      case "TresPerTask" ->
          gres(withoutCpus(theirs), theirs).equals(gres(withoutCpus(made), theirs));
      case "TresPerNode", "TresPerSocket" -> gres(theirs, theirs).equals(gres(made, theirs));
      case "EligibleTime", "StartTime", "EndTime", "Deadline" -> isNear(theirs, made);
      default -> false;
    };
  }

  private static String withoutCpus(String tres) {
    return tres.replaceFirst("^cpu=\\d+,?", "");
  }

  /** Returns how many tasks one node may have, by {@code --ntasks-per-node}. */
  private long tasksOfNode() {
    return Math.max(1, Long.parseLong(field("NtasksPerN:B:S:C").replaceFirst(":.*", "")));
  }

  /** One task has one node, also where Slurm shows two of a job that waits. */
  private static String nodes(HeldJob job) {
    return job.field("NumTasks").equals("1") ? "1" : job.field("NumNodes").replaceFirst("-.*", "");
  }

  /** Our jobs name the GPUs' type, which is the profile's if the script names none. */
  private static String gres(String made, String theirs) {
    // From 23.02 on Slurm prints gres/gpu:1 for gres:gpu:1.
    String text = made.replace("gres/", "gres:");
    text = text.replaceAll("gpu(:h100)?(?=,|$)", "gpu$1:1").replace("gres:gpu:0", "");
    // Of GPUs asked for twice, Slurm gives those that stand last.
    text = text.replaceFirst(",$", "").replaceFirst("^gres:gpu[^,]*,(gres:gpu\\S*)$", "$1");
    return theirs.contains("h100") ? text : text.replace("gpu:h100", "gpu");
  }

  private static String tres(String made, String theirs, boolean memory) {
    String text = theirs.contains("gpu:h100") ? made : made.replaceAll(",gres/gpu:h100=\\d+", "");
    return memory ? text : text.replaceAll("mem=[^,]*,?", "");
  }

  /** Returns whether the times are those of two submissions that follow each other. */
  private static boolean isNear(String one, String other) {
    if (!one.matches("\\d{4}-.*T.*") || !other.matches("\\d{4}-.*T.*")) {
      return false;
    }
    Duration apart = Duration.between(LocalDateTime.parse(one), LocalDateTime.parse(other));
    return apart.abs().compareTo(Duration.ofMinutes(1)) <= 0;
  }
}
