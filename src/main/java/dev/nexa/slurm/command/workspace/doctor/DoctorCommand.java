package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.command.shared.RootCommand;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.command.workspace.ShareWorkspace;
import dev.nexa.slurm.command.workspace.doctor.CheckFinding.Result;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.runs.WorkspaceSearch;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm doctor}. */
public final class DoctorCommand extends Subcommand {
  /** Most checks take milliseconds; Slurm's commands on a busy cluster take a second. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final Path ROOT = Path.of("/");
  private static final Set<String> NEED_NO_WORKSPACE = Set.of("java", "slurm", "accounting");

  private final PositionalParamSpec names =
      parameters("NAME", "The checks to make; all if none is given. --list prints the names.");
  private final OptionSpec list = flag("--list", "Lists the checks, and makes none.");
  private final OptionSpec strict = flag("--strict", "Ends with 1 if there is advice, too.");
  private final OptionSpec timeout =
      option("--timeout TIME", "How long the checks may take: 30s, 2m; 10s if not given.");
  private final OptionSpec json = jsonFlag();

  public DoctorCommand() {
    super(
        "doctor",
        "Checks the workspace, its storage, the rules and the cluster, and names the command that repairs what is wrong. It starts no job and changes nothing. Ends with 1 if something that runs need does not work, with 4 if a check could not look.",
        "nexa-slurm doctor",
        "nexa-slurm doctor slurm accounting",
        "nexa-slurm doctor --strict --json");
  }

  @Override
  public Integer call() {
    List<Check> chosen = chosen();
    if (given(list)) {
      chosen.forEach(check -> say("%-14s %s".formatted(check.name(), check.looks())));
      return ExitCode.OK.status();
    }
    Duration patience = value(timeout).map(DoctorCommand::patience).orElse(PATIENCE);
    List<CheckFinding> findings = new ArrayList<>();
    Context context = opened(findings);
    if (!findings.isEmpty()) {
      chosen.removeIf(check -> !NEED_NO_WORKSPACE.contains(check.name()));
    }
    // A client that hangs ends before its check does: then its output is shown.
    ClientTimeouts patient =
        new ClientTimeouts(
            ClientTimeouts.DEFAULT.submitTimeout(), patience.multipliedBy(3).dividedBy(4));
    findings.addAll(Checkup.make(chosen, context.waiting(patient), patience));
    findings.replaceAll(
        one -> one.with(one.remedies().stream().map(next -> Access.typed(context, next)).toList()));
    answer(json, () -> document(findings), () -> tell(findings));
    return status(findings, given(strict)).status();
  }

  /**
   * Returns the workspace by its absolute path. One that this user may not enter is a finding: the
   * checks that need none are made.
   */
  private Context opened(List<CheckFinding> findings) {
    try {
      Context context = context();
      Path root = context.workspace().root();
      boolean open = Files.isWritable(root) || ShareWorkspace.isTeams(context.workspace());
      if (context.missing().isEmpty() && !open && !Access.isMine(root)) {
        String says = root + " is " + Workspace.ownerOf(root) + "'s workspace, and not shared";
        Advice share = Advice.step("ask for it (docs/teams.md), or name yours: --workspace DIR");
        findings.add(CheckFinding.failed(says, "submit", share).of("workspace"));
      }
      return context.missing().isPresent() ? context : new Context(root, environment());
    } catch (NexaException refused) {
      Optional<Path> typed = RootCommand.of(spec()).typedWorkspace();
      boolean gone = refused.code() == ErrorCode.WORKSPACE_NOT_FOUND && typed.isEmpty();
      if (!gone && refused.code() != ErrorCode.IO_FAILED) {
        throw refused;
      }
      List<Advice> advice = new ArrayList<>(refused.advice());
      typed
          .or(() -> Optional.ofNullable(environment().get("NEXA_WORKSPACE")).map(Path::of))
          .ifPresent(folder -> advice.addAll(0, Access.toJoin(folder)));
      String says = String.valueOf(refused.getMessage());
      CheckFinding it = gone ? CheckFinding.failed(says, "everything") : CheckFinding.unknown(says);
      findings.add(it.with(advice).of("workspace"));
      return new Context(ROOT, environment()).missing(WorkspaceSearch.from(ROOT));
    }
  }

  private static Duration patience(String typed) {
    return Span.of(typed)
        .filter(time -> time.toSeconds() > 0)
        .orElseThrow(
            () ->
                invalid(
                    "--timeout: expected a time such as 30s or 2m, got '%s'%s"
                        .formatted(typed, Span.hint(typed)),
                    "--timeout 30s"));
  }

  private List<Check> chosen() {
    List<String> typed = names.getValue();
    List<String> known = Check.ALL.stream().map(Check::name).toList();
    for (String name : typed) {
      if (!known.contains(name)) {
        throw invalid(
            "there is no check named '" + name + "'" + Nearest.hint(name, known),
            "write some of " + String.join(", ", known));
      }
    }
    List<Check> chosen = new ArrayList<>(Check.ALL);
    chosen.removeIf(check -> !typed.isEmpty() && !typed.contains(check.name()));
    return chosen;
  }

  /** A failure counts more than a check that could not look, and that more than advice. */
  static ExitCode status(List<CheckFinding> findings, boolean strict) {
    List<Result> results = findings.stream().map(CheckFinding::result).toList();
    if (results.contains(Result.FAILED) || (strict && results.contains(Result.ADVICE))) {
      return ExitCode.DEFECT;
    }
    return results.contains(Result.UNKNOWN) ? ExitCode.SCHEDULER : ExitCode.OK;
  }

  private static JsonObject document(List<CheckFinding> findings) {
    JsonObject counts = new JsonObject();
    for (Result result : Result.values()) {
      counts.with(result.text(), count(findings, result));
    }
    String worst =
        Stream.of(Result.FAILED, Result.UNKNOWN, Result.ADVICE)
            .filter(result -> count(findings, result) > 0)
            .findFirst()
            .orElse(Result.OK)
            .text();
    return JsonObject.ofVersion(1)
        .with("result", worst)
        .with("counts", counts)
        .with("findings", findings.stream().map(CheckFinding::toJson).toList());
  }

  private static long count(List<CheckFinding> findings, Result result) {
    return findings.stream().filter(finding -> finding.result() == result).count();
  }

  private void tell(List<CheckFinding> findings) {
    for (CheckFinding finding : findings) {
      List<String> alike =
          findings.stream()
              .filter(one -> one.result() == Result.UNKNOWN && one.says().equals(finding.says()))
              .map(CheckFinding::check)
              .toList();
      if (alike.indexOf(finding.check()) > 0) {
        continue;
      }
      String others = String.join(", ", alike.subList(Math.min(1, alike.size()), alike.size()));
      String says = finding.says() + (others.isEmpty() ? "" : " (also: " + others + ")");
      String line = VisibleText.line(says);
      say("%-8s %-14s %s".formatted(finding.result().text(), finding.check(), line));
      if (!finding.affects().isEmpty()) {
        say("         affects: " + finding.affects());
      }
      for (Advice remedy : finding.remedies()) {
        boolean command = remedy.kind() == Advice.Kind.COMMAND;
        say((command ? "         → " : "         next: ") + advised(remedy.toString()));
      }
    }
    say(
        Stream.of(Result.FAILED, Result.UNKNOWN, Result.ADVICE, Result.OK)
            .map(result -> count(findings, result) + " " + result.text())
            .collect(Collectors.joining(", ")));
  }
}
