package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The estimate that an approver names. */
final class EstimateLookup {
  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{4,64}");

  private final Nexa nexa;

  EstimateLookup(Nexa nexa) {
    this.nexa = nexa;
  }

  /** Whether it names neither an estimate's file nor its digest. */
  boolean isConfig(String typed) {
    return !isDigest(typed) && !typed.endsWith(".json");
  }

  private static boolean isDigest(String typed) {
    return DIGEST.matcher(typed).matches() && !Files.exists(Path.of(typed));
  }

  /**
   * An estimate's file, the beginning of its digest, or a run's config, which is then estimated.
   */
  JsonObject find(String typed) {
    if (isDigest(typed)) {
      return read(byDigest(typed));
    }
    if (typed.endsWith(".json")) {
      Path below = nexa.root().resolve(typed);
      return read(Files.exists(Path.of(typed)) ? Path.of(typed) : below);
    }
    return Prepared.of(nexa, new Prepared.Request(typed, List.of(), Optional.empty()))
        .estimateJson(nexa);
  }

  private Path byDigest(String beginning) {
    Path folder = nexa.workspace().estimates();
    List<Path> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      files.filter(file -> file.getFileName().toString().startsWith(beginning)).forEach(found::add);
    } catch (NoSuchFileException none) {
      // There is no estimate at all.
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    }
    if (found.size() == 1) {
      return found.get(0);
    }
    throw new NexaException(
        ExitCode.USAGE,
        (found.isEmpty() ? "no estimate" : "more than one estimate")
            + " in "
            + folder
            + " begins with "
            + beginning,
        "name its file, or the run's config");
  }

  private static JsonObject read(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new NexaException(ExitCode.USAGE, "there is no estimate " + file, "ls estimates");
    }
    try {
      return Json.parseObject(DurableFiles.read(file));
    } catch (IllegalArgumentException notJson) {
      throw new NexaException(
          ExitCode.USAGE, file + " is no estimate: " + notJson.getMessage(), notJson);
    }
  }
}
