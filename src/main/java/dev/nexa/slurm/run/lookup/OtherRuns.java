package dev.nexa.slurm.run.lookup;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.LedgerLine.Draft;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.ChangedFileException;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Describes runs that are not in the ledger yet, in the form of ledger lines. */
public record OtherRuns(Workspace workspace) {
  /**
   * Returns the runs that have not ended, with their reservations.
   *
   * @param problems receives a line for each run that cannot be read
   */
  public List<LedgerLine> unfinished(List<String> problems) {
    List<LedgerLine> runs = new ArrayList<>();
    for (RunId id : workspace.openRuns()) {
      try {
        RunFolder run = workspace.run(id);
        List<Event> events = run.journal().read();
        ProvenFiles files = ProvenFiles.of(run, events);
        // A run whose submitter died before planning has no reservation.
        if (files.staged()) {
          runs.add(reserved(run, events, files));
        }
      } catch (RuntimeException unreadable) {
        problems.add(id + ": " + unreadable.getMessage());
      }
    }
    return runs;
  }

  /**
   * Returns a run's reservation and tags from its proven files, so that an edited file cannot lower
   * the amount that budgets count.
   */
  private static LedgerLine reserved(RunFolder run, List<Event> events, ProvenFiles files) {
    PlanFile plan = files.plan();
    Draft line = new Draft(run.id().value()).with(LedgerKey.TAGS, plan.tags());
    BigDecimal first;
    try {
      EstimateFile estimate = files.estimate();
      first = estimate.reserved();
      line.with(LedgerKey.CURRENCY, estimate.currency());
    } catch (ChangedFileException changed) {
      // The journal holds the reserved sum too, so budgets stay known. Journals of earlier versions
      // lack it.
      JsonObject reserved = files.reserved().orElseThrow(() -> changed);
      first = new BigDecimal(reserved.text("total"));
      line.with(LedgerKey.CURRENCY, reserved.text("currency"));
    }
    if (Files.exists(run.manifest())) {
      cost(line, ManifestFile.read(run));
    }
    line.with(LedgerKey.RESERVATION, highestCost(run, events, first).toPlainString());
    return described(line, run, Optional.of(plan), events);
  }

  /**
   * Returns a run's line for display, from its manifest, cost file, plan and journal. Files that
   * were edited are not rejected.
   */
  public LedgerLine line(RunFolder run) {
    ManifestFile manifest = ManifestFile.read(run);
    Draft line =
        new Draft(run.id().value())
            .with(LedgerKey.STAGE, manifest.stage())
            .with(LedgerKey.STATUS, manifest.status().text())
            .with(LedgerKey.STATE, manifest.state())
            .with(LedgerKey.MODEL, manifest.model())
            .with(LedgerKey.DATASET, manifest.dataset())
            .with(LedgerKey.TAGS, manifest.tags())
            .with(LedgerKey.CLUSTER, manifest.cluster())
            .with(LedgerKey.ATTEMPTS, manifest.attempts())
            .with(LedgerKey.CREATED, manifest.created())
            .with(LedgerKey.STARTED, manifest.started())
            .with(LedgerKey.ENDED, manifest.ended());
    cost(line, manifest);
    if (Files.exists(run.cost())) {
      CostFile cost = CostFile.read(run);
      line.with(LedgerKey.WASTED, cost.wasted()).with(LedgerKey.RESERVATION, cost.reservation());
    }
    Optional<PlanFile> plan =
        Files.exists(run.plan()) ? Optional.of(run.shownPlan()) : Optional.empty();
    return described(line, run, plan, run.journal().read());
  }

  private static void cost(Draft line, ManifestFile manifest) {
    manifest
        .cost()
        .ifPresent(it -> line.with(LedgerKey.CURRENCY, it.currency()).with(LedgerKey.COST, it));
  }

  private static LedgerLine described(
      Draft line, RunFolder run, Optional<PlanFile> kept, List<Event> events) {
    if (kept.isPresent()) {
      PlanFile plan = kept.get();
      line.with(LedgerKey.BACKEND, plan.backend())
          .with(LedgerKey.TASKS, plan.tasks())
          .with(LedgerKey.ACCOUNT, plan.account())
          .with(LedgerKey.PARTITION, plan.option(ResourceOption.PARTITION))
          .with(LedgerKey.GPU_TYPE, plan.allocatedGpuType());
    }
    line.with(LedgerKey.APPROVAL, RunState.approval(events));
    line.with(
        LedgerKey.USER,
        events.isEmpty()
            ? Optional.of(UnixUser.me().user())
            : events.get(0).data().optionalText("user"));
    String time = run.id().value().substring(run.id().value().indexOf('_') + 1);
    return line.line(time.substring(0, 4) + "-" + time.substring(4, 6));
  }

  /**
   * Returns the most that the run can still cost. For a rerun, this is the cost before the rerun
   * and the rerun's reservation.
   *
   * @param first the sum that the submit reserved
   */
  private static BigDecimal highestCost(RunFolder run, List<Event> events, BigDecimal first) {
    BigDecimal again = BigDecimal.ZERO;
    for (Event event : events) {
      if (event.type() == Event.Type.FINISHED) {
        again = BigDecimal.ZERO;
      } else if (event.type() == Event.Type.RERUN) {
        again = again.add(new BigDecimal(event.data().text("reservation")));
      }
    }
    RunState state = RunState.of(events);
    if (state.timesFinished() == 0) {
      return first.add(again);
    }
    // The first pass after the rerun moves the earlier final cost file aside.
    Path moved = run.cost(state.timesFinished());
    Path before = Files.exists(moved) ? moved : run.cost();
    byte[] kept = DurableFiles.readBytes(before);
    if (state.costDigest().filter(digest -> !digest.equals(Sha256.of(kept))).isPresent()) {
      throw ErrorCode.FILE_CHANGED.error(
          before + " was changed since the run was over: what it had cost then is not known");
    }
    CostFile cost = CostFile.parse(new String(kept, StandardCharsets.UTF_8), before.toString());
    // Storage is part of neither a reservation nor the cost so far of an unfinished run.
    return again.add(cost.ofReserved().amount());
  }
}
