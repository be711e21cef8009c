package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What a run waits for: {@code afterok:RUN}, {@code afterany:RUN:RUN}, {@code aftercorr:RUN},
 * several separated by commas, as sbatch(1) writes it, with runs where sbatch has job ids. What is
 * met already is left out: Slurm forgets a job minutes after its end.
 */
final class Dependencies {
  private static final List<String> TYPES =
      List.of("afterok", "afterany", "afternotok", "aftercorr");
  private static final Pattern FOREIGN = Pattern.compile("\\d{1,18}");

  private final Nexa nexa;
  private final String scheduler;

  Dependencies(Nexa nexa, String scheduler) {
    this.nexa = nexa;
    this.scheduler = scheduler;
  }

  /** The option for sbatch; empty where everything is met. */
  String onJobs(String text) {
    if (scheduler.equals("local")) {
      throw wrong("--dependency: the local scheduler knows no dependencies", "leave --local out");
    }
    List<String> open = new ArrayList<>();
    for (String one : text.split(",", -1)) {
      String[] parts = one.split(":", -1);
      if (!TYPES.contains(parts[0]) || parts.length < 2) {
        throw wrong(
            "--dependency: expected TYPE:RUN, such as afterok:latest, got '"
                + one
                + "'"
                + Nearest.hint(parts[0], TYPES),
            "types are " + String.join(", ", TYPES));
      }
      StringBuilder jobs = new StringBuilder(parts[0]);
      for (int i = 1; i < parts.length; i++) {
        jobs(parts[0], parts[i]).forEach(id -> jobs.append(':').append(id));
      }
      if (jobs.length() > parts[0].length()) {
        open.add(jobs.toString());
      }
    }
    return String.join(",", open);
  }

  private List<Long> jobs(String type, String reference) {
    RunFolder run;
    try {
      run = new RunLookup(nexa.workspace()).find(reference).run();
    } catch (NexaException noRun) {
      if (FOREIGN.matcher(reference).matches()) {
        return List.of(Long.parseLong(reference));
      }
      throw noRun;
    }
    RunState state = RunState.of(run.journal().read());
    if (state.finished()) {
      requireMet(type, run);
      return List.of();
    }
    List<Long> jobs = new ArrayList<>();
    for (Submission submission : state.current()) {
      jobs.add(
          submission
              .jobId()
              .orElseThrow(
                  () ->
                      wrong(
                          "--dependency: it is not known yet which job " + run.id() + " has",
                          "type `nexa-slurm reconcile`, then this again")));
    }
    if (type.equals("aftercorr") && jobs.size() > 1) {
      throw wrong(
          "--dependency: "
              + run.id()
              + " has several jobs, so its tasks correspond to no one array",
          "use afterok:" + run.id());
    }
    return jobs;
  }

  private static void requireMet(String type, RunFolder run) {
    String status = Json.parseObject(DurableFiles.read(run.manifest())).text("status");
    boolean completed = status.equals("completed");
    boolean met = type.equals("afterany") || completed != type.equals("afternotok");
    if (!met) {
      throw wrong(
          "--dependency: " + type + ":" + run.id() + " can never be met: it has " + status,
          completed
              ? "nothing was submitted"
              : "`nexa-slurm rerun --failed " + run.id() + "` runs again what failed");
    }
  }

  private static NexaException wrong(String message, String advice) {
    return new NexaException(ExitCode.USAGE, message, advice);
  }
}
