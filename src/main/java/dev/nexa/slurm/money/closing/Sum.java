package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.text.Columns;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The amounts of a project, user or account in a month, in one currency.
 *
 * @param name empty for the runs that have none, and for a total
 * @param runs how many runs of the month it has
 * @param adjustments how many adjustments it has
 * @param adjusted the part of the total that comes from adjustments
 */
public record Sum(
    Optional<String> name,
    String currency,
    int runs,
    int adjustments,
    Amounts amounts,
    BigDecimal adjusted) {
  /** The columns of totals. */
  public static final Columns<Sum> TOTAL =
      new Columns<Sum>()
          .text("currency", Sum::currency)
          .number("runs", Sum::runs)
          .number("adjustments", Sum::adjustments)
          .rare()
          .money("cost", sum -> sum.amounts.cost())
          .money("credit", sum -> sum.amounts.credit())
          .rare()
          .money("api", sum -> sum.amounts.api())
          .rare()
          .money("adjusted", Sum::adjusted)
          .rare()
          .money("total", sum -> sum.amounts.total())
          .money("billed", sum -> sum.amounts.billed())
          .rare();

  /**
   * Returns the columns of groups.
   *
   * @param heading the name of a group, such as {@code project}
   */
  public static Columns<Sum> columns(String heading) {
    return new Columns<Sum>().text(heading, sum -> sum.name.orElse(null)).and(TOTAL);
  }

  /** Returns the sums of postings by a name and by currency, in order of both. */
  static List<Sum> of(List<Posting> postings, Function<Posting, Optional<String>> name) {
    Map<String, Sum> sums = new TreeMap<>();
    for (Posting posting : postings) {
      Optional<String> own = name.apply(posting);
      String key = posting.currency() + "\n" + own.map(text -> "1" + text).orElse("0");
      sums.merge(key, one(own, posting), Sum::plus);
    }
    return sums.values().stream()
        .sorted(Comparator.comparing(Sum::currency).thenComparing(sum -> sum.name().orElse("")))
        .toList();
  }

  private static Sum one(Optional<String> name, Posting posting) {
    boolean adjustment = posting.reason().isPresent();
    return new Sum(
        name,
        posting.currency(),
        adjustment ? 0 : 1,
        adjustment ? 1 : 0,
        posting.amounts(),
        adjustment ? posting.amounts().total() : Amounts.zero(posting.currency()).total());
  }

  private Sum plus(Sum other) {
    return new Sum(
        name,
        currency,
        runs + other.runs,
        adjustments + other.adjustments,
        amounts.plus(other.amounts),
        adjusted.add(other.adjusted));
  }
}
