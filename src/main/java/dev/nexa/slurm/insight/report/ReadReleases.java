package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.releases.CurrentModel;
import dev.nexa.slurm.storage.releases.HistoryLine;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.ReleaseHistory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Reads the releases of the default profile's durable tier, and when they were deployed. */
record ReadReleases(Context context) {
  /** Returns the releases, newest first. One that cannot be read is a problem. */
  List<ReleaseDetail> all(List<String> problems) {
    String durable;
    try {
      durable = context.configs().cluster(Prepared.clusterName(context)).storage().durable();
    } catch (RuntimeException noProfile) {
      return List.of();
    }
    if (!Files.isDirectory(ReleaseFolder.parent(durable))) {
      return List.of();
    }
    Path deploy = RequireNoHalt.deploy(durable);
    List<HistoryLine> history = new ArrayList<>();
    Optional<String> leads = Optional.empty();
    try {
      ReleaseHistory.Content content =
          new ReleaseHistory(deploy, context.workspace().files()).read();
      history.addAll(content.lines());
      problems.addAll(content.problems());
      leads = new CurrentModel(deploy, context.workspace().files()).release();
    } catch (RuntimeException unreadable) {
      problems.add("the history of releases: " + unreadable.getMessage());
    }
    List<ReleaseDetail> releases = new ArrayList<>();
    for (ReleaseFolder folder : ReleaseFolder.all(durable)) {
      boolean inProduction = leads.equals(Optional.of(folder.name()));
      CollectReport.tried(
              folder.name(), problems, () -> Optional.of(release(folder, inProduction, history)))
          .ifPresent(releases::add);
    }
    releases.sort(Comparator.comparing(ReleaseDetail::ended).reversed());
    return releases;
  }

  private static ReleaseDetail release(
      ReleaseFolder folder, boolean inProduction, List<HistoryLine> history) {
    String name = folder.name();
    String digest = folder.digest();
    ReleaseFile document = folder.document();
    List<Fact> facts = new ArrayList<>();
    facts.add(new Fact("Submitted by", document.origin().submitter().toString()));
    ReleaseFile.Model model = document.model();
    facts.add(new Fact("Model class", model.modelClass().orElse("unknown")));
    facts.add(
        new Fact(
            model.adapter() ? "Adapter of" : "Base", model.base().orElse(ReleaseFile.UNKNOWN)));
    document.datasets().forEach(read -> facts.add(new Fact("Dataset", read.reference())));
    document.evaluation().ifPresent(it -> facts.add(new Fact("Evaluated by", it.run())));
    String gate = document.gate().map(it -> it.passed() ? "passed" : "failed").orElse("none");
    document
        .gate()
        .map(it -> it.run() + it.figures().optionalText("reason").map(": "::concat).orElse(""))
        .ifPresent(by -> facts.add(new Fact("Gate", gate + ", by " + by)));
    facts.add(new Fact("Licence", document.licence()));
    facts.add(new Fact("Pickled files", Integer.toString(document.pickles().size())));
    facts.add(
        new Fact(
            "Size",
            Memory.rounded(document.bytes()) + " in " + document.files().size() + " files"));
    facts.add(new Fact("SHA-256", digest));
    Optional<String> own = Optional.of(name);
    List<ReleaseDetail.Deployment> deployments =
        history.stream()
            .filter(line -> line.what().release().equals(own) || line.what().from().equals(own))
            .filter(line -> !line.what().action().isIntent())
            .map(
                line ->
                    new ReleaseDetail.Deployment(
                        line.at(),
                        line.what().action().text(),
                        line.author().signer(),
                        line.what().reason()))
            .toList();
    return new ReleaseDetail(
        name,
        digest,
        document.origin().run(),
        document.origin().ended(),
        gate,
        document.bytes(),
        inProduction,
        facts,
        deployments);
  }
}
