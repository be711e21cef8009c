package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.Markdown;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.estimate.Comparison;
import dev.nexa.slurm.job.estimate.Expected;
import dev.nexa.slurm.job.estimate.PartitionOffer;
import dev.nexa.slurm.job.estimate.TimeLimitAdvice;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Formats the offers of {@code estimate --compare}. */
public final class ComparisonText {
  private ComparisonText() {}

  /**
   * Returns a table and advice for a terminal.
   *
   * @param total the most that the requested job can cost
   * @param now the current time, from which the wait is computed
   * @param style the layout of the table
   */
  public static String text(Comparison comparison, Money total, Instant now, TableStyle style) {
    return listing(comparison, now).table(style) + "\n" + advice(comparison, total);
  }

  /** Returns the table and the advice as Markdown. */
  public static String markdown(Comparison comparison, Money total, Instant now) {
    StringBuilder text = new StringBuilder(listing(comparison, now).commentTable()).append('\n');
    for (String line : advice(comparison, total).split("\n", 0)) {
      text.append(Markdown.text(line)).append('\n');
    }
    return text.toString();
  }

  private static Listing<PartitionOffer> listing(Comparison comparison, Instant now) {
    return new Columns<PartitionOffer>()
        .text("partition", offer -> offer.where().partition())
        .rare()
        .text("on", offer -> offer.where().hardware())
        .number("nodes", offer -> offer.where().nodes())
        .text("limit", offer -> offer.misfit().isEmpty() ? limit(offer.limitSeconds()) : null)
        .text("at_most", offer -> offer.reservation().map(most -> cell(most, offer.unrounded())))
        .right()
        .text(
            "probably",
            offer -> offer.expected().map(one -> cell(one.total(), one.unroundedTotal())))
        .right()
        .rare()
        .text(
            "takes",
            offer -> offer.expected().map(it -> TimeLimit.roundedWords(it.neededSeconds())))
        .rare()
        .text("starts", offer -> offer.misfit().isEmpty() ? start(offer, now) : null)
        .note("what", offer -> what(comparison, offer))
        .of(comparison.offers())
        .withoutRare();
  }

  private static String cell(Money amount, BigDecimal unrounded) {
    return amount.cell(unrounded) + " " + amount.currency();
  }

  private static String limit(long seconds) {
    return TimeLimit.format(Duration.ofSeconds(seconds));
  }

  private static String start(PartitionOffer offer, Instant now) {
    if (offer.start().isEmpty()) {
      return "";
    }
    long seconds = Duration.between(now, offer.start().get()).toSeconds();
    return seconds < 60 ? "now" : "in " + TimeLimit.roundedWords(seconds);
  }

  private static String what(Comparison comparison, PartitionOffer offer) {
    if (!offer.misfit().isEmpty()) {
      return "does not fit: " + offer.misfit().lines().findFirst().orElse("");
    }
    boolean tooShort = offer.expected().flatMap(Expected::tooShort).isPresent();
    boolean noStart = offer.start().isEmpty() && !offer.noStart().isEmpty();
    return Stream.of(
            offer.asked() ? "as asked for" : "",
            comparison.cheapest().equals(Optional.of(offer)) ? "cheapest" : "",
            comparison.fastest().equals(Optional.of(offer)) ? "fastest" : "",
            withoutRemedies(offer.tooLarge()),
            offer.comparable() ? "" : "how fast it is there is not known",
            tooShort ? "its limit is too short" : "",
            noStart ? "no start: " + offer.noStart() : "")
        .filter(words -> !words.isEmpty())
        .collect(Collectors.joining(", "));
  }

  /**
   * Returns the sentence without its advice, which the offer's own estimate and {@code --json}
   * give.
   */
  private static String withoutRemedies(String sentence) {
    int end = sentence.indexOf("; ");
    return end < 0 ? sentence : sentence.substring(0, end);
  }

  private static String advice(Comparison comparison, Money total) {
    StringBuilder text = new StringBuilder();
    boolean expected = comparison.offers().stream().anyMatch(one -> one.expected().isPresent());
    text.append(
        expected
            ? "Compared by probable cost, and by the time when the job would be done.\n"
            : "Compared by the time limit, because the probable cost is not known.\n");
    Optional<Expected> asked = comparison.asked().flatMap(PartitionOffer::expected);
    asked.ifPresent(one -> text.append("Basis: ").append(one.basis()).append(".\n"));
    told(text, "Cheapest", comparison.cheapest());
    told(text, "Fastest", comparison.fastest());
    Optional<TimeLimitAdvice> shorter = comparison.shorter();
    if (shorter.isPresent() && comparison.shorterTotal().isPresent()) {
      Money less = comparison.shorterTotal().get();
      text.append("A limit of " + limit(shorter.get().limitSeconds()));
      text.append(" would lower the reservation by " + total.minus(less) + " to " + less + "; ");
      text.append(shorter.get().cut() + " of " + shorter.get().runs());
      text.append(" past runs would have been cut.\n");
    }
    return text.toString();
  }

  private static void told(StringBuilder text, String word, Optional<PartitionOffer> offer) {
    offer.ifPresent(
        one -> {
          text.append(word + ":" + (one.asked() ? " as asked for" : ""));
          one.set().forEach(set -> text.append(" --set " + set));
          text.append('\n');
        });
  }

  /** The document that {@code --json} prints. */
  public static JsonObject json(Comparison comparison, String config, Money total) {
    Optional<TimeLimitAdvice> shorter = comparison.shorter();
    JsonObject limit = new JsonObject();
    if (shorter.isPresent() && comparison.shorterTotal().isPresent()) {
      Money less = comparison.shorterTotal().get();
      limit
          .with("time_limit_seconds", shorter.get().limitSeconds())
          .with("reservation", less.amount().toPlainString())
          .with("less", total.minus(less).amount().toPlainString())
          .with("runs", shorter.get().runs())
          .with("cut", shorter.get().cut());
    }
    return JsonObject.ofVersion(1)
        .with("config", config)
        .with("currency", total.currency())
        .with("offers", comparison.offers().stream().map(offer -> json(comparison, offer)).toList())
        .with("shorter_limit", limit.isEmpty() ? null : limit);
  }

  private static JsonObject json(Comparison comparison, PartitionOffer offer) {
    boolean fits = offer.misfit().isEmpty();
    Optional<Expected> expected = offer.expected();
    return new JsonObject()
        .with("partition", offer.where().partition().isEmpty() ? null : offer.where().partition())
        .with("hardware", offer.where().hardware())
        .with("nodes", offer.where().nodes())
        .with("asked", offer.asked())
        .with("set", offer.set())
        .with("fits", fits)
        .with("misfit", fits ? null : offer.misfit())
        .with("memory_misfit", offer.tooLarge().isEmpty() ? null : offer.tooLarge())
        .with("time_limit_seconds", fits ? offer.limitSeconds() : null)
        .with(
            "reservation",
            offer.reservation().map(money -> money.amount().toPlainString()).orElse(null))
        .with("expected", expected.map(Expected::toJson).orElse(null))
        .with("speed_known", fits && offer.comparable())
        .with("start", start(offer.start()))
        .with("no_start", offer.noStart().isEmpty() ? null : offer.noStart())
        .with("end", offer.end().orElse(null))
        .with("cheapest", comparison.cheapest().equals(Optional.of(offer)))
        .with("fastest", comparison.fastest().equals(Optional.of(offer)));
  }

  /** Returns the member {@code start} of a document; null if the start is not known. */
  static @org.jspecify.annotations.Nullable JsonObject start(Optional<Instant> start) {
    return start
        .map(at -> new JsonObject().with("at", at).with("basis", "sbatch --test-only"))
        .orElse(null);
  }
}
