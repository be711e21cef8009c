package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalEnvelope;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm approve}. */
public final class ApproveCommand extends Subcommand {
  private static final Pattern AMOUNT = Pattern.compile("[0-9]{1,12}(\\.[0-9]{1,6})?");

  private final PositionalParamSpec estimate =
      optionalParameter(
          "ESTIMATE",
          "An estimate's file or the beginning of its name, such as a1753 or estimates/a1753, or a run's config.");
  private final OptionSpec key =
      option(
          "--key PATH",
          "The SSH key to sign with, or its .pub file if an agent or a token holds the key. Default: the first key in ~/.ssh.");
  private final OptionSpec as =
      option(
          "--as PRINCIPAL",
          "The signer; if it is missing, the name that allowed_signers has for the key.");
  private final OptionSpec expires =
      option(
          "--expires TIME",
          "When the approval ends: after this long, or at a time such as 2026-12-01T00:00:00Z; 7d if not given.");
  private final OptionSpec uses =
      number("--uses N", "For how many runs; 1 if not given, 1000 for an envelope.");
  private final OptionSpec upTo =
      option(
          "--up-to AMOUNT",
          "The most that a run may cost, with reruns of its failed tasks; if it is missing, 1 percent more than the estimate, and for a pipeline the estimate.");
  private final OptionSpec overBudget = flag("--over-budget", "Lets the run go over a budget too.");
  private final OptionSpec submitter =
      option(
          "--for USER",
          "The user who may submit the run, or `any`; if it is missing, the user who made the estimate. Required for a config.");
  private final OptionSpec trustPrices =
      flag(
          "--trust-prices",
          "Signs the estimate's prices even if they differ from your own price book.");
  private final OptionSpec again =
      flag("--again", "Signs one more approval even if a valid approval allows the same already.");
  private final OptionSpec note = option("--note TEXT", "A text that is kept with the approval.");
  private final OptionSpec envelope =
      option(
          "--envelope NAME",
          "Approves a family of runs instead of one estimate; the options marked \"For an envelope\" say which runs.");
  private final OptionSpec configs = names("--configs", "GLOB", "the configs, below the workspace");
  private final OptionSpec stages = names("--stages", "STAGE", "the stages");
  private final OptionSpec clusters = names("--clusters", "NAME", "the cluster profiles");
  private final OptionSpec accounts = names("--accounts", "NAME", "the Slurm accounts");
  private final OptionSpec users = names("--users", "NAME", "the users who may submit");
  private final OptionSpec projects = names("--projects", "NAME", "the tags project:NAME");
  private final OptionSpec month =
      option(
          "--month AMOUNT",
          "For an envelope: the most that all its runs of one calendar month may cost.");
  private final OptionSpec yes =
      flag(
          "-y, --yes",
          "Signs without a question. Without a terminal, approve signs nothing unless --yes is given.");
  private final OptionSpec dryRun = flag("--dry-run", "Shows what would be signed; signs nothing.");
  private final OptionSpec json = jsonFlag();

  public ApproveCommand() {
    super(
        "approve",
        "Signs an estimate with your SSH key, so that its run may be submitted.",
        "nexa-slurm approve estimates/1f0c --expires 3d",
        "nexa-slurm approve estimates/1f0c --dry-run",
        "nexa-slurm approve configs/train/science.yaml --for ada --up-to 500",
        "nexa-slurm approve --envelope nightly --configs 'configs/train/*.yaml' --users ada,bob"
            + " --up-to 200 --month 2000 --expires 30d");
  }

  private OptionSpec names(String name, String label, String description) {
    return add(
        OptionSpec.builder(name)
            .paramLabel(label)
            .type(List.class)
            .auxiliaryTypes(String.class)
            .splitRegex(","),
        "For an envelope: " + description + "; any if not given.");
  }

  @Override
  public Integer call() {
    boolean family = envelope.getValue() != null;
    if (family == (estimate.getValue() != null)) {
      throw new ParameterException(
          spec().commandLine(),
          family
              ? "approve takes an estimate or --envelope NAME, not both"
              : "approve needs an estimate: type `approve ESTIMATE`, or `approve --envelope NAME`");
    }
    if (!family) {
      requireNoEnvelopes();
    }
    ApproveEstimate approve = new ApproveEstimate(ruled(), terms());
    ApproveEstimate.Outcome outcome =
        family
            ? approve.envelope(envelope(approve), this::agrees)
            : approve.run(estimate.getValue(), this::agrees);
    if (given(json)) {
      print(document(outcome));
    } else if (outcome instanceof ApproveEstimate.Signed signed) {
      String id = signed.file().approval().id();
      say("approved: " + signed.path());
      if (signed.isFound()) {
        say(advised("  nexa-slurm approvals show " + id));
        say(advised("  nexa-slurm approvals revoke " + id));
      } else {
        say("submit does not find it there; the note says who types what");
        say(advised("  nexa-slurm approvals verify " + Advice.command("", signed.path())));
      }
    } else if (outcome instanceof ApproveEstimate.AlreadyApproved already) {
      print(ApprovalText.already(already.row()));
    } else {
      say("nothing was signed");
    }
    boolean refused = outcome instanceof ApproveEstimate.NotSigned && !given(dryRun);
    return refused ? ExitCode.NEEDS_APPROVAL.status() : ExitCode.OK.status();
  }

  /** Shows what would be signed, and asks the person at the terminal whether to sign it. */
  private boolean agrees(ApproveEstimate.Draft draft) {
    PrintWriter told = given(json) ? err() : out();
    told.print(ApprovalText.of(draft));
    told.flush();
    return !given(dryRun)
        && agreed(
            yes,
            "nobody can be asked here whether to sign it, so nothing was signed",
            "Sign it?",
            Advice.step("add --yes to sign it, or --dry-run to only look"));
  }

  private static JsonObject document(ApproveEstimate.Outcome outcome) {
    JsonObject json =
        JsonObject.ofVersion(1).with("signed", outcome instanceof ApproveEstimate.Signed);
    if (outcome instanceof ApproveEstimate.AlreadyApproved already) {
      Approval approval = already.row().file().orElseThrow().approval();
      return json.with("already_approved", true)
          .with("approval_id", approval.id())
          .with("file", already.row().path().toString())
          .with("notes", List.of())
          .with("statement", Json.parseObject(approval.statement()));
    }
    Optional<ApproveEstimate.Signed> signed =
        outcome instanceof ApproveEstimate.Signed one ? Optional.of(one) : Optional.empty();
    ApproveEstimate.Draft draft =
        signed
            .map(ApproveEstimate.Signed::draft)
            .orElseGet(() -> ((ApproveEstimate.NotSigned) outcome).draft());
    return json.with("approval_id", signed.map(it -> it.file().approval().id()).orElse(null))
        .with("file", signed.map(it -> it.path().toString()).orElse(null))
        .with("notes", draft.notes())
        .with("statement", Json.parseObject(draft.approval().statement()));
  }

  /** Rejects the options of an envelope for a single run, because they would not be signed. */
  private void requireNoEnvelopes() {
    for (OptionSpec of : List.of(configs, stages, clusters, accounts, users, projects, month)) {
      if (of.getValue() != null) {
        String name = of.longestName();
        throw conflict(
            name + " works only with --envelope",
            name.equals("--users")
                ? "leave it out; to name the submitter of one run: --for USER"
                : "leave it out; a family of runs: nexa-slurm approve --envelope NAME %s …"
                    .formatted(name));
      }
    }
  }

  private static Optional<BigDecimal> amount(OptionSpec option) {
    Optional<String> text = value(option);
    String name = option.longestName();
    if (text.isPresent() && !AMOUNT.matcher(text.get()).matches()) {
      throw invalid(
          name + ": expected an amount such as 500 or 99.50, got '" + text.get() + "'",
          "the currency is the price book's: " + name + " 500");
    }
    return text.map(BigDecimal::new);
  }

  private ApproveEstimate.Terms terms() {
    Integer count = uses.getValue();
    if (count != null && count < 1) {
      throw invalid("--uses: expected 1 or more, got " + count, "--uses 1");
    }
    return new ApproveEstimate.Terms(
        value(key),
        value(as),
        value(expires),
        Optional.ofNullable(count),
        amount(upTo),
        given(overBudget),
        value(submitter),
        given(trustPrices),
        given(again),
        value(note));
  }

  private ApprovalEnvelope envelope(ApproveEstimate approve) {
    if (submitter.getValue() != null) {
      throw conflict("an envelope has --users, not --for", "--users " + submitter.getValue());
    }
    if (List.of(configs, stages, clusters, accounts, users, projects).stream()
        .allMatch(names -> list(names).isEmpty())) {
      throw ErrorCode.ARGUMENT_MISSING.error(
          "the envelope has no limits: add --configs, --accounts or --users",
          "nexa-slurm approve --envelope NAME --users USER --up-to AMOUNT");
    }
    try {
      return new ApprovalEnvelope(
          envelope.getValue(),
          list(configs),
          list(stages),
          list(clusters),
          list(accounts),
          list(users),
          list(projects),
          amount(month).map(approve::inPolicysCurrency));
    } catch (IllegalArgumentException noGlob) {
      throw ErrorCode.OPTION_INVALID.error(
          "--configs: expected patterns such as 'configs/train/*.yaml': " + noGlob.getMessage(),
          noGlob);
    }
  }

  private static List<String> list(OptionSpec option) {
    List<String> names = option.getValue();
    return names == null ? List.of() : List.copyOf(names);
  }
}
