package dev.nexa.slurm.command.workspace;

import static dev.nexa.slurm.command.Team.ANN;
import static dev.nexa.slurm.command.Team.BOB;
import static dev.nexa.slurm.command.Team.EVE;
import static dev.nexa.slurm.command.Team.GROUP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.command.Team;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Eve puts something under each name that a pass of another member looks for in a shared workspace:
 * a link, a file or a folder, with what she would like to be read there. Nothing runs as the other
 * member, and none of that member's runs, files or charges are other than without her.
 *
 * <p>The names are those that the pass's system calls ask for (strace), and new names of the forms
 * that are there. ./check does it for the workspace's owner, with all names at once; dev/full for
 * each name alone, and for another member, too.
 */
@Tag("long")
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@ResourceLock("the users of Team")
@Order(1)
class PlantedFilesTest {
  private static final boolean EACH_ALONE = SuiteSize.of("planted.alone", 0, 1) > 0;

  private static final String RUN =
      "stage: data\nbackend: shell\nresources: {time: 5m, memory: 50M}\nrun: %s\n";

  /** The time of a run or a pipeline that nobody has made. */
  private static final String NEW = "20200101_000000";

  /** The number of a local job that nobody has made. */
  private static final String NUMBER = "900";

  private static final String TIME = "\\d{8}_\\d{6}(_\\d+)?";

  /** Names of one moment. */
  private static final String PASSING = ".*(\\.lock|\\.tmp|\\.claim.*)";

  /** What passes and the processes of local jobs write at any time. */
  private static final String STATE = "\\.nexa(-local)?(/.*)?|" + PASSING;

  private static final List<String> ALL = List.of("reconcile", "pipeline list", "costs", "audit");

  /** What eve puts under a name. */
  private enum Plant {
    LINK_TO_THE_VICTIMS("ln -s $ws/$victims $path"),
    /** The folder is the victim's, and the group may write in it. */
    LINK_TO_A_LENT_FOLDER("cp -r $eves/. $lent && unlock $lent/* && ln -s $ws/$lent $path"),
    LINK_TO_AN_EMPTY_FOLDER("ln -s $ws/$lent $path"),
    LINK_TO_EVES("cp -r $eves $copy && unlock $copy && ln -s $ws/$copy $path"),
    COPY_OF_EVES("cp -r $eves $path && unlock $path"),
    COPY_OF_THE_VICTIMS("cp -r $victims $path && unlock $path");

    private final String script;

    Plant(String script) {
      this.script = script;
    }
  }

  /** A name, and what is there under such a name: of the victim, and of eve. */
  private record Place(String path, Optional<String> ofVictim, Optional<String> ofEve) {}

  /**
   * A member's state.
   *
   * @param ran who has run eve's program
   * @param ledger the lines of the member's ledger
   * @param paths the member's files and folders
   * @param kept the files of the run that has ended, and whether the one that waits is cancelled
   */
  private record Seen(String ran, Set<String> ledger, Set<String> paths, String kept) {}

  private Team team;
  private Path canary;
  private Path kept;
  private String change = "";

  @AfterEach
  void deleteUsers() throws IOException {
    if (team != null) {
      team.close();
    }
  }

  @Test
  void nothingThatAMemberPutsThereActsForAnother() throws Exception {
    team = Team.make();
    well(team.types(ANN, "init", "--group", GROUP));
    prepareEve();
    Map<String, List<String>> runs = new LinkedHashMap<>();
    for (String victim : EACH_ALONE ? List.of(ANN, BOB) : List.of(ANN)) {
      runs.put(victim, prepare(victim));
    }
    kept = team.workspace().resolveSibling("kept");
    root("cp -a " + team.workspace() + " " + kept);

    SoftAssertions softly = new SoftAssertions();
    for (Map.Entry<String, List<String>> victim : runs.entrySet()) {
      walk(victim.getKey(), victim.getValue(), softly);
    }
    team.shell(EVE, "cp -r runs/" + runs.get(ANN).get(0) + " runs/data_" + NEW);
    CommandResult audit = team.types(ANN, "audit");
    softly
        .assertThat(audit.out() + audit.err())
        .contains("data_" + NEW + ": job ", "is charged in two runs: " + runs.get(ANN).get(0));
    softly.assertAll();
  }

  /** StoredProgramTest has the case in which eve changes hers after the check. */
  @Test
  @Tag("full")
  void aJobStartsACopyOfAnotherMembersProgram() throws Exception {
    team = Team.make();
    well(team.types(ANN, "init", "--group", GROUP));
    Path java = Files.createDirectory(team.workspace().resolveSibling("bin")).resolve("java");
    String real = System.getProperty("java.home") + "/bin/java";
    Files.writeString(java, "#!/bin/sh\necho started: \"$*\"\nexec " + real + " \"$@\"\n");
    root("chmod 755 " + java.getParent() + " " + java);
    team.file("rows.jsonl", "{\"text\": \"hello world one\"}\n{\"text\": \"another line here\"}\n");
    team.file(
        "data.yaml",
        "stage: data\nbackend: data\nresources: {time: 5m, memory: 2G}\ndata:\n  prepare:\n"
            + ("    input: ['" + team.workspace() + "/rows.jsonl']\n")
            + "    columns: {text: text}\n    text: [text]\n");
    for (String user : List.of(EVE, ANN)) {
      String submit = team.command("submit data.yaml --local --wait");
      String said = team.shell(user, "PATH=" + java.getParent() + ":$PATH " + submit);
      String log = team.shell(user, "cat $(readlink -f runs/latest" + suffix(user) + ")/logs/*");
      assertThat(said).as(log).contains("completed");
      assertThat(log).contains(user.equals(EVE) ? "/programs/" : "/task_0/.program/");
    }
    assertThat(owned("programs", EVE)).hasSize(1);
  }

  private void walk(String victim, List<String> runs, SoftAssertions softly) throws IOException {
    Set<String> paths = seen(victim, runs).paths();
    Set<String> asked = pass(victim, ALL, true);
    Seen alone = seen(victim, runs);
    alone.paths().addAll(paths);
    assertThat(alone.ledger()).as("%s's pass settles a run", victim).hasSize(2);
    assertThat(alone.ran()).isEmpty();
    restore();
    List<Place> places = places(victim, runs, asked);
    assertThat(places)
        .extracting(Place::path)
        .contains("runs/data_" + NEW, "pipelines/pipeline_" + NEW)
        .contains("runs/notify" + suffix(victim));
    for (Plant plant : Plant.values()) {
      attempt(plant, places, victim, runs, alone, softly);
      for (Place place : EACH_ALONE ? places : List.<Place>of()) {
        attempt(plant, List.of(place), victim, runs, alone, softly);
      }
    }
  }

  private void attempt(
      Plant plant,
      List<Place> places,
      String victim,
      List<String> runs,
      Seen alone,
      SoftAssertions softly)
      throws IOException {
    List<String> planted = new ArrayList<>();
    for (Place place : places) {
      if (isPlanted(plant, place, victim, runs, planted.size())) {
        planted.add(place.path());
      }
    }
    if (planted.isEmpty()) {
      return;
    }
    pass(victim, EACH_ALONE && places.size() > 1 ? ALL : List.of("reconcile"), false);
    Seen now = seen(victim, runs);
    String what = victim + ": " + plant + " " + planted;
    softly.assertThat(now.ran()).as("what ran, %s", what).isEmpty();
    now.ledger().removeAll(alone.ledger());
    softly.assertThat(now.ledger()).as("new lines of the ledger, %s", what).isEmpty();
    now.paths().removeAll(alone.paths());
    softly.assertThat(now.paths()).as("new files, %s", what).isEmpty();
    softly.assertThat(now.kept()).as("runs, %s", what).isEqualTo(alone.kept());
    restore();
  }

  /** Eve has a pipeline, and a notification that waits for a program of hers. */
  private void prepareEve() throws IOException {
    canary = Files.writeString(team.workspace().resolveSibling("canary"), "");
    Path evil = team.workspace().resolveSibling("evil.sh");
    // It fails, so that the notification goes on waiting.
    Files.writeString(evil, "#!/bin/sh\nid -un >>" + canary + "\nexit 1\n");
    root("chmod 666 " + canary + "; chmod 755 " + evil);
    team.file("one.yaml", RUN.formatted("'true'"));
    team.file("sleep.yaml", RUN.formatted("sleep 10000").replace("5m", "12h"));
    team.file(
        "eve.yaml",
        RUN.formatted("'true'")
            + ("notify: {x: {kind: command, command: [" + evil + "], events: [ended]}}\n"));
    team.file(
        "two.yaml",
        "stages:\n  one: {config: one.yaml}\n  two: {config: one.yaml, after: ['afternotok:one']}\n");
    submitted(EVE, "eve.yaml", "--wait");
    well(team.types(EVE, "pipeline", "run", "two.yaml", "--local"));
    team.types(EVE, "reconcile");
    assertThat(Files.readString(canary)).contains(EVE);
    Files.writeString(canary, "");
  }

  /** Returns a run that has ended, one that no pass has settled yet, and one that waits. */
  private List<String> prepare(String user) throws IOException {
    team.shell(
        user, "for i in $(seq 0 99); do mkdir -m 2770 data/raw/lent." + user + ".$i; done; true");
    List<String> runs = new ArrayList<>();
    runs.add(submitted(user, "one.yaml", "--wait"));
    runs.add(submitted(user, "one.yaml"));
    String long1 = submitted(user, "sleep.yaml");
    runs.add(submitted(user, "one.yaml", "--dependency", "afterok:" + long1));
    String ended = "runs/" + runs.get(1) + "/submissions/*/results/0.0.json";
    team.shell(user, "for i in $(seq 600); do ls " + ended + " && break; sleep 0.1; done");
    return runs;
  }

  private String submitted(String user, String... words) throws IOException {
    Set<String> before = owned("runs", user);
    List<String> command = new ArrayList<>(List.of("submit", "--local"));
    command.addAll(List.of(words));
    well(team.types(user, command.toArray(String[]::new)));
    Set<String> made = owned("runs", user);
    made.removeAll(before);
    return made.stream().filter(name -> name.matches("data_" + TIME)).findFirst().orElseThrow();
  }

  /** Types commands. Returns the paths that they asked for, if that can be traced. */
  private Set<String> pass(String user, List<String> commands, boolean traced) throws IOException {
    Path trace = Files.writeString(team.workspace().resolveSibling("trace"), "");
    root("chmod 666 " + trace);
    boolean can = traced && Files.isExecutable(Path.of("/usr/bin/strace"));
    String strace = can ? "strace -f -qq -s 500 -e trace=file -A -o " + trace + " " : "";
    for (String command : commands) {
      team.shell(user, "umask 022; " + strace + team.command(command) + " >/dev/null 2>&1");
    }
    String below = Pattern.quote("\"" + team.workspace() + "/") + "([^\"]+)\"";
    return Pattern.compile(below)
        .matcher(Files.readString(trace))
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns the free names, in folders where eve can make files, that the member may look for. */
  private List<Place> places(String victim, List<String> runs, Set<String> asked)
      throws IOException {
    Map<String, Place> places = new TreeMap<>();
    String find = "find . -type d -writable ! -user " + EVE + " ! -path './data*' -printf '%P\\n'";
    for (String folder : team.shell(EVE, find).lines().toList()) {
      Map<String, String> ofVictim = forms(folder, victim);
      Map<String, String> ofEve = forms(folder, EVE);
      // The run that the next pass settles.
      ofVictim.replaceAll((form, name) -> form.equals("data_%t") ? runs.get(1) : name);
      Set<String> names = new TreeSet<>();
      for (String form : ofEve.keySet()) {
        names.add(form.replace("%u", suffix(victim)).replace("%t", NEW).replace("%n", NUMBER));
      }
      for (String path : asked) {
        if (parent(path).equals(folder)) {
          names.add(path.substring(path.lastIndexOf('/') + 1));
        }
      }
      for (String name : names) {
        String path = folder + "/" + name;
        String form = form(name, victim);
        if (!isThere(path) && !path.matches(PASSING)) {
          places.put(
              path,
              new Place(
                  path,
                  Optional.ofNullable(ofVictim.get(form)).map(found -> folder + "/" + found),
                  Optional.ofNullable(ofEve.get(form)).map(found -> folder + "/" + found)));
        }
      }
    }
    return List.copyOf(places.values());
  }

  /** Returns the names of a user's files in a folder, by their forms. */
  private Map<String, String> forms(String folder, String user) throws IOException {
    Map<String, String> forms = new TreeMap<>();
    owned(folder, user).forEach(name -> forms.put(form(name, user), name));
    return forms;
  }

  /** Returns a name with a sign for the time, the number, and the user's name in it. */
  private static String form(String name, String user) {
    String form = name.replaceAll(TIME, "%t").replaceAll("^\\d+$", "%n");
    if (!suffix(user).isEmpty()) {
      return form.replace(suffix(user), "%u");
    }
    // The owner's files have no user in their names.
    return form.replaceAll("^(latest|notify|heartbeat|cleaned|ledger-\\d{4}-\\d\\d)", "$1%u");
  }

  private static String suffix(String user) {
    return user.equals(ANN) ? "" : "." + user;
  }

  private boolean isPlanted(Plant plant, Place place, String victim, List<String> runs, int number)
      throws IOException {
    if ((plant.script.contains("$victims") && place.ofVictim().isEmpty())
        || (plant.script.contains("$eves") && place.ofEve().isEmpty())
        || (plant == Plant.LINK_TO_A_LENT_FOLDER
            && !Files.isDirectory(team.workspace().resolve(place.ofEve().orElseThrow())))) {
      return false;
    }
    String name = place.path().substring(place.path().lastIndexOf('/') + 1);
    String folder = parent(place.path());
    // What eve copies names the victim's runs, and waits to be sent at once.
    team.as(
        EVE,
        "bash",
        "-c",
        "unlock() { chmod -R u+w,a+rX \"$@\"; find \"$@\" -type d -exec chmod 2777 {} +;"
            + " find \"$@\" -name channels.json -delete;"
            + (" find \"$@\" -name pipeline.json -exec sed -i '"
                + change(runs)
                + "' {} +; true; };")
            + (" ws=" + team.workspace() + " path=" + place.path())
            + (" eves=" + place.ofEve().orElse("") + " victims=" + place.ofVictim().orElse(""))
            + (" lent=data/raw/lent." + victim + "." + number + " copy=data/raw/eves." + number)
            + ("; umask 022; " + plant.script + "; for open in " + folder + "/open " + folder)
            + ("/../open; do [ ! -d $open ] || [ " + name + " = open ] || touch $open/" + name)
            + "; done");
    return isThere(place.path());
  }

  /** Returns the words of sed that put the victim's runs into a copy of eve's pipeline. */
  private String change(List<String> runs) throws IOException {
    if (change.isEmpty()) {
      String pipeline = team.shell(EVE, "cat pipelines/pipeline_*/pipeline.json");
      List<JsonObject> stages = Json.parseObject(pipeline).objects("stages");
      change =
          stages.stream()
              .map(stage -> "s/\"" + stage.text("run_id") + "\"/\"%s\"/")
              .collect(Collectors.joining("; "));
    }
    return change.formatted(runs.get(0), runs.get(2));
  }

  private Seen seen(String victim, List<String> runs) throws IOException {
    Set<String> ledger =
        root("find runs -maxdepth 1 -type f -name 'ledger-*.jsonl' -user "
                + victim
                + " -exec cat {} +")
            .lines()
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> paths =
        root("find . -user " + victim + " -printf '%P\\n'")
            .lines()
            .filter(path -> !path.matches(STATE))
            .collect(Collectors.toCollection(TreeSet::new));
    String ended =
        "find runs/" + runs.get(0) + " -type f ! -name '.*' -exec sha256sum {} + | sort | md5sum";
    String waits =
        "grep -cE 'cancel_requested|\"finished\"' runs/" + runs.get(2) + "/journal.jsonl";
    return new Seen(Files.readString(canary), ledger, paths, root(ended) + root(waits));
  }

  /** Everything as it was before the pass, except the local jobs, which go on. */
  private void restore() throws IOException {
    Files.writeString(canary, "");
    root(
        "find . -mindepth 1 -maxdepth 1 ! -name .nexa-local -exec rm -rf {} +;"
            + (" find "
                + kept
                + " -mindepth 1 -maxdepth 1 ! -name .nexa-local -exec cp -a {} . ';';")
            + (" find .nexa-local -mindepth 1 -user " + EVE + " | while read -r file;")
            + (" do [ -e " + kept + "/$file ] || rm -rf $file; done"));
  }

  private Set<String> owned(String folder, String user) throws IOException {
    Set<String> names = new TreeSet<>();
    try (Stream<Path> files = Files.list(team.workspace().resolve(folder))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (Files.getOwner(file, LinkOption.NOFOLLOW_LINKS).getName().equals(user)) {
          names.add(file.getFileName().toString());
        }
      }
    }
    return names;
  }

  private boolean isThere(String path) {
    return Files.exists(team.workspace().resolve(path), LinkOption.NOFOLLOW_LINKS);
  }

  private static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('/')));
  }

  private String root(String script) throws IOException {
    return team.shell("root", script);
  }

  private static void well(CommandResult result) {
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
  }
}
