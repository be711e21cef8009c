package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A script that lost its end does nothing at all, wherever it was cut. */
class HalfScriptTest {
  /** Behind the last function: here each byte counts. */
  private static final int TAIL = 60;

  @TempDir private Path folder;
  private RunFolder run;
  private TrialWorkspace workspace;

  @Test
  void onlyTheWholeScriptWorks() throws Exception {
    FakeSlurm slurm = new FakeSlurm(folder.resolve("slurm"));
    workspace = new TrialWorkspace(folder.resolve("work"), "half", 1);
    new SubmitRun(workspace.context(slurm.environment(), CrashPoint.NONE))
        .submit(workspace.request(), Optional.empty(), Optional.empty());
    run = workspace.run();
    byte[] script = Files.readAllBytes(run.script());
    for (int length : cuts(script)) {
      run(Arrays.copyOf(script, length));
      assertThat(workspace.worked()).as("cut after %s bytes", length).isEmpty();
      assertThat(claims()).as("cut after %s bytes", length).isEmpty();
      assertThat(workspace.root().resolve("scratch")).as("%s bytes", length).doesNotExist();
    }
    // Its last newline is no part of it.
    run(Arrays.copyOf(script, script.length - 1));
    assertThat(workspace.worked()).hasSize(1);
    assertThat(claims()).containsExactly("0");
  }

  /** After some of the lines, and anywhere near the end. */
  private static Iterable<Integer> cuts(byte[] script) {
    TreeSet<Integer> cuts = new TreeSet<>();
    int lines = 0;
    for (int length = 1; length < script.length - 1; length++) {
      boolean line = script[length - 1] == '\n';
      lines += line ? 1 : 0;
      if ((line && lines % 8 == 0) || length > script.length - TAIL) {
        cuts.add(length);
      }
    }
    return cuts;
  }

  private String[] claims() {
    String key = workspace.last().key();
    return run.submission(key).resolve("claims").toFile().list();
  }

  /** As slurmd would, from the run's folder, where it would also work without its argument. */
  private void run(byte[] part) throws IOException, InterruptedException {
    Path file = folder.resolve("part");
    Files.write(file, part);
    String submission = run.submission(workspace.last().key()).toString();
    ProcessBuilder bash = new ProcessBuilder("bash", file.toString(), submission);
    Map<String, String> environment = bash.environment();
    environment.put("SLURM_JOB_ID", "101");
    environment.put("SLURM_ARRAY_JOB_ID", "101");
    environment.put("SLURM_ARRAY_TASK_ID", "0");
    environment.put("SLURM_SUBMIT_DIR", run.path().toString());
    bash.directory(run.path().toFile()).redirectErrorStream(true);
    bash.redirectOutput(folder.resolve("said").toFile()).start().waitFor();
  }
}
