package dev.nexa.slurm.command.nodes;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmNode;
import dev.nexa.slurm.command.shared.AfterSubmit;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.backend.DiagBackend;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import dev.nexa.slurm.run.start.Submitted;
import dev.nexa.slurm.run.status.AwaitRun;
import dev.nexa.slurm.run.submit.BadNodes;
import dev.nexa.slurm.run.submit.BadNodes.BadNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm diag}. */
public final class DiagCommand extends Subcommand {
  private static final String CONFIG = "configs/diag/nodes.yaml";

  private final OptionSpec nodes =
      option("--nodes LIST", "The nodes, in Slurm's notation; the job waits for them.");
  private final OptionSpec partition =
      option("--partition NAME", "The idle nodes of this partition; with --nodes: where they are.");
  private final OptionSpec here = flag("--here", "This machine, without a job.");
  private final OptionSpec level =
      option("--level LEVEL", "quick (seconds; the default), or full: speeds and bandwidths too.");
  private final OptionSpec excludeBad =
      flag(
          "--exclude-bad",
          "Prints --exclude=NODES for sbatch, of the nodes known to be bad; nothing if there is none.");
  private final OptionSpec cluster =
      option("--cluster NAME", "Uses the profile configs/clusters/NAME.yaml.");
  private final OptionSpec approval = approval();
  private final OptionSpec all = flag("--all", "Prints what is well too.");
  private final OptionSpec json = jsonFlag();

  public DiagCommand() {
    super(
        "diag",
        "Checks nodes with a job that fills each of them once: GPUs, memory errors, links, disks, clocks and, with --level full, speeds. Ends with 1 if a node has a critical finding.",
        "nexa-slurm diag --partition gpu",
        "nexa-slurm diag --nodes n[1-4] --level full",
        "nexa-slurm diag --here",
        "nexa-slurm diag show",
        "sbatch $(nexa-slurm diag --exclude-bad) job.sh");
    subcommands(new ShowCommand(), new DiagInstallCommand());
  }

  @Override
  public Integer call() throws InterruptedException {
    String typed = value(level).orElse(DiagBackend.LEVELS.get(0));
    if (!DiagBackend.LEVELS.contains(typed)) {
      throw invalid("--level " + typed + ": expected quick or full");
    }
    List<OptionSpec> ways =
        Stream.of(nodes, partition, here, excludeBad).filter(Subcommand::given).toList();
    if (ways.isEmpty()) {
      throw invalid(
          "diag: which nodes?",
          "nexa-slurm diag --partition NAME",
          "nexa-slurm diag --nodes LIST",
          "nexa-slurm diag --here");
    }
    if (ways.size() > 1 && (given(here) || given(excludeBad))) {
      throw conflict(
          ways.get(0).longestName() + " and " + ways.get(1).longestName() + " exclude each other",
          "leave one of them out");
    }
    if (given(excludeBad)) {
      return printBad();
    }
    return given(here) ? checkHere(typed) : checkNodes(typed);
  }

  private Integer printBad() {
    Context context = existing();
    BadNodes bad = new BadNodes(context.workspace().badNodes().resolve(clusterName(context)));
    List<BadNode> known = bad.known(Instant.now());
    known.forEach(node -> note(node.name() + ": " + VisibleText.line(node.why())));
    if (!known.isEmpty()) {
      say("--exclude=" + String.join(",", known.stream().map(BadNode::name).toList()));
    }
    return ExitCode.OK.status();
  }

  private String clusterName(Context context) {
    return value(cluster).orElse(Prepared.clusterName(context));
  }

  private Integer checkHere(String typed) throws InterruptedException {
    Context context = anywhere();
    ClusterProfile profile = context.configs().cluster(clusterName(context));
    Diagnosis found = ThisMachine.check(context, profile, typed);
    answer(json, () -> DiagText.json(found), () -> tell(this, found, given(all)));
    return status(List.of(found));
  }

  private Integer checkNodes(String typed) {
    Context context = forRuns();
    ClusterProfile profile = context.configs().cluster(clusterName(context));
    if (profile.isLocal()) {
      throw invalid("the profile " + profile.name() + " is this machine", "nexa-slurm diag --here");
    }
    List<SlurmNode> known = context.requireSlurm("or check this machine: --here").nodes();
    NodeChoice choice =
        value(nodes)
            .map(
                list ->
                    NodeChoice.named(known, list, value(partition), profile.usual().partition()))
            .orElseGet(() -> NodeChoice.idle(known, value(partition).orElseThrow()));
    if (!choice.leftOut().isEmpty()) {
      note("not idle, so not checked: " + String.join(", ", choice.leftOut()));
    }
    List<Submitted> jobs = new ArrayList<>();
    for (List<SlurmNode> part : choice.parts()) {
      Prepared.Request request =
          new Prepared.Request(CONFIG, NodeChoice.overrides(part, typed), value(cluster));
      jobs.add(
          AfterSubmit.telling(
              this,
              context,
              () -> new SubmitRun(context).submit(request, Optional.empty(), value(approval)),
              submitted -> AfterSubmit.tell(this, submitted, given(json) ? err() : out())));
    }
    List<Diagnosis> found = new ArrayList<>();
    for (Submitted job : jobs) {
      if (!(job.answer() instanceof SubmitAnswer.Refused)) {
        await(context, job.run());
        found.add(judged(context.workspace(), job.run()));
      }
    }
    answer(
        json,
        () -> JsonObject.ofVersion(1).with("runs", found.stream().map(DiagText::json).toList()),
        () -> found.forEach(one -> tell(this, one, given(all))));
    return found.size() < jobs.size() ? ExitCode.SCHEDULER.status() : status(found);
  }

  private void await(Context context, RunFolder run) {
    out().flush();
    ProgressBar.waiting(
        this,
        "stopped waiting; the job goes on; nexa-slurm diag show "
            + run.id()
            + " shows what it found",
        Phase.of("waiting for the checks"),
        (lines, running) -> new AwaitRun(context).await(run, lines, running));
  }

  /** Returns what a run found, with what is below the nodes' own past. */
  private static Diagnosis judged(Workspace workspace, RunFolder run) {
    Diagnosis found = Diagnosis.of(run);
    if (found.checks().isEmpty()) {
      throw ErrorCode.LOGS_MISSING.error(
          run.id() + " found nothing: no node was checked, or it still runs",
          Advice.command("", "nexa-slurm", "why", run.id().value()));
    }
    return found.against(Diagnosis.newestFirst(workspace));
  }

  private static Integer status(List<Diagnosis> found) {
    boolean bad = found.stream().anyMatch(Diagnosis::isCritical);
    return (bad ? ExitCode.DEFECT : ExitCode.OK).status();
  }

  private static void tell(Subcommand command, Diagnosis found, boolean all) {
    command.printTable(DiagText.table(found, all, command.style()));
    if (!all && !found.blind().isEmpty()) {
      command.say("could not look: " + String.join(", ", found.blind()) + " (--all says why)");
    }
    command.say(found.summary());
  }

  /** The command {@code nexa-slurm diag show}. */
  private static final class ShowCommand extends Subcommand {
    private final PositionalParamSpec reference =
        optionalParameter("RUN", "The run of diag. Default: the newest.");
    private final OptionSpec all = flag("--all", "Prints what is well too.");
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super(
          "show",
          "Shows again what a run of diag found. Ends with 1 if a node has a critical finding.",
          "nexa-slurm diag show",
          "nexa-slurm diag show diag_20251101_143200 --all");
    }

    @Override
    public Integer call() {
      Workspace workspace = existing().workspace();
      String typed = reference.getValue();
      RunFolder run =
          typed == null ? newest(workspace) : new RunLookup(workspace).find(typed).run();
      Diagnosis found = judged(workspace, run);
      answer(json, () -> DiagText.json(found), () -> tell(this, found, given(all)));
      return status(List.of(found));
    }

    private static RunFolder newest(Workspace workspace) {
      return Diagnosis.newestFirst(workspace).stream()
          .findFirst()
          .map(one -> workspace.run(new RunId(one.run())))
          .orElseThrow(
              () ->
                  ErrorCode.RUN_UNKNOWN.error(
                      "no node was checked yet",
                      Advice.command("", "nexa-slurm", "diag", "--partition", "NAME")));
    }
  }
}
