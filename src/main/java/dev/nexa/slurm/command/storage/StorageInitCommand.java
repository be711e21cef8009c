package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.tiers.MakeFolders;
import dev.nexa.slurm.storage.tiers.MakeFolders.Folder;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm storage init}. */
final class StorageInitCommand extends Subcommand {
  private final OptionSpec cluster =
      option(
          "--cluster NAME",
          "Only the tiers of configs/clusters/NAME.yaml. Default: those of all profiles of the workspace.");
  private final OptionSpec dryRun = flag("--dry-run", "Shows what would be made; makes nothing.");
  private final OptionSpec json = jsonFlag();

  StorageInitCommand() {
    super(
        "init",
        "Makes the folders of the storage tiers that do not exist yet. Never changes what exists.",
        "nexa-slurm storage init",
        "nexa-slurm storage init --cluster default --dry-run");
  }

  @Override
  public Integer call() {
    Context context = existing();
    List<TierRoot> roots =
        TierRoot.of(context.configs(), context.workspace().root(), value(cluster));
    List<Folder> folders = new MakeFolders(given(dryRun)).make(roots);
    boolean failed = folders.stream().anyMatch(one -> one.outcome() == MakeFolders.Outcome.FAILED);
    answer(json, () -> document(folders), () -> tell(folders));
    return (failed ? ExitCode.USAGE : ExitCode.OK).status();
  }

  private void tell(List<Folder> folders) {
    int there = 0;
    for (Folder folder : folders) {
      String note = folder.note().isEmpty() ? "" : ": " + folder.note();
      switch (folder.outcome()) {
        case MADE -> say("made   " + folder.path());
        case WOULD_MAKE -> say("would make " + folder.path());
        case FAILED -> remark("nexa-slurm: " + folder.path() + " could not be made" + note);
        case EXISTS -> there++;
      }
    }
    say(there + " of " + folders.size() + " folders exist already");
    if (folders.stream().anyMatch(one -> one.outcome() == MakeFolders.Outcome.FAILED)) {
      remark(
          "  → set `storage` in the profile to folders that you can write to, or ask the admin to make these");
    }
  }

  private static JsonObject document(List<Folder> folders) {
    Listing<Folder> all =
        new Columns<Folder>()
            .text("tier", folder -> folder.root().tier().key())
            .text("path", folder -> folder.path().toString())
            .text("outcome", folder -> folder.outcome().name().toLowerCase(Locale.ROOT))
            .text("note", folder -> Optional.of(folder.note()).filter(note -> !note.isEmpty()))
            .of(folders);
    return JsonObject.ofVersion(1).with("folders", all.json());
  }
}
