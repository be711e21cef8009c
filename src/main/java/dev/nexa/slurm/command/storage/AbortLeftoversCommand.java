package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.AwsJar;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.storage.sync.Clutter;
import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.S3Place;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code sync abort-leftovers}. */
final class AbortLeftoversCommand extends Subcommand {

  private final SyncPlaces places = new SyncPlaces(this);
  private final OptionSpec olderThan =
      option(
          "--older-than TIME",
          "Only uploads that began this long ago, such as 12h or 7d; 1d if not given. A running sync uses younger ones.");
  private final OptionSpec dryRun = flag("--dry-run", "Lists the uploads, and removes none.");
  private final OptionSpec yes = flag("--yes", "Removes them without a question. Scripts need it.");
  private final OptionSpec json = jsonFlag();

  AbortLeftoversCommand() {
    super(
        "abort-leftovers",
        "Lists multipart uploads that nobody completed, whose parts S3 charges for, and removes them.",
        "nexa-slurm sync abort-leftovers --dry-run",
        "nexa-slurm sync abort-leftovers --older-than 7d --yes");
  }

  @Override
  protected void work() {
    Duration age = age();
    S3Place s3 = places.s3(context(), 2);
    try (AwsJar jar = AwsJar.open();
        ObjectStore store = jar.load(ObjectStores.class).open(s3)) {
      Clutter clutter = new Clutter(store, s3.prefix(), Progress.NONE);
      List<ObjectStore.Pending> found = clutter.uploadsBefore(Instant.now().minus(age));
      if (!given(json)) {
        found.forEach(upload -> say(upload.started() + "  " + upload.key()));
        out().flush();
      }
      boolean remove = !found.isEmpty() && !given(dryRun) && agrees(found.size());
      if (remove) {
        clutter.abort(found);
      }
      if (given(json)) {
        print(
            JsonObject.ofVersion(1)
                .with("address", s3.address())
                .with("uploads", found.stream().map(Codec::write).toList())
                .with("removed", remove));
      } else {
        say(uploads(found.size()) + " in " + s3.address() + (remove ? " removed" : ""));
      }
    }
  }

  private static String uploads(int count) {
    return Plural.of(count, "unfinished upload");
  }

  private boolean agrees(int count) {
    return agreed(
        yes,
        "nobody can be asked here whether to remove " + uploads(count),
        "Remove %s? A sync that stopped before it sent the last part begins such a file again."
            .formatted(uploads(count)),
        Advice.step("nothing was removed; add --yes to remove them, or --dry-run to only look"));
  }

  private Duration age() {
    String typed = value(olderThan).orElse("1d");
    return Span.of(typed)
        .orElseThrow(
            () ->
                invalid(
                    "--older-than: expected a time such as 12h or 7d, got '" + typed + "'",
                    "--older-than 1d"));
  }
}
