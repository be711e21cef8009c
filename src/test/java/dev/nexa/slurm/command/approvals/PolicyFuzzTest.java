package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.command.PrivateSlurm;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.render.JobSubmitLua;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random commands against the rendered job_submit.lua in a real slurmctld. The judge is what Slurm
 * allocated: no job may run above the limit, nor above the bound that the script wrote at its
 * submit. And of ordinary jobs none is refused. The full form is dev/full policy.
 */
@Tag("slurm")
@Tag("full")
class PolicyFuzzTest {
  private static final int CASES = SuiteSize.of("policy.fuzz", 60, 5000);
  private static final int ORDINARY = SuiteSize.of("policy.ordinary", 30, 2000);
  private static final long SEED = Long.getLong("policy.seed", 20251122);
  private static final int AT_ONCE = Integer.getInteger("policy.at_once", 300);
  private static final int WORKERS = 3;

  /**
   * Another job_submit.lua to be judged, which writes no bounds: what an earlier one lets through.
   */
  private static final String OTHER = System.getProperty("policy.script", "");

  /** Nodes of several kinds, and each way in which a partition shares them. */
  private static final PrivateSlurm.Layout LAYOUT =
      new PrivateSlurm.Layout(
          Map.of(
              "p1",
              "h100=0-7",
              "p2",
              "h100=0-7",
              "p3",
              "h100=0-7",
              "p4",
              "h100=0-7",
              "p5",
              "h100=0-7",
              "p6",
              "h100=0-7",
              "q1",
              "h100=0-3 a100=4-7",
              "q2",
              "h100=0-3 a100=4-7",
              "c1",
              "",
              "p7",
              "h100=0-7"),
          """
          SelectTypeParameters=CR_Core_Memory
          MinJobAge=90
          MessageTimeout=60
          MaxArraySize=2000
          MaxJobCount=50000
          EnforcePartLimits=ANY
          NodeName=DEFAULT Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000
          NodeName=p1 AT Gres=gpu:h100:8 Feature=a
          NodeName=p2 AT Gres=gpu:h100:8 Feature=a
          NodeName=p3 AT Gres=gpu:h100:8 Feature=a,b
          NodeName=p4 AT Gres=gpu:h100:8 Feature=b
          NodeName=p5 AT Gres=gpu:h100:8 Feature=b
          NodeName=p6 AT Gres=gpu:h100:8 Feature=a
          NodeName=p7 AT Gres=gpu:h100:8 Feature=b
          NodeName=q1 AT Gres=gpu:h100:4,gpu:a100:4 Feature=a
          NodeName=q2 AT Gres=gpu:h100:4,gpu:a100:4 Feature=b
          NodeName=c1 AT Feature=a
          NodeSet=many Nodes=p[1-4]
          PartitionName=long Nodes=p[1-7],q[1-2] MaxTime=UNLIMITED State=UP
          PartitionName=DEFAULT Nodes=p[1-7],q[1-2] MaxTime=2-00:00:00 DefaultTime=1:00:00 DefMemPerCPU=500 State=UP
          PartitionName=gpu Default=YES
          PartitionName=whole OverSubscribe=EXCLUSIVE
          PartitionName=shared OverSubscribe=YES:4
          PartitionName=forced OverSubscribe=FORCE:4
          PartitionName=owned ExclusiveUser=YES
          PartitionName=lean MaxMemPerCPU=1000
          PartitionName=short DefaultTime=5 MaxTime=4:00:00 Nodes=p[1-2]
          PartitionName=unknown
          PartitionName=debug
          PartitionName=cpu Nodes=c1 MaxTime=2-00:00:00 DefaultTime=1:00:00
          """);

  private static final String PROFILE =
      """
      partitions:
        gpu: {gpus_per_node: 8}
        whole: {gpus_per_node: 8}
        shared: {gpus_per_node: 8}
        forced: {gpus_per_node: 8}
        owned: {gpus_per_node: 8}
        lean: {gpus_per_node: 8}
        short: {gpus_per_node: 8}
        long: {gpus_per_node: 8}
        debug: {gpus_per_node: 8}
        cpu: {gpus_per_node: 0}
      storage: {scratch: /tmp, durable: /tmp, shared: /tmp}
      """;

  private static PrivateSlurm slurm;
  private static String raw;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "a second user is root's to make");
    slurm = PrivateSlurm.prepare(LAYOUT, "nexa-fuzz-" + ProcessHandle.current().pid());
    ConfigFolder configs = new ConfigFolder().with("configs/clusters/mine.yaml", PROFILE);
    Policy.Gate gate =
        new Policy.Gate(
            new BigDecimal(PolicyFuzz.GPU_HOURS_OVER), List.of(), List.of("debug"), false);
    String script =
        OTHER.isEmpty()
            ? JobSubmitLua.render(
                configs.source(),
                configs.reader().policy(),
                gate,
                configs.reader().cluster("mine"),
                slurm.folder.resolve("approved"))
            : Files.readString(Path.of(OTHER));
    Files.writeString(slurm.folder.resolve("job_submit.lua"), script);
    raw = slurm.rawJob();
    slurm.start();
  }

  @AfterAll
  static void stop() throws IOException {
    if (slurm != null) {
      slurm.close();
    }
  }

  @Test
  void noJobRunsAboveTheLimit() throws Exception {
    PolicyFuzz fuzz = new PolicyFuzz(SEED);
    Count count = new Count();
    for (int first = 0; first < CASES; first += AT_ONCE) {
      Map<Integer, String> cases = cases(first, Math.min(CASES, first + AT_ONCE), fuzz::any);
      long began = System.nanoTime();
      List<String> said = type(cases, true);
      long typed = System.nanoTime();
      settle();
      if (Boolean.getBoolean("policy.why")) {
        System.out.printf(
            "%d typed in %.1f s, settled in %.1f s%n",
            cases.size(), (typed - began) / 1e9, (System.nanoTime() - typed) / 1e9);
      }
      count.add(said);
      List<Ran> ran = ran();
      count.ran += ran.size();
      count.gpus += ran.stream().filter(job -> job.gpus() > 0).count();
      judge(cases, said, ran);
      slurm.root("scancel", "-u", slurm.user);
    }
    if (Boolean.getBoolean("policy.why")) {
      count.why.entrySet().stream()
          .sorted((a, b) -> b.getValue() - a.getValue())
          .limit(60)
          .forEach(each -> System.out.println(each.getValue() + " " + each.getKey()));
    }
    System.out.println("policy fuzz: " + CASES + " cases of seed " + SEED + ": " + count);
    assertThat(count.passed).isPositive();
    assertThat(count.refused).isPositive();
    assertThat(count.gpus).isPositive();
    assertThat(slurm.log()).doesNotContain("job_submit.lua failed", "/lua: ");
  }

  @Test
  void noOrdinaryJobIsRefused() throws Exception {
    PolicyFuzz fuzz = new PolicyFuzz(SEED);
    Count count = new Count();
    for (int first = 0; first < ORDINARY; first += AT_ONCE) {
      Map<Integer, String> cases =
          cases(1_000_000 + first, 1_000_000 + Math.min(ORDINARY, first + AT_ONCE), fuzz::ordinary);
      List<String> said = type(cases, false);
      settle();
      count.add(said);
      List<Ran> ran = ran();
      count.ran += ran.size();
      count.gpus += ran.stream().filter(job -> job.gpus() > 0).count();
      for (String line : said) {
        String[] parts = line.split("\\|", 5);
        boolean refused =
            parts[4].contains("nexa-slurm") || parts[4].contains("Access/permission denied");
        boolean lost = parts[1].equals("submit") && !parts[2].equals("0");
        assertThat(refused || lost)
            .as("seed %d: %s%n%s", SEED, line, cases.get(Integer.valueOf(parts[0])))
            .isFalse();
      }
      judge(cases, said, ran);
      slurm.root("scancel", "-u", slurm.user);
    }
    System.out.println("policy, ordinary: " + ORDINARY + " cases of seed " + SEED + ": " + count);
    assertThat(count.passed).isGreaterThanOrEqualTo(ORDINARY);
    assertThat(slurm.log()).doesNotContain("job_submit.lua failed", "/lua: ");
  }

  private static Map<Integer, String> cases(int from, int to, IntFunction<String> make) {
    Map<Integer, String> cases = new TreeMap<>();
    for (int i = from; i < to; i++) {
      cases.put(i, make.apply(i));
    }
    return cases;
  }

  /**
   * Has the second user type the cases, in a few shells beside each other; what each command came
   * to.
   */
  private static List<String> type(Map<Integer, String> cases, boolean beside) throws Exception {
    ExecutorService shells = Executors.newFixedThreadPool(WORKERS);
    List<Future<CommandResult>> running = new ArrayList<>();
    for (int worker = 0; worker < (beside ? WORKERS : 2); worker++) {
      int mine = worker;
      int of = beside ? WORKERS : 2;
      StringBuilder script = new StringBuilder();
      script.append("E=$(mktemp); cd /tmp; RAW=").append(raw).append('\n');
      script.append(
          "say() { local e=$(<$E); printf '%s|%s|%s|%s|%s\\n' \"$1\" \"$2\" \"$3\" \"$4\" \"${e//$'\\n'/ }\"; }\n");
      cases.forEach(
          (number, text) -> {
            if (number % of == mine) {
              script.append(text).append('f').append(number).append('\n');
            }
          });
      script.append("wait; rm -f $E; echo end\n");
      Path file = slurm.folder.resolve("home/worker" + worker);
      Files.writeString(file, script);
      Callable<CommandResult> task =
          () -> slurm.user(Duration.ofMinutes(10), Map.of(), "bash", file.toString());
      running.add(shells.submit(task));
    }
    List<String> said = new ArrayList<>();
    for (Future<CommandResult> shell : running) {
      CommandResult result = shell.get();
      assertThat(result.out()).as(result.err()).endsWith("end\n");
      result.out().lines().filter(line -> line.matches("\\d+\\|.*")).forEach(said::add);
    }
    shells.shutdown();
    return said;
  }

  /** Returns when no job has started for a while. */
  private static void settle() throws Exception {
    long before = -1;
    int still = 0;
    for (int i = 0; i < 80 && still < 8; i++) {
      Thread.sleep(250);
      long started = ran().size();
      boolean running = slurm.root("squeue", "-h", "-t", "R,CG", "-o", "%i").out().isBlank();
      still = started == before && running ? still + 1 : 0;
      before = started;
    }
  }

  /** A job, or a task of an array, or a part of a heterogeneous job, to which Slurm gave nodes. */
  private record Ran(
      int number,
      long group,
      long job,
      double minutes,
      int nodes,
      String partition,
      long gpus,
      String comment) {
    double hours() {
      return gpus == 0 ? 0 : gpus * minutes / 60;
    }

    long bound(String key) {
      Matcher found = Pattern.compile("nexa:v1:bound\\(.*\\b" + key + "=(\\w+)").matcher(comment);
      assertThat(found.find()).as(toString()).isTrue();
      return found.group(1).equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(found.group(1));
    }
  }

  private static final Pattern GPUS = Pattern.compile("gpu(?::[^:,(]+)?:(\\d+)");

  private static List<Ran> ran() throws IOException {
    List<Ran> jobs = new ArrayList<>();
    for (String line : slurm.root(raw, "jobs").out().lines().toList()) {
      String[] parts = line.split("\\|", 10);
      if (parts[4].equals("0") || !parts[0].matches("f\\d+")) {
        continue;
      }
      long minutes = Long.parseLong(parts[5]);
      long gpus = 0;
      for (Matcher found = GPUS.matcher(parts[8]); found.find(); ) {
        gpus += Long.parseLong(found.group(1));
      }
      jobs.add(
          new Ran(
              Integer.parseInt(parts[0].substring(1)),
              Long.parseLong(parts[1]),
              Long.parseLong(parts[2]),
              minutes >= 4294967294L ? Double.POSITIVE_INFINITY : minutes,
              Integer.parseInt(parts[6]),
              parts[7],
              gpus,
              parts[9]));
    }
    return jobs;
  }

  private static void judge(Map<Integer, String> cases, List<String> said, List<Ran> ran) {
    Map<Long, Double> hours = new TreeMap<>();
    List<String> wrong = new ArrayList<>();
    for (Ran job : ran) {
      if (!cases.containsKey(job.number())) {
        continue; // of before
      }
      if (OTHER.isEmpty()
          && (job.gpus() > job.bound("gpus")
              || (job.gpus() > 0 && job.nodes() > job.bound("nodes")))) {
        wrong.add("above its bound: " + job);
      }
      if (!job.partition().equals("debug")) {
        double sum = hours.merge(job.group(), job.hours(), Double::sum);
        if (sum > PolicyFuzz.GPU_HOURS_OVER + 1e-9) {
          wrong.add("above the limit, " + sum + " GPU-hours: " + job);
        }
      }
    }
    if (!wrong.isEmpty()) {
      StringBuilder text = new StringBuilder("seed " + SEED + "\n");
      for (String each :
          wrong.subList(0, Math.min(wrong.size(), Integer.getInteger("policy.show", 5)))) {
        int number = Integer.parseInt(each.replaceAll(".*number=(\\d+).*", "$1"));
        text.append(each).append('\n').append(cases.get(number));
        said.stream()
            .filter(line -> line.startsWith(number + "|"))
            .forEach(line -> text.append(line).append('\n'));
      }
      throw new AssertionError(wrong.size() + " jobs\n" + text);
    }
  }

  /** How much of it did something. */
  private static final class Count {
    int passed;
    int refused;
    int unknown;
    int updated;
    int notUpdated;
    long ran;
    long gpus;
    final Map<String, Integer> why = new TreeMap<>();

    void add(List<String> said) {
      for (String line : said) {
        String[] parts = line.split("\\|", 5);
        boolean fine = parts[2].equals("0");
        if (parts[1].equals("update")) {
          updated += fine ? 1 : 0;
          notUpdated += fine ? 0 : 1;
          if (!fine) {
            why.merge("update: " + parts[4].replaceAll("[0-9]+", "#"), 1, Integer::sum);
          }
        } else if (fine) {
          passed++;
        } else if (parts[4].contains("nexa-slurm")) {
          refused++;
        } else {
          unknown++;
          why.merge(parts[4].replaceAll("[0-9]+", "#"), 1, Integer::sum);
        }
      }
    }

    @Override
    public String toString() {
      return passed
          + " submitted, "
          + refused
          + " refused by the policy, "
          + unknown
          + " by Slurm; "
          + updated
          + " changes, "
          + notUpdated
          + " refused; "
          + ran
          + " jobs ran, "
          + gpus
          + " of them with GPUs";
    }
  }
}
