package dev.nexa.slurm.command.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Terminal;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever jobs print, a terminal gets text and, of logs, colours. */
class TerminalWriterTest {
  private static final int STREAMS = SuiteSize.of("terminal.streams", 1000, 30_000);
  private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9:;]{0,38}m");
  private static final Pattern OBEYED =
      Pattern.compile(
          "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]");

  private static final List<String> PIECES =
      List.of(
          "text",
          "é漢😀",
          "\n",
          "\t",
          "\r",
          "\b",
          "\u0007",
          "\u0000",
          "\u007f",
          "\u001b",
          "\u001b[",
          "\u001b[31m",
          "\u001b[0m",
          "\u001b[m",
          "\u001b[38;5;196m",
          "\u001b[38:2::1:2:3m",
          "\u001b[>4;2m",
          "\u001b[?25l",
          "\u001b[2J",
          "\u001b[1;1H",
          "\u001b[A",
          "\u001b[K",
          "\u001b]52;c;ZXZpbA==\u0007",
          "\u001b]0;title\u001b\\",
          "\u001bP+q\u001b\\",
          "\u001bc",
          "\u001b_x\u001b\\",
          "\u009b31m",
          "\u009d52;c;AA\u009c",
          "\u0085",
          "\u202e",
          "\u2066",
          "\u2028",
          "\ufeff",
          "m",
          "[",
          "31",
          ";",
          "0",
          "\u001b[" + "1;".repeat(30) + "m",
          "\ud83d");

  /** The whole text at once: colours stay, and every other character that is obeyed is shown. */
  private static String expected(String text, boolean colours) {
    StringBuilder shown = new StringBuilder();
    Matcher colour = COLOUR.matcher(text);
    boolean coloured = false;
    for (int i = 0; i < text.length(); i++) {
      if (colours && colour.region(i, text.length()).lookingAt()) {
        shown.append(colour.group());
        coloured = true;
        i = colour.end() - 1;
        continue;
      }
      String c = text.substring(i, i + 1);
      boolean shows = OBEYED.matcher(c).matches() && !(colours && c.equals("\r"));
      int code = c.charAt(0);
      shown.append(
          !shows ? c : code < 0x80 ? "^" + (char) (code ^ 0x40) : String.format("<U+%04X>", code));
    }
    return shown + (coloured ? "\u001b[0m" : "");
  }

  @Test
  void randomStreamsInRandomPiecesAreWhatASmallParserSays() throws IOException {
    Random random = new Random(52);
    for (int i = 0; i < STREAMS; i++) {
      StringBuilder text = new StringBuilder();
      for (int piece = random.nextInt(30); piece >= 0; piece--) {
        text.append(
            random.nextInt(4) == 0
                ? String.valueOf((char) random.nextInt(0x2100))
                : PIECES.get(random.nextInt(PIECES.size())));
      }
      boolean colours = random.nextBoolean();
      StringWriter terminal = new StringWriter();
      Writer writer = new TerminalWriter(terminal, colours);
      int at = 0;
      while (at < text.length()) {
        int length = Math.min(text.length() - at, 1 + random.nextInt(7));
        String chunk = text.substring(at, at + length);
        switch (random.nextInt(3)) {
          case 0 -> writer.write(chunk);
          case 1 -> writer.write(("xx" + chunk + "yy").toCharArray(), 2, length);
          default -> {
            for (int c = 0; c < chunk.length(); c++) {
              writer.write(chunk.charAt(c));
            }
          }
        }
        at += length;
      }
      writer.close();

      assertThat(terminal.toString()).isEqualTo(expected(text.toString(), colours));
      String rest = COLOUR.matcher(terminal.toString()).replaceAll("");
      assertThat(OBEYED.matcher(rest.replace("\r", "")).find()).isFalse();
    }
  }

  /** Bytes that are no text, cut anywhere, through the command's own stream. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noByteOfALogIsObeyed(boolean array, @TempDir Path folder) throws IOException {
    Random random = new Random(array ? 1 : 2);
    Terminal terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: echo\n"
                    + (array ? "array: {shards: 2}\n" : "")
                    + "resources: {time: 10m, memory: 1G}\n");
    String id = terminal.type("submit", "run.yaml", "--json").json().text("run_id");
    Path logs = Files.createDirectories(terminal.workspace.resolve("runs/" + id + "/logs"));
    for (int i = 0; i < 10; i++) {
      byte[] bytes = new byte[70_000];
      for (int b = 0; b < bytes.length; ) {
        byte[] piece =
            random.nextInt(3) == 0
                ? new byte[] {(byte) random.nextInt(256)}
                : PIECES.get(random.nextInt(PIECES.size())).getBytes(StandardCharsets.UTF_8);
        int length = Math.min(piece.length, bytes.length - b);
        System.arraycopy(piece, 0, bytes, b, length);
        b += length;
      }
      Files.write(logs.resolve("4711_0.out"), bytes);
      StringWriter screen = new StringWriter();

      terminal.typeInto(new TerminalWriter(screen, true), "logs", "--tail", "1000000");

      String rest = COLOUR.matcher(screen.toString()).replaceAll("").replace("\r", "");
      assertThat(rest).contains("^[]52;c;ZXZpbA==^G", "<U+202E>");
      assertThat(OBEYED.matcher(rest).find()).isFalse();
    }
  }

  /** A real pseudo-terminal, a pipe, and --raw. */
  @Test
  void onlyATerminalGetsItFiltered(@TempDir Path folder) throws Exception {
    Terminal terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: echo\nresources: {time: 10m, memory: 1G}\n");
    String id = terminal.type("submit", "run.yaml", "--json").json().text("run_id");
    Path logs = Files.createDirectories(terminal.workspace.resolve("runs/" + id + "/logs"));
    String osc = "\u001b]52;c;ZXZpbA==\u0007";
    Files.writeString(logs.resolve("4711_0.out"), osc + "\u001b[31mred\u001b[0m\n");
    String java =
        String.join(" ", OwnJvm.words(Main.class, "--workspace", terminal.workspace.toString()));

    assertThat(onTerminal(java + " logs"))
        .contains("^[]52;c;ZXZpbA==^G\u001b[31mred")
        .doesNotContain(osc);
    assertThat(onTerminal(java + " logs --raw")).contains(osc);
    assertThat(onTerminal(java + " logs | cat")).contains(osc);
    assertThat(onTerminal(java + " runs show '" + osc + "'"))
        .contains("^[]52;c;ZXZpbA==^G")
        .doesNotContain(osc);
    assertThat(onTerminal(java + " logs --help")).doesNotContain("^[");
  }

  private static String onTerminal(String shell) throws Exception {
    Process script =
        new ProcessBuilder(
                "script", "-qec", "sh -c '" + shell.replace("'", "'\\''") + "'", "/dev/null")
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(script.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return output;
  }

  /** A gigabyte of logs must not take longer for it. */
  @Test
  void plainTextPassesInWholePieces() throws IOException {
    int[] pieces = {0};
    Writer counting =
        new Writer() {
          @Override
          public void write(char[] text, int offset, int length) {
            pieces[0] += length > 0 ? 1 : 0;
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    try (Writer writer = new TerminalWriter(counting, true)) {
      writer.write("0123456789 é漢😀\n\t\r".repeat(1000).toCharArray());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    assertThat(pieces[0]).isEqualTo(1);
  }
}
