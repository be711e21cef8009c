package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.InitWorkspace;
import dev.nexa.slurm.app.InitWorkspace.Initialized;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.report.ProfileDifferences.Difference;
import dev.nexa.slurm.report.Table;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm init}. */
final class InitCommand extends Subcommand {
  private final OptionSpec cluster =
      option(
          "--cluster",
          "NAME",
          "Writes only configs/clusters/NAME.yaml, read off the cluster; tells where it differs if it is there.");
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  InitCommand() {
    super(
        "init",
        "Writes a starter workspace: a cluster profile, read off Slurm where its clients are on the PATH,"
            + " a price book, a policy and two configs.",
        "mkdir science && cd science && nexa-slurm init",
        "nexa-slurm init --cluster mine");
  }

  @Override
  public Integer call() {
    Optional<String> name = Optional.ofNullable(cluster.getValue());
    InitWorkspace workspace = new InitWorkspace(nexa());
    Initialized done = name.isPresent() ? workspace.init(name.get()) : workspace.init();
    if (given(json)) {
      out().print(Json.pretty(done.toJson()));
    } else {
      tell(done, out());
    }
    return ExitCode.OK.status();
  }

  private static void tell(Initialized done, PrintWriter out) {
    for (Path file : done.left()) {
      out.println("left  " + file.normalize());
    }
    for (Path file : done.written()) {
      out.println("wrote " + file.normalize());
    }
    Path profile = done.profile().normalize();
    if (done.cluster().isPresent()) {
      String slurm =
          "ClusterName "
              + done.cluster().get().name()
              + ", Slurm "
              + done.cluster().get().version();
      boolean wrote = done.written().contains(done.profile());
      String differs =
          done.differences().isEmpty()
              ? " says what the cluster says ("
              : " differs from the cluster (";
      out.println(profile + (wrote ? " was read off the cluster (" : differs) + slurm + ")");
    }
    if (!done.differences().isEmpty()) {
      Table table = new Table("KEY", "FILE", "CLUSTER");
      for (Difference difference : done.differences()) {
        table.row(difference.key(), difference.file(), difference.cluster());
      }
      out.print(table);
    }
    if (!done.notWritable().isEmpty()) {
      out.println(
          "you can't write to "
              + String.join(", ", done.notWritable())
              + " from here: set `storage` in "
              + profile
              + ", or NEXA_SCRATCH, NEXA_DURABLE and NEXA_SHARED, to folders that you can");
    }
    out.println(
        done.written().isEmpty() ? "everything is there already" : "now look through " + profile);
  }
}
