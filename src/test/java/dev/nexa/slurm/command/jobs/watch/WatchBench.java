package dev.nexa.slurm.command.jobs.watch;

import com.sun.management.OperatingSystemMXBean;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.PrivateSlurm;
import dev.nexa.slurm.insight.live.LiveReader;
import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Times one picture of {@code status --watch} beside one bare squeue that asks the same, on a real
 * Slurm of its own. {@code dev/bench-watch} runs it, as root.
 */
final class WatchBench {
  private static final Duration INTERVAL = Duration.ofSeconds(10);
  private static final int CPUS = 32;

  private final PrivateSlurm slurm;
  private final Path bin;
  private final Map<String, String> environment;

  private WatchBench(PrivateSlurm slurm) {
    this.slurm = slurm;
    this.bin = slurm.folder.resolve("bin");
    this.environment = new TreeMap<>(slurm.environment());
    environment.put("PATH", bin + ":" + environment.get("PATH"));
    environment.put("NEXA_WORKSPACE", slurm.workspace().toString());
  }

  /** RUNS TASKS ROUNDS: so many runs, the last of them with so many tasks. */
  public static void main(String[] args) throws Exception {
    int runs = Integer.parseInt(args[0]);
    int tasks = Integer.parseInt(args[1]);
    PrivateSlurm.Layout layout =
        new PrivateSlurm.Layout(
            Map.of("p1", ""),
            ("MaxArraySize=%d\nMaxJobCount=%d\nSelectTypeParameters=CR_CPU\n"
                    + "NodeName=p1 AT CPUs=%d RealMemory=64000\n"
                    + "PartitionName=cpu Nodes=p1 Default=YES\n")
                .formatted(tasks + 1, runs + tasks + 1000, CPUS));
    try (PrivateSlurm slurm = PrivateSlurm.prepare(layout, "nexa-bench")) {
      slurm.letAllThrough();
      slurm.start();
      WatchBench bench = new WatchBench(slurm);
      bench.submit(runs, tasks);
      bench.measure(Integer.parseInt(args[2]));
    }
  }

  private void submit(int runs, int tasks) throws IOException {
    for (String client : List.of("squeue", "sacct")) {
      StandIn.sh(
          bin.resolve(client),
          "printf '%s\\n' \"$@\" >"
              + argv(client)
              + "; echo >>"
              + calls(client)
              + "; exec /usr/bin/"
              + client
              + " \"$@\"");
    }
    slurm.person();
    write(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nhealth_check: false\nstorage: {scratch: /tmp, durable: /tmp, shared: /tmp}\n"
            + "slurm: {max_array_size: "
            + (tasks + 1)
            + "}\n");
    write("configs/policy.yaml", "approval_over: {amount: 1000000000, currency: USD}\n");
    String run =
        "stage: data\nbackend: shell\nrun: sleep 3600\n"
            + "resources: {cpus_per_task: 1, memory: 50M, time: 2h}\n";
    Path one = write("one.yaml", run);
    Path array = write("array.yaml", run + "array: {shards: " + tasks + "}\n");
    for (int i = 1; i < runs; i++) {
      type("submit", one.toString());
    }
    type("submit", array.toString());
  }

  private Path write(String name, String text) throws IOException {
    return Files.writeString(slurm.workspace().resolve(name), text);
  }

  private void type(String... command) {
    StringWriter err = new StringWriter();
    int exit =
        Main.run(command, environment, new PrintWriter(new StringWriter()), new PrintWriter(err));
    if (exit != 0) {
      throw new IllegalStateException(
          String.join(" ", command) + " ended with " + exit + ": " + err);
    }
  }

  private Path argv(String client) {
    return slurm.folder.resolve(client + ".argv");
  }

  private Path calls(String client) {
    return slurm.folder.resolve(client + ".calls");
  }

  private long called(String client) throws IOException {
    return Files.exists(calls(client)) ? Files.size(calls(client)) : 0;
  }

  private void measure(int rounds) throws Exception {
    LiveReader reader = new LiveReader(new Context(slurm.workspace(), environment), List.of());
    WatchScreen screen = new WatchScreen();
    OperatingSystemMXBean process =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long[] pictures = new long[rounds];
    long[] drawn = new long[rounds];
    long[] bare = new long[rounds];
    long before = called("squeue");
    long first = picture(reader, screen)[0];
    long asked = called("squeue") - before;
    long cpu = 0;
    for (int i = 0; i < rounds; i++) {
      bare[i] = bareSqueue();
      before = called("squeue");
      long used = process.getProcessCpuTime();
      long[] times = picture(reader, screen);
      cpu += process.getProcessCpuTime() - used;
      pictures[i] = times[0];
      drawn[i] = times[1];
      asked = Math.max(asked, called("squeue") - before);
    }
    LiveSnapshot snapshot = screen.snapshot().orElseThrow();
    System.gc();
    Runtime heap = Runtime.getRuntime();
    tell("runs", snapshot.runs().size());
    tell("tasks", snapshot.runs().stream().mapToLong(run -> run.row().tasks().all()).sum());
    tell("problems", snapshot.problems().size());
    tell("squeue_us", median(bare));
    tell("first_us", first / 1000);
    tell("picture_us", median(pictures));
    tell("drawn_us", median(drawn));
    tell("cpu_us", cpu / rounds / 1000);
    tell("squeue_calls", asked);
    tell("sacct_calls", called("sacct"));
    tell("heap_bytes", heap.totalMemory() - heap.freeMemory());
    tell("rss_kib", peak());
  }

  private static void tell(String name, long value) {
    System.out.println(name + " " + value);
  }

  /** Returns the nanoseconds of a picture, and of its drawing alone. */
  private static long[] picture(LiveReader reader, WatchScreen screen) {
    long begin = System.nanoTime();
    screen.show(reader.read(Instant.now()));
    long read = System.nanoTime();
    new WatchPicture(200, 50, true).of(screen, Instant.now(), INTERVAL);
    long end = System.nanoTime();
    return new long[] {end - begin, end - read};
  }

  /** Asks what the last picture asked, and returns the nanoseconds. */
  private long bareSqueue() throws Exception {
    List<String> words = new ArrayList<>(List.of(bin.resolve("squeue").toString()));
    words.addAll(Files.readAllLines(argv("squeue")));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.redirectOutput(slurm.folder.resolve("rows").toFile());
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    long begin = System.nanoTime();
    int exit = builder.start().waitFor();
    long end = System.nanoTime();
    if (exit != 0) {
      throw new IllegalStateException("squeue ended with " + exit);
    }
    return end - begin;
  }

  private static long median(long[] nanos) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2] / 1000;
  }

  /** Returns the most memory that this process has had, in KiB. */
  private static long peak() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status"), StandardCharsets.UTF_8).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElse(0);
  }
}
