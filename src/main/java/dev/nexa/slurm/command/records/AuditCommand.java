package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.records.AuditRuns.Report;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.storage.cleanup.PastRetention;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm audit}. */
public final class AuditCommand extends Subcommand {
  private static final int MOST_PAST = 20;

  private final PositionalParamSpec references =
      parameters(
          "RUN",
          "A run id or its beginning, a run's name, `latest` or a job id; all runs if none is given.");
  private final OptionSpec repair =
      flag(
          "--repair",
          "If accounting now gives another record, writes a new version of the record and keeps the old version. Also repairs missing or broken lines of the ledger and of journals, if other records prove these lines.");
  private final OptionSpec json = jsonFlag();

  public AuditCommand() {
    super(
        "audit",
        "Derives every manifest and cost file again from journals and accounting, and lists the differences. Ends with 1 if there are any.",
        "nexa-slurm audit",
        "nexa-slurm audit train_20251101_143200 --json");
  }

  @Override
  public Integer call() {
    Context context = existing();
    List<String> named = references.getValue();
    Report report;
    try (ProgressBar progress = ProgressBar.of(this)) {
      AuditRuns audit = new AuditRuns(context, progress);
      report =
          named.isEmpty()
              ? audit.audit(given(repair))
              : audit.audit(runs(context, named), given(repair));
    }
    if (given(json)) {
      print(report.toJson());
    } else {
      report.differences().forEach(this::say);
      report.notes().forEach(this::note);
      report.repaired().forEach(repaired -> say("repaired: " + repaired));
      report.corrected().forEach(run -> say("corrected: " + run));
      tellRetention(report.pastRetention());
      say(
          "%s runs, %s rows read, %s differences"
              .formatted(report.runs(), report.rows(), report.differences().size()));
    }
    if (report.remaining() > 0 && !given(repair)) {
      remark("  → `nexa-slurm audit --repair` repairs the records that accounting still proves");
    }
    return report.remaining() == 0 ? ExitCode.OK.status() : ExitCode.DEFECT.status();
  }

  private void tellRetention(List<PastRetention> past) {
    past.stream().limit(MOST_PAST).forEach(one -> say("retention: " + one.words()));
    if (past.size() > MOST_PAST) {
      say("retention: " + (past.size() - MOST_PAST) + " more runs are past it; --json lists all");
    }
    if (!past.isEmpty()) {
      remark("  → `" + PastRetention.COMMAND + "` shows which old checkpoints can go");
      remark(
          "  → `nexa-slurm archive --past-retention --dry-run` shows which runs can be archived");
    }
  }

  private static List<RunId> runs(Context context, List<String> named) {
    RunLookup lookup = new RunLookup(context.workspace());
    return named.stream().map(reference -> lookup.find(reference).run().id()).toList();
  }
}
