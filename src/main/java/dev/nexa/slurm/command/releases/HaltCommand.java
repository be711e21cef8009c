package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.command.shared.Failures;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.decision.HaltedTiers;
import dev.nexa.slurm.run.start.ChosenTiers;
import dev.nexa.slurm.storage.releases.Halt;
import dev.nexa.slurm.storage.releases.Halts;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm halt}. */
public final class HaltCommand extends Subcommand {
  private final OptionSpec reason =
      option("--reason", "TEXT", "Why; everybody who is stopped reads it.");
  private final OptionSpec pipeline =
      option(
          "--pipeline",
          "NAME",
          "Stops only the pipelines of this name; a pipeline's id or file stands for its name. Default: stops all.");
  private static final String CANCEL = "nexa-slurm cancel ";

  private final OptionSpec cluster = cluster(this, "");
  private final OptionSpec json = jsonFlag();

  public HaltCommand() {
    super(
        "halt",
        "Stops every release: until an approver types `unhalt`, nothing is deployed, no server and no"
            + " stage of the policy's gate_before starts. Needs no key.",
        "nexa-slurm halt --reason 'answers leak names'",
        "nexa-slurm halt --pipeline distill --reason 'the judge is broken'",
        "nexa-slurm halt list");
    spec().addSubcommand("list", new HaltListCommand().spec());
  }

  /**
   * Adds the option for one tier.
   *
   * @param more a sentence that follows the text, with a space before it; may be empty
   */
  static OptionSpec cluster(Subcommand command, String more) {
    return command.option(
        "--cluster",
        "NAME",
        "Only the durable tier of this profile. Default: those of all profiles of the workspace."
            + more);
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), Optional.ofNullable(cluster.getValue()));
    boolean oneTier = cluster.getValue() != null;
    Optional<String> named =
        Optional.ofNullable(pipeline.<String>getValue())
            .map(new HaltedPipeline(place.context())::name);
    HaltedTiers all = place.tiers();
    ChosenTiers.note(
            place.context(),
            Optional.ofNullable(cluster.<String>getValue()),
            (oneTier ? all.chosen() : all).tiers().keySet())
        .ifPresent(err()::println);
    List<HaltedTiers.Tried> tried = (oneTier ? all.chosen() : all).set(halts -> set(halts, named));
    Halt halt = tried.stream().flatMap(one -> one.halt().stream()).findFirst().orElseThrow();
    boolean isWhole = tried.stream().allMatch(one -> one.halt().isPresent() || one.absent());
    int status = isWhole ? ExitCode.OK.status() : ExitCode.DEFECT.status();
    for (HaltedTiers.Tried one : tried) {
      if (one.absent()) {
        err()
            .println(
                "note: the halt is not in force on "
                    + named(one.tier(), one.profiles())
                    + ": "
                    + one.why()
                    + "; type the command on a host that has it");
      } else if (one.halt().isEmpty()) {
        err()
            .println(
                "nexa-slurm: the halt is not in force on "
                    + named(one.tier(), one.profiles())
                    + ": "
                    + one.why());
        one.failure().map(Failures::advice).orElse(List.of()).forEach(this::arrow);
        arrow(Advice.step("releases go on there; mend it, then type the command again"));
      }
    }
    List<String> problems = new ArrayList<>();
    new Outbox(place.context().workspace())
        .recordIfAsked(place.policy().channels(), HaltedTiers.notice(halt))
        .ifPresent(problems::add);
    // A run without a pipeline is not stopped by the halt of a pipeline.
    List<RunId> waiting =
        halt.pipeline().isPresent()
            ? List.of()
            : new WaitingRuns(place.context(), place.policy()).find(problems);
    problems.forEach(problem -> err().println("note: " + problem));
    if (given(json)) {
      JsonObject document =
          halt.json()
              .with("durable", halted(tried).map(one -> one.tier().toString()).toList())
              .with("waiting_runs", waiting.stream().map(RunId::value).toList());
      print(document);
      return status;
    }
    boolean partly = tried.stream().anyMatch(one -> one.failure().isPresent());
    out()
        .println(
            halt.id()
                + " is in force: "
                + halt.pipeline()
                    .map(name -> "nothing of the pipeline " + name + " is released")
                    .orElse("nothing is released")
                + (oneTier
                    ? " from " + tried.get(0).tier()
                    : partly ? " from the tiers that it holds on" : ""));
    if (tried.size() > 1) {
      halted(tried)
          .forEach(one -> out().println("  it holds on " + named(one.tier(), one.profiles())));
    }
    if (oneTier) {
      all.others()
          .tiers()
          .forEach(
              (tier, profiles) ->
                  out()
                      .println(
                          "  releases from "
                              + named(tier, profiles)
                              + " go on; without --cluster, halt stops all"));
    }
    for (RunId run : waiting) {
      out()
          .println(
              "  " + run + " waits in the queue and will start; to prevent that: " + CANCEL + run);
    }
    out().println("  what runs goes on: `nexa-slurm serve list` shows the servers");
    out().println("  `nexa-slurm release rollback` stays possible");
    out().println("  an approver lifts it: nexa-slurm unhalt " + halt.id());
    return status;
  }

  private Halt set(Halts halts, Optional<String> named) {
    return halts.set(
        Instant.now().truncatedTo(ChronoUnit.SECONDS),
        UnixUser.me().user(),
        ProcessIdentity.ofThisProcess().host(),
        Optional.ofNullable(reason.<String>getValue()).orElse(""),
        named);
  }

  private void arrow(Advice line) {
    err().println("  → " + line);
  }

  private static Stream<HaltedTiers.Tried> halted(List<HaltedTiers.Tried> tried) {
    return tried.stream().filter(one -> one.halt().isPresent());
  }

  private static String named(Path tier, List<String> profiles) {
    return profiles.isEmpty()
        ? tier.toString()
        : tier
            + (profiles.size() == 1 ? " (profile " : " (profiles ")
            + String.join(", ", profiles)
            + ")";
  }
}
