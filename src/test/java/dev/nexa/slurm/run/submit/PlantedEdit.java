package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Function;

/** What somebody may do to the files of a run that is over; audit must find each. */
enum PlantedEdit {
  MANIFEST(RunFolder::manifest),
  COST(RunFolder::cost),
  PLAN(RunFolder::plan),
  ESTIMATE(RunFolder::estimate),
  SCRIPT(RunFolder::script),
  JOURNAL(PlantedEdit::journal),
  JOURNAL_LOST_ITS_LAST_LINE(PlantedEdit::journal),
  JOURNAL_GONE(PlantedEdit::journal),
  MANIFEST_GONE(RunFolder::manifest),
  COST_GONE(RunFolder::cost),
  PLAN_GONE(RunFolder::plan),
  OPEN_AGAIN(PlantedEdit::journal);

  @SuppressWarnings("ImmutableEnumChecker")
  private final Function<RunFolder, Path> file;

  PlantedEdit(Function<RunFolder, Path> file) {
    this.file = file;
  }

  private static Path journal(RunFolder run) {
    return run.path().resolve("journal.jsonl");
  }

  /** Does it; what takes it back. */
  Runnable plant(Workspace workspace, RunFolder run, Random random) {
    if (this == OPEN_AGAIN) {
      workspace.markOpen(run.id());
      return () -> workspace.markClosed(run.id());
    }
    Path path = file.apply(run);
    try {
      byte[] bytes = Files.readAllBytes(path);
      if (name().endsWith("_GONE")) {
        Files.delete(path);
      } else {
        Files.write(path, edited(bytes, random));
      }
      return () -> write(path, bytes);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** One byte is another; of a journal none of the last line, which no line follows. */
  private byte[] edited(byte[] bytes, Random random) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int lastLine = text.lastIndexOf('\n', text.length() - 2) + 1;
    if (this == JOURNAL_LOST_ITS_LAST_LINE) {
      return Arrays.copyOf(bytes, lastLine);
    }
    byte[] edited = bytes.clone();
    int at;
    do {
      at = random.nextInt(this == JOURNAL ? lastLine : bytes.length);
    } while (!Character.isLetterOrDigit(edited[at]));
    edited[at] = (byte) (edited[at] == '7' ? '8' : '7');
    return edited;
  }

  private static void write(Path path, byte[] bytes) {
    try {
      Files.write(path, bytes);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
