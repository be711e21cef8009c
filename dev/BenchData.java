import java.io.BufferedWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Properties;
import java.util.Random;

/** See dev/bench-data. */
class BenchData {
  private static final String[] WORDS = new String[5000];

  public static void main(String[] args) throws Exception {
    Path work = Path.of(args[2]);
    Path raw = work.resolve("raw.jsonl");
    long rows = generate(raw, Long.parseLong(args[0]) << 20);
    System.out.printf("%,d rows, %,d MiB%n", rows, Files.size(raw) >> 20);
    Files.writeString(
        work.resolve("settings.json"),
        "{\"columns\": {\"id\": \"integer\", \"text\": \"text\"}, \"text\": [\"text\"], \"min_chars\": 50}");
    int turns = Integer.parseInt(args[1]);
    double[] ours = new double[turns];
    double[] bare = new double[turns];
    for (int turn = 0; turn < turns; turn++) {
      ours[turn] = ours(work, raw, args[3]);
      bare[turn] = bare(work, raw, args[3]);
      System.out.printf("prepare %.1f s, bare %.1f s%n", ours[turn], bare[turn]);
    }
    Arrays.sort(ours);
    Arrays.sort(bare);
    System.out.printf("ratio of the medians: %.2f%n", ours[turns / 2] / bare[turns / 2]);
  }

  private static long generate(Path file, long bytes) throws Exception {
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

  private static double ours(Path work, Path raw, String jar) throws Exception {
    long start = System.nanoTime();
    ProcessBuilder builder =
        new ProcessBuilder(
            "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", jar, "data", "prepare",
            "--settings", work.resolve("settings.json").toString(), "--input", raw.toString(),
            "--output", work.resolve("ours").toString());
    builder.environment().put("SLURM_MEM_PER_NODE", "2048");
    builder.environment().put("SLURM_CPUS_PER_TASK", "2");
    builder.environment().put("NEXA_TASK_SCRATCH", work.resolve("scratch").toString());
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT);
    if (builder.start().waitFor() != 0) {
      throw new IllegalStateException("data prepare failed");
    }
    return (System.nanoTime() - start) / 1e9;
  }

  /** The same steps in one statement: normalise, filter, first of each text, sort by its digest, Parquet. */
  private static double bare(Path work, Path raw, String jar) throws Exception {
    Path folder = Path.of(jar).toAbsolutePath().resolveSibling("duckdb-1.5.0.0");
    long start = System.nanoTime();
    URL[] urls = {folder.resolve("duckdb.jar").toUri().toURL()};
    Driver driver = Holder.driver(urls);
    Properties settings = new Properties();
    settings.setProperty("memory_limit", "1228MiB");
    settings.setProperty("threads", "2");
    settings.setProperty("temp_directory", work.resolve("bare.tmp").toString());
    Path database = work.resolve("bare.duckdb");
    try (Connection connection = driver.connect("jdbc:duckdb:" + database, settings);
        Statement statement = connection.createStatement()) {
      statement.execute(
          "COPY (SELECT min(id) AS id, text FROM (SELECT id,"
              + " trim(regexp_replace(nfc_normalize(text), '[\\s\\pZ]+', ' ', 'g')) AS text FROM read_json('"
              + raw
              + "', format = 'newline_delimited', columns = {id: 'BIGINT', text: 'VARCHAR'}))"
              + " WHERE length(text) >= 50 GROUP BY text ORDER BY sha256(text)) TO '"
              + work.resolve("bare.parquet")
              + "' (FORMAT parquet, COMPRESSION zstd)");
    }
    Files.deleteIfExists(database);
    return (System.nanoTime() - start) / 1e9;
  }

  private static final class Holder {
    static Driver driver;

    static Driver driver(URL[] urls) throws Exception {
      if (driver == null) {
        driver =
            (Driver)
                Class.forName("org.duckdb.DuckDBDriver", true, new URLClassLoader(urls))
                    .getDeclaredConstructor()
                    .newInstance();
      }
      return driver;
    }
  }
}
