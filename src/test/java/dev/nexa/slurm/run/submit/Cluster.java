package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The real Slurm of dev/cluster: its faults, and what its database says. */
public final class Cluster {
  private static final int FIELDS = 5;
  private static final int CANCELLED = 4;

  private Cluster() {}

  /**
   * A row of slurmdbd's own table.
   *
   * @param name the job's name, a submission's key
   * @param started seconds since the epoch; 0 if never
   * @param ended the same; 0 if not yet
   * @param state slurm.h's number
   */
  record Job(String name, long id, long started, long ended, int state) {
    /** Whether it was taken back before it began. */
    boolean neverBegan() {
      return state == CANCELLED && started == 0;
    }
  }

  /** What slurm_acct_db holds of jobs whose name begins so. */
  static List<Job> jobs(String prefix) {
    assertThat(prefix).matches("[a-z0-9-]+");
    String sql =
        "SELECT job_name, id_job, time_start, time_end, state FROM nexa_job_table"
            + " WHERE deleted = 0 AND job_name LIKE '"
            + prefix
            + "%' ORDER BY job_db_inx";
    List<Job> jobs = new ArrayList<>();
    for (String line : dev("sql", sql).lines().toList()) {
      String[] field = line.split("\t", -1);
      assertThat(field).hasSize(FIELDS);
      jobs.add(
          new Job(
              field[0],
              Long.parseLong(field[1]),
              Long.parseLong(field[2]),
              Long.parseLong(field[3]),
              Integer.parseInt(field[4])));
    }
    return jobs;
  }

  /** The same, once there are as many and none of them waits or runs any more. */
  static List<Job> endedJobs(String prefix, int atLeast) throws InterruptedException {
    List<Job> jobs = jobs(prefix);
    for (int i = 0; i < 60 && !(jobs.size() >= atLeast && ended(jobs)); i++) {
      Thread.sleep(500);
      jobs = jobs(prefix);
    }
    return jobs;
  }

  /**
   * Returns once slurmctld has saved what happened before this call, so that a kill -9 does not
   * lose it. It saves up to 5 s late, and later on a busy machine. The file holds the names of jobs
   * as they are.
   */
  public static void awaitSaved() throws IOException, InterruptedException {
    String name = "saved-" + System.nanoTime();
    String job =
        run(List.of("sbatch", "--parsable", "--hold", "--job-name=" + name, "--wrap=true")).strip();
    Path file =
        Path.of(
            run(List.of("scontrol", "show", "config"))
                .lines()
                .filter(line -> line.startsWith("StateSaveLocation"))
                .map(line -> line.replaceFirst(".*= *", "").strip())
                .findFirst()
                .orElseThrow(),
            "job_state");
    for (int i = 0; !holds(file, name); i++) {
      assertThat(i).as("slurmctld does not save").isLessThan(600);
      Thread.sleep(100);
    }
    run(List.of("scancel", job));
  }

  private static boolean holds(Path file, String text) throws IOException {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).contains(text);
    } catch (NoSuchFileException beingReplaced) {
      return false;
    }
  }

  private static boolean ended(List<Job> jobs) {
    return jobs.stream().allMatch(job -> job.ended() > 0);
  }

  /** Runs dev/cluster. */
  public static String dev(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("dev/cluster"));
    argv.addAll(Arrays.asList(arguments));
    return run(argv);
  }

  /** Runs a command that must succeed; what it printed. */
  public static String run(List<String> argv) {
    return run(argv, Path.of("."));
  }

  /** The same from another folder. */
  static String run(List<String> argv, Path folder) {
    try {
      ProcessBuilder builder = new ProcessBuilder(argv).directory(folder.toFile());
      Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as("%s: %s", argv, out).isZero();
      return out;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new AssertionError(interrupted);
    }
  }

  /** Faults and the database are root's. */
  public static boolean isOurs() {
    return "root".equals(System.getProperty("user.name"));
  }
}
