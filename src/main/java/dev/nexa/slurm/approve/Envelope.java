package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.nio.file.FileSystems;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.Optional;

/**
 * What an approval of a family of runs allows. An empty list allows any.
 *
 * @param name what people call it
 * @param configs glob patterns of paths below the workspace: {@code configs/train/*.yaml}
 * @param projects a run's are its tags {@code project:NAME}
 * @param maxMonth what all its runs of one calendar month (UTC) may cost; empty for no limit
 */
public record Envelope(
    String name,
    List<String> configs,
    List<String> stages,
    List<String> clusters,
    List<String> accounts,
    List<String> users,
    List<String> projects,
    Optional<Money> maxMonth)
    implements Approval.Scope {

  public Envelope {
    for (String glob : configs) {
      matcher(glob);
    }
  }

  /**
   * What a pattern of {@code configs} matches.
   *
   * @throws IllegalArgumentException if it is none
   */
  static PathMatcher matcher(String glob) {
    return FileSystems.getDefault().getPathMatcher("glob:" + glob);
  }

  static Envelope fromJson(JsonObject json, String currency) {
    return new Envelope(
        json.text("name"),
        json.texts("configs"),
        json.texts("stages"),
        json.texts("clusters"),
        json.texts("accounts"),
        json.texts("users"),
        json.texts("projects"),
        json.optionalText("max_month").map(text -> Money.parse(text, currency)));
  }

  @Override
  public void addTo(JsonObject json) {
    json.with("name", name)
        .with("configs", configs)
        .with("stages", stages)
        .with("clusters", clusters)
        .with("accounts", accounts)
        .with("users", users)
        .with("projects", projects)
        .with("max_month", maxMonth.map(most -> most.amount().toPlainString()).orElse(null));
  }
}
