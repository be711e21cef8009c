package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.command.shared.FormatOption;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.storage.releases.ReleaseContent;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.SignOff;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The command {@code release list}. */
final class ListCommand extends OfTier {
  private final FormatOption format =
      new FormatOption(this, List.of("table", "csv", "markdown", "json"));

  ListCommand() {
    super(
        "list",
        "All releases of the durable tier. It reads no model; `release verify` does.",
        "nexa-slurm release list");
  }

  @Override
  protected void work() {
    Context context = existing();
    String durable = durable(context);
    Optional<PolicyApprovals> approvals = VerifyCommand.approvals(context, this::note);
    List<ReleaseText.Row> rows = new ArrayList<>();
    for (ReleaseFolder release : ReleaseFolder.all(durable)) {
      try {
        rows.add(row(release, approvals));
      } catch (NexaException | UncheckedIOException damaged) {
        note(String.valueOf(damaged.getMessage()));
      }
    }
    Listing<ReleaseText.Row> listing = ReleaseText.listing(rows);
    format.print(
        () ->
            rows.isEmpty()
                ? "No releases in " + ReleaseFolder.parent(durable) + ".\n"
                : listing.table(style()),
        () -> listing,
        () ->
            JsonObject.ofVersion(1)
                .with("folder", ReleaseFolder.parent(durable).toString())
                .with("releases", rows.stream().map(ReleaseText::json).toList()));
  }

  private static ReleaseText.Row row(ReleaseFolder release, Optional<PolicyApprovals> approvals) {
    Optional<List<String>> signers =
        approvals.map(
            policy ->
                policy.signatures(ReleaseContent.signed(release)).valid().stream()
                    .map(SignOff::signer)
                    .toList());
    return new ReleaseText.Row(release.name(), release.digest(), release.document(), signers);
  }
}
