package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.render.Script;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the files that a run was submitted with (plan.json, estimate.json, job.sbatch, runner/ and
 * approval) and checks them against the digests in its journal.
 *
 * <p>All code that submits, or that computes cost, reads the files through this class. Each file is
 * read once, so that the bytes that were checked are the bytes that are used.
 *
 * <p>A run without a {@code created} event has submitted nothing, and its files are read unchecked.
 */
public final class ProvenFiles {
  private final RunFolder run;
  private final JsonObject digests;
  private final Optional<JsonObject> reserved;
  private final boolean approved;
  private final String config;
  private Optional<String> plan = Optional.empty();

  private ProvenFiles(
      RunFolder run,
      JsonObject digests,
      Optional<JsonObject> reserved,
      boolean approved,
      String config) {
    this.run = run;
    this.digests = digests;
    this.reserved = reserved;
    this.approved = approved;
    this.config = config;
  }

  /** Returns the files of a run, by its current journal. */
  public static ProvenFiles of(RunFolder run) {
    return of(run, run.journal().read());
  }

  /**
   * Returns the files of a run.
   *
   * @param events the events of the run's journal
   */
  public static ProvenFiles of(RunFolder run, List<Event> events) {
    JsonObject digests = new JsonObject();
    Optional<JsonObject> reserved = Optional.empty();
    String config = "CONFIG";
    for (Event event : events) {
      if (event.type() == Event.Type.CREATED) {
        digests = event.data().optionalObject("sha256").orElse(digests);
        reserved = event.data().optionalObject("reserved");
        config = event.data().optionalText("config").orElse(config);
      } else if (event.type() == Event.Type.RERUN) {
        // A rerun may have an approval of its own.
        Optional<String> approval = event.data().optionalText("approval_sha256");
        if (approval.isPresent()) {
          digests = digests.without().with(RunFolder.APPROVAL, approval.get());
        }
      }
    }
    return new ProvenFiles(run, digests, reserved, RunState.approval(events).isPresent(), config);
  }

  /**
   * A file that is not the file that was submitted.
   *
   * @param run the run
   * @param config the config that the run was submitted from
   * @param file the file, or the folder runner/
   * @param expected the SHA-256 in the journal; for runner/, the SHA-256 over script and files in
   *     the plan
   * @param found the actual SHA-256; empty if the file is missing
   */
  public record Changed(
      RunId run, String config, Path file, String expected, Optional<String> found) {
    /** Describes the change in one sentence. */
    public String sentence() {
      if (file.toString().endsWith(".tar.gz")) {
        return found.isEmpty()
            ? file + " is missing: it holds the code of " + run
            : "%s, the code of %s, was changed: its SHA-256 is %s, the run's plan holds %s"
                .formatted(file, run, found.get(), expected);
      }
      if (found.isEmpty()) {
        return file + " is missing: the run's journal holds its SHA-256, " + expected;
      }
      String form =
          file.endsWith(RunFolder.RUNNER)
              ? "%s: a file in it is not what was submitted: the SHA-256 over the script and these"
                  + " files is %s, the run's plan holds %s"
              : "%s was changed after the submit: its SHA-256 is %s, the run's journal holds %s";
      return form.formatted(file, found.get(), expected);
    }
  }

  /**
   * Returns whether the run was planned by nexa-slurm: its journal has digests, or its folder has a
   * plan and an estimate.
   */
  public boolean staged() {
    return !digests.isEmpty() || (Files.exists(run.plan()) && Files.exists(run.estimate()));
  }

  /**
   * Returns the plan.
   *
   * @throws ChangedFileException if the file was changed
   */
  public PlanFile plan() {
    return PlanFile.parse(planText(), run.plan().toString());
  }

  /**
   * Returns the estimate.
   *
   * @throws ChangedFileException if the file was changed
   */
  public EstimateFile estimate() {
    return EstimateFile.parse(text(run.estimate()), run.estimate().toString());
  }

  /**
   * Returns the script with the files of runner/, checked against the digest over all of them in
   * the plan.
   *
   * @throws ChangedFileException if a file was changed
   */
  public Script script() {
    Script script = run.storedScript(text(run.script()));
    runner(script).ifPresent(ProvenFiles::refuse);
    return script;
  }

  /**
   * Checks the archive of the run's code, and our own program, against the digests in its plan.
   * Does nothing if the run has neither.
   *
   * @throws ChangedFileException if a file is missing or was changed
   */
  public void requireCode() {
    code(Sha256::of).stream().findFirst().ifPresent(ProvenFiles::refuse);
  }

  private static void refuse(Changed changed) {
    throw new ChangedFileException(changed);
  }

  /** Computes the digest of a file. */
  @FunctionalInterface
  private interface Digest {
    String of(Path file) throws IOException;
  }

  private List<Changed> code(Digest digest) {
    List<Changed> changed = new ArrayList<>();
    plan()
        .codeDigest()
        .flatMap(archive -> stored(run.workspace().codeArchive(archive), archive, digest))
        .ifPresent(changed::add);
    Optional<String> program = plan().programDigest();
    if (program.isPresent()) {
      Path folder = run.workspace().program(program.get());
      for (Map.Entry<String, String> file : plan().programFiles().entrySet()) {
        stored(folder.resolve(file.getKey()), file.getValue(), digest).ifPresent(changed::add);
      }
    }
    return changed;
  }

  /** Returns the change of a file that the workspace stores under its digest. */
  private Optional<Changed> stored(Path file, String expected, Digest digest) {
    Optional<String> found = Optional.empty();
    try {
      found = Optional.of(digest.of(file));
    } catch (NoSuchFileException missing) {
      // The file was removed.
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
    return found.equals(Optional.of(expected))
        ? Optional.empty()
        : Optional.of(new Changed(run.id(), config, file, expected, found));
  }

  /**
   * Returns the {@code --comment} that names the run's approval to Slurm; empty if the run was
   * submitted without an approval, even if there is an approval file now.
   */
  public String comment() {
    if (digest(run.approval()).isPresent()) {
      bytes(run.approval());
    }
    return approved ? run.comment(estimate().configDigest()) : "";
  }

  /**
   * Returns the reservation at submit, as the journal holds it: {@code total} and {@code currency}.
   * Empty in journals of earlier versions.
   */
  public Optional<JsonObject> reserved() {
    return reserved;
  }

  /** Returns the journal's digest of a file; empty if it has none. */
  public Optional<String> digest(Path file) {
    return digests.optionalText(String.valueOf(file.getFileName()));
  }

  /** Returns every file that is not what was submitted. */
  public List<Changed> changes() {
    List<Changed> changes = new ArrayList<>();
    boolean whole = true;
    for (Path file : List.of(run.plan(), run.estimate(), run.script(), run.approval())) {
      Optional<Changed> changed = change(file);
      changed.ifPresent(changes::add);
      whole &= changed.isEmpty() || file.equals(run.estimate()) || file.equals(run.approval());
    }
    // The plan holds one digest over the script and runner/, so both must be unchanged to check it.
    if (whole && digest(run.plan()).isPresent() && Files.exists(run.script())) {
      runner(run.storedScript(DurableFiles.read(run.script()))).ifPresent(changes::add);
    }
    if (changes.stream().noneMatch(changed -> changed.file().equals(run.plan()))
        && Files.exists(run.plan())) {
      changes.addAll(code(run.workspace()::knownDigest));
    }
    return changes;
  }

  /**
   * Returns the change of the plan or the estimate, the sources of the run's cost; empty if both
   * are unchanged.
   */
  public Optional<Changed> settlementChange() {
    return change(run.plan()).or(() -> change(run.estimate()));
  }

  private Optional<Changed> runner(Script script) {
    Optional<String> found = Optional.of(script.digest());
    return digest(run.plan())
        .flatMap(planned -> plan().scriptDigest())
        .filter(expected -> !found.equals(Optional.of(expected)))
        .map(expected -> new Changed(run.id(), config, run.runner(), expected, found));
  }

  private String planText() {
    if (plan.isEmpty()) {
      plan = Optional.of(text(run.plan()));
    }
    return plan.get();
  }

  private String text(Path file) {
    return new String(bytes(file), StandardCharsets.UTF_8);
  }

  /** Returns the bytes, or throws if they are not what was submitted. */
  private byte[] bytes(Path file) {
    Optional<String> expected = digest(file);
    if (expected.isPresent() && Files.notExists(file)) {
      refuse(new Changed(run.id(), config, file, expected.get(), Optional.empty()));
    }
    byte[] bytes = DurableFiles.readBytes(file);
    String found = Sha256.of(bytes);
    if (expected.isPresent() && !expected.get().equals(found)) {
      refuse(new Changed(run.id(), config, file, expected.get(), Optional.of(found)));
    }
    return bytes;
  }

  private Optional<Changed> change(Path file) {
    Optional<String> expected = digest(file);
    if (expected.isEmpty()) {
      return Optional.empty();
    }
    Optional<String> found = Optional.empty();
    try {
      found = Optional.of(file).filter(Files::exists).map(DurableFiles::readBytes).map(Sha256::of);
    } catch (UncheckedIOException unreadable) {
      // A folder in the file's place, or a file without read permission, is not what was submitted.
    }
    return found.equals(expected)
        ? Optional.empty()
        : Optional.of(new Changed(run.id(), config, file, expected.get(), found));
  }
}
