package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.storage.releases.HistoryLine;
import dev.nexa.slurm.storage.releases.HistoryLine.What;
import dev.nexa.slurm.storage.releases.ReleaseHistory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm release history}. */
final class HistoryCommand extends Subcommand {
  private static final Columns<HistoryLine> COLUMNS =
      new Columns<HistoryLine>()
          .number("seq", line -> (long) line.number())
          .text("at", line -> line.at().toString())
          .text("action", line -> line.what().action().text())
          .text("release", line -> line.what().release().map(VisibleText::line).orElse(null))
          .text("from", line -> line.what().from().map(VisibleText::line).orElse(null))
          .text("by", line -> VisibleText.line(line.author().signer()))
          .text("smoke", line -> VisibleText.line(line.what().smoke()))
          .note("reason", line -> VisibleText.line(line.what().reason()));

  private final OptionSpec verify =
      flag(
          "--verify",
          "Also checks each signature; exit status 1 if a line is not as it was written.");
  private final OptionSpec cluster = DeployCommand.cluster(this);
  private final OptionSpec json = jsonFlag();

  HistoryCommand() {
    super(
        "history",
        "Shows each deployment and rollback, oldest first. Each line is signed, and holds the digest"
            + " of the line before.",
        "nexa-slurm release history",
        "nexa-slurm release history --verify");
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), value(cluster));
    ReleaseHistory history = place.history();
    ReleaseHistory.Content content = history.read();
    List<String> problems = new ArrayList<>(content.problems());
    if (given(verify)) {
      problems.addAll(history.signatureProblems(content, place.approvals().signers()));
    }
    List<String> notes = new ArrayList<>();
    Optional<String> leads = place.current().release();
    place(content, leads, problems, notes);
    if (given(json)) {
      print(
          JsonObject.ofVersion(1)
              .with("file", history.file().toString())
              .with("in_production", leads.orElse(null))
              .with("unfinished", content.unfinished().isPresent())
              .with("verified", given(verify))
              .with("problems", problems)
              .with("lines", content.lines().stream().map(HistoryLine::json).toList()));
    } else if (content.lines().isEmpty() && problems.isEmpty()) {
      say("nothing was ever deployed: there is no " + history.file());
    } else {
      printTable(COLUMNS.of(content.lines()).table(style()));
    }
    notes.forEach(this::note);
    problems.forEach(problem -> remark("nexa-slurm: " + problem));
    if (problems.isEmpty() && given(verify) && !given(json)) {
      say(content.lines().size() + " lines: the chain is whole, and each signature counts");
    }
    return problems.isEmpty()
        ? ExitCode.OK.status()
        : ErrorCode.RELEASE_HISTORY_DAMAGED.exitCode().status();
  }

  /** Compares the end of the history with the link: lines cut off at the end show only there. */
  private static void place(
      ReleaseHistory.Content content,
      Optional<String> leads,
      List<String> problems,
      List<String> notes) {
    Optional<HistoryLine> open = content.unfinished();
    if (open.isPresent()) {
      What what = open.get().what();
      notes.add(
          ("line %s (%s %s) is unfinished: it is under way, or its process died; current_model"
                  + " leads to %s")
              .formatted(
                  open.get().number(),
                  what.action().text(),
                  what.release().orElse("nothing"),
                  leads.orElse("nothing")));
    } else if (!leads.equals(content.production())) {
      problems.add(
          ("current_model leads to %s, and the history ends with %s: the link was"
                  + " changed by hand, or lines at the end were removed")
              .formatted(leads.orElse("nothing"), content.production().orElse("nothing")));
    }
    if (content.torn() > 0) {
      notes.add("the last line is cut short: it is being written, or its writer died");
    }
  }
}
