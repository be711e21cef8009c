package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.job.config.site.FailurePattern;
import dev.nexa.slurm.job.config.site.FailurePattern.Role;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * docs/troubleshooting.md is made from the signatures of {@code why}, so that a line that somebody
 * searches for in a browser has the answer that {@code why} gives.
 */
class TroubleshootingPageTest {
  private static final Path PAGE = Path.of("docs/troubleshooting.md");
  private static final int LONGEST_LINE = 150;

  private static final String HEAD =
      """
      # Troubleshooting: the line in the log, the cause, what to do

      <!-- made by TroubleshootingPageTest from configs/failures.yaml -->
      This page is for everybody who has a line from a log and no run at hand. Search it for a part of your line. If the run is yours, type
      `nexa-slurm why RUN`: it reads all logs of the run, decides which line shows the cause, and names the key to change ([why.md](why.md)).

      The lines are examples. `why` finds them by regular expressions in [configs/failures.yaml](../configs/failures.yaml), so numbers and paths
      in your line may differ.

      """;

  private final List<FailurePattern> signatures =
      new ConfigReader(new ConfigSource(Path.of("")), Map.of()).signatures().list();

  @Test
  void thePageHasEachSignature() throws IOException {
    Map<String, String> causes = causes();
    Map<String, String> examples = examples();
    StringBuilder page = new StringBuilder(HEAD);
    Set<String> classes = new LinkedHashSet<>(causes.keySet());
    classes.retainAll(signatures.stream().map(FailurePattern::failure).toList());
    for (String failure : classes) {
      page.append("- [").append(failure).append("](#").append(failure).append("): ");
      page.append(causes.get(failure)).append('\n');
    }
    page.append("- [lines that only follow a failure](#lines-that-only-follow-a-failure)\n");
    int rows = 0;
    for (String failure : classes) {
      page.append("\n## ").append(failure).append("\n\n").append(sentence(causes.get(failure)));
      page.append("\n\n| line in the log | it means | what to do |\n|---|---|---|\n");
      for (FailurePattern one : signatures) {
        if (one.failure().equals(failure) && one.role() != Role.CASCADE) {
          page.append(row(one, examples.get(one.id())));
          rows++;
        }
      }
    }
    page.append("\n## Lines that only follow a failure\n\n");
    page.append(
        "Do not look for the cause in these lines. Another rank or another line failed before. Only if no"
            + " other line shows a cause, `why` names those that have something to do.\n\n");
    page.append(
        "| line in the log | it means | what to do if nothing else shows a cause |\n|---|---|---|\n");
    for (FailurePattern one : signatures) {
      if (one.role() == Role.CASCADE) {
        page.append("| ").append(code(examples.get(one.id()))).append(" | ");
        page.append(cell(one.means())).append(" | ");
        boolean last = !one.failure().equals("none");
        page.append(last ? cell(one.advice().orElse("")) : "").append(" |\n");
        rows++;
      }
    }

    assertThat(rows).isEqualTo(signatures.size());
    Golden.checkFile(PAGE, page.toString());
  }

  private static String row(FailurePattern one, String example) {
    List<String> advice = new ArrayList<>();
    one.advice().ifPresent(advice::add);
    one.key().ifPresent(key -> advice.add("The key is `" + key + "`."));
    if (one.role() == Role.CONFIRMATION) {
      advice.add("This line supports the cause, but proves nothing alone.");
    }
    return "| "
        + code(example)
        + " | "
        + cell(one.means())
        + " | "
        + cell(String.join(" ", advice))
        + " |\n";
  }

  /** The classes and their causes, as docs/why.md lists them. */
  private static Map<String, String> causes() throws IOException {
    Map<String, String> causes = new LinkedHashMap<>();
    String page = Files.readString(Path.of("docs/why.md"));
    Matcher row =
        Pattern.compile("(?m)^\\| `([a-z-]+)` \\| (.*) \\|$")
            .matcher(page.substring(page.indexOf("| class | the cause |")));
    while (row.find()) {
      causes.putIfAbsent(row.group(1), row.group(2));
    }
    return causes;
  }

  /** By the signature's name, the line that it must match: reading the file has checked it. */
  private static Map<String, String> examples() throws IOException {
    Map<String, String> examples = new LinkedHashMap<>();
    String name = "";
    for (String line : Files.readAllLines(Path.of("configs/failures.yaml"))) {
      Matcher key = Pattern.compile("  ([\\w.-]+):").matcher(line);
      Matcher example = Pattern.compile("    matches: '(.*)'").matcher(line);
      if (key.matches()) {
        name = key.group(1);
      } else if (example.matches()) {
        examples.put(name, example.group(1).replace("''", "'"));
      }
    }
    return examples;
  }

  private static String sentence(String cause) {
    return Character.toUpperCase(cause.charAt(0)) + cause.substring(1) + ".";
  }

  /** A log's line as code in a cell of a table; a line with backticks is fenced by two. */
  private static String code(String line) {
    String text = line.replaceAll("[\\t ]+", " ").strip();
    if (text.length() > LONGEST_LINE) {
      text = text.substring(0, LONGEST_LINE) + "…";
    }
    String escaped = text.replace("|", "\\|");
    return escaped.contains("`") ? "`` " + escaped + " ``" : "`" + escaped + "`";
  }

  /** Prose in a cell: a name in angle brackets is no tag. */
  private static String cell(String text) {
    return text.replace("|", "\\|").replace("<", "&lt;");
  }
}
