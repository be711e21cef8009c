package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.site.Energy;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.run.submit.ArrayShape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * A run's plan and estimate, read from its folder.
 *
 * @param estimate the run's estimate.json
 * @param kept the durable files that are charged; empty if the profile gives no retention
 * @param code the packed working tree, as plan.json has it; empty if the run has none
 * @param energy the profile's factors for energy; empty if it gives none
 * @param program the version of the nexa-slurm that submitted the run; empty if it is not kept
 */
public record RunFacts(
    RunId id,
    Labels labels,
    Place place,
    Work work,
    Planned planned,
    Rates rates,
    EstimateFile estimate,
    String logs,
    Optional<Kept> kept,
    Optional<JsonObject> code,
    Optional<Energy> energy,
    Optional<String> program) {

  /** The purpose of the run. */
  public record Labels(
      String stage,
      Optional<String> model,
      Optional<String> dataset,
      String hardware,
      List<String> tags) {}

  /**
   * Where the run's jobs are.
   *
   * @param cluster the cluster profile's name
   * @param messageTimeout the cluster's MessageTimeout, which decides the settle window
   */
  public record Place(String cluster, String scheduler, Duration messageTimeout) {}

  /**
   * The run's tasks.
   *
   * @param requeues how often Slurm may run a task again
   * @param timeLimit the time limit of one attempt
   * @param points for a sweep, the values of each task; else empty
   * @param packed how many indices the tasks run, several in each; empty if each task is one
   * @param grown the most that the attempts after the first are charged for; empty unless they grow
   */
  public record Work(
      ArrayShape array,
      int requeues,
      Duration timeLimit,
      List<JsonObject> points,
      Optional<Integer> packed,
      List<AttemptSize> grown) {
    /** Returns the longest time limit that an attempt may get. */
    Duration longestLimit() {
      return grown.stream()
          .map(size -> Duration.ofSeconds(size.timeLimitSeconds()))
          .reduce(timeLimit, (one, other) -> one.compareTo(other) < 0 ? other : one);
    }
  }

  /**
   * The planned resources of a task.
   *
   * @param gpus the number of GPUs that it is charged for, over all its nodes
   * @param tres its resources in the form of AllocTRES (sacct(1))
   * @param groups the resources of each task of a heterogeneous job; empty for any other
   */
  public record Planned(Optional<String> gpuType, long gpus, String tres, List<Planned> groups) {
    /** Returns what one task was planned to hold. */
    public Planned of(int task) {
      return groups.isEmpty() ? this : groups.get(task);
    }

    /** Returns the sum of a number over all groups; the number of one task if there are none. */
    long sum(ToLongFunction<Planned> number) {
      return groups.isEmpty() ? number.applyAsLong(this) : groups.stream().mapToLong(number).sum();
    }

    /** Returns a row of a group with the GPUs that accounting does not have, or has no type of. */
    AccountingRecord typed(AccountingRecord row) {
      if (groups.isEmpty() || row.start().isEmpty() || row.tasks().indices().size() != 1) {
        return row;
      }
      Planned group = groups.get(row.tasks().indices().get(0));
      Tres tres = Tres.parse(row.allocTres());
      Map<String, Long> gpus = tres.gpusBy(group.gpuType.orElse("gpu"), group.gpus);
      if (gpus.isEmpty() || row.allocTres().isEmpty() || row.allocTres().contains("gres/gpu:")) {
        return row;
      }
      StringBuilder typed = new StringBuilder(row.allocTres().replaceAll(",gres/gpu=\\d+", ""));
      gpus.forEach((type, count) -> typed.append(",gres/gpu:" + type + "=" + count));
      return row.holding(row.start().get(), typed.toString(), row.elapsedSeconds());
    }
  }

  /**
   * Files that outlive the run.
   *
   * @param checkpoints the run's folder in NEXA_DURABLE
   * @param days how many days they are kept
   */
  public record Kept(String checkpoints, int days) {}

  private static final long MIB = 1 << 20;

  /**
   * Reads the facts from a run's proven files.
   *
   * @throws dev.nexa.slurm.records.runs.ChangedFileException if the plan or the estimate differs
   *     from the submitted file
   */
  public static RunFacts of(RunFolder run, ProvenFiles files) {
    return of(run, files.plan(), files.estimate());
  }

  /**
   * Reads the facts from the present files of a run, for display only. The files may have been
   * edited.
   */
  public static RunFacts shown(RunFolder run) {
    return of(run, run.shownPlan(), run.shownEstimate());
  }

  /** Makes the facts from a plan and an estimate. */
  public static RunFacts of(RunFolder run, PlanFile plan, EstimateFile estimate) {
    return new RunFacts(
        run.id(),
        new Labels(plan.stage(), plan.model(), plan.dataset(), plan.hardware(), plan.tags()),
        new Place(plan.cluster(), plan.scheduler(), plan.messageTimeout()),
        new Work(
            ArrayShape.of(plan),
            plan.requeues(),
            plan.timeLimit(),
            plan.points(),
            plan.packed(),
            plan.grown()),
        planned(plan),
        estimate.rates(),
        estimate,
        run.logs().toString(),
        kept(run, plan.storage()),
        plan.code(),
        plan.energy(),
        plan.programVersion());
  }

  /**
   * Returns a copy with the log folder that a manifest names, if it is this run's folder: the
   * workspace was moved or is a link.
   */
  public RunFacts loggingAs(ManifestFile manifest) {
    String own = "/" + id + "/logs";
    String folder = manifest.logs().filter(named -> named.endsWith(own)).orElse(logs);
    return new RunFacts(
        id, labels, place, work, planned, rates, estimate, folder, kept, code, energy, program);
  }

  private static Optional<Kept> kept(RunFolder run, Storage storage) {
    if (storage.retentionDays().isEmpty()) {
      return Optional.empty();
    }
    String durable = storage.durable();
    String folder = durable + "/checkpoints/" + StorageClaims.nameOn(durable, run);
    return Optional.of(new Kept(folder, storage.retentionDays().get()));
  }

  /** Returns the number of the run's tasks. */
  public int tasks() {
    return work.array().tasks();
  }

  /** Where there are groups, only they say how many GPUs a row without any was given. */
  private static Planned planned(PlanFile plan) {
    List<Planned> groups = new ArrayList<>();
    Optional<String> type = plan.gpuType();
    for (PlanFile group : plan.groups()) {
      groups.add(planned(group));
      type = type.isPresent() ? type : group.gpuType();
    }
    long gpus = groups.isEmpty() ? plan.gpus() : 0;
    return new Planned(type, gpus, tres(plan), List.copyOf(groups));
  }

  private static String tres(PlanFile plan) {
    String tres =
        "cpu=" + plan.cpus() + ",mem=" + plan.memoryBytes() / MIB + "M,node=" + plan.nodes();
    if (plan.gpus() == 0) {
      return tres;
    }
    Optional<String> type = plan.gpuType();
    return tres + (type.isPresent() ? ",gres/gpu:" + type.get() : ",gres/gpu") + "=" + plan.gpus();
  }
}
