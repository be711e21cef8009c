import java.io.BufferedWriter;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;

/** See dev/bench-minhash. */
class BenchMinhash {
  /** Words of a text: 100 different 5-grams. */
  private static final int WORDS = 104;

  /** The first words that the two texts of a pair have in common: k of them are k - 4 common 5-grams. */
  private static final int[] COMMON = {54, 60, 67, 74, 78, 82, 86, 90, 94, 97};

  public static void main(String[] args) throws Exception {
    Path work = Path.of(args[1]);
    String jar = args[2];
    int pairs = Integer.parseInt(args[0]) / 2;
    generate(work.resolve("raw.jsonl"), pairs);
    System.out.printf("%,d documents of %d words, %,d MiB%n", 2 * pairs, WORDS, Files.size(work.resolve("raw.jsonl")) >> 20);
    String settings = "{\"columns\": {\"id\": \"integer\", \"text\": \"text\"}, \"text\": [\"text\"], \"near_duplicates\": %s%s}";
    Files.writeString(work.resolve("without.json"), settings.formatted("false", ""));
    Files.writeString(work.resolve("near.json"), settings.formatted("true", ""));
    Files.writeString(work.resolve("signatures.json"), settings.formatted("true", ", \"signatures\": true"));
    System.out.println("one task without near duplicates: " + step(work, jar, 0, 1, "prepare", "raw.jsonl", "plain", "without.json"));
    System.out.println("one task with near duplicates: " + step(work, jar, 0, 1, "prepare", "raw.jsonl", "one", "near.json"));
    curve(work, jar, pairs);
    for (int task = 0; task < 4; task++) {
      System.out.println("signatures, task " + task + " of 4: " + step(work, jar, task, 4, "prepare", "raw.jsonl", "signatures", "signatures.json"));
    }
    for (int task = 0; task < 2; task++) {
      System.out.println("buckets, task " + task + " of 2: " + step(work, jar, task, 2, "buckets", "signatures", "pairs", ""));
    }
    System.out.println("clusters: " + step(work, jar, 0, 1, "clusters", "pairs", "clusters", ""));
    for (int task = 0; task < 4; task++) {
      System.out.println("prepare with clusters, task " + task + " of 4: " + step(work, jar, task, 4, "prepare", "raw.jsonl", "four", "near.json", "--clusters", work.resolve("clusters").toString()));
    }
    String same = "SELECT count(*) FROM ((SELECT id FROM '%1$s/one/train-*.parquet') EXCEPT (SELECT id FROM '%1$s/four/train-*.parquet'))";
    System.out.println("rows that only one task kept: " + query(work, jar, same.formatted(work)).get(0).get(0));
  }

  private static void generate(Path file, int pairs) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (int second = 0; second < 2; second++) {
        for (int pair = 0; pair < pairs; pair++) {
          int common = COMMON[pair % COMMON.length];
          Random shared = new Random(pair);
          Random own = new Random(-1L - pair);
          StringBuilder line = new StringBuilder("{\"id\":" + (2L * pair + second) + ",\"text\":\"");
          for (int word = 0; word < WORDS; word++) {
            Random from = second == 1 && word >= common ? own : shared;
            line.append(word == 0 ? "" : " ").append(Integer.toString(from.nextInt() >>> 1, 36));
          }
          out.write(line.append("\"}\n").toString());
        }
      }
    }
  }

  /** Prints how many pairs were found for each similarity, beside the theory. */
  private static void curve(Path work, String jar, int pairs) throws Exception {
    Map<Integer, Long> kept = new TreeMap<>();
    String sql = "SELECT (id // 2) %% " + COMMON.length + " AS s, count(*) FROM '%s/one/train-*.parquet' GROUP BY s";
    for (List<String> row : query(work, jar, sql.formatted(work))) {
      kept.put(Integer.parseInt(row.get(0)), Long.parseLong(row.get(1)));
    }
    System.out.println("| Jaccard similarity | pairs | found | theory | difference in standard deviations |");
    System.out.println("|---:|---:|---:|---:|---:|");
    for (int s = 0; s < COMMON.length; s++) {
      double jaccard = (COMMON[s] - 4.0) / (200 - (COMMON[s] - 4));
      long all = pairs / COMMON.length + (s < pairs % COMMON.length ? 1 : 0);
      double found = (2.0 * all - kept.get(s)) / all;
      double theory = 1 - Math.pow(1 - Math.pow(jaccard, 8), 14);
      double sigmas = (found - theory) / Math.sqrt(theory * (1 - theory) / all);
      System.out.printf("| %.3f | %,d | %.2f %% | %.2f %% | %+.1f |%n", jaccard, all, 100 * found, 100 * theory, sigmas);
    }
  }

  /** Runs a step, and returns its time, CPU time and peak memory. */
  private static String step(Path work, String jar, int task, int tasks, String name, String input, String output, String settings, String... more) throws Exception {
    List<String> command = new ArrayList<>(List.of("java", "-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", jar, "data", name));
    command.addAll(List.of("--input", work.resolve(input).toString(), "--output", work.resolve(output).toString()));
    if (!settings.isEmpty()) {
      command.addAll(List.of("--settings", work.resolve(settings).toString()));
    }
    command.addAll(List.of(more));
    return BenchData.shown(
        BenchData.run(
            command,
            "SLURM_MEM_PER_NODE=2048",
            "SLURM_CPUS_PER_TASK=2",
            "NEXA_TASKS=" + tasks,
            "NEXA_TASK=" + task,
            "NEXA_TASK_SCRATCH=" + work.resolve("scratch")));
  }

  private static List<List<String>> query(Path work, String jar, String sql) throws Exception {
    URL[] urls = {Path.of(jar).toAbsolutePath().resolveSibling("duckdb-1.5.0.0/duckdb.jar").toUri().toURL()};
    Driver driver = (Driver) Class.forName("org.duckdb.DuckDBDriver", true, loader(urls)).getDeclaredConstructor().newInstance();
    List<List<String>> rows = new ArrayList<>();
    try (Connection connection = driver.connect("jdbc:duckdb:", new Properties());
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      while (result.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
          row.add(result.getString(i));
        }
        rows.add(row);
      }
    }
    return rows;
  }

  private static ClassLoader loader;

  /** One for the process: a JVM loads a native library for one class loader only. */
  private static ClassLoader loader(URL[] urls) {
    loader = loader == null ? new URLClassLoader(urls) : loader;
    return loader;
  }
}
