package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.storage.cleanup.Candidate;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Done;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Planned;
import dev.nexa.slurm.storage.cleanup.CleanupJournal.State;
import dev.nexa.slurm.storage.cleanup.KeptPath;
import dev.nexa.slurm.storage.cleanup.Settings;
import dev.nexa.slurm.storage.cleanup.TrashedPath;
import dev.nexa.slurm.storage.cleanup.TrashedPath.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes the text and the JSON of {@code cleanup}. */
final class CleanupText {
  private static final Columns<Candidate> REMOVES =
      new Columns<Candidate>()
          .text("removes", one -> one.full().toString())
          .number("files", Candidate::files)
          .text("bytes", one -> Memory.plain(one.bytes()))
          .right()
          .note("why", Candidate::why);

  private static final Columns<KeptPath> KEEPS =
      new Columns<KeptPath>()
          .text("keeps", one -> one.path().toString())
          .note("why", KeptPath::reason);

  private static final Columns<KeptPath> KEPT =
      new Columns<KeptPath>()
          .text("path", one -> one.path().toString())
          .text("reason", KeptPath::reason);

  private static final Columns<Candidate> CANDIDATES =
      new Columns<Candidate>()
          .text("tier", one -> one.root().tier().key())
          .text("path", one -> one.full().toString())
          .text("run_id", one -> one.run().map(Object::toString).orElse(null))
          .number("bytes", Candidate::bytes)
          .number("files", Candidate::files)
          .text("why", Candidate::why);

  private static final Columns<TrashedPath> TRASHED =
      new Columns<TrashedPath>()
          .text("path", path -> path.full().toString())
          .text("trash", path -> path.tier().resolve(path.trash()).toString())
          .text("run_id", path -> path.run().isEmpty() ? null : path.run())
          .number("bytes", TrashedPath::bytes);

  private CleanupText() {}

  /**
   * Returns the plan.
   *
   * @param quiet whether to leave out what is kept, except last copies of archived runs
   */
  static String plan(Planned planned, boolean quiet, TableStyle style) {
    StringBuilder text = new StringBuilder();
    List<Candidate> candidates = planned.plan().candidates();
    List<KeptPath> keeps = new ArrayList<>(planned.lastCopies());
    keeps.addAll(quiet ? List.of() : planned.plan().kept());
    if (!keeps.isEmpty()) {
      text.append(KEEPS.of(keeps).table(style)).append('\n');
    }
    if (!candidates.isEmpty()) {
      text.append(REMOVES.of(candidates).table(style));
      text.append(paths(candidates.size()) + ", " + Memory.plain(planned.plan().bytes()) + "\n");
    }
    for (State due : planned.due()) {
      text.append(
          "deletes the trash of %s (%s), whose grace period is over\n"
              .formatted(due.id(), Memory.plain(due.bytesInTrash())));
    }
    if (planned.isEmpty()) {
      text.append("nothing to remove\n");
    }
    return text.toString();
  }

  /** Returns what the plan does: {@code move 2 paths (1 GiB) into the trash for 3d}. */
  static String acts(Planned planned) {
    List<String> acts = new ArrayList<>();
    if (!planned.plan().candidates().isEmpty()) {
      acts.add(
          "move %s (%s) into the trash for %s"
              .formatted(
                  paths(planned.plan().candidates().size()),
                  Memory.plain(planned.plan().bytes()),
                  Span.text(planned.settings().grace())));
    }
    if (!planned.due().isEmpty()) {
      acts.add("delete " + Memory.plain(planned.dueBytes()) + " of old trash");
    }
    return String.join(", and ", acts);
  }

  private static String paths(int count) {
    return Plural.of(count, "path");
  }

  /** Returns the result of the cleanup. */
  static String done(Done done, Settings settings) {
    StringBuilder text = new StringBuilder();
    if (!done.deleted().isEmpty()) {
      text.append(
          "deleted %s from the trash: %s\n"
              .formatted(paths(done.deleted().size()), Memory.plain(bytes(done.deleted()))));
    }
    if (!done.moved().isEmpty()) {
      String then =
          settings.grace().isZero()
              ? "the next cleanup deletes them"
              : "a cleanup after " + Span.text(settings.grace()) + " deletes them";
      String bytes = Memory.plain(bytes(done.moved()));
      text.append(
          "moved " + paths(done.moved().size()) + " into the trash: " + bytes + "; " + then);
      text.append('\n');
    }
    failed(text, done);
    if (!done.moved().isEmpty()) {
      text.append("  nexa-slurm cleanup --undo ").append(done.id().orElseThrow()).append('\n');
    }
    return text.toString();
  }

  private static void failed(StringBuilder text, Done done) {
    done.failed()
        .forEach(one -> text.append("not done: " + one.path() + ": " + one.reason() + "\n"));
  }

  private static long bytes(List<TrashedPath> paths) {
    return paths.stream().mapToLong(TrashedPath::bytes).sum();
  }

  /** Returns what an undo brought back, and what it could not. */
  static String undoneText(Done done) {
    StringBuilder text = new StringBuilder();
    done.moved().forEach(path -> text.append("brought back " + path.full() + "\n"));
    failed(text, done);
    if (done.moved().isEmpty() && done.failed().isEmpty()) {
      text.append("nothing of it is in the trash\n");
    }
    return text.toString();
  }

  /** Returns the document of an undo. */
  static JsonObject undone(Done done) {
    return JsonObject.ofVersion(1)
        .with("cleanup_id", done.id().orElseThrow().value())
        .with("restored", TRASHED.of(done.moved()).json())
        .with("failed", KEPT.of(done.failed()).json());
  }

  /** Returns the document of a cleanup. */
  static JsonObject document(Planned planned, Optional<Done> done) {
    List<KeptPath> keeps = new ArrayList<>(planned.lastCopies());
    keeps.addAll(planned.plan().kept());
    return JsonObject.ofVersion(1)
        .with("cleanup_id", done.flatMap(Done::id).map(Object::toString).orElse(null))
        .with("removes", CANDIDATES.of(planned.plan().candidates()).json())
        .with("bytes", planned.plan().bytes())
        .with("keeps", KEPT.of(keeps).json())
        .with("notes", planned.plan().notes())
        .with("due", json(planned.due()))
        .with("acted", done.isPresent())
        .withOptional("moved", done.map(it -> TRASHED.of(it.moved()).json()))
        .withOptional("deleted", done.map(it -> TRASHED.of(it.deleted()).json()))
        .withOptional("failed", done.map(it -> KEPT.of(it.failed()).json()));
  }

  /** Returns the user's cleanups, newest last. */
  static String list(List<State> states, TableStyle style) {
    if (states.isEmpty()) {
      return "There is no cleanup yet.\n";
    }
    return new Columns<State>()
        .text("cleanup", state -> state.id().value())
        .text("at", state -> PlainTime.utc(state.at()))
        .text("host", State::host)
        .number("in trash", CleanupText::inTrash)
        .text("bytes", state -> Memory.plain(state.bytesInTrash()))
        .right()
        .number("restored", state -> state.count(Phase.RESTORED))
        .number("deleted", state -> state.count(Phase.DELETED))
        .text(
            "deleted after",
            state -> inTrash(state) == 0 ? "-" : PlainTime.utc(state.deleteAfter()))
        .of(states)
        .table(style);
  }

  private static long inTrash(State state) {
    return state.count(Phase.MOVED)
        + state.count(Phase.MOVING)
        + state.count(Phase.RESTORING)
        + state.count(Phase.DELETING);
  }

  /** Returns the cleanups for JSON. */
  static List<JsonObject> json(List<State> states) {
    return new Columns<State>()
        .text("cleanup_id", state -> state.id().value())
        .text("at", State::at)
        .text("host", State::host)
        .text("delete_after", State::deleteAfter)
        .number("in_trash", CleanupText::inTrash)
        .number("bytes_in_trash", State::bytesInTrash)
        .number("restored", state -> state.count(Phase.RESTORED))
        .number("deleted", state -> state.count(Phase.DELETED))
        .of(states)
        .json();
  }
}
