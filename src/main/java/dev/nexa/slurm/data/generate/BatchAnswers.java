package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.nio.file.Path;
import java.time.Instant;

/** Writes answers in the form of a batch's output: one file for each task. */
record BatchAnswers(Generate.Where where) {
  /** Writes the answers, when no request of the task is open any more, and returns their file. */
  Path write(Requests requests, KeptAnswers kept) {
    DurableFiles.sweepDead(where.output(), Instant.now());
    Path file = where.output().resolve(where.share().fileName("answers", 0, "jsonl"));
    try (StagedFile answers = new StagedFile(file)) {
      requests.each(
          (number, request, question) -> {
            JsonObject kind = kept.at(requests.table().place(number)).object("answer");
            answers.line(
                Json.compact(
                    new JsonObject()
                        .with("id", "nexa-" + requests.table().key(number))
                        .with("custom_id", request.customId())
                        .with("response", kind.members().get("response"))
                        .with("error", kind.members().get("error"))));
            return true;
          });
      answers.commit();
      return file;
    }
  }
}
