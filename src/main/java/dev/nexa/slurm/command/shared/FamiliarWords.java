package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Words that people type by habit, because another program has a command or an option of that name,
 * and what does it here.
 *
 * <p>A command that ends or changes something is named in a sentence, never as a command that can
 * be run as it is.
 */
final class FamiliarWords {
  private FamiliarWords() {}

  /** Returns the commands that do what the word says elsewhere; empty for other words. */
  static List<Advice> advice(String word) {
    return switch (word) {
      case "ls", "list", "ps", "jobs", "queue", "squeue", "top", "watch", "stat" ->
          List.of(
              Advice.command("shows the unfinished runs", "nexa-slurm", "status"),
              Advice.command("lists all runs", "nexa-slurm", "runs", "list"));
      case "history", "sacct" ->
          List.of(Advice.command("lists all runs", "nexa-slurm", "runs", "list"));
      case "show", "info", "describe", "get" ->
          List.of(
              Advice.command("shows the newest run", "nexa-slurm", "runs", "show", "latest"),
              Advice.step("To show another run: nexa-slurm runs show RUN"));
      case "rm", "remove", "del", "delete", "kill", "stop", "end", "abort", "scancel" ->
          List.of(Advice.step("To end a run: nexa-slurm cancel RUN"));
      case "run", "start", "launch", "exec", "sbatch", "srun", "create", "new", "apply" ->
          List.of(Advice.step("To start a run: nexa-slurm submit CONFIG"));
      case "retry", "restart", "resume", "requeue" ->
          List.of(Advice.step("To run a run's failed tasks again: nexa-slurm rerun --failed RUN"));
      case "tail", "output" ->
          List.of(Advice.command("follows the newest run", "nexa-slurm", "logs", "-f", "latest"));
      case "budget", "budgets", "quota" ->
          List.of(
              Advice.command("shows what is left of each budget", "nexa-slurm", "costs", "budget"));
      case "price", "rates" ->
          List.of(
              Advice.command("shows the prices", "nexa-slurm", "prices", "show"),
              Advice.step("To see a price before a run: nexa-slurm estimate CONFIG"));
      case "cost", "spend", "spending", "bill", "bills", "billing", "invoice", "sreport" ->
          List.of(
              Advice.command("shows what finished runs cost", "nexa-slurm", "costs"),
              Advice.step("To see a price before a run: nexa-slurm estimate CONFIG"));
      case "report", "reports" ->
          List.of(Advice.command("shows what finished runs cost", "nexa-slurm", "costs"));
      case "version" -> List.of(Advice.command("", "nexa-slurm", "--version"));
      default ->
          TypedFile.hasScriptName(word) || word.matches(".+\\.ya?ml")
              ? List.of(Advice.step("To start it: nexa-slurm submit " + word))
              : List.of();
    };
  }

  /** Returns what to type instead of a word behind {@code cleanup}; empty for other commands. */
  static List<Advice> ofCleanup(String command, String word) {
    if (!command.equals("cleanup")) {
      return List.of();
    }
    if (List.of("undo", "restore", "revert").contains(word)) {
      return List.of(
          Advice.step("To bring back what a cleanup moved: nexa-slurm cleanup --undo ID"));
    }
    if (word.equals("s3") || word.startsWith("s3:") || word.equals("bucket")) {
      return List.of(
          Advice.step("To look at the profile's bucket: nexa-slurm cleanup --s3 --dry-run"));
    }
    return word.equals("list") || word.equals("ls")
        ? List.of()
        : List.of(
            Advice.step("cleanup takes no run and no path; it looks at all runs of the workspace"));
  }

  /** Returns the command of ours for a word that other programs have for it; empty for others. */
  static Optional<String> synonym(String word, Collection<String> commands) {
    List<String> ours =
        switch (word) {
          case "uninstall", "delete", "rm", "del", "disable", "off", "clear" ->
              List.of("remove", "revoke", "unhalt", "retire");
          case "enable", "add", "on", "setup", "start" -> List.of("install", "register");
          case "check", "validate", "test", "get", "cat", "info", "describe" ->
              List.of("verify", "show");
          default -> List.of();
        };
    return ours.stream().filter(commands::contains).findFirst();
  }

  /** The options of sbatch and of other programs that {@link #option} knows. */
  static final List<String> OPTIONS =
      List.of(
          "--gpus-per-node",
          "--cpus-per-task",
          "--job-name",
          "--ntasks",
          "--ntasks-per-node",
          "--output",
          "--chdir",
          "--wait",
          "--watch",
          "--lines");

  /**
   * Returns what does here what an option does elsewhere; empty for other options.
   *
   * @param command the command's name, such as {@code logs}
   * @param name the option as it was typed, without its value
   * @param own the long names of the command's options; an option of ours is named only if it is
   *     among them
   */
  static Optional<Advice> option(String command, String name, Collection<String> own) {
    if (own.contains("--set")) {
      return Optional.ofNullable(job(name)).map(ours -> Advice.step(name + ": " + ours));
    }
    if (own.contains("--limit") && List.of("-n", "--lines", "--tail", "-l").contains(name)) {
      return Optional.of(Advice.step("--limit N lists at most N"));
    }
    if (own.contains("--limit") && List.of("-a", "--all").contains(name)) {
      return Optional.of(Advice.step("--limit 100000 lists all"));
    }
    if (own.contains("--state") && List.of("--status", "--states", "-t").contains(name)) {
      return Optional.of(Advice.step("type --state failed,timeout, with your states"));
    }
    Optional<Advice> report = SumWords.option(command, name, own);
    if (report.isPresent()) {
      return report;
    }
    if (command.equals("status") && List.of("-u", "--user", "--me", "-a", "--all").contains(name)) {
      return Optional.of(
          Advice.step(
              name + ": status shows all unfinished runs; nexa-slurm runs list --where user=NAME"));
    }
    if (own.contains("--since") && List.of("--month", "--from", "--after").contains(name)) {
      return Optional.of(Advice.step(name + ": type --since 2025-11-01, with your date"));
    }
    return switch (name) {
      case "-w", "--wait", "--watch" -> Optional.of(Advice.step(waiting(command)));
      case "-n", "--lines" ->
          own.contains("--tail")
              ? Optional.of(Advice.step("--tail N prints the last N lines"))
              : Optional.empty();
      default -> Optional.empty();
    };
  }

  private static String waiting(String command) {
    return switch (command) {
      case "logs" -> "-f goes on until the run has ended";
      case "status" ->
          Advice.command("shows the state until you end it", "nexa-slurm", "status", "--watch")
              .toString();
      default -> "To wait for the end of a run: nexa-slurm logs -f RUN";
    };
  }

  /** Returns what a job's option of sbatch or of a container program is here. */
  static @Nullable String job(String name) {
    return switch (name) {
      case "-G" ->
          "type --gpus N, the GPUs on each node; sbatch's -G counts the GPUs of the whole job";
      case "--gres", "--gpus-per-node", "--gpus-per-task" ->
          "type --gpus [TYPE:]N, the GPUs on each node";
      case "--cpus-per-task", "--cpus-per-gpu" ->
          "type --cpus N, the CPUs on each node for all processes together";
      case "--mem-per-cpu", "--mem-per-gpu" -> "type --mem SIZE, the memory on each node";
      case "--job-name" -> "type --name NAME";
      case "-n", "--ntasks", "--ntasks-per-node", "--nproc_per_node", "--nproc-per-node" ->
          "leave it out, because the launcher starts one process for each GPU; --nodes and --gpus"
              + " say how many";
      case "-a", "--array" ->
          "write a sweep into the config, which makes an array (`nexa-slurm explain docs/sweeps.md`)";
      case "-o", "-e", "--output", "--error" ->
          "leave it out, because nexa-slurm keeps the output, and `nexa-slurm logs RUN` prints it";
      case "-q", "--qos" -> "type --set resources.qos=NAME";
      case "-C", "--constraint" -> "type --set resources.constraint=FEATURES";
      case "-w", "--nodelist" -> "type --set resources.nodelist=NODES";
      case "-L", "--licenses" -> "type --set resources.licenses=NAMES";
      case "--reservation" -> "type --set resources.reservation=NAME";
      case "--exclusive" -> "type --set resources.exclusive=true";
      case "-D", "--chdir" -> "type --set workdir=DIR";
      case "--export", "--env" -> "type --set env.NAME=VALUE for each variable";
      case "--image", "--container", "--container-image" -> "type --set software.container=IMAGE";
      case "--project", "--tag", "--tags" -> "type --set 'tags=[project:NAME]'";
      case "-y", "--yes", "--force" -> "leave it out, because submit asks nothing";
      case "--requeue" -> "type --set requeues=1";
      case "-d" -> "type --dependency TYPE:RUN";
      case "-W" -> "type --wait";
      case "--wrap" -> "write the command into a script (.sh), and type the script's name";
      case "--mail-user", "--mail-type" ->
          "type --set mail.user=ADDRESS and, unless it is END,FAIL, --set mail.type=EVENTS; Slurm"
              + " sends the mail";
      case "-f" -> "type the config without an option: nexa-slurm submit CONFIG";
      default -> null;
    };
  }
}
