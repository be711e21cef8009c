package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The calls of sbatch that Snakemake, Nextflow and submitit make, with {@code submit --as-sbatch}
 * in its place, and the files that the real sbatch makes.
 */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class AsSbatchOnSlurmTest {
  @TempDir Path workspace;

  private Person person;

  private record Answer(int exit, String out, String err) {
    String job() {
      assertThat(exit).as(err).isZero();
      return out.strip().replaceFirst("^Submitted batch job ", "");
    }
  }

  /** A job's end writes into the workspace, which goes with the test. */
  @AfterEach
  void jobsHaveEnded() throws Exception {
    String[] folders = {"squeue", "--noheader", "--states=RUNNING,COMPLETING", "--format=%Z"};
    for (int i = 0; i < 300 && Person.command(folders).contains(workspace.toString()); i++) {
      Thread.sleep(100);
    }
  }

  @BeforeEach
  void workspace() throws Exception {
    Files.createDirectories(workspace.resolve(".nexa"));
    person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
  }

  private Answer sbatch(String input, String... words) {
    List<String> all = new ArrayList<>(List.of("submit", "--cluster", "test", "--as-sbatch"));
    all.addAll(List.of(words));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    InputStream stdin = new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8));
    int exit =
        Main.run(
            all.toArray(String[]::new),
            environment,
            Path.of("").toAbsolutePath(),
            stdin,
            new PrintWriter(out, true),
            new PrintWriter(err, true));
    return new Answer(exit, out.toString(), err.toString());
  }

  private String file(String name, String text) throws Exception {
    return Files.writeString(workspace.resolve(name), text).toString();
  }

  private String content(Path file, String part) throws Exception {
    String text = "";
    for (int i = 0; i < 360; i++) {
      text = Files.exists(file) ? Files.readString(file) : "";
      if (text.contains(part)) {
        return text;
      }
      Thread.sleep(500);
    }
    throw new AssertionError(file + " never held " + part + ": " + text);
  }

  /** snakemake-executor-plugin-slurm: run_job. */
  @Test
  void snakemake() throws Exception {
    Path logs = Files.createDirectories(workspace.resolve("slurm_logs/rule_a"));
    String uuid = "3f8f0c2e-7d57-4bb1-9d0c-5d2f5a1e0c11";

    List<String> words =
        new ArrayList<>(
            List.of(
                ("--parsable --job-name " + uuid + " --output " + logs + "/%j.log --export=ALL")
                    .concat(" --comment rule_a_wildcards_x -A root -t 2 --mem 100 --ntasks=1")
                    .concat(" --cpus-per-task=1 -D " + workspace)
                    .split(" ")));
    words.add("--wrap=echo \"in $PWD\" >made; echo 'a  b'");
    Answer answer = sbatch("", words.toArray(String[]::new));

    assertThat(answer.out()).matches("\\d+\n");
    content(logs.resolve(answer.job() + ".log"), "a  b\n");
    content(workspace.resolve("made"), "in " + workspace + "\n");
  }

  /**
   * nextflow.executor.SlurmExecutor: {@code sbatch .command.run}, and no other file for stderr.
   * With its USR2@30, Slurm may signal a job of a minute before its script has set the trap.
   */
  @Test
  void nextflow() throws Exception {
    Path log = workspace.resolve(".command.log");
    String script =
        file(
            ".command.run",
            """
            #!/bin/bash
            #SBATCH -J nf-SAY_HELLO_(1)
            #SBATCH -o %s
            #SBATCH --no-requeue
            #SBATCH --signal B:USR2@5
            #SBATCH -t 00:01:00
            #SBATCH --mem 100M
            NXF_CHDIR=%s
            on_term() { echo "trapped by $0"; exit 9; }
            trap on_term USR2
            echo started; echo to stderr >&2
            sleep 300 & wait
            """
                .formatted(log, workspace));

    Answer answer = sbatch("", script);

    assertThat(answer.out()).matches("Submitted batch job \\d+\n");
    assertThat(content(log, "trapped by")).contains("started\n", "to stderr\n");
    assertThat(Files.readSymbolicLink(log).toString()).endsWith("/" + answer.job() + "_0.out");
  }

  /** submitit.slurm: a file with all options, whose srun writes beside it. */
  @Test
  void submitit() throws Exception {
    String script =
        file(
            "submission_file_1.sh",
            """
            #!/bin/bash

            # Parameters
            #SBATCH --cpus-per-task=1
            #SBATCH --error=FOLDER/%j_0_log.err
            #SBATCH --job-name=submitit
            #SBATCH --mem=1GB
            #SBATCH --nodes=1
            #SBATCH --ntasks-per-node=1
            #SBATCH --open-mode=append
            #SBATCH --output=FOLDER/%j_0_log.out
            #SBATCH --signal=USR2@90
            #SBATCH --time=5
            #SBATCH --wckey=submitit

            # command
            export SUBMITIT_EXECUTOR=slurm
            echo batch >&2
            srun --unbuffered --output FOLDER/%j_%t_log.out --error FOLDER/%j_%t_log.err sh -c \
            'echo "task $SLURM_PROCID of $SLURM_JOB_ID"; echo problem >&2'
            """
                .replace("FOLDER", workspace.toString()));

    Answer answer = sbatch("", script);

    String job = answer.job();
    assertThat(answer.out()).containsPattern("job (?<id>[0-9]+)");
    assertThat(content(workspace.resolve(job + "_0_log.out"), "task 0 of " + job))
        .doesNotContain("problem");
    assertThat(content(workspace.resolve(job + "_0_log.err"), "problem")).contains("batch\n");
  }

  @Test
  void waitEndsAsTheJobDoes() {
    Answer seven = sbatch("", "-W", "-t1", "--mem=50", "-o/dev/null", "--wrap", "exit 7");
    assertThat(seven.exit()).as(seven.err()).isEqualTo(7);
    Answer well = sbatch("#!/bin/sh\n", "--wait", "-t1", "--mem=50", "-o/dev/null");
    assertThat(well.exit()).as(well.err()).isZero();
    Answer killed = sbatch("", "-W", "-t1", "--mem=50", "-o/dev/null", "--wrap", "kill -9 $$");
    assertThat(killed.exit()).as(killed.err()).isGreaterThan(0);
  }

  @Test
  void filesForTheOutputAreWhereTheRealSbatchPutsThem() throws Exception {
    List<String> patterns =
        List.of(
            "%j_%A_%a_%x_%u_%N_%n_%t_%J_%s_%%",
            "%5j_%012J_%3x_%0j", "%q_%d_%.log", "\\\\%j", "a\\%j");
    Path theirs = Files.createDirectories(workspace.resolve("theirs"));
    Path ours = Files.createDirectories(workspace.resolve("ours"));
    TreeSet<String> expected = new TreeSet<>();
    TreeSet<String> made = new TreeSet<>();
    Set<Path> seen = new HashSet<>();
    for (String pattern : patterns) {
      String[] options = {"-J", "my(job)", "-t1", "--mem=50", "-wn2", "--parsable"};
      List<String> real = new ArrayList<>(List.of("sbatch"));
      real.addAll(List.of(options));
      real.addAll(List.of("-o", theirs.resolve("x") + pattern, "--wrap", "true"));
      Process process = new ProcessBuilder(real).start();
      String job = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      expected.add(made(theirs, job.strip(), seen));
      List<String> words = new ArrayList<>(List.of(options));
      words.addAll(List.of("-o", ours.resolve("x") + pattern, "--wrap", "true"));
      Answer answer = sbatch("", words.toArray(String[]::new));
      made.add(made(ours, answer.job(), seen));
    }

    assertThat(made).isEqualTo(expected);
  }

  /** The name of the next file in the folder, with a word in place of the job's id. */
  private static String made(Path folder, String job, Set<Path> seen) throws Exception {
    for (int i = 0; i < 360; i++) {
      try (Stream<Path> files = Files.list(folder)) {
        Optional<Path> next = files.filter(file -> !seen.contains(file)).findFirst();
        if (next.isPresent()) {
          seen.add(next.get());
          // A short id may be a part of another number; of a padded one the width counts.
          return Pattern.compile("(?<!\\d)(0*)" + job + "(?!\\d)")
              .matcher(next.get().getFileName().toString())
              .replaceAll(id -> id.group(1).isEmpty() ? "JOB" : "JOB" + id.group().length());
        }
      }
      Thread.sleep(500);
    }
    throw new AssertionError("no file of job " + job + " in " + folder);
  }

  /** sbatch's job would end at once, and nothing would say why. */
  @Test
  void aFolderThatIsMissingIsMade() {
    Answer answer =
        sbatch(
            "",
            "-W",
            "-t1",
            "--mem=50",
            "-o",
            "missing/a.log",
            "-e",
            "gone/b.log",
            "--wrap",
            "ls x");

    assertThat(answer.exit()).isNotZero();
    assertThat(person.says("logs", "latest")).doesNotContain("missing/");
    assertThat(person.says("why", "latest")).contains("gone/b.log:1", "ls: cannot access 'x'");
  }
}
