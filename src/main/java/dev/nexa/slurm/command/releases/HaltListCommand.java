package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.decision.HaltedTiers;
import dev.nexa.slurm.storage.releases.Halts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm halt list}. */
final class HaltListCommand extends Subcommand {
  private static final Columns<Halts.Judged> COLUMNS =
      new Columns<Halts.Judged>()
          .text("halt", one -> one.halt().id())
          .text("state", HaltListCommand::state)
          .text("pipeline", one -> one.halt().pipeline().map(VisibleText::line).orElse("all"))
          .text("by", one -> VisibleText.line(one.halt().by()))
          .text("at", one -> one.halt().at().toString())
          .note("reason", one -> VisibleText.line(one.halt().reason()));

  private final OptionSpec all = flag("-a, --all", "Also lists halts that were lifted.");
  private final OptionSpec cluster = HaltCommand.cluster(this, "");
  private final OptionSpec json = jsonFlag();

  HaltListCommand() {
    super("list", "Lists the halts in force.", "nexa-slurm halt list --all");
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), Optional.ofNullable(cluster.getValue()));
    HaltedTiers tiers = cluster.getValue() == null ? place.tiers() : place.tiers().chosen();
    Map<Halts.Judged, List<String>> where = new LinkedHashMap<>();
    for (Path tier : tiers.tiers().keySet()) {
      for (Halts.Judged one : tiers.halts(tier).all(place.signers())) {
        if (one.inForce() || given(all)) {
          where.computeIfAbsent(one, first -> new ArrayList<>()).add(tier.toString());
        }
      }
    }
    List<Halts.Judged> listed = new ArrayList<>(where.keySet());
    if (given(json)) {
      List<JsonObject> documents = new ArrayList<>();
      for (Halts.Judged one : listed) {
        documents.add(
            one.halt()
                .json()
                .with("durable", where.get(one))
                .with("in_force", one.inForce())
                .with("lifted_by", one.lifted().map(lift -> lift.signer().signer()).orElse(null))
                .with("lifted_at", one.lifted().map(lift -> lift.at().toString()).orElse(null))
                .with("lifted_because", one.lifted().map(lift -> lift.reason()).orElse(null))
                .with("refusal", one.refusal().orElse(null)));
      }
      print(new JsonObject().with("schema_version", 1).with("halts", documents));
    } else if (listed.isEmpty()) {
      out().println("no halt is in force");
    } else {
      printTable(COLUMNS.of(listed).table(style()));
      where.forEach(
          (one, on) -> {
            if (on.size() < tiers.tiers().size()) {
              out().println(one.halt().id() + " is only on " + String.join(", ", on));
            }
          });
    }
    for (Halts.Judged one : listed) {
      one.refusal()
          .ifPresent(
              why ->
                  err()
                      .println(
                          "note: the lifting of " + one.halt().id() + " does not count: " + why));
    }
    return ExitCode.OK.status();
  }

  private static String state(Halts.Judged one) {
    return one.inForce()
        ? "in force"
        : "lifted by " + one.lifted().map(lift -> lift.signer().signer()).orElse("");
  }
}
