package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.releases.PackageRelease;
import dev.nexa.slurm.storage.releases.ReleaseDraft;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.ReleaseTar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code release package}. */
final class PackageCommand extends Subcommand {
  private static final int DIGITS = 8;
  private static final String TAR = ".tar.zst";

  /** SPDX's own words: names, and the operators between them. */
  private static final String LICENCE = "[A-Za-z0-9][A-Za-z0-9.+() :-]{0,127}";

  private final PositionalParamSpec run = run();
  private final OptionSpec name =
      option("--name NAME", "The release's name. Default: the run's id.");
  private final OptionSpec checkpoint =
      option(
          "--checkpoint DIR",
          "The folder or file of the model. Default: the checkpoint that the run reported, or"
              + " `final` in its folder of checkpoints.");
  private final OptionSpec evaluation =
      option("--eval RUN", "The run that evaluated the model. Default: the newest that is found.");
  private final OptionSpec gate =
      option("--gate RUN", "The run of the gate. Default: the newest that is found.");
  private final OptionSpec licence =
      option("--licence SPDX", "The licence of the model, such as Apache-2.0. Default: unknown.");
  private final OptionSpec tar =
      option("--tar FILE.tar.zst", "Also writes the release as one archive.");
  private final OptionSpec dryRun =
      flag("--dry-run", "Shows what would be packaged; copies nothing.");
  private final OptionSpec json = jsonFlag();

  PackageCommand() {
    super(
        "package",
        "Copies a completed run's model, its records and its evaluation into a release that never"
            + " changes.",
        "nexa-slurm release package latest",
        "nexa-slurm release package latest --licence Apache-2.0 --tar demo.tar.zst");
  }

  @Override
  protected void work() {
    Context context = existing();
    Optional<Path> archive = value(tar).map(Path::of);
    archive.ifPresent(PackageCommand::requireNew);
    RunLookup lookup = new RunLookup(context.workspace());
    RunLookup.Found found = lookup.find(run.getValue());
    PlanFile plan = plan(found.run());
    String durable = plan.storage().durable();
    ReleaseDraft draft =
        ReleaseDraft.of(
            context.workspace(),
            found.run(),
            found.task(),
            new ReleaseDraft.Choices(
                value(name),
                value(checkpoint).map(Path::of),
                named(lookup, evaluation),
                named(lookup, gate),
                licence()),
            ReleaseDraft.lineage(context.workspace(), plan.storage()));
    requirePicklesAllowed(context.configs().policy(), draft);
    draft.notes().forEach(note -> note(VisibleText.line(note)));
    if (given(dryRun)) {
      shown(draft, durable);
      return;
    }
    PackageRelease.Done done = packaged(context, draft, durable, archive);
    if (done.added()) {
      new Outbox(context.workspace())
          .recordIfAsked(context.configs().policy().channels(), notice(done, draft))
          .ifPresent(this::note);
    }
    if (given(json)) {
      print(
          document(draft, durable)
              .with("added", done.added())
              .with("digest", done.folder().digest())
              .with("bytes", done.document().bytes())
              .with("files", done.document().files().size())
              .with("archive", archive.map(Path::toString).orElse(null)));
    } else {
      say(
          (done.added() ? "packaged " : "already packaged: ")
              + done.folder().name()
              + ", digest "
              + done.folder().digest());
      print(ReleaseText.facts(done.document()));
      leftOut(draft);
      say("  folder      " + done.folder().path());
      archive.ifPresent(file -> say("  archive     " + file));
      say(
          "next: an approver types: nexa-slurm release sign %s%s"
              .formatted(done.folder().name(), profile(context, plan)));
    }
  }

  private PackageRelease.Done packaged(
      Context context, ReleaseDraft draft, String durable, Optional<Path> archive) {
    try (ProgressBar progress = ProgressBar.of(this)) {
      DurableFiles files = new DurableFiles(context.disk());
      PackageRelease.Done done = new PackageRelease(durable, files).run(draft, progress);
      if (archive.isPresent()
          && !ReleaseTar.write(done.folder(), archive.get().toAbsolutePath(), files, progress)) {
        throw exists(archive.get());
      }
      return done;
    }
  }

  private Optional<String> licence() {
    Optional<String> typed = value(licence);
    if (typed.isPresent() && !typed.get().matches(LICENCE)) {
      throw invalid(
          "--licence: expected an SPDX expression such as Apache-2.0, got '" + typed.get() + "'",
          "--licence Apache-2.0");
    }
    return typed;
  }

  private static Notice notice(PackageRelease.Done done, ReleaseDraft draft) {
    String release = done.folder().name();
    return Notice.of(
            NoticeKind.RELEASED,
            release + "." + done.folder().digest().substring(0, DIGITS),
            Optional.of(draft.facts().origin().run()),
            release + " was packaged",
            List.of(
                "gate: "
                    + draft.facts().gate().map(it -> it.passed() ? "pass" : "fail").orElse("none"),
                "size: " + Memory.rounded(done.document().bytes()),
                "nexa-slurm release sign " + release))
        .with("release", release)
        .with("digest", done.folder().digest());
  }

  private static Optional<RunId> named(RunLookup lookup, OptionSpec option) {
    return value(option).map(typed -> lookup.find(typed).run().id());
  }

  private static PlanFile plan(RunFolder run) {
    if (!Files.exists(run.plan())) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          run.id() + " has no plan, so its model cannot be packaged",
          "an imported job has none; package a run that nexa-slurm submitted");
    }
    return ProvenFiles.of(run).plan();
  }

  /** Returns the option that names the run's profile; empty if it is the usual one. */
  private static String profile(Context context, PlanFile plan) {
    return plan.cluster().equals(Prepared.clusterName(context))
        ? ""
        : " --cluster " + plan.cluster();
  }

  private static void requirePicklesAllowed(Policy policy, ReleaseDraft draft) {
    List<String> pickles = draft.facts().pickles();
    if (policy.releases().refusesPickles() && !pickles.isEmpty()) {
      throw ErrorCode.PICKLES_REFUSED.error(
          "the policy refuses releases with pickled files (release_pickles: refuse), and the model"
              + " has "
              + pickles.size()
              + ": "
              + VisibleText.line(pickles.stream().limit(5).collect(Collectors.joining(", "))),
          "save the model as safetensors, then package it again");
    }
  }

  private static void requireNew(Path archive) {
    if (!archive.toString().endsWith(TAR)) {
      throw invalid(
          "--tar: expected a name that ends in .tar.zst, got '" + archive + "'",
          "--tar " + archive + TAR);
    }
    if (Files.exists(archive)) {
      throw exists(archive);
    }
  }

  private static NexaException exists(Path archive) {
    return ErrorCode.FILE_EXISTS.error(
        "--tar: " + archive + " exists already",
        Advice.step("name another file, or remove it"),
        Advice.command("checks the archive", "nexa-slurm release verify", archive));
  }

  private void shown(ReleaseDraft draft, String durable) {
    if (given(json)) {
      print(
          document(draft, durable)
              .with("dry_run", true)
              .with("bytes", draft.bytes())
              .with("files", draft.paths()));
      return;
    }
    say("would package " + draft.facts().origin().release());
    print(ReleaseText.facts(draft.facts()).replaceAll("(?m)^  size .*\\R", ""));
    say(
        "  size        %s in %s files"
            .formatted(Memory.rounded(draft.bytes()), draft.paths().size()));
    say("  checkpoint  " + VisibleText.line(draft.model().root().toString()));
    leftOut(draft);
  }

  private void leftOut(ReleaseDraft draft) {
    List<String> names = draft.model().leftOut();
    if (!names.isEmpty()) {
      say(
          "  left out    "
              + VisibleText.line(Plural.some(names, 8))
              + " (earlier checkpoints, and the state of the training)");
    }
  }

  private static JsonObject document(ReleaseDraft draft, String durable) {
    return JsonObject.ofVersion(1)
        .with("release", draft.facts().origin().release())
        .with("run_id", draft.facts().origin().run())
        .with(
            "folder",
            ReleaseFolder.parent(durable).resolve(draft.facts().origin().release()).toString())
        .with("checkpoint", draft.model().root().toString())
        .with("gate", draft.facts().gate().map(it -> it.passed() ? "pass" : "fail").orElse(null))
        .with("evaluation", draft.facts().evaluation().map(it -> it.run()).orElse(null))
        .with("licence", draft.facts().licence())
        .with("pickles", draft.facts().pickles())
        .with("left_out", draft.model().leftOut())
        .with("notes", draft.notes());
  }
}
