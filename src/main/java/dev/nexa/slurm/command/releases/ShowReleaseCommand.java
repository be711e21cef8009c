package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Moment;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.storage.releases.HistoryLine;
import dev.nexa.slurm.storage.releases.Production;
import dev.nexa.slurm.storage.releases.ReleaseContent;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.ReleaseHistory;
import dev.nexa.slurm.storage.releases.ReleaseSignatures;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm release show}. */
final class ShowReleaseCommand extends Subcommand {
  private final PositionalParamSpec name =
      optionalParameter("NAME", "A release. Default: the release in production.");
  private final OptionSpec at =
      option(
          "--at DATE",
          "Shows what was in production then: 2025-11-01, 2025-11-01T12:00, 2025-11, 7d (before now). Times without"
              + " a zone are UTC.");
  private final OptionSpec cluster = DeployCommand.cluster(this);
  private final OptionSpec json = jsonFlag();

  ShowReleaseCommand() {
    super(
        "show",
        "Shows the release in production, or what was in production on a day: its run, gate, cost,"
            + " and who signed it. Does not read the model; `release verify` does.",
        "nexa-slurm release show",
        "nexa-slurm release show --at 2025-11-01");
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), value(cluster));
    ReleaseHistory.Content content = place.history().sound();
    List<Production.Period> periods = Production.periods(content.lines());
    Optional<String> named = value(name);
    if (named.isPresent() && given(at)) {
      throw conflict("NAME and --at ask different questions", "leave one of them out");
    }
    if (given(at)) {
      return showAt(place, periods, at.getValue());
    }
    if (named.isPresent()) {
      List<Production.Period> own =
          periods.stream().filter(one -> one.release().equals(named)).toList();
      ReleaseFolder.open(place.durable(), named.get());
      return print(place, named, own, "was never in production");
    }
    Optional<String> now = place.current().release();
    tellUnfinished(content, now);
    if (now.isEmpty()) {
      return nothing("no release is in production");
    }
    List<Production.Period> last =
        periods.isEmpty() ? List.of() : periods.subList(periods.size() - 1, periods.size());
    boolean known = !last.isEmpty() && last.get(0).release().equals(now);
    return print(
        place, now, known ? last : List.of(), "is in production, but the history does not say so");
  }

  private void tellUnfinished(ReleaseHistory.Content content, Optional<String> now) {
    content
        .unfinished()
        .map(
            line ->
                "line %s of the history (%s %s) is unfinished; current_model leads to %s"
                    .formatted(
                        line.number(),
                        line.what().action().text(),
                        line.what().release().orElse("nothing"),
                        now.orElse("nothing")))
        .ifPresent(this::note);
  }

  private void tellTimesThatGoBack(List<Production.Period> periods) {
    for (int i = 1; i < periods.size(); i++) {
      if (periods.get(i).from().isBefore(periods.get(i - 1).from())) {
        note(
            "line "
                + periods.get(i).line().number()
                + " of the history has an earlier time than a line before it, so these times are"
                + " not certain: `nexa-slurm release history --verify`");
      }
    }
  }

  private Integer showAt(DeployPlace place, List<Production.Period> periods, String typed) {
    Moment moment;
    try {
      moment = Moment.parse(typed, ZoneOffset.UTC, Instant.now());
    } catch (IllegalArgumentException wrong) {
      throw invalid("--at: " + wrong.getMessage(), "--at 2025-11-01");
    }
    if (moment.from().isAfter(Instant.now())) {
      return nothing("that time has not come yet (" + moment.from() + " UTC)");
    }
    tellTimesThatGoBack(periods);
    List<Production.Period> then =
        periods.stream().filter(period -> period.touches(moment.from(), moment.to())).toList();
    if (then.isEmpty()) {
      return nothing(
          "no release was in production then (%s UTC)%s"
              .formatted(
                  moment.from(),
                  periods.isEmpty()
                      ? "; nothing was ever deployed"
                      : "; the first deployment began at " + periods.get(0).from()));
    }
    if (given(json)) {
      List<JsonObject> all =
          then.stream().map(one -> document(place, one.release(), List.of(one))).toList();
      print(
          JsonObject.ofVersion(1)
              .with("from", moment.from())
              .with("to", moment.to())
              .with("releases", all));
    } else {
      then.forEach(one -> print(text(place, one.release(), List.of(one), "")));
    }
    return ExitCode.OK.status();
  }

  private Integer nothing(String sentence) {
    return answer(
        json,
        () -> JsonObject.ofVersion(1).with("releases", List.of()).with("note", sentence),
        () -> say(sentence));
  }

  private Integer print(
      DeployPlace place, Optional<String> release, List<Production.Period> periods, String never) {
    return answer(
        json,
        () -> JsonObject.ofVersion(1).with("releases", List.of(document(place, release, periods))),
        () -> print(text(place, release, periods, never)));
  }

  private static String text(
      DeployPlace place, Optional<String> release, List<Production.Period> periods, String never) {
    StringBuilder text = new StringBuilder();
    text.append(release.orElse("no release")).append(System.lineSeparator());
    if (periods.isEmpty()) {
      DeployText.line(text, "deployed", never);
    }
    for (Production.Period period : periods) {
      HistoryLine line = period.line();
      DeployText.line(
          text,
          "in use",
          "from %s%s (UTC)%s"
              .formatted(
                  period.from(),
                  period.until().map(end -> " to " + end).orElse(", still"),
                  period.unfinished() ? "; this deployment was never completed" : ""));
      DeployText.line(
          text,
          "line " + line.number(),
          "%s by %s, smoke test: %s%s"
              .formatted(
                  line.what().action().text(),
                  line.author().signer(),
                  line.what().smoke(),
                  line.what().reason().isEmpty() ? "" : "; " + line.what().reason()));
    }
    if (release.isEmpty()) {
      return text.toString();
    }
    Optional<ReleaseFolder> folder = folder(place, release.get());
    if (folder.isEmpty()) {
      DeployText.line(text, "files", "its folder is gone");
      return text.toString();
    }
    text.append(
        DeployText.facts(
            folder.get().digest(), folder.get().document(), signatures(place, folder.get())));
    DeployText.line(text, "cost", cost(place, release.get()).orElse("unknown"));
    return text.toString();
  }

  private static JsonObject document(
      DeployPlace place, Optional<String> release, List<Production.Period> periods) {
    List<JsonObject> used =
        periods.stream()
            .map(
                period ->
                    new JsonObject()
                        .with("from", period.from())
                        .with("until", period.until().orElse(null))
                        .with("unfinished", period.unfinished())
                        .with("line", period.line().json()))
            .toList();
    JsonObject json =
        new JsonObject().with("release", release.orElse(null)).with("in_production", used);
    Optional<ReleaseFolder> folder = release.flatMap(name -> folder(place, name));
    if (folder.isPresent()) {
      ReleaseFile document = folder.get().document();
      json.with("release_digest", folder.get().digest())
          .with("run_id", document.origin().run())
          .with("gate", document.gate().map(ReleaseFile.Gate::figures).orElse(null))
          .with(
              "signed_by",
              signatures(place, folder.get()).valid().stream().map(one -> one.signer()).toList())
          .with("cost", release.flatMap(name -> cost(place, name)).orElse(null));
    }
    return json;
  }

  private static Optional<ReleaseFolder> folder(DeployPlace place, String name) {
    Path folder = ReleaseFolder.parent(place.durable()).resolve(name);
    return Files.isDirectory(folder) ? Optional.of(new ReleaseFolder(folder)) : Optional.empty();
  }

  private static ReleaseSignatures signatures(DeployPlace place, ReleaseFolder folder) {
    return place.policy().approvals().isPresent()
        ? place.approvals().signatures(ReleaseContent.signed(folder))
        : new ReleaseSignatures(List.of());
  }

  private static Optional<String> cost(DeployPlace place, String name) {
    Path file = ReleaseFolder.parent(place.durable()).resolve(name).resolve("cost.json");
    try {
      return Files.exists(file)
          ? Optional.of(CostFile.parse(DurableFiles.read(file), file.toString()).total().toString())
          : Optional.empty();
    } catch (RuntimeException broken) {
      return Optional.empty();
    }
  }
}
