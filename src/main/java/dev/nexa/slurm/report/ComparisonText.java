package dev.nexa.slurm.report;

import dev.nexa.slurm.estimate.Comparison;
import dev.nexa.slurm.estimate.Expected;
import dev.nexa.slurm.estimate.Offer;
import dev.nexa.slurm.estimate.TimeLimitAdvice;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import dev.nexa.slurm.units.TimeLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The ways to run a job, side by side. */
public final class ComparisonText {
  private ComparisonText() {}

  /**
   * For a terminal.
   *
   * @param total what it can cost at most as it is
   * @param now to say in how long a job would begin
   */
  public static String text(Comparison comparison, Money total, Instant now) {
    return grid(comparison, now).table() + "\n" + advice(comparison, total);
  }

  /** The same as Markdown. */
  public static String markdown(Comparison comparison, Money total, Instant now) {
    return grid(comparison, now).markdown() + "\n" + advice(comparison, total);
  }

  private static Grid grid(Comparison comparison, Instant now) {
    Grid grid =
        new Grid(
            List.of(
                "partition",
                "on",
                "nodes",
                "limit",
                "at_most",
                "probably",
                "takes",
                "starts",
                "what"));
    for (Offer offer : comparison.offers()) {
      boolean fits = offer.misfit().isEmpty();
      grid.row(
          List.of(
              offer.partition(),
              offer.hardware(),
              Integer.toString(offer.nodes()),
              fits ? TimeLimit.format(Duration.ofSeconds(offer.limitSeconds())) : "",
              offer.reservation().map(Money::toString).orElse(""),
              offer.expected().map(expected -> expected.total().toString()).orElse(""),
              offer.expected().map(expected -> OutlookText.words(expected.runSeconds())).orElse(""),
              fits ? start(offer, now) : "",
              what(comparison, offer)));
    }
    return grid.without(List.of("partition", "probably", "takes"));
  }

  private static String start(Offer offer, Instant now) {
    if (offer.start().isEmpty()) {
      return "";
    }
    long seconds = Duration.between(now, offer.start().get()).toSeconds();
    return seconds < 60 ? "now" : "in " + OutlookText.words(seconds);
  }

  private static String what(Comparison comparison, Offer offer) {
    if (!offer.misfit().isEmpty()) {
      return "does not fit: " + offer.misfit().lines().findFirst().orElse("");
    }
    List<String> words = new ArrayList<>();
    if (offer.asked()) {
      words.add("as asked for");
    }
    if (comparison.cheapest().equals(Optional.of(offer))) {
      words.add("cheapest");
    }
    if (comparison.fastest().equals(Optional.of(offer))) {
      words.add("fastest");
    }
    if (!offer.tooLarge().isEmpty()) {
      words.add(withoutRemedies(offer.tooLarge()));
    }
    if (!offer.comparable()) {
      words.add("how fast it is there is not known");
    }
    if (offer.expected().isPresent() && offer.expected().get().tooShort().isPresent()) {
      words.add("its limit is too short");
    }
    if (offer.start().isEmpty() && !offer.noStart().isEmpty()) {
      words.add("no start: " + offer.noStart());
    }
    return String.join(", ", words);
  }

  /** What would help stands in the estimate of that offer, and in {@code --json}. */
  private static String withoutRemedies(String sentence) {
    int end = sentence.indexOf("; ");
    return end < 0 ? sentence : sentence.substring(0, end);
  }

  private static String advice(Comparison comparison, Money total) {
    StringBuilder text = new StringBuilder();
    boolean expected = comparison.offers().stream().anyMatch(one -> one.expected().isPresent());
    text.append(
        expected
            ? "Compared by what it will probably cost, and by when it would be done.\n"
            : "Compared by its time limit: what it will probably cost is not known.\n");
    Optional<Expected> asked = comparison.asked().flatMap(Offer::expected);
    asked.ifPresent(one -> text.append("Basis: ").append(one.basis()).append(".\n"));
    told(text, "Cheapest", comparison.cheapest());
    told(text, "Fastest", comparison.fastest());
    Optional<TimeLimitAdvice> shorter = comparison.shorter();
    if (shorter.isPresent() && comparison.shorterTotal().isPresent()) {
      Money less = comparison.shorterTotal().get();
      text.append("A limit of ")
          .append(TimeLimit.format(Duration.ofSeconds(shorter.get().limitSeconds())))
          .append(" would lower the reservation by ")
          .append(total.minus(less))
          .append(" to ")
          .append(less)
          .append("; ")
          .append(shorter.get().cut())
          .append(" of ")
          .append(shorter.get().runs())
          .append(" past runs would have been cut.\n");
    }
    return text.toString();
  }

  private static void told(StringBuilder text, String word, Optional<Offer> offer) {
    if (offer.isPresent() && !offer.get().asked()) {
      text.append(word).append(":");
      for (String set : offer.get().set()) {
        text.append(" --set ").append(set);
      }
      text.append('\n');
    } else if (offer.isPresent()) {
      text.append(word).append(": as asked for\n");
    }
  }

  /** The document that {@code --json} prints. */
  public static JsonObject json(Comparison comparison, String config, Money total) {
    List<JsonObject> offers = new ArrayList<>();
    for (Offer offer : comparison.offers()) {
      offers.add(json(comparison, offer));
    }
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
    return new JsonObject()
        .with("schema_version", 1)
        .with("config", config)
        .with("currency", total.currency())
        .with("offers", offers)
        .with("shorter_limit", limit.isEmpty() ? null : limit);
  }

  private static JsonObject json(Comparison comparison, Offer offer) {
    boolean fits = offer.misfit().isEmpty();
    Optional<Expected> expected = offer.expected();
    return new JsonObject()
        .with("partition", offer.partition().isEmpty() ? null : offer.partition())
        .with("hardware", offer.hardware())
        .with("nodes", offer.nodes())
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
        .with("start", start(offer))
        .with("no_start", offer.noStart().isEmpty() ? null : offer.noStart())
        .with("end", offer.end().orElse(null))
        .with("cheapest", comparison.cheapest().equals(Optional.of(offer)))
        .with("fastest", comparison.fastest().equals(Optional.of(offer)));
  }

  private static @org.jspecify.annotations.Nullable JsonObject start(Offer offer) {
    return offer.start().isEmpty()
        ? null
        : new JsonObject().with("at", offer.start().get()).with("basis", "sbatch --test-only");
  }
}
