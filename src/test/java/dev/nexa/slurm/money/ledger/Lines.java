package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Ledger lines by hand. */
public final class Lines {
  private Lines() {}

  /** {@code 'run_id': 'train_20251101_120000', 'cost': '1.00'}; single quotes stand for double. */
  public static JsonObject line(String members) {
    return Json.parseObject("{" + members.replace('\'', '"') + "}");
  }

  /** The same as a run of November. */
  public static LedgerLine run(String members) {
    return run("train_20251101_120000", "2025-11", members);
  }

  /** A run of this id, made in this month. */
  public static LedgerLine run(String id, String month, String members) {
    return LedgerLine.of(line("'run_id': '" + id + "', " + members), month);
  }

  /** Adds sealed lines to a month's file below the workspace. */
  public static void write(Path workspace, String month, JsonObject... lines) {
    try {
      Path runs = Files.createDirectories(workspace.resolve("runs"));
      Path file = runs.resolve("ledger-" + month + ".jsonl");
      for (JsonObject line : lines) {
        Files.writeString(
            file, Ledger.sealed(line) + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
