package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Writes a batch's answers as rows, and the requests without an answer as the next batch.
 *
 * <p>A row has the columns {@code custom_id}, {@code choice}, {@code prompt}, {@code completion},
 * {@code reasoning}, {@code finish_reason}, {@code truncated}, {@code model}, {@code
 * prompt_tokens}, {@code completion_tokens} and {@code messages}. A request with {@code n} texts
 * has {@code n} rows.
 */
public final class Collect {
  /** The names of the files beside the rows. */
  public static final String MISSING = "missing.jsonl";

  public static final String FAILED = "failed.jsonl";
  public static final String REJECTS = "rejects.jsonl";
  public static final String IGNORED = "ignored.jsonl";

  /**
   * How answers are collected.
   *
   * @param keepTruncated whether answers that the limit of tokens cut become rows; otherwise they
   *     are rejected
   * @param maxLost the largest share of requests without a row
   */
  public record Options(boolean keepTruncated, double maxLost) {}

  /**
   * Counts of the written output.
   *
   * @param rejected requests with failures only, or with truncated texts that are not kept
   * @param rows one for each text
   * @param truncated rows that the limit of tokens cut
   * @param empty rows whose text is blank
   * @param longest the bytes of the longest row as JSON
   */
  public record Result(
      JoinCounts counts,
      long out,
      long rejected,
      long rows,
      long truncated,
      long empty,
      long promptTokens,
      long completionTokens,
      int longest) {
    /** Returns the metrics: rows_in = rows_out + rows_rejected + rows_missing. */
    public JsonObject metrics() {
      return counts
          .addTo(
              new JsonObject()
                  .with("rows_in", counts.requests())
                  .with("rows_out", out)
                  .with("rows_rejected", rejected)
                  .with("rows_missing", counts.missing()))
          .with("texts", rows)
          .with("texts_truncated", truncated)
          .with("texts_empty", empty)
          .with("prompt_tokens", promptTokens)
          .with("completion_tokens", completionTokens);
    }

    /** Returns the share of requests without a row; 0 if there are no requests. */
    double lost() {
      return counts.requests() == 0 ? 0 : 1 - (double) out / counts.requests();
    }

    /**
     * Checks the share of requests without a row.
     *
     * @param folder where the files are, for the message
     * @throws NexaException if it is above the limit
     */
    public void require(Options options, Path folder) {
      if (lost() > options.maxLost()) {
        throw ErrorCode.BATCH_INCOMPLETE.error(
            "%s of %s requests have no row: %s were rejected and %s are missing; max_lost is %s"
                .formatted(
                    counts.requests() - out,
                    counts.requests(),
                    rejected,
                    counts.missing(),
                    options.maxLost()),
            "send %s as the next batch, and collect both batches together"
                .formatted(folder.resolve(MISSING)),
            "read the reasons in " + folder.resolve(REJECTS));
      }
    }
  }

  private Collect() {}

  /**
   * Matches answers with requests and writes the rows and the four files beside them. Each file
   * gets its name when it is whole.
   *
   * @param rows receives one JSON object a line
   * @param folder exists; receives the four files
   */
  public static Result run(
      List<Path> requests, List<Path> answers, Path rows, Path folder, Options options) {
    try (StagedFile row = new StagedFile(rows);
        StagedFile missing = new StagedFile(folder.resolve(MISSING));
        StagedFile failed = new StagedFile(folder.resolve(FAILED));
        StagedFile rejects = new StagedFile(folder.resolve(REJECTS));
        StagedFile ignored = new StagedFile(folder.resolve(IGNORED))) {
      Counts own = new Counts();
      Sink sink = new Sink(options, row, missing, failed, rejects, ignored, own);
      JoinCounts counts = BatchJoin.run(requests, answers, sink);
      List.of(row, missing, failed, rejects, ignored).forEach(StagedFile::commit);
      return own.result(counts, row.longest());
    }
  }

  /** Counts that grow while answers arrive. */
  private static final class Counts {
    private long out;
    private long rejected;
    private long rows;
    private long truncated;
    private long empty;
    private long promptTokens;
    private long completionTokens;

    Result result(JoinCounts all, int longest) {
      return new Result(
          all, out, rejected, rows, truncated, empty, promptTokens, completionTokens, longest);
    }
  }

  private record Sink(
      Options options,
      StagedFile row,
      StagedFile missing,
      StagedFile failed,
      StagedFile rejects,
      StagedFile ignored,
      Counts counts)
      implements BatchJoin.Handler {

    @Override
    public void answered(BatchRequest request, BatchAnswer answer) {
      counts.promptTokens += answer.promptTokens().map(Number::longValue).orElse(0L);
      counts.completionTokens += answer.completionTokens().map(Number::longValue).orElse(0L);
      long before = counts.rows;
      for (BatchAnswer.Choice choice : answer.choices()) {
        if (options.keepTruncated() || !choice.truncated()) {
          counts.rows++;
          counts.truncated += choice.truncated() ? 1 : 0;
          counts.empty += choice.text().isBlank() ? 1 : 0;
          row.line(Json.compact(CollectedRow.json(request, answer, choice)));
        }
      }
      if (counts.rows > before) {
        counts.out++;
      } else {
        reject(request, "the limit of tokens cut the answer (finish_reason length)");
      }
    }

    @Override
    public void failed(BatchRequest request, String line, String reason) {
      failed.line(line);
      reject(request, reason);
    }

    private void reject(BatchRequest request, String reason) {
      counts.rejected++;
      JsonObject line = new JsonObject().with("custom_id", request.customId());
      rejects.line(Json.compact(line.with("reason", reason)));
    }

    @Override
    public void missing(BatchRequest request, String line) {
      missing.line(line);
    }

    @Override
    public void ignored(String place, Optional<String> id, String reason) {
      JsonObject line = new JsonObject().with("place", place).with("custom_id", id.orElse(null));
      ignored.line(Json.compact(line.with("reason", reason)));
    }
  }
}
