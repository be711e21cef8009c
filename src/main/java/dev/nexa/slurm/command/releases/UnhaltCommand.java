package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.decision.HaltedTiers;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.releases.LiftedHalt;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import dev.nexa.slurm.storage.releases.SignOff;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm unhalt}. */
public final class UnhaltCommand extends Subcommand {
  private final PositionalParamSpec id =
      add(
          PositionalParamSpec.builder().paramLabel("HALT").type(String.class).required(true),
          "The halt, as `halt list` shows it.");
  private final OptionSpec key =
      option("--key", "FILE", "The approver's SSH key. Default: the first of ssh's own keys.");
  private final OptionSpec reason = option("--reason", "TEXT", "Why it may go on.");
  private final OptionSpec cluster = HaltCommand.cluster(this, " The policy is the workspace's.");
  private final OptionSpec yes = flag("-y, --yes", "Lifts it without a question, as scripts must.");
  private final OptionSpec json = jsonFlag();

  public UnhaltCommand() {
    super(
        "unhalt",
        "Lifts a halt with an approver's signature.",
        "nexa-slurm unhalt halt_20251101_143200 --reason 'the judge was mended'");
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), Optional.ofNullable(cluster.getValue()));
    place.approvals();
    List<Halts> tiers = tiers(place);
    List<Halts.Judged> found =
        tiers.stream().map(halts -> halts.existing(id.getValue(), place.signers())).toList();
    found.forEach(UnhaltCommand::requireReadable);
    Halts.Judged halt =
        found.stream().filter(Halts.Judged::inForce).findFirst().orElse(found.get(0));
    if (!halt.inForce()) {
      return tell(halt, "was lifted before");
    }
    LineSigner signer = place.signer(Optional.ofNullable(key.getValue()), "unhalt");
    if (!given(json)) {
      out().println(halt.halt().id() + ", " + halt.halt().words());
      out().flush();
    }
    DeployCommand.requireAnswer(this, given(yes), "lift " + halt.halt().id());
    if (!given(yes) && !confirmed("Lift it?")) {
      err().println("nothing was changed");
      return ExitCode.NEEDS_APPROVAL.status();
    }
    Map<String, LiftedHalt> signed = new HashMap<>();
    List<Halts.Judged> lifted = new ArrayList<>();
    for (int i = 0; i < tiers.size(); i++) {
      if (found.get(i).inForce()) {
        // The tiers have the same file, so that one signature lifts all of them.
        LiftedHalt lift =
            signed.computeIfAbsent(
                tiers.get(i).digest(halt.halt()), digest -> signed(halt, digest, signer));
        lifted.add(lift(tiers.get(i), halt, lift, place));
      }
    }
    return tell(lifted.get(0), "is lifted");
  }

  /** A file that cannot be read is a halt in force, whatever anybody signs. */
  private static void requireReadable(Halts.Judged halt) {
    if (halt.broken().isPresent()) {
      throw new NexaException(
          ErrorCode.RECORD_DAMAGED,
          halt.halt().id()
              + " stays in force, and no signature can lift it: "
              + VisibleText.line(halt.halt().reason()),
          halt.ends());
    }
  }

  /** Returns the tiers that have the halt; the chosen one if none has it, for its error. */
  private List<Halts> tiers(DeployPlace place) {
    HaltedTiers all = cluster.getValue() == null ? place.tiers() : place.tiers().chosen();
    String halt = id.getValue();
    List<Halts> having =
        all.tiers().keySet().stream().map(all::halts).filter(halts -> halts.has(halt)).toList();
    return having.isEmpty() ? List.of(place.halts()) : having;
  }

  /** Signs the lifting of a halt. ssh-keygen may ask for a passphrase. */
  private LiftedHalt signed(Halts.Judged halt, String digest, LineSigner signer) {
    LiftedHalt unsigned =
        new LiftedHalt(
            halt.halt().id(),
            digest,
            Instant.now().truncatedTo(ChronoUnit.SECONDS),
            signer.author(),
            Optional.ofNullable(reason.<String>getValue()).orElse(""),
            "");
    return unsigned.signed(signer.sign(unsigned.statement()));
  }

  /**
   * Lifts the halt on a tier.
   *
   * @throws NexaException if the signature does not count; then nothing was written there
   */
  private Halts.Judged lift(Halts halts, Halts.Judged halt, LiftedHalt signed, DeployPlace place) {
    Optional<String> refusal = halts.refusal(halt.halt(), signed, place.signers());
    if (refusal.isPresent()) {
      throw new NexaException(
          ErrorCode.HALTED,
          halt.halt().id() + " is still in force: " + refusal.get() + "; nothing was written",
          Advice.step(
              "people may lift it whose line in "
                  + place.policy().approvals().orElseThrow().allowedSigners()
                  + " has the namespace "
                  + SignOff.NAMESPACE),
          Advice.step("one of them types: nexa-slurm unhalt " + halt.halt().id() + " --key FILE"));
    }
    halts.lift(signed);
    return halts.existing(halt.halt().id(), place.signers());
  }

  private Integer tell(Halts.Judged halt, String what) {
    if (given(json)) {
      print(
          new JsonObject()
              .with("schema_version", 1)
              .with("halt_id", halt.halt().id())
              .with("in_force", halt.inForce())
              .with("lifted_by", halt.lifted().map(lift -> lift.signer().signer()).orElse(null)));
    } else {
      out().println(halt.halt().id() + " " + what);
      out().println("  a pipeline goes on with: nexa-slurm pipeline resume PIPELINE");
    }
    return ExitCode.OK.status();
  }
}
