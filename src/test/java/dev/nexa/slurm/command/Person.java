package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Somebody who types commands in a workspace, on the cluster that its profile {@code test} is. */
public final class Person {
  /** How often half a second is waited: other tests' jobs may fill the nodes for minutes. */
  private static final int PATIENCE = 360;

  private final Path workspace;
  private final Map<String, String> more;

  public Person(Path workspace) {
    this(workspace, Map.of());
  }

  /** With more variables in the environment. */
  public Person(Path workspace, Map<String, String> more) {
    this.workspace = workspace;
    this.more = more;
  }

  /** A profile whose storage is the test's own. */
  public void slurmProfile(String extra) throws IOException {
    Path profile = workspace.resolve("configs/clusters/test.yaml");
    Files.createDirectories(profile.getParent());
    Files.writeString(
        profile,
        extra
            + """
            storage:
              scratch: ${workspace}/scratch
              durable: ${workspace}/durable
              shared: ${workspace}/shared
            """);
  }

  public JsonObject submitAndWait(String... arguments) {
    return json(typed(List.of("submit", "--json", "--wait"), arguments));
  }

  public JsonObject submit(String... arguments) {
    return json(typed(List.of("submit", "--json"), arguments));
  }

  /** On the profile {@code test}, unless the arguments say where. */
  private static String[] typed(List<String> first, String... more) {
    List<String> all = new ArrayList<>(first);
    all.addAll(List.of(more));
    if (!all.contains("--local") && !all.contains("--cluster")) {
      all.addAll(List.of("--cluster", "test"));
    }
    return all.toArray(String[]::new);
  }

  public JsonObject json(String... command) {
    return Json.parseObject(says(command));
  }

  /** What a command prints on stdout. */
  public String says(String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    type(out, err, command);
    assertThat(out.toString()).as(err.toString()).isNotEmpty();
    return out.toString();
  }

  /** What a command that is refused prints on stderr. */
  public String fails(String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertThat(type(out, err, command)).as(out.toString()).isEqualTo(2);
    return err.toString();
  }

  /** Types a command until stdout or stderr holds the text. */
  public String until(String text, String... command) throws InterruptedException {
    String said = "";
    for (int i = 0; i < PATIENCE; i++) {
      StringWriter out = new StringWriter();
      type(out, out, command);
      said = out.toString();
      if (said.contains(text)) {
        return said;
      }
      Thread.sleep(500);
    }
    throw new AssertionError(List.of(command) + " never said '" + text + "', but: " + said);
  }

  private int type(StringWriter out, StringWriter err, String... command) {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    environment.putAll(more);
    return Main.run(command, environment, new PrintWriter(out, true), new PrintWriter(err, true));
  }

  /** The manifest once the run has ended. */
  public JsonObject finish(JsonObject run) throws InterruptedException {
    for (int pass = 0; pass < 2 * PATIENCE; pass++) {
      says("reconcile");
      if (!List.of("running", "retry").contains(manifest(run).text("status"))) {
        return manifest(run);
      }
      Thread.sleep(500);
    }
    throw new AssertionError(run.text("run_id") + " did not end: " + manifest(run));
  }

  /** The same after a second attempt, whose wait is cut short. */
  public JsonObject requeued(JsonObject run) throws Exception {
    String job = run.objects("jobs").get(0).number("job_id") + "";
    await(result(run, "0.0.json"));
    awaitPending(job);
    Path second = result(run, "0.1.json");
    for (int i = 0; i < PATIENCE && !Files.exists(second); i++) {
      letGo(job);
      Thread.sleep(1000);
    }
    assertThat(second).as(logs(run)).exists();
    return finish(run);
  }

  /**
   * Waits until a requeued job is in the queue, and two seconds more: a job that is let go within
   * the second of its requeue is killed for its old credential.
   */
  public static void awaitPending(String job) throws IOException, InterruptedException {
    for (int i = 0; i < PATIENCE && !state(job).equals("PENDING"); i++) {
      Thread.sleep(500);
    }
    Thread.sleep(2000);
  }

  /**
   * Ends the 120 s that Slurm lets a requeued job wait, until its old credential has expired. A job
   * that still completes is not changed: the record of its next attempt would be named "allocation"
   * (22.05.8).
   */
  public static void letGo(String job) throws IOException {
    if (state(job).equals("PENDING")) {
      command("scontrol", "update", "JobId=" + job, "StartTime=now");
    }
  }

  /** The state of a job in the queue; empty if it is not there. */
  public static String state(String job) throws IOException {
    return command("squeue", "--noheader", "--format=%T", "--jobs=" + job).strip();
  }

  public JsonObject manifest(JsonObject run) {
    return Json.parseObject(DurableFiles.read(Path.of(run.object("files").text("manifest"))));
  }

  public JsonObject cost(JsonObject run) {
    return Json.parseObject(DurableFiles.read(Path.of(run.object("files").text("cost"))));
  }

  public String logs(JsonObject run) throws IOException {
    try (Stream<Path> logs = Files.list(Path.of(manifest(run).text("logs")))) {
      return String.join("\n", logs.filter(Files::isRegularFile).map(DurableFiles::read).toList());
    }
  }

  /** The run's folder. */
  public static Path folder(JsonObject run) {
    return Path.of(run.object("files").text("script")).resolveSibling("");
  }

  /** A result file of the run's first submission. */
  public static Path result(JsonObject run, String name) {
    String key = run.objects("jobs").get(0).text("name");
    return folder(run).resolve("submissions").resolve(key).resolve("results").resolve(name);
  }

  public static void await(Path file) throws InterruptedException {
    for (int i = 0; i < 5 * PATIENCE && !Files.exists(file); i++) {
      Thread.sleep(100);
    }
    assertThat(file).exists();
  }

  /** What a program prints. */
  public static String command(String... argv) throws IOException {
    Command command =
        new Command(List.of(argv), System.getenv(), Path.of("/"), Duration.ofSeconds(30));
    return new CommandRunner().run(command).out();
  }
}
