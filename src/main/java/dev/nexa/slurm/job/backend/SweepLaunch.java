package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Combines the launches of a sweep's points into one.
 *
 * <p>Equal words stay in the command. A word that differs becomes {@link Launch#VARIED}. A file
 * that differs is kept in {@code runner/<task>/}.
 */
final class SweepLaunch {
  private static final String RUNNER = "${run_dir}/runner/";

  private static final List<String> PLACES =
      List.of("${node_rank}", "${is_first}", "${master_addr}", "${master_port}", "${rendezvous}");

  private final Plan plan;
  private final List<Launch> launches;

  private SweepLaunch(Plan plan, List<Launch> launches) {
    this.plan = plan;
    this.launches = launches;
  }

  /**
   * Returns the combined launch.
   *
   * @throws ConfigException with the problems of all points
   */
  static Launch of(Plan plan, Backend backend) {
    List<Launch> launches = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    Set<Problem> seen = new HashSet<>();
    for (int task = 0; task < plan.shape().points().size(); task++) {
      try {
        launches.add(backend.launch(plan.at(task)));
      } catch (ConfigException wrong) {
        for (Problem problem : wrong.problems()) {
          if (seen.add(problem)) {
            problems.add(problem.atPoint(task, plan.shape().points().get(task)));
          }
        }
      }
    }
    Problem.throwIfAny(problems);
    boolean own = plan.payload().run().isPresent() || plan.payload().entrypoint().isPresent();
    if (!own && !(backend instanceof Plugin)) {
      requireDifferent(plan, launches);
    }
    return new SweepLaunch(plan, launches).together();
  }

  /**
   * Refuses two points with equal commands and files: a runner would do the same work twice. A
   * user's program may still read NEXA_SWEEP_….
   */
  private static void requireDifferent(Plan plan, List<Launch> launches) {
    Map<String, Integer> seen = new HashMap<>();
    for (int task = 0; task < launches.size(); task++) {
      StringBuilder all = new StringBuilder(String.join("\0", launches.get(task).command()));
      for (RunnerFile file : launches.get(task).files()) {
        all.append('\0').append(file.digest());
      }
      Integer earlier = seen.putIfAbsent(all.toString(), task);
      if (earlier != null) {
        String same =
            plan.shape().points().get(earlier) + " and " + plan.shape().points().get(task);
        String message = "backend " + plan.backend() + " makes the very same of " + same;
        throw new ConfigException(plan.written().problem("sweep", message));
      }
    }
  }

  private Launch together() {
    Launch first = launches.get(0);
    for (int task = 1; task < launches.size(); task++) {
      if (!launches.get(task).template().equals(first.template())) {
        throw new ConfigException(
            plan.written()
                .problem(
                    "sweep",
                    "its points need different job scripts: %s and %s"
                        .formatted(first.template(), launches.get(task).template())));
      }
    }
    List<RunnerFile> files = new ArrayList<>();
    Set<String> shared = new HashSet<>();
    for (RunnerFile file : first.files()) {
      if (isShared(file)) {
        files.add(file);
        shared.add(file.name());
      }
    }
    Set<String> own = new HashSet<>();
    for (int task = 0; task < launches.size(); task++) {
      for (RunnerFile file : launches.get(task).files()) {
        if (!shared.contains(file.name())) {
          own.add(file.name());
          files.add(new RunnerFile(task + "/" + file.name(), file.content()));
        }
      }
    }
    return words(first.template(), files, own);
  }

  /** Returns whether all points have the same file. */
  private boolean isShared(RunnerFile file) {
    for (Launch launch : launches) {
      boolean has = false;
      for (RunnerFile other : launch.files()) {
        has |= other.name().equals(file.name()) && other.hasSameContent(file);
      }
      if (!has) {
        return false;
      }
    }
    return true;
  }

  /**
   * Compares the commands word by word if they have equal lengths. Otherwise the words between the
   * common beginning and the common end differ for each point.
   */
  private Launch words(String template, List<RunnerFile> files, Set<String> own) {
    List<List<String>> commands = new ArrayList<>();
    int shortest = Integer.MAX_VALUE;
    int longest = 0;
    for (Launch launch : launches) {
      commands.add(inTaskFolder(launch.command(), own));
      shortest = Math.min(shortest, launch.command().size());
      longest = Math.max(longest, launch.command().size());
    }
    List<String> first = commands.get(0);
    int before = 0;
    int after = 0;
    while (shortest < longest && before < shortest && isSame(commands, before, true)) {
      before++;
    }
    while (shortest < longest && after < shortest - before && isSame(commands, after, false)) {
      after++;
    }
    List<String> command = new ArrayList<>();
    List<List<Optional<String>>> words = new ArrayList<>();
    commands.forEach(ignored -> words.add(new ArrayList<>()));
    for (int i = 0; i < longest - after; i++) {
      boolean same = shortest == longest ? isSame(commands, i, true) : i < before;
      command.add(same ? first.get(i) : Launch.VARIED);
      for (int task = 0; !same && task < commands.size(); task++) {
        List<String> all = commands.get(task);
        boolean has = i < all.size() - after;
        words.get(task).add(has ? Optional.of(knownOutside(all.get(i))) : Optional.empty());
      }
    }
    command.addAll(first.subList(first.size() - after, first.size()));
    List<String> notes = new ArrayList<>();
    for (Launch launch : launches) {
      for (String note : launch.notes()) {
        if (!notes.contains(note)) {
          notes.add(note);
        }
      }
    }
    return new Launch(template, command, files, words, Optional.empty(), notes);
  }

  /**
   * Refuses placeholders that the job cannot resolve yet: a task reads its words before its nodes
   * know their ranks.
   */
  private String knownOutside(String word) {
    for (String place : PLACES) {
      if (word.contains(place)) {
        throw new ConfigException(
            plan.written().problem("sweep", "no value of a point may hold " + place));
      }
    }
    return word;
  }

  /**
   * Returns whether all commands have the same word at a place, counted from the beginning or from
   * the end.
   */
  private static boolean isSame(List<List<String>> commands, int place, boolean fromBegin) {
    String word = "";
    for (int task = 0; task < commands.size(); task++) {
      List<String> command = commands.get(task);
      String own = command.get(fromBegin ? place : command.size() - 1 - place);
      if (task > 0 && !own.equals(word)) {
        return false;
      }
      word = own;
    }
    return true;
  }

  /** Returns the words, with paths of files that differ changed to the task's folder. */
  private static List<String> inTaskFolder(List<String> command, Set<String> own) {
    List<String> words = new ArrayList<>();
    for (String word : command) {
      int at = word.indexOf(RUNNER);
      boolean moved = at >= 0 && own.contains(word.substring(at + RUNNER.length()));
      words.add(
          moved
              ? word.substring(0, at) + RUNNER + "${task}/" + word.substring(at + RUNNER.length())
              : word);
    }
    return words;
  }
}
