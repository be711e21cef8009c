package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A fact about a run that helps with a kind of failure, such as the folder where it started.
 *
 * @param name what the fact is about, as {@code why} prints it before the text
 */
public record Clue(String name, String text) {
  /** Backends that run our own program: there is no script to run by hand. */
  private static final Set<String> OURS = Set.of("data", "sync");

  /**
   * Returns the facts that help; empty for a failure that needs none.
   *
   * @param root the cause; empty if no cause is known
   * @param plan the run's plan.json
   */
  static List<Clue> of(Optional<Finding> root, JsonObject plan) {
    if (root.isPresent() && root.get().isEnvironment()) {
      return List.of();
    }
    return switch (root.map(Finding::failure).orElse("")) {
      case "missing-module" -> searchedForModules(plan);
      case "missing-file" ->
          List.of(
              new Clue(
                  "looked in", folder(plan) + "; a path without / at its beginning is below it"));
      case "" -> byHand(plan);
      default -> List.of();
    };
  }

  private static List<Clue> searchedForModules(JsonObject plan) {
    Optional<String> path =
        plan.optionalObject("env").flatMap(variables -> variables.optionalText("PYTHONPATH"));
    Optional<JsonObject> software = plan.optionalObject("software");
    Optional<String> environment =
        software
            .flatMap(loaded -> loaded.optionalText("venv"))
            .or(() -> software.flatMap(loaded -> loaded.optionalText("conda")))
            .or(() -> software.flatMap(loaded -> loaded.optionalText("container")));
    return List.of(
        new Clue(
            "looked in",
            path.map(folders -> "PYTHONPATH=" + folders)
                .orElse("no PYTHONPATH is set: --set env.PYTHONPATH=FOLDER adds a folder")),
        new Clue(
            "",
            environment
                .map(name -> "the environment is " + name)
                .orElse(
                    "no environment is set, so the first Python on the job's PATH runs: --set"
                        + " software.venv=FOLDER, software.conda or software.container names"
                        + " another")));
  }

  private static String folder(JsonObject plan) {
    return plan.optionalText("workdir")
        .map(folder -> "the run starts in " + folder + " (workdir)")
        .orElse("the run does not start in your folder: --set workdir=$PWD makes it do so");
  }

  private static List<Clue> byHand(JsonObject plan) {
    if (OURS.contains(plan.text("backend"))) {
      return List.of();
    }
    String folder = plan.optionalText("workdir").map(name -> " in " + name).orElse("");
    return List.of(
        new Clue("to do", "Run the program by hand" + folder + ", with the same arguments."),
        new Clue(
            "",
            plan.text("backend").equals("shell")
                ? "`bash -x SCRIPT` prints each command of a script before it runs."
                : "`python -X faulthandler SCRIPT` prints where it was, if it crashes."));
  }
}
