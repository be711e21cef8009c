package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Values of {@code #SBATCH} lines come out of a real sbatch unchanged. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Tag("full")
class DirectiveQuotingTest {
  private static final int VALUES = 250;
  private static final Pattern CONSTRAINT =
      Pattern.compile("^sbatch: constraint +: (.*)$", Pattern.MULTILINE | Pattern.UNIX_LINES);
  private static final Pattern OPTION =
      Pattern.compile("^sbatch: ([a-z-]+) +: (.*)$", Pattern.MULTILINE | Pattern.UNIX_LINES);
  private static final Pattern COMMENT =
      Pattern.compile(
          "JobId=(\\d+) .*?^   Comment=(.*?) $",
          Pattern.MULTILINE | Pattern.DOTALL | Pattern.UNIX_LINES);

  @TempDir Path folder;

  /** No node has the feature, so that sbatch says what it read and slurmctld takes no job. */
  @Test
  void aConstraintOfAConfigIsWhatSbatchReads() throws IOException {
    HostileText hostile = new HostileText(401);
    for (int i = 0; i < VALUES; i++) {
      String constraint = "x" + hostile.next();
      Files.write(folder.resolve("job.sbatch"), script(constraint).bytes());

      CommandResult sbatch = run("sbatch", "-vv", "--test-only", "job.sbatch");

      Matcher read = CONSTRAINT.matcher(sbatch.err());
      assertThat(read.find()).as(sbatch.err()).isTrue();
      assertThat(read.group(1)).isEqualTo(constraint);
      assertThat(sbatch.err()).doesNotContain("error: Unknown");
    }
    assertThat(folder.resolve("canary")).doesNotExist();
  }

  @Test
  void aQuotedValueIsWhatSlurmKeepsWithTheJob() throws IOException {
    HostileText hostile = new HostileText(402);
    List<String> ids = new ArrayList<>();
    List<String> comments = new ArrayList<>();
    try {
      for (int i = 0; i < VALUES; i++) {
        String comment = hostile.next();
        Files.writeString(
            folder.resolve("job.sbatch"),
            "#!/bin/bash\n#SBATCH --comment="
                + DirectiveFormat.INSTANCE.escapePlainText(comment)
                + "\n#SBATCH --time=1\n");
        CommandResult sbatch =
            run("sbatch", "--parsable", "--hold", "--job-name=nexa-quoting", "job.sbatch");
        assertThat(sbatch.exit()).as(sbatch.err()).isZero();
        ids.add(sbatch.out().strip());
        comments.add(comment);
      }
      List<String> kept = new ArrayList<>();
      for (String id : ids) {
        Matcher comment = COMMENT.matcher(run("scontrol", "show", "job", id).out());
        assertThat(comment.find()).isTrue();
        kept.add(comment.group(2));
      }
      assertThat(kept).isEqualTo(comments);
    } finally {
      ids.add(0, "scancel");
      run(ids.toArray(String[]::new));
    }
    assertThat(folder.resolve("canary")).doesNotExist();
  }

  /** Of the places whose text is free, in #SBATCH lines of a whole config. */
  @Test
  void theWorstTextSetsNoOtherOption() throws IOException {
    Map<String, String> harmless = options("x");
    assertThat(harmless).containsEntry("constraint", "x").containsEntry("mail-user", "x");
    int arrived = 0;
    for (String text : HostileText.worst(403, 20)) {
      if (text.length() > 1000 || !StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
        continue;
      }
      Map<String, String> options;
      try {
        options = options("x" + text);
      } catch (ConfigException refused) {
        continue;
      }
      arrived++;
      Map<String, String> expected = new TreeMap<>(harmless);
      expected.put("constraint", "x" + text);
      expected.put("mail-user", "x" + text);
      assertThat(options).as(Json.compact(text)).isEqualTo(expected);
    }
    assertThat(arrived).isGreaterThan(50);
    assertThat(folder.resolve("canary")).doesNotExist();
  }

  /** What sbatch says it read, by name. */
  private Map<String, String> options(String text) throws IOException {
    Files.write(folder.resolve("job.sbatch"), script(text).bytes());
    CommandResult sbatch = run("sbatch", "-vv", "--test-only", "job.sbatch");
    Map<String, String> options = new TreeMap<>();
    Matcher read = OPTION.matcher(sbatch.err());
    while (read.find()) {
      options.put(read.group(1), read.group(2));
    }
    return options;
  }

  private static Script script(String constraint) {
    JsonObject config =
        new JsonObject()
            .with("stage", "data")
            .with("backend", "shell")
            .with("run", "true\n")
            .with("mail", new JsonObject().with("user", constraint))
            .with("resources", new JsonObject().with("time", "1m").with("constraint", constraint));
    return Scripts.of(
        new ConfigFolder().with("run.yaml", Json.compact(config)), "run.yaml", "default");
  }

  private CommandResult run(String... argv) throws IOException {
    Map<String, String> environment = Map.of("PATH", System.getenv("PATH"), "LC_ALL", "C.UTF-8");
    return new CommandRunner()
        .run(new Command(List.of(argv), environment, folder, Duration.ofSeconds(60)));
  }
}
