package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.AuditRuns;
import dev.nexa.slurm.app.AuditRuns.Report;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.journal.RunId;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code nexa-slurm audit}. */
final class AuditCommand extends Subcommand {
  private final PositionalParamSpec references =
      add(
          PositionalParamSpec.builder()
              .paramLabel("RUN")
              .type(List.class)
              .auxiliaryTypes(String.class)
              .arity("0..*"),
          "A run id, `latest` or a job id; all runs if none is given.");
  private final OptionSpec repair =
      flag(
          "--repair",
          "Writes a new version of each record that accounting now makes differently, and keeps the old one; and ledger lines that are missing.");
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  AuditCommand() {
    super(
        "audit",
        "Derives every manifest and cost file anew, from journals and accounting, and lists what differs. Ends with 1 if anything does.",
        "nexa-slurm audit",
        "nexa-slurm audit train_20251101_143200 --json");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    Report report = new AuditRuns(nexa).audit(runs(nexa), given(repair));
    if (given(json)) {
      out().print(Json.pretty(report.toJson()));
    } else {
      report.differences().forEach(difference -> out().println(difference));
      report.notes().forEach(note -> err().println("note: " + note));
      report.corrected().forEach(run -> out().println("corrected: " + run));
      out()
          .println(
              report.runs()
                  + " runs, "
                  + report.rows()
                  + " rows read, "
                  + report.differences().size()
                  + " differences");
    }
    if (report.remaining() > 0 && !given(repair)) {
      err().println("  → `nexa-slurm audit --repair` mends what accounting can still tell");
    }
    return report.remaining() == 0 ? ExitCode.OK.status() : ExitCode.DEFECT.status();
  }

  private List<RunId> runs(Nexa nexa) {
    List<String> named = references.getValue();
    if (named == null || named.isEmpty()) {
      return nexa.workspace().everyRun();
    }
    RunLookup lookup = new RunLookup(nexa.workspace());
    List<RunId> ids = new ArrayList<>();
    for (String reference : named) {
      ids.add(lookup.find(reference).run().id());
    }
    return ids;
  }
}
