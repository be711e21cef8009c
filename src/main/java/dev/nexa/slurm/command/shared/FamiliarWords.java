package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Words that people type by habit, because another program has a command or an option of that name,
 * and what to type here.
 *
 * <p>A command that ends or changes something is named in a sentence, never as a command that can
 * be run unchanged.
 */
final class FamiliarWords {
  /**
   * Words of other programs, and what to type here: a sentence, or a command and what it does.
   * NAMED stands for the config or script that was typed, WORDS for all that was typed.
   */
  private static final String COMMANDS =
      """
      ls list ps jobs queue squeue top watch stat get | nexa-slurm status; shows the unfinished runs
        | nexa-slurm runs list; lists all runs
      history sacct log | nexa-slurm runs list; lists all runs
        | nexa-slurm logs latest; prints the newest run's output
      show info describe inspect | nexa-slurm runs show latest; shows the newest run
        | To show another run: nexa-slurm runs show RUN
      rm remove del delete kill stop down end abort scancel | To end a run: nexa-slurm cancel RUN
      run start launch sbatch srun create new apply up compose | To start a run: nexa-slurm submit NAMED
      exec attach salloc sattach ssh bash | To open a shell in a running job: nexa-slurm shell RUN
        | To start a run: nexa-slurm submit NAMED
      retry restart resume requeue | To run a run's failed tasks again: nexa-slurm rerun --failed RUN
      pause suspend hold | To stop a run so that it can go on later: nexa-slurm interrupt RUN
      tail output | nexa-slurm logs -f latest; follows the newest run
      check validate test lint plan preview dryrun dry-run | To check a config and its cost: nexa-slurm estimate NAMED
        | To see the job's script: nexa-slurm render NAMED
      push pull cp copy upload download rsync | To copy a folder to S3: nexa-slurm sync push DIR s3://BUCKET/PREFIX
        | To copy it back: nexa-slurm sync pull s3://BUCKET/PREFIX DIR
      build image images | nexa-slurm explain software.container; how a run uses an image
      config configure setup login | nexa-slurm init; writes a cluster profile and example configs
        | nexa-slurm explain config; lists the keys of a run's config
      sinfo nodes gpus show-gpus partitions | To see the nodes: sinfo
        | To compare the partitions: nexa-slurm estimate NAMED --compare
        | nexa-slurm prices show; shows the prices
      seff sstat | To see what a run used: nexa-slurm monitor show RUN
      scontrol sacctmgr sprio sshare sdiag | It is Slurm's own command: WORDS
      budget budgets quota | nexa-slurm costs budget; shows what is left of each budget
      price rates | nexa-slurm prices show; shows the prices
        | To see a price before a run: nexa-slurm estimate NAMED
      cost spend spending bill bills billing invoice sreport cost-report | nexa-slurm costs; shows what finished runs cost
        | To see a price before a run: nexa-slurm estimate NAMED
      reports | nexa-slurm costs; shows what finished runs cost
      version | nexa-slurm --version;\s
      """;

  private FamiliarWords() {}

  /**
   * Returns the commands that do what a word says elsewhere; empty for other words.
   *
   * @param words the word, and what was typed after it
   */
  static List<Advice> advice(List<String> words) {
    if (canBeSubmitted(words.get(0))) {
      return List.of(Advice.step("To start it: nexa-slurm submit " + words.get(0)));
    }
    String file = words.stream().filter(FamiliarWords::canBeSubmitted).findFirst().orElse("CONFIG");
    return find(COMMANDS, words, file);
  }

  /**
   * Returns what a table of familiar words says about the first of the words.
   *
   * @param named what {@code NAMED} stands for in the table
   */
  static List<Advice> find(String table, List<String> words, String named) {
    List<Advice> advice = new ArrayList<>();
    boolean meant = false;
    for (String line : table.lines().toList()) {
      String[] cells = line.split(" *\\| ", 2);
      meant = cells[0].isEmpty() ? meant : List.of(cells[0].split(" ", -1)).contains(words.get(0));
      if (meant) {
        String[] parts = cells[1].replace("NAMED", named).split("; *", 2);
        advice.add(
            parts.length == 2
                ? Advice.command(parts[1], (Object[]) parts[0].split(" ", -1))
                : Advice.step(parts[0].replace("WORDS", String.join(" ", words))));
      }
    }
    return advice;
  }

  private static boolean canBeSubmitted(String word) {
    return FromScript.hasScriptName(word) || word.matches(".+\\.ya?ml");
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
          ("--gpus-per-node --cpus-per-task --job-name --ntasks --ntasks-per-node --output --chdir"
                  + " --wait --watch --lines")
              .split(" ", -1));

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
    String ours =
        switch (name) {
          case "-v", "-vv", "--verbose", "--debug" ->
              "--stacktrace shows more of an error; nexa-slurm -V prints the version";
          case "-C", "--directory" -> "type --workspace DIR";
          case "-w", "--wait", "--watch" -> waiting(command);
          case "-n", "--lines" -> own.contains("--tail") ? "--tail N prints the last N lines" : "";
          default -> "";
        };
    return ours.isEmpty() ? Optional.empty() : Optional.of(Advice.step(ours));
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
      case "-x", "--exclude" -> "type --set resources.exclude=NODES";
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
      case "--mail-user", "--mail-type" ->
          "type --set mail.user=ADDRESS and, unless it is END,FAIL, --set mail.type=EVENTS; Slurm"
              + " sends the mail";
      case "-f" -> "type the config without an option: nexa-slurm submit CONFIG";
      default -> null;
    };
  }
}
