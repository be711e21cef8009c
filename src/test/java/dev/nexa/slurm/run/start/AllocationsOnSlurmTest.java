package dev.nexa.slurm.run.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.cluster.scheduler.slurm.JobText;
import dev.nexa.slurm.command.PrivateSlurm;
import dev.nexa.slurm.command.PrivateSlurm.Layout;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.Allocation;
import dev.nexa.slurm.job.plan.BilledResources;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random jobs on Slurms of several configurations: no job gets more than we say before it is
 * submitted. We know the configuration only from what that Slurm says: asked at the submit, or
 * written into a profile by {@code init}. The full form is dev/full allocations.
 */
@Tag("slurm")
class AllocationsOnSlurmTest {
  private static final int JOBS = SuiteSize.of("allocations.jobs", 24, 500);
  private static final long SEED = Long.getLong("allocations.seed", 20261126);

  /**
   * How many whole nodes in a hundred jobs. Of unequal nodes it isn't known which one it will be.
   */
  private record Setting(
      String name,
      int wholePercent,
      int mostCpus,
      int mostMib,
      List<String> partitions,
      Layout of) {}

  private static final String PLAIN = "CPUs=16 RealMemory=64000 Gres=gpu:h100:8\n";
  private static final String THREADS =
      "Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:h100:8\n";
  private static final Map<String, String> TWO = Map.of("p1", "h100=0-7", "p2", "h100=0-7");

  private static final List<Setting> SIX =
      List.of(
          of("plain", 10, "CR_CPU_Memory", PLAIN, "", ""),
          of("cores of two threads", 5, "CR_Core_Memory", THREADS, "", ""),
          of("MaxMemPerCPU of the partition", 5, "CR_CPU_Memory", PLAIN, "", "MaxMemPerCPU=4000"),
          of("MaxMemPerCPU of the cluster", 5, "CR_Core_Memory", THREADS, "MaxMemPerCPU=3000", ""),
          of("exclusive partition", 10, "CR_CPU_Memory", PLAIN, "", "OverSubscribe=EXCLUSIVE"),
          new Setting(
              "mixed nodes",
              5,
              8,
              30_000,
              List.of("gpu"),
              new Layout(
                  Map.of("a1", "h100=0-7", "a2", "h100=0-7", "b1", "", "c1", ""),
                  """
                  SelectTypeParameters=CR_Core_Memory
                  NodeName=a1 AT Weight=1 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:h100:8
                  NodeName=a2 AT Weight=1 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:h100:8
                  NodeName=b1 AT Weight=2 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=128000
                  NodeName=c1 AT Weight=3 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=32000
                  PartitionName=gpu Nodes=ALL Default=YES DefMemPerCPU=1000
                  """)));

  /** Rarer ones: no job gets more than we say, but it may get less. */
  private static final List<Setting> RARE =
      List.of(
          of("CPUs of cores of two threads", 10, "CR_CPU_Memory", THREADS, "", ""),
          of("sockets", 10, "CR_Socket_Memory", THREADS, "", ""),
          // Slurm refuses whole nodes there.
          of("MaxCPUsPerNode", 0, "CR_Core_Memory", THREADS, "", "MaxCPUsPerNode=8"),
          of("one task a core", 10, "CR_Core_Memory,CR_ONE_TASK_PER_CORE", THREADS, "", ""),
          of("CPUs for each GPU", 10, "CR_CPU_Memory", PLAIN, "", "DefCpuPerGPU=4"),
          of("no memory", 10, "CR_Core", THREADS, "", "MaxMemPerCPU=4000"));

  /** All in one, for ./check: a Slurm starts in seconds. */
  private static final Setting ONE =
      new Setting(
          "all in one",
          10,
          16,
          60_000,
          List.of("gpu", "whole", "lean"),
          new Layout(
              TWO,
              "SelectTypeParameters=CR_Core_Memory\n"
                  + "NodeName=p1 AT "
                  + THREADS
                  + "NodeName=p2 AT "
                  + THREADS
                  + """
                  PartitionName=DEFAULT Nodes=ALL DefMemPerCPU=1000
                  PartitionName=gpu Default=YES
                  PartitionName=whole OverSubscribe=EXCLUSIVE
                  PartitionName=lean MaxMemPerCPU=4000
                  """));

  private static Setting of(
      String name, int whole, String select, String node, String cluster, String partition) {
    String text =
        "SelectTypeParameters="
            + select
            + "\n"
            + cluster
            + "\nNodeName=p1 AT "
            + node
            + "NodeName=p2 AT "
            + node
            + "PartitionName=gpu Nodes=ALL Default=YES DefMemPerCPU=1000 "
            + partition
            + "\n";
    return new Setting(name, whole, 16, 60_000, List.of("gpu"), new Layout(TWO, text));
  }

  /**
   * What came of the jobs of one Slurm. Of a job that says its tasks, or its memory or CPUs for
   * each GPU, it is often not known on how many nodes it will be, and how Slurm rounds on each.
   */
  private static final class Count {
    private int jobs;
    private int enlarged;
    private int equal;
    private int ofTasks;
    private int ofTasksEqual;
    private int ofTasksTwice;
    private final List<String> below = new ArrayList<>();

    @Override
    public String toString() {
      return String.format(
          "%d jobs, %d enlarged by Slurm; bound equal %d; of tasks %d, equal %d, more than twice"
              + " %d; below %d",
          jobs, enlarged, equal, ofTasks, ofTasksEqual, ofTasksTwice, below.size());
    }

    private void add(Count other) {
      jobs += other.jobs;
      ofTasks += other.ofTasks;
      ofTasksEqual += other.ofTasksEqual;
      ofTasksTwice += other.ofTasksTwice;
      enlarged += other.enlarged;
      equal += other.equal;
      below.addAll(other.below);
    }
  }

  private record Submitted(
      Plan live, Plan byProfile, Rates rates, List<String> options, boolean ofTasks) {}

  @Test
  void noJobGetsMoreThanTheEstimateCounts() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    Count all = counted(SuiteSize.FULL ? SIX : List.of(ONE), JOBS);

    assertThat(all.below).as("seed %d", SEED).isEmpty();
    assertThat(all.equal).as(all.toString()).isGreaterThanOrEqualTo(all.jobs * 95 / 100);
    assertThat(all.ofTasksTwice).as(all.toString()).isLessThanOrEqualTo(all.ofTasks / 5);
    assertThat(all.enlarged).as(all.toString()).isGreaterThanOrEqualTo(all.jobs / 3);
  }

  @Test
  @Tag("full")
  void norOnARarerCluster() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    assertThat(counted(RARE, Math.min(JOBS, 60)).below).as("seed %d", SEED).isEmpty();
  }

  private static Count counted(List<Setting> settings, int jobs) throws Exception {
    Count all = new Count();
    for (Setting setting : settings) {
      try (PrivateSlurm slurm = PrivateSlurm.prepare(setting.of())) {
        slurm.letAllThrough();
        slurm.start();
        Count count = judge(slurm, run(setting, slurm, jobs));
        System.out.println("allocations, " + setting.name() + ": " + count);
        count.below.forEach(System.out::println);
        all.add(count);
      }
    }
    System.out.println("allocations, seed " + SEED + ": " + all);
    return all;
  }

  /** Submits the jobs, each by the options that our own script has. */
  private static Map<Long, Submitted> run(Setting setting, PrivateSlurm slurm, int count)
      throws Exception {
    Context here = workspace(slurm);
    Context withoutSlurm = new Context(here.root(), Map.of("HOME", here.root().toString()));
    ConfigReader configs = here.configs();
    LivePartitions live = new LivePartitions(here);
    Random random = new Random(SEED);
    Map<Long, Submitted> jobs = new LinkedHashMap<>();
    while (jobs.size() < count) {
      // We do not read CR_ONE_TASK_PER_CORE: there, several processes get more (docs/migration.md).
      boolean ofTasks = random.nextInt(3) == 0 && !setting.name().equals("one task a core");
      List<String> set = ofTasks ? tasks(setting, random) : resources(setting, random);
      Prepared prepared;
      Plan byProfile;
      // A profile without partitions has no sizes of whole nodes: such a run is refused.
      String profile = ofTasks || set.contains("resources.exclusive=true") ? "read" : "bare";
      try {
        prepared = Prepared.of(here, configs, live, request(set, profile));
        byProfile = Prepared.of(withoutSlurm, request(set, "read")).plan();
      } catch (ConfigException doesNotFit) {
        continue;
      }
      if (jobs.size() % 5 == 0 && !ofTasks) {
        // estimate believes a larger number, so it must not be larger than what a job gets.
        assertThat(new ExpectStart(here).of(prepared.plan()).cpus())
            .as("sbatch --test-only of %s", set)
            .isLessThanOrEqualTo(prepared.plan().billed().cpus());
      }
      List<String> sbatch = new ArrayList<>(List.of("sbatch", "--parsable", "--output=/dev/null"));
      sbatch.addAll(Renderer.options(prepared.plan()));
      sbatch.add("--wrap=true");
      CommandResult answer = slurm.root(sbatch.toArray(String[]::new));
      if (ofTasks && answer.exit() != 0) {
        continue; // more than the nodes have, or options that Slurm does not take together
      }
      assertThat(answer.out().strip()).as(set + answer.err()).matches("\\d+");
      jobs.put(
          Long.parseLong(answer.out().strip()),
          new Submitted(prepared.plan(), byProfile, prepared.estimate().rates(), set, ofTasks));
    }
    return jobs;
  }

  private static Prepared.Request request(List<String> set, String profile) {
    return new Prepared.Request("run.yaml", set, Optional.of(profile));
  }

  private static List<String> resources(Setting setting, Random random) {
    List<String> set = new ArrayList<>();
    List<String> partitions = setting.partitions();
    set.add("resources.partition=" + partitions.get(random.nextInt(partitions.size())));
    set.add("resources.nodes=" + (random.nextInt(4) == 0 ? 2 : 1));
    set.add("resources.cpus_per_task=" + (1 + random.nextInt(setting.mostCpus())));
    int mib = random.nextInt(3) == 0 ? 1000 : setting.mostMib();
    set.add("resources.memory=" + (100 + random.nextInt(mib - 100)) + "M");
    if (random.nextInt(2) == 0) {
      set.add("resources.gpus_per_node=" + (1 + random.nextInt(8)));
    }
    if (random.nextInt(100) < setting.wholePercent()) {
      set.add("resources.exclusive=true");
    }
    return set;
  }

  /** A job of several tasks on a node, or one whose memory or CPUs are those of each GPU or CPU. */
  private static List<String> tasks(Setting setting, Random random) {
    List<String> set = new ArrayList<>();
    List<String> partitions = setting.partitions();
    set.add("resources.partition=" + partitions.get(random.nextInt(partitions.size())));
    String nodes = List.of("", "1", "2", "1-2").get(random.nextInt(4));
    if (!nodes.isEmpty()) {
      set.add("resources.nodes=" + nodes);
    }
    int gpus = random.nextInt(4);
    int tasks = 1 + random.nextInt(6);
    if (gpus == 3 || random.nextBoolean()) {
      set.add("resources.ntasks=" + tasks);
    }
    if (random.nextInt(3) == 0) {
      set.add("resources.ntasks_per_node=" + (1 + random.nextInt(4)));
    }
    List<String> ofGpus = List.of("gpus_per_node", "gpus", "gpus_per_task");
    if (gpus > 0) {
      set.add("resources." + ofGpus.get(gpus - 1) + "=" + (1 + random.nextInt(gpus == 3 ? 2 : 4)));
    }
    if (gpus > 0 && random.nextInt(4) == 0) {
      set.add("resources.cpus_per_gpu=" + (1 + random.nextInt(3)));
    } else if (random.nextInt(3) > 0) {
      set.add("resources.cpus_per_task=" + (1 + random.nextInt(4)));
    }
    int mib = 100 + random.nextInt(3000);
    int memory = random.nextInt(gpus > 0 ? 4 : 3);
    if (memory > 0) {
      List<String> keys = List.of("memory", "memory_per_cpu", "memory_per_gpu");
      set.add("resources." + keys.get(memory - 1) + "=" + mib + "M");
    }
    if (random.nextInt(5) == 0) {
      set.add("resources.hint=" + (random.nextBoolean() ? "nomultithread" : "multithread"));
    }
    if (random.nextInt(10) == 0) {
      set.add("resources.threads_per_core=" + (1 + random.nextInt(2)));
    }
    if (random.nextInt(10) == 0) {
      set.add("resources.mincpus=" + (1 + random.nextInt(8)));
    }
    if (random.nextInt(100) < setting.wholePercent()) {
      set.add("resources.exclusive=true");
    }
    return set;
  }

  /** A profile that says nothing of partitions, and one that init has read. */
  private static Context workspace(PrivateSlurm slurm) throws IOException {
    slurm.person().says("init", "--cluster", "read");
    Path configs = slurm.workspace().resolve("configs");
    Files.move(configs.resolve("clusters/default.yaml"), configs.resolve("clusters/bare.yaml"));
    Files.writeString(
        configs.resolve("clusters/bare.yaml"), "gpu_type: h100\n", StandardOpenOption.APPEND);
    Files.createDirectories(configs.resolve("prices"));
    Files.writeString(
        configs.resolve("prices/default.yaml"),
        """
        currency: USD
        as_of: 2026-01-01
        gpu_hour: {h100: {price: 2, source: test}}
        cpu_hour: {price: 0.05, source: test}
        memory_gib_hour: {price: 0.01, source: test}
        """);
    Files.writeString(
        slurm.workspace().resolve("run.yaml"),
        "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 5m}\n");
    return new Context(slurm.workspace(), slurm.environment());
  }

  private static Count judge(PrivateSlurm slurm, Map<Long, Submitted> jobs) throws Exception {
    Map<Long, String> allocated = allocated(slurm, jobs.size());
    Count count = new Count();
    jobs.forEach(
        (id, job) -> {
          String tres = allocated.getOrDefault(id, "");
          if (tres.isEmpty() && job.ofTasks()) {
            System.out.println("never started: " + job.options());
            return;
          }
          assertThat(tres).as("job %d %s", id, job.options()).isNotEmpty();
          Tres got = Tres.parse(tres);
          BigDecimal actual =
              cost(
                  job,
                  got.gpusBy("h100", 0),
                  got.cpus(),
                  got.memoryBytes(),
                  (int) Tres.nodes(tres).orElseThrow());
          BigDecimal live = bound(job, job.live());
          BigDecimal byProfile = bound(job, job.byProfile());
          boolean equal = live.compareTo(actual) == 0 && byProfile.compareTo(actual) == 0;
          if (job.ofTasks()) {
            count.ofTasks++;
            count.ofTasksEqual += equal ? 1 : 0;
            BigDecimal twice = actual.add(actual);
            boolean more = live.max(byProfile).compareTo(twice) > 0;
            count.ofTasksTwice += more ? 1 : 0;
            if (more) {
              System.out.println("more than twice: " + job.options() + " got " + tres);
            }
          } else {
            count.jobs++;
            count.equal += equal ? 1 : 0;
            count.enlarged += actual.compareTo(wanted(job)) > 0 ? 1 : 0;
          }
          if (live.compareTo(actual) < 0 || byProfile.compareTo(actual) < 0) {
            count.below.add(
                job.options()
                    + " got "
                    + tres
                    + "; live "
                    + job.live().billed()
                    + ", by the profile "
                    + job.byProfile().billed());
          } else if (Boolean.getBoolean("allocations.why") && live.compareTo(actual) > 0) {
            System.out.println(job.options() + " got " + tres + "; " + job.live().billed());
          }
        });
    return count;
  }

  /** What the job asks for, before Slurm rounds it. */
  private static BigDecimal wanted(Submitted job) {
    Allocation asked = job.live().allocation();
    int nodes = asked.nodes();
    return cost(
        job,
        Map.of("h100", (long) asked.gpusPerNode() * nodes),
        (long) asked.cpusPerTask() * nodes,
        asked.memoryBytes() * nodes,
        nodes);
  }

  private static BigDecimal bound(Submitted job, Plan plan) {
    BilledResources billed = plan.billed();
    return cost(
        job,
        Map.of("h100", (long) billed.gpus()),
        billed.cpus(),
        billed.memoryBytes(),
        plan.allocation().nodes());
  }

  private static BigDecimal cost(
      Submitted job, Map<String, Long> gpus, long cpus, long memoryBytes, int nodes) {
    return job.rates().unrounded(job.rates().usage(gpus, cpus, memoryBytes, nodes, 3600));
  }

  /** Waits until all jobs have started, or until none has for half a minute; what each got. */
  private static Map<Long, String> allocated(PrivateSlurm slurm, int jobs) throws Exception {
    Map<Long, String> allocated = new HashMap<>();
    int last = 0;
    for (int i = 0; i - last < 150 && allocated.size() < jobs; i++) {
      Thread.sleep(200);
      int before = allocated.size();
      String answer =
          slurm.root("env", "SLURM_TIME_FORMAT=%s", "scontrol", "-o", "-d", "show", "job").out();
      for (ControllerJob job : JobText.read(answer)) {
        if (!job.row().allocated().allocTres().isEmpty()) {
          allocated.put(job.row().ids().arrayJobId(), job.row().allocated().allocTres());
        }
      }
      last = allocated.size() > before ? i : last;
    }
    return allocated;
  }
}
