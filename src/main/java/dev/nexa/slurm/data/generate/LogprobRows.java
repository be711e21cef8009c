package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Writes the rows that axolotl's KD plugin trains on, in a folder that has no other files, and the
 * rejected conversations beside the folder, each with its reason.
 *
 * <p>A row has {@code messages}, {@code logprobs} and {@code target_token_ids}. The last two are
 * lists with one entry for each token of the conversation ({@link TopLogprobs}).
 */
record LogprobRows(Generate.Where where, List<ConversationRequests.Unusable> unusable) {
  /** The folder of the rows, and the first part of its files' names. */
  static final String STEM = "logprobs";

  /** Writes the rows, when no request of the task is open any more, and returns their file. */
  Path write(Requests requests, KeptAnswers kept) {
    Path folder = where.output().resolve(STEM);
    DurableFiles.onDisk().directories(folder);
    DurableFiles.sweepDead(folder, Instant.now());
    Path file = folder.resolve(where.share().fileName(STEM, 0, "jsonl"));
    Path rejects =
        where.output().resolve(String.format("rejects-%05d.jsonl", where.share().task()));
    try (StagedFile rows = new StagedFile(file);
        StagedFile rejected = new StagedFile(rejects)) {
      unusable.forEach(one -> rejected.line(reject(one.place(), "no conversation", one.why())));
      requests.each(
          (number, request, question) -> {
            JsonObject answer = kept.at(requests.table().place(number)).object("answer");
            Optional<JsonObject> body =
                answer.optionalObject("response").flatMap(it -> it.optionalObject("body"));
            Optional<JsonObject> found = body.flatMap(it -> it.optionalObject(STEM));
            if (found.isPresent()) {
              rows.line(row(question, TopLogprobs.of(found.get())));
            } else if (body.isPresent()) {
              rejected.line(reject(request.customId(), "refused", Reply.message(body.get())));
            } else {
              String why = answer.object("error").text("message");
              rejected.line(reject(request.customId(), "no log-probabilities", why));
            }
            return true;
          });
      rows.commit();
      rejected.commit();
      return file;
    }
  }

  private static String row(Question question, TopLogprobs found) {
    StringBuilder text = new StringBuilder("{\"messages\":");
    text.append(Json.compact(question.body().members().get("messages"))).append(",\"logprobs\":");
    found.appendLogprobs(text);
    found.appendTokens(text.append(",\"target_token_ids\":"));
    return text.append('}').toString();
  }

  private static String reject(String place, String reason, String detail) {
    return Json.compact(
        new JsonObject().with("place", place).with("reason", reason).with("detail", detail));
  }
}
