package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Site;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each class costs a submit about 0.1 ms with the class archive and 0.5 ms without it
 * (docs/performance.md). A new feature of another command must not load a class here.
 */
class SubmitClassesTest {
  /** Raise it only with a measurement of dev/bench in the commit's message. */
  private static final int MOST = 244;

  @TempDir Path folder;

  @Test
  void submitLoadsNoMoreClassesThanBefore() throws Exception {
    Site.write(
        folder.resolve("run.yaml"),
        "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 5m, memory: 50M}\n");
    Files.createDirectories(folder.resolve("bin"));
    for (String client : List.of("sbatch", "squeue", "sacct", "scontrol")) {
      Path program = folder.resolve("bin/" + client);
      Site.write(program, "#!/bin/sh\necho 1\n");
      assertThat(program.toFile().setExecutable(true)).isTrue();
    }
    Files.createDirectories(folder.resolve(".nexa"));
    Path log = folder.resolve("classes");
    OwnJvm.printed(
        folder,
        OwnJvm.words(List.of("-Xlog:class+load:file=" + log), Main.class, "submit", "run.yaml"));

    List<String> loaded = Files.readAllLines(log);
    List<String> ours =
        loaded.stream()
            .filter(line -> line.contains(" dev.nexa.slurm.") && !line.contains("$$Lambda"))
            .map(line -> line.replaceAll(".* (dev\\.nexa\\.slurm\\.\\S+) .*", "$1"))
            .toList();

    assertThat(ours).as("%d classes", ours.size()).hasSizeLessThanOrEqualTo(MOST);
    assertThat(loaded)
        .as("the equals, hashCode or toString that Java generates for a record: 10 ms")
        .noneMatch(line -> line.contains(" java.lang.runtime.ObjectMethods "));
  }
}
