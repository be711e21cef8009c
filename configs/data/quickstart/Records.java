import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.stream.Collectors.joining;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.LongBinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A small data stage: makes a raw file of science questions and answers, and cleans it in shards.
 *
 * <pre>
 *   java Records.java generate FILE
 *   java Records.java shard FILE OUT INDEX SHARDS
 * </pre>
 *
 * A record is a line of UTF-8 that holds one JSON object with the texts id, question, answer and
 * source. Two records are duplicates if question and answer are the same once runs of white space
 * count as one space; the first in the file stays. Ids, key order and escapes do not matter.
 *
 * <p>Each line belongs to one of 64 buckets by its hash, and shard INDEX owns every SHARDS-th
 * bucket, so that the files under OUT are the same for any number of shards. OUT/train,
 * OUT/validation and OUT/test hold the records, line for line as they came; OUT/rejected tells
 * where each other line is and what is wrong with it. Files appear whole, so a task that was killed
 * is simply run again. The counts go to the file that NEXA_METRICS names, and to standard output.
 *
 * <p>Exits with 0 when done, 1 when that was not possible, 2 on wrong arguments.
 */
public final class Records {
  private static final String USAGE =
      """
      usage: java Records.java generate FILE
             java Records.java shard FILE OUT INDEX SHARDS   (0 <= INDEX < SHARDS <= 64)\
      """;

  public static void main(String[] args) throws InterruptedException {
    try {
      run(args);
    } catch (Failure e) {
      System.err.println(e.getMessage());
      System.exit(e.status);
    }
  }

  private static void run(String[] args) throws InterruptedException {
    String command = args.length == 0 ? "" : args[0];
    if (command.equals("generate") && args.length == 2) {
      Generator.generate(path(args[1]));
    } else if (command.equals("shard") && args.length == 5) {
      int shards = number("SHARDS", args[4], 1, Shard.BUCKETS);
      int index = number("INDEX", args[3], 0, shards - 1);
      Shard.run(path(args[1]), path(args[2]), index, shards);
    } else {
      throw Failure.usage("a command and its arguments are needed");
    }
  }

  private static Path path(String argument) {
    try {
      return Path.of(argument).toAbsolutePath();
    } catch (InvalidPathException e) {
      throw Failure.usage("not a path here: " + e.getMessage());
    }
  }

  private static int number(String name, String argument, int least, int most) {
    if (argument.matches("\\d{1,9}")) {
      int number = Integer.parseInt(argument);
      if (number >= least && number <= most) {
        return number;
      }
    }
    throw Failure.usage(
        "%s is a whole number from %d to %d, not '%s'".formatted(name, least, most, argument));
  }

  /** Ends the program with a message for a person. */
  private static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    final int status;

    private Failure(int status, String message) {
      super("Records: " + message);
      this.status = status;
    }

    static Failure usage(String message) {
      return new Failure(2, message + "\n" + USAGE);
    }

    static Failure reading(Path file, IOException cause) {
      return new Failure(
          1,
          "cannot read %s: %s; check the path, or make the file with: java Records.java generate %s"
              .formatted(file, reason(cause), file));
    }

    static Failure writing(Path file, IOException cause) {
      return new Failure(
          1,
          "cannot write %s: %s; see that the folder may be written and has space, then run this again"
              .formatted(file, reason(cause)));
    }

    private static String reason(IOException cause) {
      if (cause instanceof NoSuchFileException) {
        return "no such file: " + cause.getMessage();
      }
      if (cause instanceof AccessDeniedException) {
        return "permission denied: " + cause.getMessage();
      }
      if (cause instanceof FileAlreadyExistsException) {
        return "not a folder: " + cause.getMessage();
      }
      return cause.getMessage();
    }
  }

  /** The raw file: the same bytes on every machine, with the flaws that real files have. */
  private static final class Generator {
    private static final long SIZE = 50_000_000;
    private static final long SEED = 20_251_101;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    // Other letters are escaped: Java 17 reads this source in the machine's own charset.
    private static final List<Fact> FACTS =
        List.of(
            new Fact(
                "mechanics",
                "What force accelerates a body of {a} kg at {b} m/s\u00b2?",
                "By Newton's second law F = m \u00b7 a = {a} kg \u00b7 {b} m/s\u00b2 = {r} N.",
                (a, b) -> a * b),
            new Fact(
                "electricity",
                "Which voltage drives a current of {a} mA through a resistor of {b} \u03a9?",
                "Ohm's law gives U = R \u00b7 I = {b} \u03a9 \u00b7 {a} mA = {r} mV.",
                (a, b) -> a * b),
            new Fact(
                "heat",
                "How much energy warms {a} g of water by {b} \u00b0C?",
                "Water takes 4.2 J per gram and degree, so {a} g and {b} \u00b0C need {r} J.",
                (a, b) -> a * b * 42 / 10),
            new Fact(
                "waves",
                "How fast is a wave with a frequency of {a} Hz and a wavelength of {b} cm?",
                "Speed is frequency times wavelength: {a} Hz \u00b7 {b} cm = {r} cm/s.",
                (a, b) -> a * b),
            new Fact(
                "chemistry",
                "What is the mass of {a} mmol of a compound with a molar mass of {b} g/mol?",
                "The mass is m = n \u00b7 M = {a} mmol \u00b7 {b} g/mol = {r} mg.",
                (a, b) -> a * b),
            new Fact(
                "biology",
                "A plate holds {a} colonies of about {b} cells each. How many cells are these?",
                "Each colony grew from one cell; together they hold {a} \u00d7 {b} = {r} cells.",
                (a, b) -> a * b),
            new Fact(
                "astronomy",
                "How far does a probe travel at {a} km/h in {b} days? \ud83d\ude80",
                "A day has 24 h, so the probe covers {a} km/h \u00b7 {b} \u00b7 24 h = {r} km.",
                (a, b) -> a * b * 24),
            new Fact(
                "geology",
                "What does \"creep\" of {a} \u00b5m a day add up to in {b} days?",
                "Slow movement adds up: {a} \u00b5m a day for {b} days makes {r} \u00b5m.",
                (a, b) -> a * b),
            new Fact(
                "physique",
                "Quelle est la quantit\u00e9 de mouvement de {a} kg \u00e0 {b} m/s ?",
                "Elle est \u00e9gale \u00e0 p = m \u00b7 v = {a} kg \u00b7 {b} m/s = {r}"
                    + " kg\u00b7m/s.",
                (a, b) -> a * b),
            new Fact(
                "\u7269\u7406",
                "{a} \u725b\u306e\u529b\u3067 {b} m \u52d5\u304b\u3059\u4ed5\u4e8b\u306f?",
                "\u4ed5\u4e8b W = F \u00b7 s = {a} N \u00b7 {b} m = {r} J \u3002",
                (a, b) -> a * b));

    private static final List<String> REMARKS =
        List.of(
            "Units are a free check: the result must come out in the unit that was asked for.",
            "The result is exact only as far as the two values were measured exactly.",
            "Doubling one of the two values doubles the result, because the law is linear.",
            "In an experiment, repeat the measurement and give the spread beside the mean.",
            "The law holds for small values; at the extremes other effects take over.",
            "A quick estimate with round numbers shows whether the order of magnitude is right.",
            "Keep the intermediate values, and round only once, at the end.",
            "The same relation is used the other way round to find one of the two values.");

    private static final List<byte[]> BAD_UTF8 =
        List.of(
            new byte[] {(byte) 0xff}, // never a byte of UTF-8
            new byte[] {(byte) 0xc3, '('}, // a sequence without its second byte
            new byte[] {(byte) 0xc0, (byte) 0xaf}, // longer than it need be
            new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80}); // half a surrogate pair

    static void generate(Path file) throws InterruptedException {
      try {
        if (!Files.isRegularFile(file)) {
          Files.createDirectories(file.getParent());
          generateOnce(file);
        }
      } catch (IOException e) {
        if (!Files.isRegularFile(file)) { // else a task on another host was faster
          throw Failure.writing(file, e);
        }
      }
      System.out.println(file + " is there");
    }

    /** One process writes while the others wait. Without the lock each would write the same. */
    private static void generateOnce(Path file) throws IOException, InterruptedException {
      Path lock = file.resolveSibling("." + file.getFileName() + ".lock");
      try (FileChannel channel = FileChannel.open(lock, CREATE, WRITE)) {
        awaitTurn(channel, file);
        try (NewFile copy = new NewFile(file)) {
          if (!Files.isRegularFile(file)) {
            writeAll(copy);
          }
          if (!Files.isRegularFile(file)) {
            copy.publish();
          }
        }
        NewFile.sweep(file); // the file is there: nobody needs an unfinished copy any more
      } finally {
        Files.deleteIfExists(lock);
      }
    }

    private static void awaitTurn(FileChannel lock, Path file) throws InterruptedException {
      long end = System.nanoTime() + PATIENCE.toNanos();
      try {
        while (lock.tryLock() == null && !Files.isRegularFile(file) && System.nanoTime() < end) {
          Thread.sleep(100);
        }
      } catch (IOException e) {
        // A file system without locks: go on, at worst the work is done twice.
      }
    }

    private static void writeAll(NewFile out) throws IOException {
      Random random = new Random(SEED);
      int items = 0;
      while (out.size() < SIZE) {
        int dice = random.nextInt(1000);
        if (dice < 30 && items > 0) {
          out.writeLine(utf8(again(item(random.nextInt(items)), random.nextInt(4))));
        } else if (dice < 35) {
          out.writeLine(utf8(broken(item(items++), random.nextInt(4))));
        } else if (dice < 37) {
          out.writeLine(badUtf8(utf8(item(items++).json()), random));
        } else {
          out.writeLine(utf8(item(items++).json()));
        }
      }
    }

    /** A record follows from its number alone, so an earlier one needs no memory to come again. */
    private static Item item(int number) {
      // Random starts alike for neighbouring seeds; the factor drives them apart.
      Random random = new Random((SEED + number) * 0x9e3779b97f4a7c15L);
      Fact fact = pick(FACTS, random);
      long a = 2 + random.nextInt(9_998);
      long b = 2 + random.nextInt(998);
      String answer =
          fact.fill(fact.answer, a, b) + " " + pick(REMARKS, random) + " " + pick(REMARKS, random);
      return new Item("sci-" + number, fact.fill(fact.question, a, b), answer, fact.source);
    }

    private static <T> T pick(List<T> list, Random random) {
      return list.get(random.nextInt(list.size()));
    }

    /** The same record in another guise. */
    private static String again(Item item, int guise) {
      return switch (guise) {
        case 0 -> item.json();
        case 1 ->
            "{ \"source\": %s, \"answer\": %s,\t\"question\": %s, \"id\": %s }"
                .formatted(
                    Json.quote(item.source),
                    Json.quote(item.answer),
                    Json.quote(item.question),
                    Json.quote(item.id));
        case 2 ->
            new Item(item.id + "-copy", item.question.replace(" ", "  "), item.answer, item.source)
                .json();
        default -> Json.ascii(item.json());
      };
    }

    private static String broken(Item item, int kind) {
      return switch (kind) {
        case 0 -> item.json().substring(0, 60);
        case 1 -> "";
        case 2 -> item.question;
        default ->
            "{\"id\":%s,\"question\":%s}".formatted(Json.quote(item.id), Json.quote(item.question));
      };
    }

    private static byte[] badUtf8(byte[] line, Random random) {
      byte[] bad = pick(BAD_UTF8, random);
      System.arraycopy(bad, 0, line, 40, bad.length);
      return line;
    }

    /** A law of science; {a} and {b} stand for its values, {r} for the result. */
    private record Fact(String source, String question, String answer, LongBinaryOperator law) {
      String fill(String text, long a, long b) {
        return text.replace("{a}", Long.toString(a))
            .replace("{b}", Long.toString(b))
            .replace("{r}", Long.toString(law.applyAsLong(a, b)));
      }
    }
  }

  /** One array task: the lines of some buckets, checked, without duplicates, split three ways. */
  private static final class Shard implements Closeable {
    static final int BUCKETS = 64;

    private static final List<String> SPLITS = List.of("train", "validation", "test");
    private static final List<String> FOLDERS = List.of("train", "validation", "test", "rejected");
    private static final List<String> FAULTS = List.of("duplicate", "broken", "bad_utf8");

    private final int index;
    private final int shards;
    private final Map<String, NewFile[]> parts = new LinkedHashMap<>();
    private final Map<Key, Long> firstLines = new HashMap<>();
    private final Map<String, Long> counts = new LinkedHashMap<>();

    private Shard(int index, int shards) {
      this.index = index;
      this.shards = shards;
      List.of("in", "out", "rejected").forEach(name -> counts.put("rows_" + name, 0L));
      FAULTS.forEach(name -> counts.put("rows_" + name, 0L));
      SPLITS.forEach(name -> counts.put("rows_" + name, 0L));
      counts.put("bytes_out", 0L);
    }

    static void run(Path input, Path out, int index, int shards) {
      try (Lines lines = Lines.open(input);
          Shard shard = new Shard(index, shards)) {
        shard.openParts(out);
        for (Line line = lines.next(); line != null; line = lines.next()) {
          shard.take(line);
        }
        shard.checkCounts();
        shard.publish();
        shard.report();
      } catch (IOException e) {
        throw Failure.writing(out, e);
      }
    }

    private void openParts(Path out) throws IOException {
      for (String folder : FOLDERS) {
        Files.createDirectories(out.resolve(folder));
        for (int bucket : buckets()) {
          NewFile.sweep(part(out, folder, bucket)); // of an attempt that was killed
        }
      }
      // Only now: an attempt sweeps before it writes, so two at once can't both lose their files.
      for (String folder : FOLDERS) {
        NewFile[] files = new NewFile[BUCKETS];
        parts.put(folder, files);
        for (int bucket : buckets()) {
          files[bucket] = new NewFile(part(out, folder, bucket));
        }
      }
    }

    private static Path part(Path out, String folder, int bucket) {
      return out.resolve(folder).resolve("part-%05d.jsonl".formatted(bucket));
    }

    private int[] buckets() {
      return IntStream.range(0, BUCKETS).filter(this::owns).toArray();
    }

    private boolean owns(int bucket) {
      return bucket % shards == index;
    }

    private void take(Line line) throws IOException {
      Key key;
      Rejected fault = null;
      try {
        key = Item.parse(line).key();
      } catch (Rejected e) {
        key = Key.of(line.bytes);
        fault = e;
      }
      if (!owns(key.bucket())) {
        return;
      }
      count("rows_in", 1);
      if (fault == null) {
        Long first = firstLines.putIfAbsent(key, line.number);
        if (first != null) {
          fault = new Rejected("duplicate", "same question and answer as line " + first);
        }
      }
      if (fault == null) {
        keep(line, key);
      } else {
        reject(line, key, fault);
      }
    }

    private void keep(Line line, Key key) throws IOException {
      String split = key.split();
      parts.get(split)[key.bucket()].writeLine(line.bytes);
      count("rows_out", 1);
      count("rows_" + split, 1);
      count("bytes_out", line.bytes.length + 1);
    }

    private void reject(Line line, Key key, Rejected fault) throws IOException {
      String entry =
          "{\"line\":%d,\"offset\":%d,\"length\":%d,\"fault\":%s,\"reason\":%s}"
              .formatted(
                  line.number,
                  line.offset,
                  line.length,
                  Json.quote(fault.fault),
                  Json.quote(fault.getMessage()));
      parts.get("rejected")[key.bucket()].writeLine(utf8(entry));
      count("rows_rejected", 1);
      count("rows_" + fault.fault, 1);
    }

    private void count(String name, long more) {
      counts.merge(name, more, Long::sum);
    }

    private void checkCounts() {
      long in = counts.get("rows_in");
      long kept = SPLITS.stream().mapToLong(name -> counts.get("rows_" + name)).sum();
      long rejected = FAULTS.stream().mapToLong(name -> counts.get("rows_" + name)).sum();
      if (in != counts.get("rows_out") + counts.get("rows_rejected") || in != kept + rejected) {
        throw new Failure(1, "the counts don't add up, nothing was written: " + countsJson());
      }
    }

    private void publish() throws IOException {
      for (NewFile[] files : parts.values()) {
        for (int bucket : buckets()) {
          files[bucket].publish();
        }
      }
    }

    private void report() {
      String metrics = System.getenv("NEXA_METRICS");
      if (metrics != null && !metrics.isEmpty()) {
        Path file = path(metrics);
        try (NewFile out = new NewFile(file)) {
          out.writeLine(utf8(countsJson()));
          out.publish();
        } catch (IOException e) {
          throw Failure.writing(file, e);
        }
      }
      System.out.println(countsJson());
    }

    private String countsJson() {
      return counts.entrySet().stream()
          .map(count -> Json.quote(count.getKey()) + ":" + count.getValue())
          .collect(joining(",", "{", "}"));
    }

    @Override
    public void close() throws IOException {
      for (NewFile[] files : parts.values()) {
        for (NewFile file : files) {
          if (file != null) {
            file.close();
          }
        }
      }
    }
  }

  /** A record, its question and answer with single spaces. */
  private record Item(String id, String question, String answer, String source) {
    static Item parse(Line line) throws Rejected {
      Map<String, String> texts = Json.texts(line.text());
      return new Item(
          needed(texts, "id"),
          needed(texts, "question"),
          needed(texts, "answer"),
          needed(texts, "source"));
    }

    private static String needed(Map<String, String> texts, String name) throws Rejected {
      String text = singleSpaced(texts.getOrDefault(name, ""));
      if (text.isEmpty()) {
        throw Rejected.broken("no text \"" + name + "\"");
      }
      return text;
    }

    private static String singleSpaced(String text) {
      StringBuilder out = new StringBuilder(text.length());
      boolean gap = false;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (Character.isWhitespace(c) || Character.isSpaceChar(c)) {
          gap = true;
          continue;
        }
        if (gap && !out.isEmpty()) {
          out.append(' ');
        }
        gap = false;
        out.append(c);
      }
      return out.toString();
    }

    /** What duplicates have in common. The line break can't be part of either text. */
    Key key() {
      return Key.of(utf8(question + "\n" + answer));
    }

    String json() {
      return "{\"id\":%s,\"question\":%s,\"answer\":%s,\"source\":%s}"
          .formatted(Json.quote(id), Json.quote(question), Json.quote(answer), Json.quote(source));
    }
  }

  /** Half of a SHA-256: the one bits choose the bucket, others the split. */
  private record Key(long high, long low) {
    static Key of(byte[] bytes) {
      try {
        ByteBuffer hash = ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes));
        return new Key(hash.getLong(), hash.getLong());
      } catch (NoSuchAlgorithmException e) {
        throw new AssertionError("every JDK has SHA-256", e);
      }
    }

    int bucket() {
      return (int) Long.remainderUnsigned(high, Shard.BUCKETS);
    }

    String split() {
      long percent = Long.remainderUnsigned(low, 100);
      return percent < 90 ? "train" : percent < 95 ? "validation" : "test";
    }
  }

  /** Why a line is left out. */
  private static final class Rejected extends Exception {
    private static final long serialVersionUID = 1L;

    final String fault;

    Rejected(String fault, String reason) {
      super(reason);
      this.fault = fault;
    }

    static Rejected broken(String reason) {
      return new Rejected("broken", reason);
    }
  }

  /** A strict parser after RFC 8259, which keeps only the texts of the outermost object. */
  private static final class Json {
    private static final int MAX_DEPTH = 64;
    private static final Pattern LITERAL =
        Pattern.compile("true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?");

    private final String line;
    private int at;

    private Json(String line) {
      this.line = line;
    }

    static Map<String, String> texts(String line) throws Rejected {
      Json json = new Json(line);
      Map<String, String> texts = json.object(1);
      json.skipSpace();
      if (json.at < line.length()) {
        throw json.error("more text after the object");
      }
      return texts;
    }

    private Map<String, String> object(int depth) throws Rejected {
      Map<String, String> texts = new HashMap<>();
      expect('{');
      if (accept('}')) {
        return texts;
      }
      do {
        String name = string();
        if (texts.containsKey(name)) {
          throw error("the name \"" + name + "\" for the second time");
        }
        expect(':');
        texts.put(name, value(depth));
      } while (accept(','));
      expect('}');
      return texts;
    }

    private void array(int depth) throws Rejected {
      expect('[');
      if (accept(']')) {
        return;
      }
      do {
        value(depth);
      } while (accept(','));
      expect(']');
    }

    /** Passes over any value; hands it back if it is a text, otherwise an empty one. */
    private String value(int depth) throws Rejected {
      if (depth > MAX_DEPTH) {
        throw error("nested too deep");
      }
      switch (peek()) {
        case '"':
          return string();
        case '{':
          object(depth + 1);
          return "";
        case '[':
          array(depth + 1);
          return "";
        default:
          literal();
          return "";
      }
    }

    private void literal() throws Rejected {
      Matcher literal = LITERAL.matcher(line).region(at, line.length());
      if (!literal.lookingAt()) {
        throw error("no value");
      }
      at = literal.end();
    }

    private String string() throws Rejected {
      expect('"');
      StringBuilder out = new StringBuilder();
      for (char c = next(); c != '"'; c = next()) {
        if (c == '\\') {
          unescape(out);
        } else if (c >= ' ') {
          out.append(c);
        } else {
          throw error("a bare control character");
        }
      }
      return out.toString();
    }

    private void unescape(StringBuilder out) throws Rejected {
      char c = next();
      switch (c) {
        case '"', '\\', '/' -> out.append(c);
        case 'b' -> out.append('\b');
        case 'f' -> out.append('\f');
        case 'n' -> out.append('\n');
        case 'r' -> out.append('\r');
        case 't' -> out.append('\t');
        case 'u' -> unescapeUnicode(out);
        default -> throw error("an unknown escape");
      }
    }

    private void unescapeUnicode(StringBuilder out) throws Rejected {
      char unit = hex();
      out.append(unit);
      if (Character.isHighSurrogate(unit) && next() == '\\' && next() == 'u') {
        char low = hex();
        out.append(low);
        if (Character.isLowSurrogate(low)) {
          return;
        }
      }
      if (Character.isSurrogate(unit)) {
        throw error("half a surrogate pair");
      }
    }

    private char hex() throws Rejected {
      int value = 0;
      for (int i = 0; i < 4; i++) {
        char c = next();
        if (!HexFormat.isHexDigit(c)) {
          throw error("no hex digit");
        }
        value = value << 4 | HexFormat.fromHexDigit(c);
      }
      return (char) value;
    }

    private void expect(char wanted) throws Rejected {
      if (!accept(wanted)) {
        throw error("no " + wanted);
      }
    }

    private boolean accept(char wanted) {
      boolean found = peek() == wanted;
      if (found) {
        at++;
      }
      return found;
    }

    private void skipSpace() {
      while (at < line.length() && " \t\r\n".indexOf(line.charAt(at)) >= 0) {
        at++;
      }
    }

    /** The next character after white space, or NUL, which no value begins with, at the end. */
    private char peek() {
      skipSpace();
      return at < line.length() ? line.charAt(at) : '\0';
    }

    private char next() throws Rejected {
      if (at == line.length()) {
        throw error("the end within a text");
      }
      return line.charAt(at++);
    }

    private Rejected error(String found) {
      return Rejected.broken("not JSON, character " + at + ": " + found);
    }

    static String quote(String text) {
      StringBuilder out = new StringBuilder("\"");
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == '"' || c == '\\') {
          out.append('\\').append(c);
        } else if (c < ' ') {
          out.append("\\u%04x".formatted((int) c));
        } else {
          out.append(c);
        }
      }
      return out.append('"').toString();
    }

    static String ascii(String json) {
      return json.chars()
          .mapToObj(c -> c < 0x80 ? Character.toString(c) : "\\u%04x".formatted(c))
          .collect(joining());
    }
  }

  /** A line's bytes without the line break; of a very long line only the beginning. */
  private record Line(long number, long offset, long length, byte[] bytes) {
    String text() throws Rejected {
      if (length > bytes.length) {
        throw Rejected.broken("longer than " + bytes.length + " bytes");
      }
      ByteBuffer left = ByteBuffer.wrap(bytes);
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(left).toString();
      } catch (CharacterCodingException e) {
        throw new Rejected("bad_utf8", "not UTF-8 from byte " + left.position() + " of the line");
      }
    }
  }

  /** Reads lines as bytes: Java's readers would mend bad UTF-8 and hide the offsets. */
  private static final class Lines implements Closeable {
    private static final int MAX_LINE = 1 << 20;

    private final Path file;
    private final InputStream in;
    private final byte[] block = new byte[1 << 16];
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private int at;
    private int end;
    private long number;
    private long offset;

    private Lines(Path file, InputStream in) {
      this.file = file;
      this.in = in;
    }

    static Lines open(Path file) {
      try {
        return new Lines(file, Files.newInputStream(file));
      } catch (IOException e) {
        throw Failure.reading(file, e);
      }
    }

    /** The next line, or null at the end of the file. */
    Line next() {
      if (!fill()) {
        return null;
      }
      kept.reset();
      long start = offset;
      boolean ended = false;
      while (!ended && fill()) {
        int from = at;
        while (at < end && block[at] != '\n') {
          at++;
        }
        kept.write(block, from, Math.min(at - from, MAX_LINE - kept.size()));
        offset += at - from;
        ended = at < end;
      }
      long length = offset - start;
      if (ended) {
        at++;
        offset++;
      }
      return new Line(++number, start, length, kept.toByteArray());
    }

    /** Whether the block has a byte left to read, after reading the next block if need be. */
    private boolean fill() {
      if (at == end) {
        try {
          at = 0;
          end = Math.max(0, in.read(block));
        } catch (IOException e) {
          throw Failure.reading(file, e);
        }
      }
      return at < end;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /** A file that appears whole or not at all: it grows under another name and is renamed. */
  private static final class NewFile implements Closeable {
    private final Path target;
    private final Path temporary;
    private final FileChannel channel;
    private final OutputStream out;
    private long size;

    NewFile(Path target) throws IOException {
      this.target = target;
      temporary = target.resolveSibling(prefix(target) + UUID.randomUUID() + ".tmp");
      channel = FileChannel.open(temporary, CREATE_NEW, WRITE);
      out = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 14);
    }

    /** Removes unfinished files of the same target, whoever left them. */
    static void sweep(Path target) throws IOException {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(target.getParent())) {
        for (Path file : files) {
          String name = file.getFileName().toString();
          if (name.startsWith(prefix(target)) && name.endsWith(".tmp")) {
            Files.deleteIfExists(file);
          }
        }
      }
    }

    private static String prefix(Path target) {
      return "." + target.getFileName() + ".";
    }

    void writeLine(byte[] line) throws IOException {
      out.write(line);
      out.write('\n');
      size += line.length + 1;
    }

    long size() {
      return size;
    }

    void publish() throws IOException {
      out.flush();
      channel.force(true); // else a crash of the node may leave the name without the bytes
      channel.close();
      try {
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
      } catch (NoSuchFileException e) {
        throw new IOException("a later attempt of this task took over", e);
      }
    }

    /** Without publish, nothing remains. */
    @Override
    public void close() throws IOException {
      channel.close();
      Files.deleteIfExists(temporary);
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
