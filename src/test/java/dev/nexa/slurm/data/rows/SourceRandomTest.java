package dev.nexa.slurm.data.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random JSON lines of every kind: each value and each complaint is what the line was made of. */
class SourceRandomTest {
  /** The member that has each column. */
  private static final Map<Column, String> COLUMNS = new java.util.LinkedHashMap<>();

  static {
    COLUMNS.put(new Column("text", Column.Type.TEXT, true), "\"text\"");
    COLUMNS.put(new Column("whole", Column.Type.INTEGER, true), "\"wh\\u006fle\"");
    COLUMNS.put(new Column("a \"b\\.c", Column.Type.NUMBER, true), "\"a \\\"b\\\\.c\"");
    COLUMNS.put(new Column("flag", Column.Type.BOOLEAN, true), "\"flag\"");
    COLUMNS.put(new Column("any", Column.Type.JSON, true), "\"any\"");
    COLUMNS.put(new Column("need", Column.Type.TEXT, false), "\"need\"");
  }

  /**
   * A value in a line.
   *
   * @param json how the line says it
   * @param written how DuckDB writes it
   * @param types the columns that it fits besides JSON
   * @param read the value as text, in these columns
   */
  private record Value(String json, String written, List<Column.Type> types, String read) {
    boolean fits(Column.Type type) {
      return type == Column.Type.JSON || types.contains(type);
    }
  }

  private static Value text(String json, String read) {
    return new Value(json, json, List.of(Column.Type.TEXT), read);
  }

  private static Value whole(String json) {
    return new Value(json, json, List.of(Column.Type.INTEGER, Column.Type.NUMBER), json);
  }

  private static Value number(String json, String written, String read) {
    return new Value(json, written, List.of(Column.Type.NUMBER), read);
  }

  private static Value other(String json) {
    return new Value(json, json.replace(" ", ""), List.of(), "");
  }

  private static Value flag(String json) {
    return new Value(json, json, List.of(Column.Type.BOOLEAN), json);
  }

  private static final Value NULL = other("null");

  private static final List<Value> VALUES =
      List.of(
          NULL,
          text("\"\"", ""),
          text("\"word\"", "word"),
          text("\"7\"", "7"),
          text("\"true\"", "true"),
          text("\"null\"", "null"),
          text("\"caf\u00e9 \u4e2d \ud83d\ude00\"", "caf\u00e9 \u4e2d \ud83d\ude00"),
          text("\"tab\\t quote\\\" back\\\\\"", "tab\t quote\" back\\"),
          new Value(
              "\"u\\u0041\\ud83d\\ude00\"",
              "\"uA\ud83d\ude00\"",
              List.of(Column.Type.TEXT),
              "uA\ud83d\ude00"),
          text("\"" + "long ".repeat(20) + "\"", "long ".repeat(20)),
          whole("0"),
          whole("-1"),
          whole("9223372036854775807"),
          whole("-9223372036854775808"),
          number("9223372036854775808", "9223372036854775808", "9.223372036854776E18"),
          number("18446744073709551615", "18446744073709551615", "1.8446744073709552E19"),
          number("0.5", "0.5", "0.5"),
          number("-2.250", "-2.25", "-2.25"),
          number("1e3", "1000.0", "1000.0"),
          flag("true"),
          flag("false"),
          other("[]"),
          other("[1, \"x\", null]"),
          other("{}"),
          other("{\"text\": \"inner\", \"deep\": [true, {\"a\": 1.5}]}"));

  @TempDir Path folder;

  /**
   * A line, and what {@code source} has for it.
   *
   * @param latin its bytes as ISO 8859-1, because it may be no UTF-8
   * @param row {@code bad}, then the columns
   */
  private record Line(String latin, List<String> row) {
    byte[] bytes() {
      return latin.getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  private static <T> T one(Random random, List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  private static Line line(Random random) {
    List<String> members = new ArrayList<>();
    Map<Column, Value> values = new HashMap<>();
    for (Column column : COLUMNS.keySet()) {
      // A member comes twice at times: the first one counts.
      int times = random.nextInt(10);
      for (int i = 0; i < (times == 0 ? 0 : times == 1 ? 2 : 1); i++) {
        Value value =
            random.nextInt(3) == 0
                ? one(random, VALUES)
                : one(random, VALUES.stream().filter(each -> each.fits(column.type())).toList());
        String space = one(random, List.of("", " ", "\t"));
        members.add(space + COLUMNS.get(column) + space + ":" + space + value.json() + space);
        values.putIfAbsent(column, value);
      }
    }
    members.add("\"other\":" + one(random, VALUES).json());
    String object = "{" + String.join(",", members) + "}";
    int damage = random.nextInt(40);
    String text =
        switch (damage) {
          case 0 -> object.substring(0, 1 + random.nextInt(object.length() - 1));
          case 1 -> object + object;
          case 2 -> object.replaceFirst(":", " ");
          case 3 -> "[" + object + "]";
          case 4 -> " \t" + one(random, VALUES).json().replaceFirst("^\\{.*", "7");
          case 5 -> " \t" + object + " \r";
          default -> object;
        };
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (damage == 6) {
      bytes[random.nextInt(bytes.length)] = (byte) 0xff;
    }
    String bad = damage < 3 || damage == 6 ? "broken JSON" : damage < 5 ? "no JSON object" : "";
    List<String> row = new ArrayList<>();
    for (Column column : COLUMNS.keySet()) {
      Value value = values.getOrDefault(column, NULL);
      if (bad.isEmpty()) {
        bad = complaint(column, value);
      }
      boolean none =
          (damage < 7 && damage != 5) || value.equals(NULL) || !value.fits(column.type());
      row.add(none ? "" : read(column.type(), value));
    }
    row.add(0, bad);
    return new Line(new String(bytes, StandardCharsets.ISO_8859_1), row);
  }

  private static String complaint(Column column, Value value) {
    String place = "column " + column.name() + ": ";
    if (value.equals(NULL)) {
      return column.optional() ? "" : place + "missing";
    }
    String shown = value.written();
    int end = shown.offsetByCodePoints(0, Math.min(40, shown.codePointCount(0, shown.length())));
    return value.fits(column.type())
        ? ""
        : place + "expected " + column.type().text() + ", got " + shown.substring(0, end);
  }

  private static String read(Column.Type type, Value value) {
    if (type == Column.Type.JSON) {
      return value.written();
    }
    return type == Column.Type.NUMBER ? "" + Double.parseDouble(value.read()) : value.read();
  }

  @Test
  void eachLineIsTheRowThatItWasMadeOf() throws IOException {
    Random random = new Random(11);
    List<Line> lines = new ArrayList<>();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < 5000; i++) {
      lines.add(line(random));
      out.writeBytes(lines.get(i).bytes());
      out.write('\n');
    }
    Path file = Files.write(folder.resolve("a.jsonl"), out.toByteArray());
    try (Engine engine = Engine.open(new Limits(512L << 20, 2, folder.resolve("scratch")))) {
      new Source(engine, List.copyOf(COLUMNS.keySet()), 1 << 20)
          .open(new InputFile(file.toString(), InputFile.Format.JSONL));

      List<List<String>> rows =
          engine.rows("SELECT bad, c0, c1, c2, c3, c4, c5 FROM source ORDER BY r");

      assertThat(rows).hasSameSizeAs(lines);
      for (int i = 0; i < rows.size(); i++) {
        assertThat(rows.get(i))
            .as("line %d: %s", i + 1, new String(lines.get(i).bytes(), StandardCharsets.UTF_8))
            .isEqualTo(lines.get(i).row());
      }
      assertThat(Collections.frequency(rows.stream().map(row -> row.get(0)).toList(), ""))
          .isGreaterThan(400);
    }
  }
}
