package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The arguments of a submission, stored in the job's {@code job.json}. Together with the script
 * they are enough to run the job without its submitter.
 *
 * @param name the job's name
 * @param scriptName the name of the submitted file
 * @param arguments the script's arguments
 * @param output the output pattern; empty for the script's own
 * @param comment the comment; empty for none
 * @param directory the job's working directory
 * @param array array indices that replace those of the script
 * @param dependency what the job waits for, in sbatch's notation; empty for none
 * @param environment the variables that the job inherits
 * @param user the submitter
 * @param host the host's short name
 * @param umask the submitter's umask, in octal
 * @param processors the number of processors
 * @param submitted epoch seconds
 * @param settings time limits
 */
record LocalSubmission(
    String name,
    String scriptName,
    List<String> arguments,
    String output,
    String comment,
    Path directory,
    Optional<String> array,
    String dependency,
    Map<String, String> environment,
    JobUser user,
    String host,
    String umask,
    int processors,
    long submitted,
    LocalSettings settings) {

  JsonObject toJson() {
    JsonObject variables = new JsonObject();
    environment.forEach(variables::with);
    return new JsonObject()
        .with("name", name)
        .with("script", scriptName)
        .with("arguments", arguments)
        .with("output", output)
        .with("comment", comment)
        .with("directory", directory.toString())
        .withOptional("array", array)
        .with("dependency", dependency)
        .with("user", user.name())
        .with("uid", user.uid())
        .with("gid", user.gid())
        .with("host", host)
        .with("umask", umask)
        .with("processors", processors)
        .with("submitted", submitted)
        .with("kill_wait_millis", settings.killWait().toMillis())
        .with("minute_millis", settings.minute().toMillis())
        .with("environment", variables);
  }

  static LocalSubmission of(JsonObject json) {
    Map<String, String> variables = new TreeMap<>();
    JsonObject environment = json.object("environment");
    for (String name : environment.members().keySet()) {
      variables.put(name, environment.text(name));
    }
    return new LocalSubmission(
        json.text("name"),
        json.text("script"),
        json.texts("arguments"),
        json.text("output"),
        json.text("comment"),
        Path.of(json.text("directory")),
        json.optionalText("array"),
        json.optionalText("dependency").orElse(""),
        variables,
        new JobUser(json.text("user"), json.number("uid"), json.number("gid")),
        json.text("host"),
        json.text("umask"),
        (int) json.number("processors"),
        json.number("submitted"),
        new LocalSettings(
            Duration.ofMillis(json.number("kill_wait_millis")),
            Duration.ofMillis(json.number("minute_millis"))));
  }
}
