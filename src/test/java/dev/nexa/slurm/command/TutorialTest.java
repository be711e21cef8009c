package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Types docs/tutorial.md from top to bottom, on this machine. The lines that the page prints must
 * come in their order; numbers, ids and what stands for … may differ.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class TutorialTest {
  private static final Path PAGE = Path.of("docs/tutorial.md");

  @TempDir Path folder;

  /** A block of the page: a script, or commands with what they print. */
  private record Block(boolean script, List<String> lines) {}

  /** A command that the page types, and the lines that it shows below. */
  private record Typed(String command, List<String> shown) {}

  @Test
  void eachCommandDoesWhatThePageShows() throws Exception {
    Path science = Files.createDirectories(folder.resolve("science"));
    Files.createDirectories(folder.resolve("no-slurm"));
    int typed = 0;
    for (Block block : blocks(Files.readAllLines(PAGE))) {
      if (block.script()) {
        assertThat(bash(science, "set -e\n" + String.join("\n", block.lines()))).isEmpty();
        continue;
      }
      for (Typed one : commands(block.lines())) {
        compare(one, type(one.command(), science));
        typed++;
      }
    }
    assertThat(typed).isGreaterThan(17);
  }

  private String type(String command, Path science) throws IOException, InterruptedException {
    if (command.startsWith("mkdir ")) {
      return ""; // the test has made the folder
    }
    if (!command.startsWith("nexa-slurm ")) {
      return bash(science, command);
    }
    StringWriter screen = new StringWriter();
    PrintWriter out = new PrintWriter(screen, true);
    // Paths are relative to this process's folder, so a file of the workspace is typed in full.
    String[] words =
        Arrays.stream(command.split(" ", -1))
            .skip(1)
            .map(word -> Files.isRegularFile(science.resolve(word)) ? science + "/" + word : word)
            .toArray(String[]::new);
    Map<String, String> environment = new TreeMap<>(System.getenv());
    if (words[0].equals("init")) {
      environment.put("PATH", folder.resolve("no-slurm").toString());
    }
    environment.put("NEXA_WORKSPACE", science.toString());
    int exit = Main.run(words, environment, science, null, out, out);
    String text = screen.toString().replace(science + "/", "");
    assertThat(exit).as(command + "\n" + text).isEqualTo(text.contains("failed, cost") ? 5 : 0);
    return text;
  }

  private String bash(Path science, String text) throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, "bash", ".txt");
    Process bash =
        new ProcessBuilder("bash", "-c", text)
            .directory(science.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int exit = bash.waitFor();
    String printed = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(exit).as(text + "\n" + printed).isZero();
    return printed;
  }

  /** Each shown line must come, after the line before it. */
  private static void compare(Typed one, String printed) {
    List<String> lines = printed.lines().map(TutorialTest::plain).toList();
    int next = 0;
    for (String shown : one.shown()) {
      if (shown.isBlank() || shown.strip().equals("…")) {
        continue;
      }
      Pattern pattern =
          Pattern.compile(
              Arrays.stream(plain(shown).split("…", -1))
                  .map(Pattern::quote)
                  .collect(Collectors.joining(".*")));
      int from = next;
      while (next < lines.size() && !pattern.matcher(lines.get(next)).matches()) {
        next++;
      }
      assertThat(next)
          .as("'%s' after line %d of what `%s` printed:%n%s", shown, from, one.command(), printed)
          .isLessThan(lines.size());
      next++;
    }
  }

  /** Without what differs from day to day: ids and numbers, and how wide a column is. */
  private static String plain(String line) {
    return line.replaceAll("\\.0\\b", "")
        .replaceAll("[0-9]+([.:,T-][0-9]+)*Z?", "N")
        // A task that ended within a second cost nothing, and one of two seconds less than a cent.
        .replaceAll("<N USD", "N USD")
        .replaceAll("[ ─]+", " ")
        .strip();
  }

  private static List<Block> blocks(List<String> page) {
    List<Block> blocks = new ArrayList<>();
    List<String> lines = null;
    boolean script = false;
    for (String line : page) {
      if (line.startsWith("```")) {
        if (lines == null) {
          lines = new ArrayList<>();
          script = line.equals("```sh");
        } else {
          blocks.add(new Block(script, lines));
          lines = null;
        }
      } else if (lines != null) {
        lines.add(line);
      }
    }
    return blocks;
  }

  private static List<Typed> commands(List<String> lines) {
    List<Typed> commands = new ArrayList<>();
    for (String line : lines) {
      if (line.startsWith("$ ")) {
        commands.add(new Typed(line.substring(2), new ArrayList<>()));
      } else {
        commands.get(commands.size() - 1).shown().add(line);
      }
    }
    return commands;
  }
}
