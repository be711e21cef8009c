package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds a missing Python module in the user's own folders: it needs a path, no installation. */
final class OwnModule {
  private static final Pattern NAMED = Pattern.compile("No module named ['\"]?([A-Za-z_]\\w*)");

  private OwnModule() {}

  /**
   * Returns the finding for a module that lies in the run's folder, beside or above its script.
   * Empty if the finding is about something else, or if the module is in none of these folders.
   *
   * @param plan the run's plan.json
   * @param config the path of the run's config or script
   */
  static Optional<Finding> of(Finding missing, JsonObject plan, Path config) {
    Matcher name = NAMED.matcher(missing.line().map(place -> place.line().text()).orElse(""));
    if (!missing.failure().equals("missing-module") || !name.find()) {
      return Optional.empty();
    }
    Optional<String> path =
        plan.optionalObject("env").flatMap(variables -> variables.optionalText("PYTHONPATH"));
    List<String> searched = List.of(path.orElse("").split(":", -1));
    String more = path.map(old -> ":" + old).orElse("");
    Finding found =
        missing.meaning("Python does not search the folder in which your own module lies.");
    return folders(plan, config).stream()
        .filter(folder -> !searched.contains(folder.toString()) && holds(folder, name.group(1)))
        .findFirst()
        .map(it -> name.group(1) + " lies in " + it + ": --set env.PYTHONPATH=" + it + more)
        .map(found::advising);
  }

  private static boolean holds(Path folder, String module) {
    return Files.isRegularFile(folder.resolve(module + ".py"))
        || Files.isDirectory(folder.resolve(module));
  }

  /**
   * Returns the folder of the script, the folder above it, and the run's folder, with their src.
   */
  private static Set<Path> folders(JsonObject plan, Path config) {
    Path beside = config.toAbsolutePath().normalize().resolveSibling("");
    Set<Path> folders = new LinkedHashSet<>();
    plan.optionalObject("entrypoint")
        .flatMap(entrypoint -> entrypoint.optionalText("script"))
        .ifPresent(script -> add(folders, beside.resolve(script).normalize().resolveSibling("")));
    add(folders, beside);
    plan.optionalText("workdir").ifPresent(folder -> add(folders, Path.of(folder)));
    return folders;
  }

  private static void add(Set<Path> folders, Path folder) {
    folders.add(folder);
    folders.add(folder.resolve("src"));
    folders.add(folder.resolveSibling(""));
  }
}
