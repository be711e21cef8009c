import java.io.BufferedWriter;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.stream.Stream;

/** See dev/bench-data. With the argument {@code bare} it is the process that runs the bare statement. */
class BenchData {
  private static final String[] WORDS = new String[5000];

  /** What a process took. */
  record Usage(double wall, double cpu, long peakMib) {}

  public static void main(String[] args) throws Exception {
    if (args[0].equals("bare")) {
      bare(Path.of(args[1]), args[2], args[3]);
      return;
    }
    Path work = Path.of(args[2]);
    Path raw = work.resolve("raw.jsonl");
    long rows = generate(raw, Long.parseLong(args[0]) << 20);
    System.out.printf("%,d rows, %,d MiB%n", rows, Files.size(raw) >> 20);
    String settings = "{\"columns\": {\"id\": \"integer\", \"text\": \"text\"}, \"text\": [\"text\"], \"min_chars\": 50";
    Files.writeString(work.resolve("settings.json"), settings + "}");
    Files.writeString(work.resolve("parts.json"), settings + ", \"parts\": true}");
    int turns = Integer.parseInt(args[1]);
    List<Usage> ours = new ArrayList<>();
    List<Usage> bares = new ArrayList<>();
    for (int turn = 0; turn < turns; turn++) {
      ours.add(prepare(work, raw, args[3], 0, 1));
      clear(work.resolve("ours"));
      bares.add(run(List.of("java", "-Xmx256m", "-cp", args[4], "BenchData", "bare", work.toString(), raw.toString(), args[3]), new String[0]));
      System.out.println("prepare " + shown(ours.get(turn)) + "; bare " + shown(bares.get(turn)));
    }
    double[] wall = new double[turns];
    double[] cpu = new double[turns];
    for (int turn = 0; turn < turns; turn++) {
      wall[turn] = ours.get(turn).wall() / bares.get(turn).wall();
      cpu[turn] = ours.get(turn).cpu() / bares.get(turn).cpu();
    }
    System.out.println("ratio of each pair: wall " + spread(wall) + ", CPU " + spread(cpu));
    for (int task = 0; task < 4; task++) {
      System.out.println("task " + task + " of 4: " + shown(prepare(work, raw, args[3], task, 4)));
    }
    clear(work.resolve("ours"));
    for (int task = 0; task < 4; task++) {
      System.out.println("task " + task + " of 4, parts: " + shown(prepare(work, raw, args[3], "parts", task, 4)));
    }
    for (int task = 0; task < 4; task++) {
      Usage usage = prepare(work, raw, args[3], "settings", task, 4, "--from-parts", work.resolve("parts").toString());
      System.out.println("task " + task + " of 4, from parts: " + shown(usage));
    }
  }

  static String shown(Usage usage) {
    return String.format("%.1f s (CPU %.1f s, peak %d MiB)", usage.wall(), usage.cpu(), usage.peakMib());
  }

  /** Returns the median, the least and the greatest. */
  private static String spread(double[] values) {
    Arrays.sort(values);
    return String.format("%.2f (%.2f to %.2f)", values[values.length / 2], values[0], values[values.length - 1]);
  }

  private static long generate(Path file, long bytes) throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < WORDS.length; i++) {
      WORDS[i] = Integer.toString(100_000 + random.nextInt(2_000_000_000), 36);
    }
    long written = 0;
    long id = 0;
    String last = "";
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      while (written < bytes) {
        StringBuilder text = new StringBuilder();
        int words = 20 + random.nextInt(200);
        for (int i = 0; i < words; i++) {
          text.append(WORDS[random.nextInt(WORDS.length)]).append(random.nextInt(30) == 0 ? "  " : " ");
        }
        last = random.nextInt(20) == 0 ? last : text.toString();
        String line = "{\"id\":" + id++ + ",\"text\":\"" + last + "\"}\n";
        out.write(line);
        written += line.length();
      }
    }
    return id;
  }

  private static Usage prepare(Path work, Path raw, String jar, int task, int tasks) throws Exception {
    return prepare(work, raw, jar, "settings", task, tasks);
  }

  private static Usage prepare(Path work, Path raw, String jar, String settings, int task, int tasks, String... more)
      throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "java", "-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", jar, "data", "prepare",
                "--settings", work.resolve(settings + ".json").toString(), "--input", raw.toString(),
                "--output", work.resolve(settings.equals("parts") ? "parts" : "ours").toString()));
    command.addAll(List.of(more));
    return run(
        command,
        "SLURM_MEM_PER_NODE=2048",
        "SLURM_CPUS_PER_TASK=2",
        "NEXA_TASKS=" + tasks,
        "NEXA_TASK=" + task,
        "NEXA_TASK_SCRATCH=" + work.resolve("scratch"));
  }

  /** Runs a process, and looks at its CPU time and memory until it ends. */
  static Usage run(List<String> command, String... environment) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command);
    for (String variable : environment) {
      builder.environment().put(variable.split("=")[0], variable.split("=")[1]);
    }
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT);
    long start = System.nanoTime();
    Process process = builder.start();
    Path proc = Path.of("/proc/" + process.pid());
    double cpu = 0;
    long peak = 0;
    while (!process.waitFor(20, java.util.concurrent.TimeUnit.MILLISECONDS)) {
      try {
        String[] stat = Files.readString(proc.resolve("stat")).replaceFirst(".*\\) ", "").split(" ");
        double now = (Long.parseLong(stat[11]) + Long.parseLong(stat[12])) / 100.0;
        cpu = Math.max(cpu, now);
        for (String line : Files.readAllLines(proc.resolve("status"))) {
          if (line.startsWith("VmHWM")) {
            peak = Long.parseLong(line.replaceAll("[^0-9]", "")) >> 10;
          }
        }
      } catch (IOException | ArrayIndexOutOfBoundsException ended) {
        // It ended between two looks.
      }
    }
    if (process.exitValue() != 0) {
      throw new IllegalStateException(String.join(" ", command) + " failed");
    }
    return new Usage((System.nanoTime() - start) / 1e9, cpu, peak);
  }

  private static void clear(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
  }

  /**
   * The same steps in one statement, with the same limits and the same normalisation: check the types, normalise,
   * filter by length, keep the first of each text, sort by its digest, write Parquet.
   */
  private static void bare(Path work, String raw, String jar) throws Exception {
    Path folder = Path.of(jar).toAbsolutePath().resolveSibling("duckdb-1.5.0.0");
    URL[] urls = {folder.resolve("duckdb.jar").toUri().toURL()};
    Driver driver =
        (Driver) Class.forName("org.duckdb.DuckDBDriver", true, new URLClassLoader(urls)).getDeclaredConstructor().newInstance();
    Properties settings = new Properties();
    settings.setProperty("memory_limit", "1228MiB");
    settings.setProperty("threads", "2");
    settings.setProperty("temp_directory", work.resolve("bare.tmp").toString());
    settings.setProperty("preserve_insertion_order", "false");
    String normal =
        "CASE WHEN regexp_matches(text, '[\\x09-\\x0d]|  |[^\\x00-\\x7f]') THEN trim(regexp_replace(nfc_normalize(text),"
            + " '[\\t-\\r\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}]"
            + "[\\s\\x0b\\x{85}\\pZ]*| [\\s\\x0b\\x{85}\\pZ]+', ' ', 'g')) ELSE trim(text) END";
    try (Connection connection = driver.connect("jdbc:duckdb:", settings);
        Statement statement = connection.createStatement()) {
      statement.execute(
          "COPY (SELECT min(id) AS id, text FROM (SELECT id, "
              + normal
              + " AS text FROM read_json('"
              + raw
              + "', format = 'newline_delimited', columns = {id: 'BIGINT', text: 'VARCHAR'}))"
              + " WHERE length(text) >= 50 GROUP BY text ORDER BY sha256(text)) TO '"
              + work.resolve("bare.parquet")
              + "' (FORMAT parquet, COMPRESSION zstd)");
    }
  }
}
