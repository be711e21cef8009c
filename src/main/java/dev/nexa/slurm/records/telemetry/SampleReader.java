package dev.nexa.slurm.records.telemetry;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads the lines of a file of samples:
 *
 * <pre>
 * h,1,number=0,nodes=1,interval=5,gpus=2,source=nvidia-smi,activity=none,cpus=8,memory=68719476736
 * d,0,GPU-5a…,81559                             a GPU: number, UUID, memory in MiB
 * g,1764000000.25,0,97,,40536,612.5,61          time, GPU, utilization, SM activity, MiB, W, C
 * n,1764000000.25,91000000,2000000000,0,4096,1,1  time, CPU in us, memory, read, written, received, sent
 * e,1764000005.25,fewer,1                       time, event, detail
 * </pre>
 *
 * <p>A field that could not be read is empty. The counters of the node only grow; rates follow from
 * two samples.
 */
final class SampleReader {
  private static final int MOST_GPUS = 1024;
  private static final double MIB = 1 << 20;
  private static final long MOST_SECONDS = 1L << 35;
  private static final long MICROS = 1_000_000;
  private static final long SHORTEST_MILLIS = 500;

  private static final List<Measure> COUNTED =
      List.of(
          Measure.CPU_UTILIZATION,
          Measure.DISK_READ,
          Measure.DISK_WRITTEN,
          Measure.NETWORK_RECEIVED,
          Measure.NETWORK_SENT);

  /** One series that grows. */
  private static final class Growing {
    private final Points points = new Points();
    private final Spread spread;
    private long last;
    private double first;
    private double newest;

    Growing(Measure measure) {
      this.spread = new Spread(measure.unit());
    }

    void add(long millis, double value) {
      long held = spread.isEmpty() ? 0 : Math.max(0, millis - last);
      if (spread.isEmpty()) {
        first = value;
      }
      spread.add(value, held);
      points.add((double) millis, value);
      last = millis;
      newest = value;
    }
  }

  private record Key(Measure measure, Optional<Integer> gpu) {}

  private final Map<Key, Growing> gpuSeries = new LinkedHashMap<>();
  private final Map<Key, Growing> nodeSeries = new LinkedHashMap<>();
  private final Map<Integer, Long> gpuMemory = new TreeMap<>();
  private NodeTelemetry.Facts facts = NodeTelemetry.Facts.UNKNOWN;
  private final long[] firstCounters = new long[5];
  private final long[] lastCounters = new long[5];
  private final long[] counters = new long[5];
  private long countersAt = -1;
  private long begin = -1;
  private long newest = -1;
  private long samples;
  private long broken;
  private boolean afterLeap;
  private int hangs;
  private Optional<Integer> fewest = Optional.empty();
  private boolean ended;

  SampleReader() {
    Arrays.fill(firstCounters, -1);
    Arrays.fill(counters, -1);
  }

  void broken() {
    broken++;
  }

  /** Says that lines were left out: the next one may be the end of one. */
  void leap() {
    afterLeap = true;
    countersAt = -1;
  }

  void line(String line) {
    if (afterLeap) {
      afterLeap = false;
      return;
    }
    String[] fields = line.split(",", -1);
    try {
      boolean read =
          switch (fields[0]) {
            case "h" -> fields.length > 1 && fields[1].equals("1") && head(fields);
            case "d" -> fields.length == 4 && device(fields);
            case "g" -> fields.length == 8 && gpu(fields);
            case "n" -> fields.length == 8 && node(fields);
            case "e" -> fields.length == 4 && event(fields);
            default -> false;
          };
      broken += read ? 0 : 1;
    } catch (NumberFormatException notANumber) {
      broken++;
    }
  }

  private boolean head(String[] fields) {
    Map<String, String> said = new TreeMap<>();
    for (int i = 2; i < fields.length; i++) {
      int equals = fields[i].indexOf('=');
      if (equals > 0) {
        said.put(fields[i].substring(0, equals), fields[i].substring(equals + 1));
      }
    }
    long memory = whole(said.getOrDefault("memory", ""));
    facts =
        new NodeTelemetry.Facts(
            count(said, "number", 0),
            count(said, "nodes", 1),
            count(said, "interval", 0),
            count(said, "gpus", 0),
            word(said, "source"),
            word(said, "activity"),
            Math.max(1, count(said, "cpus", 1)),
            memory > 0 ? Optional.of(memory) : Optional.empty());
    return true;
  }

  private static int count(Map<String, String> said, String key, int otherwise) {
    long number = whole(said.getOrDefault(key, ""));
    return number < 0 ? otherwise : (int) Math.min(number, Integer.MAX_VALUE);
  }

  private static String word(Map<String, String> said, String key) {
    String word = said.getOrDefault(key, "");
    return word.matches("[a-z][a-z-]{0,30}") ? word : "none";
  }

  private boolean device(String[] fields) {
    long mib = whole(fields[3]);
    gpuMemory.put(gpuNumber(fields[1]), mib < 0 ? 0 : (long) (mib * MIB));
    return true;
  }

  private boolean gpu(String[] fields) {
    long at = millis(fields[1]);
    Optional<Integer> gpu = Optional.of(gpuNumber(fields[2]));
    // All fields are read before one counts.
    double utilization = decimal(fields[3]);
    double activity = decimal(fields[4]);
    double mib = decimal(fields[5]);
    double watts = decimal(fields[6]);
    double celsius = decimal(fields[7]);
    seen(at);
    put(gpuSeries, Measure.GPU_UTILIZATION, gpu, at, percent(utilization));
    put(gpuSeries, Measure.SM_ACTIVITY, gpu, at, percent(activity));
    put(gpuSeries, Measure.GPU_MEMORY, gpu, at, mib < 0 ? -1 : mib * MIB);
    put(gpuSeries, Measure.GPU_POWER, gpu, at, watts);
    put(gpuSeries, Measure.GPU_TEMPERATURE, gpu, at, celsius);
    return true;
  }

  private boolean node(String[] fields) {
    long at = millis(fields[1]);
    long memory = whole(fields[3]);
    long[] now = {
      whole(fields[2]), whole(fields[4]), whole(fields[5]), whole(fields[6]), whole(fields[7])
    };
    seen(at);
    put(nodeSeries, Measure.MEMORY, Optional.empty(), at, (double) memory);
    for (int i = 0; i < now.length; i++) {
      if (now[i] >= 0) {
        firstCounters[i] = firstCounters[i] < 0 ? now[i] : firstCounters[i];
        lastCounters[i] = now[i];
      }
    }
    samples++;
    // In a shorter time, a rate is mostly the error of its clock.
    if (countersAt < 0 || at - countersAt >= SHORTEST_MILLIS) {
      rates(at, now);
      countersAt = at;
    }
    return true;
  }

  private void rates(long at, long[] now) {
    for (int i = 0; i < now.length; i++) {
      if (countersAt >= 0 && now[i] >= 0 && counters[i] >= 0 && now[i] >= counters[i]) {
        double rate = (now[i] - counters[i]) * 1000.0 / (at - countersAt);
        double value = i == 0 ? rate * 100 / MICROS / facts.cpus() : rate;
        put(nodeSeries, COUNTED.get(i), Optional.empty(), at, value);
      }
      counters[i] = now[i];
    }
  }

  private boolean event(String[] fields) {
    millis(fields[1]);
    switch (fields[2]) {
      case "hang", "failed" -> hangs++;
      case "fewer" -> {
        int seen = (int) Math.max(0, Math.min(MOST_GPUS, whole(fields[3])));
        fewest = Optional.of(Math.min(fewest.orElse(seen), seen));
      }
      case "end" -> ended = true;
      default -> {
        // A word of a newer sampler.
      }
    }
    return true;
  }

  private void seen(long at) {
    begin = begin < 0 ? at : begin;
    newest = Math.max(newest, at);
  }

  private static void put(
      Map<Key, Growing> series, Measure measure, Optional<Integer> gpu, long at, double value) {
    if (value >= 0) {
      series.computeIfAbsent(new Key(measure, gpu), key -> new Growing(measure)).add(at, value);
    }
  }

  private static int gpuNumber(String text) {
    long number = whole(text);
    if (number < 0 || number >= MOST_GPUS) {
      throw new NumberFormatException(text);
    }
    return (int) number;
  }

  private static double percent(double value) {
    return Math.min(100, value);
  }

  /** Returns milliseconds since 1970. */
  private static long millis(String text) {
    double seconds = decimal(text);
    if (seconds < 0 || seconds > MOST_SECONDS) {
      throw new NumberFormatException(text);
    }
    return Math.round(seconds * 1000);
  }

  /** Returns a number from 0; -1 for an empty field. */
  private static long whole(String text) {
    return text.isEmpty() ? -1 : Long.parseLong(formed(text, "\\d{1,18}"));
  }

  /** Returns a number from 0; -1 for an empty field. */
  private static double decimal(String text) {
    return text.isEmpty() ? -1 : Double.parseDouble(formed(text, "\\d{1,15}(\\.\\d{1,9})?"));
  }

  private static String formed(String text, String form) {
    if (!text.matches(form)) {
      throw new NumberFormatException(text);
    }
    return text;
  }

  NodeTelemetry result(TelemetryFile file) {
    List<Series> series = new ArrayList<>();
    List<NodeTelemetry.Sample.Value> before = new ArrayList<>();
    List<NodeTelemetry.Sample.Value> after = new ArrayList<>();
    List<Map.Entry<Key, Growing>> sorted = new ArrayList<>(gpuSeries.entrySet());
    sorted.sort(Comparator.comparing(entry -> entry.getKey().gpu().orElse(-1)));
    sorted.addAll(nodeSeries.entrySet());
    long newestOfGpus = newest(gpuSeries);
    long newestOfNode = newest(nodeSeries);
    for (Map.Entry<Key, Growing> entry : sorted) {
      Key key = entry.getKey();
      Growing one = entry.getValue();
      series.add(new Series(key.measure(), key.gpu(), Series.timed(one.points), one.spread));
      before.add(new NodeTelemetry.Sample.Value(key.measure(), key.gpu(), one.first));
      // A GPU that is gone has no value any more.
      if (one.last == (key.gpu().isPresent() ? newestOfGpus : newestOfNode)) {
        after.add(new NodeTelemetry.Sample.Value(key.measure(), key.gpu(), one.newest));
      }
    }
    return new NodeTelemetry(
        file,
        facts,
        gpuMemory.values().stream().mapToLong(Long::longValue).sum(),
        List.copyOf(series),
        sample(begin, before),
        sample(newest, after),
        new NodeTelemetry.Totals(grown(1), grown(2), grown(3), grown(4)),
        samples,
        broken,
        hangs,
        fewest,
        ended);
  }

  private static Optional<NodeTelemetry.Sample> sample(
      long at, List<NodeTelemetry.Sample.Value> values) {
    return Optional.of(new NodeTelemetry.Sample(Instant.ofEpochMilli(at), values))
        .filter(any -> at >= 0);
  }

  private static long newest(Map<Key, Growing> series) {
    return series.values().stream().mapToLong(one -> one.last).max().orElse(-1);
  }

  private Optional<Long> grown(int counter) {
    return firstCounters[counter] < 0
        ? Optional.empty()
        : Optional.of(Math.max(0, lastCounters[counter] - firstCounters[counter]));
  }
}
