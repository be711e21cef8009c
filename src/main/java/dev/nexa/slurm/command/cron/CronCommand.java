package dev.nexa.slurm.command.cron;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.PeriodOptions;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.cron.CronPasses;
import dev.nexa.slurm.run.cron.CronPasses.Installed;
import dev.nexa.slurm.run.cron.CronPasses.Shown;
import dev.nexa.slurm.run.cron.OtherPasses;
import dev.nexa.slurm.run.cron.PassInterval;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The commands {@code cron install}, {@code cron show} and {@code cron remove}. */
public final class CronCommand extends CommandGroup {
  public CronCommand() {
    super(
        "cron",
        "Lets reconcile run by itself: a line in your crontab, or a systemd user timer.",
        "cron needs a command: type `cron install`, `cron show` or `cron remove`",
        "nexa-slurm cron install",
        "nexa-slurm cron show");
    subcommands(new InstallCommand(), new ShowCommand(), new RemoveCommand());
  }

  /** The command {@code cron install}. */
  private static final class InstallCommand extends Subcommand {
    private final OptionSpec every =
        option("--every TIME", "How often: 1m, 5m, 30m, 1h, 6h; 5m if not given.");
    private final OptionSpec systemd =
        flag("--systemd", "A systemd user timer instead of a line in your crontab.");
    private final OptionSpec metrics =
        option("--metrics FILE", "Each pass writes FILE, for Prometheus' node_exporter.");

    private final OptionSpec cleanup =
        option(
            "--cleanup DAYS",
            "Once a day, a pass also does `cleanup --days DAYS --yes` (`nexa-slurm explain docs/storage.md`).");

    InstallCommand() {
      super(
          "install",
          "Writes this workspace's line into your crontab, or corrects it; every other line stays.",
          "nexa-slurm cron install",
          "nexa-slurm cron install --every 10m --metrics /var/lib/node_exporter/science.prom",
          "nexa-slurm cron install --cleanup 7",
          "nexa-slurm cron install --systemd");
    }

    @Override
    protected void work() {
      PassInterval period = value(every).map(PassInterval::parse).orElse(PassInterval.DEFAULT);
      Optional<Path> wanted = value(metrics).map(Path::of);
      wanted.ifPresent(InstallCommand::requireFolder);
      Optional<Integer> days = value(cleanup).map(typed -> PeriodOptions.days("--cleanup", typed));
      CronPasses passes = new CronPasses(existing());
      Installed installed =
          given(systemd)
              ? passes.intoSystemd(period, wanted, days)
              : passes.intoCrontab(period, wanted, days);
      say(installed.by() + "  " + installed.what());
      say("a pass every " + period + "; `nexa-slurm cron show` shows whether passes happen");
      if (given(systemd)) {
        say("while you are logged in; for good: loginctl enable-linger");
      }
    }

    private static void requireFolder(Path file) {
      Path folder = file.toAbsolutePath().normalize().getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw invalid(
            "--metrics " + file + ": there is no folder " + folder,
            "name a file in a folder that exists");
      }
    }
  }

  /** The command {@code cron show}. */
  private static final class ShowCommand extends Subcommand {
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super(
          "show",
          "Shows the installed line or timer of this workspace, and the newest pass. Ends with 1 if passes are missing.",
          "nexa-slurm cron show");
    }

    @Override
    public Integer call() {
      Shown shown = new CronPasses(existing()).show();
      answer(json, () -> shown.toJson(), () -> tell(shown));
      return shown.check().late() ? ExitCode.DEFECT.status() : ExitCode.OK.status();
    }

    private void tell(Shown shown) {
      shown.notRead().ifPresent(why -> err().println("nexa-slurm: " + why));
      for (Installed one : shown.installed()) {
        say(one.by() + "  " + one.what() + "  (every " + one.every() + ")");
        one.start().ifPresent(start -> say("  it is written and not enabled; type: " + start));
      }
      if (shown.installed().isEmpty()) {
        say(
            shown.notRead().isEmpty()
                ? "nothing is installed; type:"
                : "it is not known whether something is installed; if it is not, type:");
        OtherPasses.first(environment()).forEach(way -> say("  " + way));
      }
      say(shown.check().words());
      String pass = "it looked at %s unfinished runs, changed %s, read %s rows and took %s ms";
      shown
          .heartbeat()
          .map(
              it ->
                  pass.formatted(
                      it.runsRead(), it.runsChanged(), it.rowsRead(), it.took().toMillis()))
          .ifPresent(this::say);
    }
  }

  /** The command {@code cron remove}. */
  private static final class RemoveCommand extends Subcommand {
    RemoveCommand() {
      super(
          "remove",
          "Removes this workspace's line from your crontab, and its systemd user timer.",
          "nexa-slurm cron remove");
    }

    @Override
    protected void work() {
      List<Installed> removed = new ArrayList<>();
      try {
        new CronPasses(existing()).remove(removed);
      } finally {
        removed.forEach(one -> say("removed  " + one.by() + "  " + one.what()));
      }
      if (removed.isEmpty()) {
        say("nothing was installed");
      }
    }
  }
}
