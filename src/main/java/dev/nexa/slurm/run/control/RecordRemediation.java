package dev.nexa.slurm.run.control;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.DurableCopies;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Implements {@code postmortem --remediation}: adds what was done about a failure to the run's
 * journal and manifest.
 */
public record RecordRemediation(Context context) {
  /**
   * Adds a text. If a call died after it wrote the journal, the next call completes it.
   *
   * @throws NexaException if the run has not ended or is another user's, or if its manifest was
   *     changed by hand
   */
  public void add(RunFolder run, String text) {
    try (FileLock held = CancelRun.lock(run)) {
      List<Event> events = run.journal().read();
      RunState state = RunState.of(events);
      if (!state.finished() || !held.holds() || Files.notExists(run.manifest())) {
        throw ErrorCode.RUN_NOT_SETTLED.error(
            run.id() + " has not ended, so nothing can be said yet about how it was fixed",
            Advice.command("settles a run that has ended", "nexa-slurm", "reconcile"));
      }
      Optional<String> digest =
          events.get(events.size() - 1).data().optionalText("manifest_sha256");
      ManifestFile manifest = ManifestFile.read(run).remediation(state.remediations());
      if (digest.isPresent() && !digest.get().equals(Sha256.of(manifest.text()))) {
        throw ErrorCode.FILE_CHANGED.error(
            run.manifest() + " was changed since " + run.id() + " was over",
            Advice.command(
                "puts back what was final", "nexa-slurm", "audit", "--repair", run.id()));
      }
      JsonObject data = new JsonObject().with("by", UnixUser.me().user()).with("text", text);
      Event event = Event.now(Event.Type.REMEDIATED, data);
      List<RunState.Remediation> steps = new ArrayList<>(state.remediations());
      steps.add(RunState.remediation(event));
      String next = manifest.remediation(steps).text();
      data.with("manifest_sha256", Sha256.of(next));
      run.journal().append(event);
      context.workspace().files().replace(run.manifest(), next);
      // A copy that cannot be written is a note of audit, which writes it again.
      if (Files.exists(run.plan())) {
        new DurableCopies(run, ProvenFiles.of(run, events).plan().storage()).write();
      }
    }
  }
}
