package dev.nexa.slurm.command.datasets;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.ProgramVersion;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.datasets.DatasetCommand.Datasets;
import dev.nexa.slurm.command.shared.FormatOption;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.storage.lineage.CollectLineage;
import dev.nexa.slurm.storage.lineage.LineageGraph;
import dev.nexa.slurm.storage.lineage.LineageNode;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import dev.nexa.slurm.storage.lineage.LineageText;
import dev.nexa.slurm.storage.lineage.OpenLineage;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm lineage}. */
public final class LineageCommand extends DatasetCommand {
  private final PositionalParamSpec what =
      parameter(
          "RUN|DATASET|RELEASE",
          "A run, as for `status`; a dataset: NAME@v3, or NAME for its newest version; or a release's"
              + " name.");
  private final OptionSpec up = flag("--up", "Only what it was made of.");
  private final OptionSpec down = flag("--down", "Only what was made of it.");
  private final FormatOption format =
      new FormatOption(this, List.of("tree", "json", "mermaid", "openlineage"));

  public LineageCommand() {
    super(
        "lineage",
        "Shows what a run, a dataset or a release was made of, and what was made of it.",
        "nexa-slurm lineage latest",
        "nexa-slurm lineage science@v1 --down",
        "nexa-slurm lineage latest --format openlineage");
  }

  @Override
  protected void work() {
    String printed = format.format();
    Datasets datasets = datasets();
    CollectLineage collect = datasets.lineage();
    LineageGraph all = collect.collect();
    releases(datasets, all);
    LineageNode node = find(datasets, all, what.getValue());
    boolean upward = given(up) || !given(down);
    boolean downward = given(down) || !given(up);
    LineageGraph part = all.around(node, upward, downward);
    collect.problems().forEach(this::note);
    switch (printed) {
      case "json" ->
          print(
              JsonObject.ofVersion(1)
                  .with("of", node.id())
                  .with(part.toJson())
                  .with("up", upward)
                  .with("down", downward));
      case "mermaid" -> print(LineageText.mermaid(part));
      case "openlineage" -> openLineage(datasets, all, part);
      default -> {
        if (upward) {
          say("made of:");
          print(LineageText.tree(part, node, true));
        }
        if (upward && downward) {
          out().println();
        }
        if (downward) {
          say("makes:");
          print(LineageText.tree(part, node, false));
        }
      }
    }
  }

  /** Adds each release on the durable tier, as made of its run. */
  private void releases(Datasets datasets, LineageGraph graph) {
    for (ReleaseFolder folder : ReleaseFolder.all(datasets.tiers().durable())) {
      try {
        ReleaseFile release = folder.document();
        JsonObject facts =
            new JsonObject()
                .with("digest", folder.digest())
                .withOptional("gate", release.gate().map(gate -> gate.passed() ? "pass" : "fail"))
                .with("licence", release.licence())
                .with("path", folder.path().toString());
        graph.add(
            new LineageNode(Kind.RUN, release.origin().run(), new JsonObject()),
            new LineageNode(Kind.RELEASE, folder.name(), facts));
      } catch (NexaException | UncheckedIOException damaged) {
        note(String.valueOf(damaged.getMessage()));
      }
    }
  }

  private void openLineage(Datasets datasets, LineageGraph all, LineageGraph part) {
    String namespace = "nexa-slurm:" + datasets.context().workspace().root();
    // The events of a run name all its inputs and outputs, not only those on the way to the thing.
    print(new OpenLineage(all, namespace, ProgramVersion.read().number()).lines(part.nodes()));
    long open =
        part.nodes().stream()
            .filter(node -> node.kind() == Kind.RUN && !OpenLineage.hasEnded(node))
            .count();
    if (open > 0) {
      String runs = Plural.of(open, "run") + (open == 1 ? " has" : " have");
      note(runs + " not ended and no events yet; type the command again later");
    }
  }

  private LineageNode find(Datasets datasets, LineageGraph graph, String typed) {
    if (typed.contains("@") || datasets.registry().read().containsKey(typed)) {
      String reference = datasets.registry().find(typed).reference();
      return graph.node(Kind.DATASET, reference).orElseThrow(IllegalStateException::new);
    }
    // A release usually has its run's id as its name, and its run is part of what is shown.
    Optional<LineageNode> release = graph.node(Kind.RELEASE, typed);
    if (release.isPresent() && RunId.parse(typed).isEmpty()) {
      return release.get();
    }
    String run;
    try {
      run = new RunLookup(datasets.context().workspace()).find(typed).run().id().value();
    } catch (NexaException unknown) {
      // Another workspace on the tier can have made the release.
      if (unknown.code() == ErrorCode.RUN_UNKNOWN && release.isPresent()) {
        return release.get();
      }
      throw unknown;
    }
    return graph
        .node(Kind.RUN, run)
        .orElseThrow(
            () ->
                ErrorCode.RECORD_DAMAGED.error(
                    "the plan or the manifest of " + run + " cannot be read; see the notes above"));
  }
}
