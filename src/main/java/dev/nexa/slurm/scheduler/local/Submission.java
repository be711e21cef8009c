package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a job was submitted with, besides its script: all that is needed to run it later, without
 * its submitter. It stands in the job's {@code job.json}.
 *
 * @param name the job's name
 * @param arguments the script's
 * @param array the indices asked for beside the script's own option
 * @param environment what the job inherits
 * @param umask the submitter's, in octal
 * @param submitted epoch seconds
 */
record Submission(
    String name,
    String scriptName,
    List<String> arguments,
    String output,
    String comment,
    Path directory,
    Optional<String> array,
    Map<String, String> environment,
    User user,
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

  static Submission of(JsonObject json) {
    Map<String, String> variables = new TreeMap<>();
    JsonObject environment = json.object("environment");
    for (String name : environment.members().keySet()) {
      variables.put(name, environment.text(name));
    }
    return new Submission(
        json.text("name"),
        json.text("script"),
        json.texts("arguments"),
        json.text("output"),
        json.text("comment"),
        Path.of(json.text("directory")),
        json.optionalText("array"),
        variables,
        new User(json.text("user"), json.number("uid"), json.number("gid")),
        json.text("host"),
        json.text("umask"),
        (int) json.number("processors"),
        json.number("submitted"),
        new LocalSettings(
            Duration.ofMillis(json.number("kill_wait_millis")),
            Duration.ofMillis(json.number("minute_millis"))));
  }
}
