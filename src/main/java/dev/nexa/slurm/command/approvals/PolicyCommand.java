package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.PeriodOptions;
import dev.nexa.slurm.command.shared.RootCommand;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.yaml.Setting;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.approvals.TokenDirectory;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm policy}. */
public final class PolicyCommand extends CommandGroup {
  static final String APPROVED = "/etc/nexa-slurm/approved";

  private static final String CLUSTER = "The cluster profile, configs/clusters/NAME.yaml.";

  public PolicyCommand() {
    super(
        "policy",
        "Shows the policy in force. For Slurm's admin: prints the policy in Slurm's own terms.",
        "policy needs a command: type `policy show`, `policy install`, `policy plan` or `policy"
            + " replay`",
        "nexa-slurm policy show",
        "nexa-slurm policy install --to /etc/slurm/job_submit.lua");
    subcommands(new ShowCommand(), new InstallCommand(), new PlanCommand(), new ReplayCommand());
  }

  /** The command {@code policy show}. */
  private static final class ShowCommand extends Subcommand {
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super(
          "show",
          "Each value of the policy in force and the file and line it is from.",
          "nexa-slurm policy show");
    }

    @Override
    public Integer call() {
      Context context = context();
      Policy policy = context.configs().policy();
      // Policy files that are not used, because another one takes precedence.
      List<String> ignored = new ArrayList<>();
      if (Files.isRegularFile(ConfigReader.ADMIN_POLICY) && context.source().isOwn(OWN)) {
        ignored.add(context.root().resolve(OWN) + " (" + ConfigReader.ADMIN_POLICY + " wins)");
      }
      if (!policy.name().startsWith("jar:")) {
        ignored.add("jar:" + OWN + " (a file on disk wins)");
      }
      Listing<Setting> settings = SETTINGS.of(context.configs().policySettings());
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("file", policy.name())
                  .with("ignored", ignored)
                  .with("settings", settings.json()),
          () -> {
            say("policy: " + policy.name());
            ignored.forEach(other -> say("ignored: " + other));
            print("\n" + settings.table());
          });
    }
  }

  /** The command {@code policy install}. */
  private static final class InstallCommand extends Subcommand {
    private static final String USUAL_FILE = "/etc/slurm/job_submit.lua";

    private final OptionSpec to =
        option(
            "--to FILE",
            "Writes the script into FILE, such as " + USUAL_FILE + "; prints it if not given.");
    private final OptionSpec approved =
        option(
            "--approved-dir DIR",
            "Where the admin's approvals lie, on the machine of slurmctld; %s if not given."
                .formatted(APPROVED));
    private final OptionSpec cluster = option("--cluster NAME", CLUSTER);
    private final OptionSpec check =
        flag(
            "--check",
            "Writes nothing: checks that FILE is up to date and that only root can approve. Ends with 1 if not.");

    InstallCommand() {
      super(
          "install",
          "Renders a job_submit.lua: Slurm then refuses jobs over the policy's GPU-hours that have no approval.",
          "nexa-slurm policy install | less",
          "nexa-slurm policy install --to /etc/slurm/job_submit.lua",
          "nexa-slurm policy install --to /etc/slurm/job_submit.lua --check");
    }

    @Override
    public Integer call() {
      InstallPolicy install = new InstallPolicy(ruled());
      Path directory = Path.of(value(approved).orElse(APPROVED));
      InstallPolicy.Rendered rendered = install.render(value(cluster), directory);
      rendered.notes().forEach(this::note);
      String file = to.getValue();
      if (given(check)) {
        Path installed = Path.of(file == null ? USUAL_FILE : file);
        List<String> problems = install.check(rendered, installed, directory, command());
        problems.forEach(out()::println);
        if (problems.isEmpty()) {
          say("the script is up to date, and only root can approve");
        }
        return (problems.isEmpty() ? ExitCode.OK : ExitCode.DEFECT).status();
      }
      if (file == null) {
        print(rendered.text());
        return ExitCode.OK.status();
      }
      Path written = Path.of(file).toAbsolutePath().normalize();
      boolean replaced = Files.exists(written);
      install.write(rendered, Path.of(file), command());
      // Whether slurmctld, or a script of the site there, can load the file from its place.
      boolean inPlace =
          written.startsWith(Path.of(USUAL_FILE).getParent())
              || Files.exists(written.resolveSibling("slurm.conf"));
      String use =
          inPlace && replaced
              ? "; where slurm.conf has JobSubmitPlugins=lua, slurmctld uses it from the next job on"
              : "; Slurm does not use it yet";
      say("wrote " + written + " from " + rendered.policy() + use);
      say("next, on each machine of slurmctld, as root:");
      List<String> steps = new ArrayList<>(List.of("read " + written));
      Path place = inPlace ? written : Path.of(USUAL_FILE);
      steps.add(
          inPlace
              ? "let only root change it: chown root " + written + " && chmod 644 " + written
              : ("copy it to job_submit.lua beside slurm.conf; it must belong to root: "
                      + "install -o root -m 644 %s %s")
                  .formatted(written, place));
      steps.addAll(new TokenDirectory(directory).setUp());
      steps.add("write JobSubmitPlugins=lua into slurm.conf, then: scontrol reconfigure");
      List<String> again = new ArrayList<>(command());
      again.addAll(List.of("--to", place.toString(), "--check"));
      steps.add(Script.shellLine(again));
      for (int i = 0; i < steps.size(); i++) {
        say("  " + (i + 1) + ". " + steps.get(i));
      }
      return ExitCode.OK.status();
    }

    /**
     * Returns the words of this command with the typed options that decide what is written, so that
     * the next command is about the same cluster.
     */
    private List<String> command() {
      List<String> command = new ArrayList<>(List.of("nexa-slurm", "policy", "install"));
      RootCommand.of(spec())
          .typedWorkspace()
          .ifPresent(folder -> command.addAll(List.of("--workspace", folder.toString())));
      value(cluster).ifPresent(name -> command.addAll(List.of("--cluster", name)));
      value(approved).ifPresent(folder -> command.addAll(List.of("--approved-dir", folder)));
      return command;
    }
  }

  /** The command {@code policy replay}. */
  private static final class ReplayCommand extends Subcommand {
    private final PeriodOptions period =
        new PeriodOptions(
            this,
            "Jobs that were submitted then or later; 30d if not given.",
            "The zone of --since, --until and the file's times",
            "30d");
    private final OptionSpec until =
        option("--until TIME", "Jobs that were submitted before; now if not given.");
    private final OptionSpec from =
        option("--from FILE", "Reads what `sacct -P` printed, instead of calling sacct.");
    private final OptionSpec cluster = option("--cluster NAME", CLUSTER);
    private final OptionSpec json = jsonFlag();

    ReplayCommand() {
      super(
          "replay",
          "Says which jobs of all users the policy would have refused or sent to an approver; changes nothing.",
          "nexa-slurm policy replay --since 30d",
          "nexa-slurm policy replay --from jobs.txt --since 2026-10-01 --until 2026-11-01");
    }

    @Override
    public Integer call() {
      Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
      ZoneId zone = period.zone();
      PeriodOptions.Period time = period.until(until, Duration.ofDays(30), now, this);
      Optional<Path> file = value(from).map(Path::of);
      ReplayPolicy.Replayed replayed =
          new ReplayPolicy(ruled(), value(cluster))
              .replay(new ReplayPolicy.Asked(time.begin(), time.end(), file, zone));
      replayed.notes().forEach(this::note);
      replayed.problems().forEach(err()::println);
      String begin = period.told(time.begin());
      String end = period.told(time.end());
      return answer(
          json,
          () -> ReplayText.json(replayed),
          () -> print(ReplayText.text(replayed, begin, end)));
    }
  }

  /** The command {@code policy plan}. */
  private static final class PlanCommand extends Subcommand {
    private final OptionSpec cluster = option("--cluster NAME", CLUSTER);
    private final OptionSpec json = jsonFlag();

    PlanCommand() {
      super(
          "plan",
          "Prints the budgets as sacctmgr lines, and says how Slurm's limits differ from budgets; changes nothing.",
          "nexa-slurm policy plan",
          "nexa-slurm policy plan --cluster mine --json");
    }

    @Override
    public Integer call() {
      PlanPolicy.Plan plan = new PlanPolicy(ruled()).plan(value(cluster));
      return answer(json, () -> plan.toJson(), () -> print(plan.text()));
    }
  }

  private static final String OWN = "configs/policy.yaml";

  private static final Columns<Setting> SETTINGS =
      new Columns<Setting>()
          .text("key", Setting::key)
          .as("key")
          .text("value", Setting::value)
          .as("value")
          .text("from", Setting::from)
          .as("from");
}
