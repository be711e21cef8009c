package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.config.run.Sweep;
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
import java.util.stream.Collectors;

/**
 * Combines the launches of a sweep's points into one.
 *
 * <p>Equal words stay in the command. A word that differs becomes {@link Launch#VARIED}. A file
 * that differs is kept in {@code runner/<task>/}.
 */
record SweepLaunch(Plan plan, List<Launch> launches) {
  private static final String RUNNER = "${run_dir}/runner/";

  private static final List<String> PLACES =
      List.of("${node_rank}", "${is_first}", "${master_addr}", "${master_port}", "${rendezvous}");

  /**
   * Returns the combined launch.
   *
   * @throws ConfigException with the problems of all points
   */
  static Launch of(Plan plan, Backend backend) {
    List<Launch> launches = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    Set<Problem> seen = new HashSet<>();
    for (int task = 0; task < plan.shape().array().points().size(); task++) {
      try {
        launches.add(backend.launch(plan.at(task)));
      } catch (ConfigException wrong) {
        for (Problem problem : wrong.problems()) {
          if (seen.add(problem)) {
            problems.add(problem.atPoint(task, plan.shape().array().points().get(task)));
          }
        }
      }
    }
    Problem.throwIfAny(problems);
    boolean own = plan.payload().run().isPresent() || plan.payload().entrypoint().isPresent();
    if (!own && !(backend instanceof Plugin)) {
      requireDifferent(plan, launches);
    }
    if (own && !UnreadKeys.mayReadVariables(plan)) {
      requireRead(plan, launches);
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
            plan.shape().array().points().get(earlier)
                + " and "
                + plan.shape().array().points().get(task);
        String message = "backend " + plan.backend() + " makes the very same of " + same;
        throw plan.written().error("sweep", message);
      }
    }
  }

  /** Refuses a script that would get the same of all points, and does not read their variables. */
  private static void requireRead(Plan plan, List<Launch> launches) {
    Set<List<String>> commands = launches.stream().map(Launch::command).collect(Collectors.toSet());
    if (plan.payload().entrypoint().isEmpty() || launches.size() == 1 || commands.size() > 1) {
      return;
    }
    String key = plan.shape().array().points().get(0).members().keySet().iterator().next();
    String script = plan.payload().entrypoint().get().script().orElse("the program");
    throw plan.written()
        .error(
            "sweep",
            "all %s points would do the same work: %s gets no argument that differs, and does not read %s. To give it --%s, write options.%s in the sweep"
                .formatted(launches.size(), script, Sweep.variable(key), key, key));
  }

  private Launch together() {
    Launch first = launches.get(0);
    for (int task = 1; task < launches.size(); task++) {
      if (!launches.get(task).template().equals(first.template())) {
        String message =
            "its points need different job scripts: %s and %s"
                .formatted(first.template(), launches.get(task).template());
        throw plan.written().error("sweep", message);
      }
    }
    List<RunnerFile> files = new ArrayList<>(first.files());
    files.removeIf(file -> !isShared(file));
    Set<String> shared = files.stream().map(RunnerFile::name).collect(Collectors.toSet());
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
    return launches.stream()
        .map(launch -> launch.files().stream().filter(one -> one.name().equals(file.name())))
        .allMatch(same -> same.anyMatch(file::hasSameContent));
  }

  /**
   * Compares the commands word by word if they have equal lengths. Otherwise the words between the
   * common beginning and the common end differ for each point.
   */
  private Launch words(String template, List<RunnerFile> files, Set<String> own) {
    List<List<String>> commands =
        launches.stream().map(launch -> inTaskFolder(launch.command(), own)).toList();
    int shortest = commands.stream().mapToInt(List::size).min().orElseThrow();
    int longest = commands.stream().mapToInt(List::size).max().orElseThrow();
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
    List<String> notes =
        launches.stream().flatMap(launch -> launch.notes().stream()).distinct().toList();
    return new Launch(template, command, files, words, Optional.empty(), notes, List.of());
  }

  /**
   * Refuses placeholders that the job cannot resolve yet: a task reads its words before its nodes
   * know their ranks.
   */
  private String knownOutside(String word) {
    for (String place : PLACES) {
      if (word.contains(place)) {
        String message = "no value of a point may hold " + place;
        throw plan.written().error("sweep", message);
      }
    }
    return word;
  }

  /**
   * Returns whether all commands have the same word at a place, counted from the beginning or from
   * the end.
   */
  private static boolean isSame(List<List<String>> commands, int place, boolean fromBegin) {
    return commands.stream()
            .map(command -> command.get(fromBegin ? place : command.size() - 1 - place))
            .distinct()
            .count()
        == 1;
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
