package dev.nexa.slurm.command.nodes;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm diag install}. */
final class DiagInstallCommand extends Subcommand {
  private static final String PROGRAM = "diag_health.sh";
  private static final String SETTINGS = "diag.conf";

  private final OptionSpec to =
      option("--to DIR", "A folder that each node sees. Default: /etc/nexa-slurm/diag.");

  DiagInstallCommand() {
    super(
        "install",
        "For the cluster's administrator: writes a program for Slurm's HealthCheckProgram and Epilog, which drains a node with a critical finding, and resumes only what it has drained.",
        "nexa-slurm diag install",
        "nexa-slurm diag install --to /shared/slurm/nexa-diag");
  }

  @Override
  protected void work() {
    Path folder = Path.of(value(to).orElse("/etc/nexa-slurm/diag")).toAbsolutePath().normalize();
    DurableFiles files = DurableFiles.onDisk();
    files.directories(folder);
    Context context = anywhere();
    new DiagFiles(context.source()).writeTo(folder);
    Path program = folder.resolve(PROGRAM);
    files.replace(program, context.source().product("templates/node/" + PROGRAM).text());
    if (!program.toFile().setExecutable(true, false)) {
      throw invalid(program + ": cannot make it executable");
    }
    Storage tiers = Prepared.profile(context, Optional.empty()).storage();
    String conf = environment().getOrDefault("SLURM_CONF", "");
    Path settings = folder.resolve(SETTINGS);
    if (!Files.exists(settings)) {
      files.replace(
          settings,
          """
          # yes, or no: then no node is checked, drained or resumed.
          enabled=yes
          # No further node is drained while this share of all nodes is drained by these checks.
          most_percent=10
          # The storage that each node must have; an empty one is not checked.
          export NEXA_SCRATCH=%s NEXA_DURABLE=%s NEXA_SHARED=%s
          # slurmd passes on neither.
          export PATH=%s%s
          """
              .formatted(
                  Advice.word(tiers.scratch()),
                  Advice.word(tiers.durable()),
                  Advice.word(tiers.shared()),
                  Advice.word(
                      slurm() + "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
                  conf.isEmpty() ? "" : " SLURM_CONF=" + Advice.word(conf)));
    }
    say("wrote " + program + " and the checks beside it; " + settings + " switches them off");
    say("add to slurm.conf, then type `scontrol reconfigure`:");
    say("  HealthCheckProgram=" + program);
    say("  HealthCheckInterval=300");
    say("  HealthCheckNodeState=ANY,CYCLE");
    say("and, to check a node after each job, before others get it:");
    say("  Epilog=" + program);
  }

  /** Returns the folder of scontrol with a colon behind it; empty if the PATH has none. */
  private String slurm() {
    for (String folder : environment().getOrDefault("PATH", "").split(":", -1)) {
      if (folder.startsWith("/") && Files.isExecutable(Path.of(folder, "scontrol"))) {
        return folder + ":";
      }
    }
    return "";
  }
}
