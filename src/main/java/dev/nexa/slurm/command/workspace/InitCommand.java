package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.command.shared.RootCommand;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.command.workspace.InitWorkspace.Initialized;
import dev.nexa.slurm.command.workspace.ProfileDifferences.Difference;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm init}. */
public final class InitCommand extends Subcommand {
  private static final Columns<Difference> DIFFERENCES =
      new Columns<Difference>()
          .text("key", Difference::key)
          .text("file", Difference::file)
          .text("cluster", Difference::cluster);

  private final OptionSpec cluster =
      option(
          "--cluster NAME",
          "Writes only configs/clusters/NAME.yaml, with the values that the cluster reports. If the file exists, lists the differences.");
  private final OptionSpec group =
      option(
          "--group NAME",
          "Lets the members of this Unix group submit and read runs here. Nobody can change another user's runs.");
  private final OptionSpec examples =
      flag(
          "--examples",
          "Writes the examples, the schemas for editors and the folders for data, too.");
  private final OptionSpec json = jsonFlag();

  public InitCommand() {
    super(
        "init",
        "Writes a workspace: a cluster profile, a price book and a policy. If"
            + " Slurm's commands are on the PATH, the profile is read from Slurm.",
        "mkdir science && cd science && nexa-slurm init",
        "nexa-slurm init --cluster mine",
        "nexa-slurm init --group nlp");
  }

  @Override
  protected void work() {
    Optional<String> cluster = value(this.cluster);
    Context context = RootCommand.of(spec()).forInit();
    InitWorkspace workspace = new InitWorkspace(context, given(examples));
    Optional<ShareWorkspace> share =
        value(group).map(name -> ShareWorkspace.of(context.workspace(), name));
    Initialized done = cluster.isPresent() ? workspace.init(cluster.get()) : workspace.init();
    List<Path> shared = share.map(ShareWorkspace::share).orElse(List.of());
    if (given(json)) {
      List<String> paths = shared.stream().map(Path::toString).toList();
      print(done.toJson().withOptional("shared", share.map(with -> paths)));
    } else {
      tell(done, out());
      share.ifPresent(with -> tell(with, shared, out()));
    }
  }

  private static void tell(ShareWorkspace share, List<Path> shared, PrintWriter out) {
    share.parts(shared).forEach((part, count) -> out.println("shared " + part + inIt(count)));
    out.println(share.sentence(shared.isEmpty()));
    String closed = "members can't enter %s: move the workspace, or %s types: chmod o+x %s";
    share
        .closed()
        .map(folder -> closed.formatted(folder, Workspace.ownerOf(folder), folder))
        .ifPresent(out::println);
  }

  private static String inIt(int count) {
    return count == 0
        ? ""
        : " and " + count + (count == 1 ? " file or folder in it" : " files and folders in it");
  }

  private static void tell(Initialized done, PrintWriter out) {
    done.left().forEach(file -> out.println("left  " + file.normalize()));
    done.written().forEach(file -> out.println("wrote " + file.normalize()));
    Path profile = done.profile().normalize();
    if (done.cluster().isPresent()) {
      String slurm =
          "ClusterName %s, Slurm %s"
              .formatted(done.cluster().get().name(), done.cluster().get().version());
      boolean wrote = done.written().contains(done.profile());
      String differs =
          done.differences().isEmpty()
              ? " says what the cluster says ("
              : " differs from the cluster (";
      out.println(profile + (wrote ? " was read off the cluster (" : differs) + slurm + ")");
    }
    if (!done.differences().isEmpty()) {
      out.print(DIFFERENCES.of(done.differences()).table());
    }
    if (!done.settled().isEmpty()) {
      out.println(
          "you can't write to %s: files go to storage/ in this workspace (`storage` in %s)"
              .formatted(String.join(", ", done.settled()), profile));
    }
    if (!done.notWritable().isEmpty()) {
      out.println(
          ("you can't write to %s from here: set `storage` in %s, or NEXA_SCRATCH, "
                  + "NEXA_DURABLE and NEXA_SHARED, to folders that you can")
              .formatted(String.join(", ", done.notWritable()), profile));
    }
    out.println(
        done.written().isEmpty() ? "everything is there already" : "now look through " + profile);
    out.println("`nexa-slurm storage init` makes the folders of the storage tiers");
    if (!done.unpriced().isEmpty()) {
      out.println(
          "put your price of "
              + String.join(", ", done.unpriced())
              + " into "
              + prices(done)
              + ": "
              + (done.written().stream().anyMatch(file -> file.endsWith("prices/default.yaml"))
                  ? "it has a placeholder"
                  : "it has none"));
    }
    out.println("next: nexa-slurm " + String.join(" ", done.next()));
  }

  private static String prices(Initialized done) {
    return done.left().stream()
        .filter(file -> file.startsWith(ConfigSource.SITE) && file.endsWith("prices/default.yaml"))
        .findFirst()
        .map(Path::toString)
        .orElse("configs/prices/default.yaml");
  }
}
