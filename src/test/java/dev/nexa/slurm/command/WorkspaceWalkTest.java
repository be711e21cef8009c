package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Every command, typed in every kind of folder: whose workspace it works in. */
class WorkspaceWalkTest {
  /** What is typed after a command's name. CONFIG, BIG and FILE stand for paths. */
  private static final Map<String, String> ARGUMENTS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("submit", "CONFIG"),
              Map.entry("estimate", "CONFIG"),
              Map.entry("approve", "latest"),
              Map.entry("approvals list", ""),
              Map.entry("approvals show", "0123456789abcdef"),
              Map.entry("approvals revoke", "0123456789abcdef"),
              Map.entry("approvals verify", "FILE"),
              Map.entry("approvals install", "FILE"),
              Map.entry("render", "CONFIG"),
              Map.entry("status", ""),
              Map.entry("logs", "latest"),
              Map.entry("why", "latest"),
              Map.entry("shell", "latest"),
              Map.entry("cancel", "latest"),
              Map.entry("interrupt", "latest"),
              Map.entry("rerun", "latest --failed"),
              Map.entry("reconcile", ""),
              Map.entry("audit", ""),
              Map.entry("cron install", ""),
              Map.entry("cron show", ""),
              Map.entry("cron remove", ""),
              Map.entry("look", "--from FILE"),
              Map.entry("runs list", ""),
              Map.entry("runs show", "latest"),
              Map.entry("runs import", "--from sacct --since 2025-01-01 --dry-run"),
              Map.entry("runs analyze", ""),
              Map.entry("usage", "4711"),
              Map.entry("costs", ""),
              Map.entry("release deploy", "x --dry-run"),
              Map.entry("release rollback", "--yes"),
              Map.entry("release history", ""),
              Map.entry("release show", ""),
              Map.entry("halt list", ""),
              Map.entry("unhalt", "halt_x --yes"),
              Map.entry("postmortem", "latest -o FILE"),
              Map.entry("costs accuracy", ""),
              Map.entry("costs close", "2999-12"),
              Map.entry("costs statement", "2999-12"),
              Map.entry("monitor show", "latest"),
              Map.entry("summary", ""),
              Map.entry("summary diff", "latest latest"),
              Map.entry("summary check", "latest"),
              Map.entry("notify list", ""),
              Map.entry("notify resend", "nothing"),
              Map.entry("notify test", ""),
              Map.entry("report", "--month 2999-13"),
              Map.entry("costs budget", ""),
              Map.entry("costs show", "latest"),
              Map.entry("costs import csv", "FILE --provider p"),
              Map.entry("costs import gcp", "FILE --provider p"),
              Map.entry("costs import focus", "FILE --provider p"),
              Map.entry("costs import usage", "FILE"),
              Map.entry("costs import aws", "--aws-profile none"),
              Map.entry("prices show", ""),
              Map.entry("prices check", "FILE"),
              Map.entry("prices import aws", "FILE"),
              Map.entry("policy show", ""),
              Map.entry("policy install", ""),
              Map.entry("policy plan", ""),
              Map.entry("policy replay", ""),
              Map.entry("serve", "SERVER"),
              Map.entry("serve list", ""),
              Map.entry("serve stop", "latest"),
              Map.entry("pipeline estimate", "PIPELINE"),
              Map.entry("pipeline graph", "PIPELINE"),
              Map.entry("pipeline run", "PIPELINE"),
              Map.entry("pipeline status", ""),
              Map.entry("pipeline list", ""),
              Map.entry("pipeline cancel", ""),
              Map.entry("pipeline resume", ""),
              Map.entry("eval leaderboard", ""),
              Map.entry("datasets register", "FILE"),
              Map.entry("datasets list", ""),
              Map.entry("datasets show", "science@v1"),
              Map.entry("datasets verify", "science@v1"),
              Map.entry("datasets diff", "science@v1 science@v2"),
              Map.entry("datasets promote", "science@v1"),
              Map.entry("datasets retire", "science@v1"),
              Map.entry("lineage", "latest"),
              Map.entry("release package", "latest --dry-run"),
              Map.entry("release sign", "demo"),
              Map.entry("release verify", "demo"),
              Map.entry("release list", ""),
              Map.entry("storage init", "--dry-run"),
              Map.entry("storage status", ""),
              Map.entry("cleanup", "--dry-run"),
              Map.entry("cleanup list", ""),
              Map.entry("archive", "latest --to /tmp --dry-run"),
              Map.entry("archive list", ""),
              Map.entry("archive verify", "latest"),
              Map.entry("archive restore", "latest"),
              Map.entry("sync plan", ""),
              Map.entry("sync push", ""),
              Map.entry("sync pull", ""),
              Map.entry("sync verify", ""),
              Map.entry("sync abort-leftovers", ""),
              Map.entry("doctor", "policy"),
              Map.entry("diag", "--exclude-bad"),
              Map.entry("diag show", ""),
              Map.entry("init", "")));

  /** These make no run, and go on with the jar's files where there is no workspace. */
  private static final Set<String> GO_ON =
      Set.of(
          "estimate",
          "render",
          "look",
          "summary",
          "usage",
          "prices show",
          "prices check",
          "prices import aws",
          "policy show",
          "pipeline estimate",
          "pipeline graph",
          "sync plan",
          "sync push",
          "sync pull",
          "sync verify",
          "sync abort-leftovers",
          "doctor",
          "init");

  @TempDir Path folder;

  private int sites;

  @BeforeEach
  void noPlaceAboveIsAWorkspace() throws IOException {
    for (Path above = folder.toRealPath(); above != null; above = above.getParent()) {
      assertThat(above.resolve(".nexa")).doesNotExist();
    }
  }

  /** Two workspaces beside each other, and one inside the first, each with a run. */
  private final class Places {
    final Path top = folder.resolve("site" + sites++);
    final Path science = top.resolve("science");
    final Path sub = science.resolve("cfg");
    final Path deep = science.resolve("cfg/exp");
    final Path nested = science.resolve("cfg/own");
    final Path sibling = top.resolve("sibling");
    final Path none = top.resolve("none");
    final Terminal terminal = new Terminal(top).withSlurm();

    Places() throws IOException {
      for (Path empty : List.of(deep, none)) {
        Files.createDirectories(empty);
      }
      for (Path workspace : List.of(science, nested, sibling)) {
        boolean strict = workspace.equals(science);
        write(
            workspace.resolve("configs/policy.yaml"),
            // However long the walk takes, no run is given up in between.
            "settle_window_seconds: 3600\napproval_over: {amount: "
                + (strict ? "1.00" : "1000.00")
                + ", currency: USD}\n");
        write(
            workspace.resolve("configs/clusters/default.yaml"),
            "account: "
                + top.relativize(workspace).toString().replace('/', '-')
                + "\nstorage: {scratch: /s, durable: /d, shared: /h}\n");
        terminal.at(workspace);
        assertThat(terminal.type("submit", config().toString()).exit()).isZero();
      }
    }

    Path config() {
      return write(
          top.resolve("small.yaml"),
          "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1m, memory: 1G}\n");
    }

    Path server() {
      return write(
          top.resolve("server.yaml"),
          "stage: serve\nbackend: vllm\nmodel_name: facebook/opt-125m\n"
              + "resources: {time: 1m, memory: 1G, gpus_per_node: 1}\n");
    }

    Path pipeline() {
      return write(top.resolve("pipeline.yaml"), "stages: {only: {config: " + config() + "}}\n");
    }

    Path big() {
      return write(top.resolve("big.yaml"), Site.run("echo", "5h"));
    }

    /** What is printed and what becomes of the exit status, without what differs each time. */
    List<String> typed(String command, Path here, String... more) {
      List<String> words = new ArrayList<>(Arrays.asList(command.split(" ")));
      String arguments =
          ARGUMENTS
              .get(command)
              .replace("CONFIG", config().toString())
              .replace("SERVER", server().toString())
              .replace("PIPELINE", pipeline().toString())
              .replace("FILE", write(top.resolve("file"), "what: nothing\n").toString());
      words.addAll(arguments.isEmpty() ? List.of() : Arrays.asList(arguments.split(" ")));
      words.addAll(List.of(more));
      Screen screen = terminal.at(here).type(words.toArray(String[]::new));
      return List.of("exit " + screen.exit(), plain(screen.out()), plain(screen.err()));
    }

    private String plain(String text) {
      return text.replace(top.toString(), "TOP")
          .replaceAll("[0-9a-f]{16,}", "HEX")
          .replaceAll("[.][a-z0-9]{6}\\b", ".KEY")
          .replaceAll("_\\d{8}_\\d{6}(_\\d+)?", "_TIME")
          .replaceAll("\\d+", "9")
          // Runs of the same second have longer ids, which widen a column.
          .replaceAll(" {2,}", "  ")
          .replaceAll("TOP/science/", "")
          .replaceAll("TOP/sibling/", "")
          .replaceAll("(?m)^configs/|(?<=[ (])\\./configs/", "configs/");
    }
  }

  private static Path write(Path file, String text) {
    return Site.write(file, text);
  }

  private static Set<String> leaves() {
    Set<String> leaves = new TreeSet<>();
    CommandLine root = Commands.commandLine(new String[0], Map.of(), Path.of("/"), null);
    root.getSubcommands().forEach((name, command) -> add(name, command, leaves));
    // These read no workspace.
    leaves.removeAll(
        Set.of(
            "bootstrap",
            "diag install",
            "explain",
            "generate-completion",
            "generate-man",
            "sync mirror"));
    leaves.removeIf(leaf -> leaf.startsWith("data "));
    return leaves;
  }

  private static void add(String name, CommandLine command, Set<String> leaves) {
    boolean alsoItself =
        name.equals("serve")
            || name.equals("costs")
            || name.equals("summary")
            || name.equals("cleanup")
            || name.equals("archive")
            || name.equals("diag");
    if (command.getSubcommands().isEmpty() || alsoItself) {
      leaves.add(name);
    }
    command
        .getSubcommands()
        .forEach((inside, subcommand) -> add(name + " " + inside, subcommand, leaves));
  }

  @Test
  void theWalkKnowsEveryCommand() {
    assertThat(ARGUMENTS.keySet()).isEqualTo(leaves());
  }

  @Test
  void belowAWorkspaceEachCommandDoesWhatItDoesThere() throws IOException {
    Places named = new Places();
    Places beside = new Places();
    Map<String, Path> below = new TreeMap<>();
    Map<String, Places> places = new TreeMap<>();
    for (String place : List.of("science", "science/cfg", "science/cfg/exp", "sibling")) {
      places.put(place, new Places());
      below.put(place, places.get(place).top.resolve(place));
    }
    SoftAssertions all = new SoftAssertions();
    for (String command : ARGUMENTS.keySet()) {
      if (!command.equals("init")) {
        List<String> there = named.typed(command, named.top, "--workspace", "" + named.science);
        List<String> other = beside.typed(command, beside.top, "--workspace", "" + beside.sibling);
        below.forEach(
            (place, here) -> {
              List<String> expected = place.equals("sibling") ? other : there;
              all.assertThat(withoutOption(places.get(place).typed(command, here)))
                  .as("%s in %s", command, place)
                  .isEqualTo(withoutOption(expected));
            });
      }
    }
    all.assertAll();
  }

  /** Advice repeats the option that the user typed. */
  private static List<String> withoutOption(List<String> texts) {
    return texts.stream()
        .map(text -> text.replaceAll("(nexa-slurm\\b.*?) --workspace \\S+", "$1"))
        .toList();
  }

  @Test
  void whereThereIsNoneACommandSaysSoAndLeavesNothing() throws IOException {
    SoftAssertions all = new SoftAssertions();
    Places places = new Places();
    Path missing = places.top.resolve("missing");
    for (String command : ARGUMENTS.keySet()) {
      if (!command.equals("init")) {
        List<String> named = places.typed(command, places.science, "--workspace", "" + missing);
        all.assertThat(named.get(0)).as("%s, missing", command).isEqualTo("exit 2");
        all.assertThat(named.get(2))
            .contains("there is no workspace TOP/missing", "nexa-slurm init");
        all.assertThat(missing).as(command).doesNotExist();
      }
      List<String> none = places.typed(command, places.none);
      if (GO_ON.contains(command)) {
        all.assertThat(none.get(2)).as(command).doesNotContain("nexa-slurm init");
        if (!command.matches("init|look")) { // look says whose prices it takes
          all.assertThat(none.get(2)).as(command).contains("cluster profile are the jar's");
        }
      } else {
        all.assertThat(none.get(0)).as(command).isEqualTo("exit 2");
        all.assertThat(none.get(2))
            .as(command)
            .contains("there is no workspace in TOP/none or above it", "nexa-slurm init");
      }
      if (!command.equals("init")) {
        all.assertThat(names(places.none)).as(command).isEmpty();
      } else {
        try (Stream<Path> made = Files.walk(places.none)) {
          made.sorted(Comparator.reverseOrder()).forEach(WorkspaceWalkTest::delete);
        }
        Files.createDirectory(places.none);
      }
    }
    all.assertAll();
  }

  /** Its records would be missing without a word. */
  @Test
  void aNamedFolderBesideTheWorkspaceIsRefused() throws IOException {
    Places places = new Places();
    Path file = Files.writeString(places.top.resolve("file"), "");
    Path parent = Files.createDirectories(places.top.resolve("parent/ws/.nexa")).getParent();

    assertThat(places.typed("costs", places.top, "--workspace", "" + runs(places.science)).get(2))
        .contains("is not a workspace; the nearest is ", "--workspace ");
    assertThat(places.typed("costs", places.top, "--workspace", "" + parent.getParent()).get(2))
        .contains("is not a workspace; the nearest is ");
    assertThat(places.typed("costs", places.top, "--workspace", "" + file).get(2))
        .contains("it is not a folder")
        .doesNotContain("nexa-slurm init");
  }

  @Test
  void noFolderOfAWorkspaceLetsMoreThroughThanItsPolicy() throws IOException {
    Places places = new Places();
    for (String command : List.of("submit", "serve")) {
      for (Path here : List.of(places.science, places.sub, places.deep, runs(places.science))) {
        Files.deleteIfExists(places.top.resolve("bin/sbatch.argv"));
        Screen screen = places.terminal.at(here).type(command, places.big().toString());
        assertThat(screen.exit()).as("%s in %s: %s", command, here, screen).isIn(2, 3);
        assertThat(Site.submitted(places.terminal)).as("%s", here).isFalse();
      }
    }
    assertThat(places.terminal.at(places.deep).type("submit", places.big().toString()).exit())
        .isEqualTo(3);
    Screen nested =
        places.terminal.at(places.nested.resolve("x/y")).type("submit", "" + places.big());
    assertThat(nested.exit()).as("the nearest one rules: %s", nested).isZero();
    assertThat(places.terminal.argv("sbatch"))
        .anyMatch(line -> line.startsWith("--chdir=" + places.nested + "/runs/"));
  }

  private static Path runs(Path workspace) throws IOException {
    try (Stream<Path> files = Files.walk(workspace.resolve("runs"))) {
      return files.filter(file -> file.endsWith("claims")).findFirst().orElseThrow();
    }
  }

  @Test
  void withoutAWorkspaceThisMachineRunsAtTheJarsPrices() throws IOException {
    Places places = new Places();
    places.terminal.with("PATH", System.getenv("PATH"));
    Screen local =
        places
            .terminal
            .at(places.none)
            .type("submit", places.config().toString(), "--local", "--wait");
    assertThat(local.exit()).as("%s", local).isZero();
    assertThat(local.out() + local.err())
        .contains("there is no workspace in " + places.none, "cluster profile are the jar's");
    Screen status = places.terminal.at(places.none.resolve("below")).type("runs", "list");
    assertThat(status.out()).as("%s", status).contains("data_");
    assertThat(names(places.none)).contains(".nexa", "runs");
  }

  @Test
  void aFolderThatEverybodyCanWriteToIsNoWorkspace() throws IOException {
    Places places = new Places();
    Path open = Files.createDirectories(places.top.resolve("open"));
    Path mine = Files.createDirectories(open.resolve("mine"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    String config = places.config().toString();
    assertThat(places.terminal.at(open).type("estimate", config).exit()).isZero();
    assertThat(places.terminal.at(open).type("submit", config, "--local").exit()).isEqualTo(2);
    Screen init = places.terminal.at(open).type("init");
    assertThat(init.exit()).as("a workspace there would not be used: %s", init).isEqualTo(2);
    assertThat(names(open)).containsExactly("mine");
    write(open.resolve("configs/policy.yaml"), "approval_over: {amount: 9999999, currency: USD}\n");
    for (String command : List.of("estimate", "submit", "render")) {
      Screen planted = places.terminal.at(open).type(command, config);
      assertThat(planted.exit()).as("%s", planted).isEqualTo(2);
      assertThat(planted.err()).contains(open + " can be written by everybody");
    }
    Screen below = places.terminal.at(mine).type("submit", config);
    assertThat(below.exit()).as("%s", below).isEqualTo(2);
    assertThat(below.err()).contains(open + " can be written by everybody", "nexa-slurm init");
    assertThat(places.terminal.at(mine).type("submit", config, "--workspace", "" + open).exit())
        .as("named, it is taken")
        .isZero();
  }

  @Test
  void aWorkspaceOfAnotherUserIsTakenOnlyWhereItIsNamed() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a folder away");
    Places places = new Places();
    assertThat(new ProcessBuilder("chown", "nobody", "" + places.science).start().waitFor())
        .isZero();
    String config = places.config().toString();
    for (String command : List.of("estimate", "submit")) {
      Screen inside = places.terminal.at(places.science).type(command, config);
      assertThat(inside.exit()).as("%s", inside).isEqualTo(2);
      assertThat(inside.err())
          .contains(
              places.science + " is nobody's workspace, not yours [workspace-not-found]\n",
              "→ to work in it, type: export NEXA_WORKSPACE=" + places.science + "\n")
          .doesNotContain("makes one here");
      Screen below = places.terminal.at(places.deep).type(command, config);
      assertThat(below.err()).contains(places.science + " is nobody's workspace, not yours");
    }
    Screen init = places.terminal.at(places.science).type("init");
    assertThat(init.exit()).as("init there makes no workspace of mine: %s", init).isEqualTo(2);
    assertThat(init.err())
        .contains("export NEXA_WORKSPACE=" + places.science, "mkdir -p ~/science && cd ~/science");
    assertThat(places.terminal.at(places.science).with("NEXA_WORKSPACE", "" + places.science))
        .extracting(terminal -> terminal.type("submit", config).exit())
        .isEqualTo(0);
    Screen named =
        places.terminal.at(places.deep).type("submit", config, "--workspace", "" + places.science);
    assertThat(named.exit()).as("%s", named).isZero();
  }

  @Test
  void aConfigIsNamedFromWhereTheCommandIsTyped() throws Exception {
    Places places = new Places();
    Files.copy(places.config(), places.deep.resolve("a.yaml"));
    Files.copy(places.big(), places.sub.resolve("b.yaml"));
    Path link = Files.createSymbolicLink(places.top.resolve("link"), places.deep);
    for (String[] typed :
        new String[][] {
          {"estimate", "a.yaml", "0"}, {"submit", "../b.yaml", "3"}, {"runs", "list", "0"}
        }) {
      List<String> argv = OwnJvm.words(Main.class, typed[0], typed[1]);
      ProcessBuilder builder = new ProcessBuilder(argv).directory(link.toFile());
      builder.environment().clear();
      builder.environment().put("PATH", places.top.resolve("bin").toString());
      builder.environment().put("PWD", link.toString());
      builder.redirectErrorStream(true);
      Process process = builder.start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue())
          .as("%s: %s", typed[1], said)
          .isEqualTo(Integer.parseInt(typed[2]));
    }
    assertThat(places.deep.resolve("estimates")).doesNotExist();
    assertThat(names(places.science.resolve("estimates"))).hasSize(1);
  }

  private static void delete(Path path) {
    try {
      Files.delete(path);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static List<String> names(Path directory) {
    String[] names = directory.toFile().list();
    return names == null ? List.of() : List.of(names);
  }
}
