package dev.nexa.slurm.command.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.scheduler.slurm.Clusters;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InitCommandTest {
  @TempDir Path folder;

  /** The example has the option that lacks its value. */
  @Test
  void anOptionWithoutItsValueIsShownWithOne() {
    Terminal terminal = new Terminal(folder);

    assertThat(terminal.type("init", "--group").err())
        .contains("→ for example: nexa-slurm init --group nlp\n");
    assertThat(terminal.type("approvals", "list", "--workspace").err())
        .contains("→ for example: --workspace DIR\n");
  }

  @Test
  void aFileInPlaceOfTheFolderIsNamed() {
    Terminal terminal = new Terminal(folder).file("notes.txt", "");
    String file = terminal.workspace.resolve("notes.txt").toString();

    assertThat(terminal.type("init", "--workspace", file + "/ws").err())
        .contains("expected a folder, and " + file + " is a file", "name a folder that exists");
  }

  @Test
  void threeFilesAreWrittenAndNoEditorLooksForASchema() throws IOException {
    Terminal terminal = new Terminal(folder);

    assertThat(terminal.type("init", "--json").json().texts("written")).hasSize(3);
    for (String name : List.of("clusters/default", "prices/default", "policy")) {
      assertThat(terminal.workspace.resolve("configs/" + name + ".yaml"))
          .content()
          .doesNotContain("$schema");
    }
  }

  @Test
  void theExamplesAreWrittenTooAndWork() {
    Terminal terminal = new Terminal(folder);

    Screen first = terminal.type("init", "--examples");

    assertThat(first.exit()).isZero();
    assertThat(first.out()).contains("wrote ").contains("configs/clusters/default.yaml");
    assertThat(terminal.workspace.resolve("configs/policy.yaml")).isRegularFile();
    for (String data : List.of("raw", "processed/distillation", "processed/raw_summary")) {
      assertThat(terminal.workspace.resolve("data").resolve(data).resolve(".gitignore"))
          .hasContent("*\n!.gitignore");
    }
    for (String config : List.of("train/science.yaml", "data/quickstart.yaml")) {
      Path own = terminal.workspace.resolve("configs").resolve(config);
      assertThat(terminal.type("render", own.toString()).exit()).as(config).isZero();
    }
  }

  /** A file where a folder should be: not even root can write into it. */
  @Test
  void storageThatCantBeWrittenIsTold() throws IOException {
    Path file = Files.writeString(folder.resolve("full"), "");
    Terminal terminal =
        new Terminal(folder)
            .file(
                "configs/clusters/default.yaml",
                "storage: {scratch: "
                    + folder
                    + ", durable: "
                    + file
                    + "/d, shared: "
                    + folder
                    + "/new}\n");

    Screen init = terminal.type("init");

    assertThat(init.out()).contains("you can't write to durable (" + file + "/d) from here: set");
    assertThat(terminal.type("init", "--json").json().texts("not_writable")).hasSize(1);
  }

  /** A profile that is written does not name folders that its user cannot write to. */
  @Test
  void tiersThatCantBeWrittenAreFoldersOfTheWorkspace() throws IOException {
    Path file = Files.writeString(folder.resolve("full"), "");
    Terminal terminal = new Terminal(folder).with("NEXA_DURABLE", file + "/d");

    Screen init = terminal.type("init");

    assertThat(init.out())
        .contains("you can't write to durable (" + file + "/d): files go to storage/ in this");
    assertThat(Files.readString(terminal.workspace.resolve("configs/clusters/default.yaml")))
        .contains("  durable: ${workspace}/storage/durable\n");
    assertThat(terminal.type("init", "--json").json().texts("not_writable")).isEmpty();
  }

  @Test
  void whatIsThereIsLeftAlone() throws IOException {
    Terminal terminal = new Terminal(folder).file("configs/policy.yaml", "mine");

    terminal.type("init");
    Screen second = terminal.type("init");

    assertThat(Files.readString(terminal.workspace.resolve("configs/policy.yaml")))
        .isEqualTo("mine");
    assertThat(second.out())
        .contains("left  " + terminal.workspace.resolve("configs/policy.yaml"))
        .doesNotContain("wrote")
        .endsWith(
            "everything is there already\n"
                + "`nexa-slurm storage init` makes the folders of the storage tiers\n"
                + "next: nexa-slurm submit configs/data/quickstart.yaml --local --wait\n");
  }

  @Test
  void theProfileIsReadOffTheClusterWhereThereIsSlurm() throws IOException {
    Terminal terminal = onCluster("22.05.8");

    Screen init = terminal.type("init");

    Path profile = terminal.workspace.resolve("configs/clusters/default.yaml");
    assertThat(init.exit()).isZero();
    assertThat(init.out())
        .contains(profile + " was read off the cluster (ClusterName nexa, Slurm 22.05.8)");
    assertThat(Files.readString(profile))
        .contains("partitions:\n  gpu: ")
        .contains("version: \"22.05.8\"");
    Screen estimate = terminal.type("estimate", "configs/train/science.yaml");
    assertThat(estimate.exit()).isZero();
    assertThat(estimate.out()).contains("partition gpu: the profile's default");
  }

  /** A task array of 10,000 is one array on this cluster, on CPUs too. */
  @Test
  void theProfileOfCpusIsReadOffTheClusterToo() throws IOException {
    Terminal terminal = onCluster("22.05.8");

    Screen init = terminal.type("init", "--examples");

    assertThat(Files.readString(terminal.workspace.resolve("configs/clusters/cpu.yaml")))
        .contains("accelerator: cpu", "max_array_size: 10001", "kill_wait_seconds: 5")
        .contains("  cpu: ", "backend: hf");
    assertThat(init.out())
        .endsWith("next: nexa-slurm estimate configs/train/science.yaml\n")
        .containsOnlyOnce("clusters/cpu.yaml");
    Screen estimate = terminal.type("estimate", "configs/data/quickstart.yaml", "--cluster", "cpu");
    assertThat(estimate.exit()).as(estimate.err()).isZero();
  }

  @Test
  void theExamplesInThePolicyAreValid() throws IOException {
    Terminal terminal = new Terminal(folder);
    terminal.type("init");
    Path policy = terminal.workspace.resolve("configs/policy.yaml");

    Files.writeString(
        policy,
        Pattern.compile("^# ( *(- |[a-z_]+: ?[^ ]|[a-z_]+:$))", Pattern.MULTILINE)
            .matcher(Files.readString(policy))
            .replaceAll("$1"));

    assertThat(terminal.type("policy", "show").out())
        .contains("approvals.longest", "budgets", "slurm.gpu_hours_over", "slurm.mode");
  }

  @Test
  void aProfileThatIsThereIsComparedAndLeft() throws IOException {
    Terminal terminal =
        onCluster("22.05.8")
            .file(
                "configs/clusters/default.yaml",
                "storage: {scratch: /s, durable: /d, shared: /h}\nslurm: {max_array_size: 10001}\n");
    Path profile = terminal.workspace.resolve("configs/clusters/default.yaml");
    String before = Files.readString(profile);

    Screen init = terminal.type("init");

    assertThat(init.exit()).isZero();
    assertThat(init.out())
        .contains("left  " + profile)
        .contains(
            profile
                + """
                 differs from the cluster (ClusterName nexa, Slurm 22.05.8)
                KEY                      FILE  CLUSTER
                default_partition        -     gpu
                partitions               -     gpu, cpu
                slurm.kill_wait_seconds  30    5
                """);
    assertThat(Files.readString(profile)).isEqualTo(before);
  }

  @Test
  void theFolderNeedNotExist() {
    Terminal terminal = onCluster("22.05.8");
    Path absent = terminal.workspace.resolve("a/b");

    Screen init = terminal.type("init", "--workspace", absent.toString());

    assertThat(init.exit()).as(init.err()).isZero();
    assertThat(absent.resolve("configs/clusters/default.yaml")).exists();
  }

  @Test
  void aNamedProfileIsAllThatIsWritten() {
    Terminal terminal = onCluster("26.05-from-source");

    Screen init = terminal.type("init", "--cluster", "alps", "--json");

    assertThat(init.exit()).isZero();
    assertThat(init.json().texts("written"))
        .containsExactly(terminal.workspace.resolve("configs/clusters/alps.yaml").toString());
    assertThat(init.json().object("cluster").text("version")).isEqualTo("26.05.3");
    assertThat(init.json().object("cluster").object("left_out").text("drained"))
        .isEqualTo("State=DRAIN");
    assertThat(terminal.workspace.resolve("configs/policy.yaml")).doesNotExist();
    Screen again = terminal.type("init", "--cluster", "alps");
    assertThat(again.out()).contains("alps.yaml says what the cluster says");
  }

  @Test
  void aClusterThatDoesNotAnswerLeavesNothingBehind() {
    Terminal terminal = onCluster("22.05.8");
    terminal.program("sinfo", "echo 'slurm_load_partitions: Unable to contact' >&2; exit 1");

    Screen init = terminal.type("init");

    assertThat(init.exit()).isEqualTo(4);
    assertThat(init.err()).contains("sinfo failed: slurm_load_partitions: Unable to contact");
    assertThat(terminal.workspace.resolve("configs")).doesNotExist();
  }

  @Test
  void withoutSlurmThereIsNoNamedProfile() {
    Screen init = new Terminal(folder).type("init", "--cluster", "alps");

    assertThat(init.exit()).isEqualTo(4);
    assertThat(init.err()).contains("there is no Slurm here to read the profile from");
  }

  @ParameterizedTest
  @ValueSource(strings = {"../x", "local"})
  void aProfilesNameIsNeitherAPathNorThisMachine(String name) {
    assertThat(onCluster("22.05.8").type("init", "--cluster", name).exit()).isEqualTo(2);
  }

  @Test
  void aGpuTypeAloneFindsItsPartitionAndTheReasonIsShown() {
    Terminal terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "configs/clusters/default.yaml",
                """
                storage: {scratch: /s, durable: /d, shared: /h}
                default_partition: gpu
                partitions: {gpu: {gpu_type: h100}, gpu-a100: {gpu_type: a100}}
                """);
    String[] a100 = {"configs/train/science.yaml", "--set", "resources.gpu_type=a100"};
    String reason = "partition gpu-a100: has a100; default partition gpu has h100";

    assertThat(terminal.type("estimate", a100[0], a100[1], a100[2]).out())
        .contains("\nIn " + reason + ".\n")
        .contains("gpu:a100");
    assertThat(terminal.type("estimate", a100[0], a100[1], a100[2], "--json").json())
        .returns("gpu-a100", json -> json.text("partition"))
        .returns(reason, json -> json.text("partition_reason"));
    Screen dry = terminal.type("submit", a100[0], a100[1], a100[2], "--dry-run");
    assertThat(dry.out()).contains("# " + reason).contains("#SBATCH --partition=gpu-a100");
    assertThat(
            terminal
                .type("render", a100[0], a100[1], a100[2], "--json")
                .json()
                .object("estimate")
                .text("partition_reason"))
        .isEqualTo(reason);
    assertThat(terminal.type("submit", a100[0], a100[1], a100[2]).out()).contains(reason);
  }

  /** An admin may set MaxMemPerCPU after init has read the profile. */
  @Test
  void slurmIsBelievedOverTheProfileWhenItSaysWhatAJobGets() {
    Terminal terminal =
        onCluster("26.05-from-source")
            .file(
                "configs/clusters/default.yaml",
                "storage: {scratch: /s, durable: /d, shared: /h}\npartitions: {'123': {}}\n")
            .file(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: echo\n"
                    + "resources: {memory: 16G, time: 1h, partition: '123'}\n");
    String why = "16 GiB needs 5 CPUs here: MaxMemPerCPU is 4000 MB on partition 123";

    assertThat(terminal.type("estimate", "run.yaml").out()).contains("; " + why + ".\n");
    assertThat(terminal.type("estimate", "run.yaml", "--json").json())
        .returns(List.of(why), json -> json.texts("notes"));
    Screen submit = terminal.type("submit", "run.yaml");
    assertThat(submit.out() + submit.err()).contains("note: " + why + "\n");

    terminal.program(
        "sbatch", "echo 'sbatch: Job 1 to start at 1 using 7 processors on nodes c1' >&2");
    assertThat(terminal.type("estimate", "run.yaml").out())
        .contains("; sbatch --test-only says that the job would get 7 CPUs.\n")
        .containsPattern("\ncpu +7\\.");

    terminal.program("sinfo", "echo 'slurm_load_node: Unable to contact' >&2; exit 1");
    terminal.program("sbatch", "echo 4711");
    Screen silent = terminal.type("submit", "run.yaml");
    assertThat(silent.out() + silent.err())
        .contains("note: Slurm did not say how it shares its nodes");
  }

  /**
   * Clusters of all shapes: what init says to type next is accepted, and so is a run for each entry
   * of defaults.resources that init has written.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          one GPU of a type without a price | 1 | 16 | 64000 | gpu:h200:1                  | MaxTime=UNLIMITED
          one GPU on each of four nodes     | 4 | 8  | 32000 | gpu:l40s:1                  | MaxTime=UNLIMITED
          short jobs                        | 2 | 64 | 515000 | gpu:h100:4                 | MaxTime=00:10:00
          few CPUs, little memory           | 2 | 2  | 4000  | gpu:v100:2                  | MaxTime=1-00:00:00
          memory for each CPU               | 4 | 32 | 256000 | gpu:a100:8                 | MaxMemPerCPU=2000
          only for an account               | 4 | 32 | 256000 | gpu:a100:8                 | AllowAccounts=nlp
          one node for a job                | 8 | 32 | 256000 | gpu:h100:4                 | MaxNodes=1
          whole nodes                       | 2 | 64 | 515000 | gpu:4090:4                 | OverSubscribe=EXCLUSIVE
          a name as NVML gives it           | 2 | 96 | 1031000 | gpu:nvidia_h100_80gb_hbm3:8 | Default=YES
          GPUs without a type               | 2 | 64 | 515000 | gpu:8                      | Default=YES
          two types                         | 2 | 64 | 515000 | gpu:a100:2,gpu:v100:2      | Default=YES
          no memory told                    | 2 | 64 | 1     | gpu:h100:4                  | Default=YES
          no GPUs                           | 2 | 4  | 8000  | (null)                      | Default=YES
          large                             | 8 | 128 | 1031000 | gpu:h100:8               | Default=YES
          """)
  void whatInitSaysWorksOnTheClusterThatItRead(
      String name, int nodes, int cpus, long mib, String gres, String settings) throws IOException {
    StringBuilder told = new StringBuilder();
    for (int node = 1; node <= nodes; node++) {
      told.append(
          String.join("\u001f", "p", "n" + node, "" + cpus, "" + mib, gres, "1:" + cpus + ":1"));
      told.append('\n');
    }
    Terminal terminal = new Terminal(folder).withSlurm();
    terminal.program(
        "scontrol",
        "case $* in *config) echo 'ClusterName = made';; *) echo 'PartitionName=p State=UP Nodes=n[1-"
            + nodes
            + "] "
            + settings
            + "';; esac");
    Path answer = Files.writeString(folder.resolve("nodes.txt"), told);
    terminal.program("sinfo", print(answer.toString()));

    Screen init = terminal.type("init");

    assertThat(init.exit()).as(init.err()).isZero();
    typeNext(terminal, init);
    Path profile = terminal.workspace.resolve("configs/clusters/default.yaml");
    // Slurm does not tell the type of these; a person writes it.
    Files.writeString(
        profile,
        Files.readString(profile).replaceAll("(?m)^    # no gpu_type.*$", "    gpu_type: h100"));
    Pattern entry = Pattern.compile("(?m)^    - \\{trains: (\\w+), up_to: (\\w+),.*$");
    long entries =
        entry
            .matcher(Files.readString(profile))
            .results()
            .peek(
                one -> {
                  terminal.file(
                      "own.yaml",
                      "stage: train\nmodel_name: m\ndataset_path: d\nmodel_size: "
                          + one.group(2)
                          + (one.group(1).equals("adapters") ? "\nadapter: lora\n" : "\n"));
                  Screen own = terminal.type("estimate", "own.yaml");
                  assertThat(own.err() + own.out()).as(one.group()).contains("At most ");
                })
            .count();
    assertThat(entries).isEqualTo(gres.equals("(null)") ? 0 : Math.max(1, entries));
    typeNext(terminal, terminal.type("init", "--cluster", "again"));
  }

  private static void typeNext(Terminal terminal, Screen init) {
    Matcher next = Pattern.compile("(?m)^next: nexa-slurm (.*)$").matcher(init.out());
    assertThat(next.find()).as(init.out()).isTrue();
    terminal.at(terminal.workspace);
    Screen estimate = terminal.type(next.group(1).split(" ", -1));
    assertThat(estimate.err() + estimate.out()).as(next.group(1)).contains("At most ");
    assertThat(estimate.exit()).isZero();
  }

  /** A price that is missing is said before a run needs it. */
  @Test
  void aGpuTypeWithoutAPriceIsNamed() {
    Terminal terminal = new Terminal(folder).withSlurm();
    terminal.program(
        "scontrol",
        "case $* in *config) echo 'ClusterName = made';; *) echo 'PartitionName=p State=UP Nodes=n1';; esac");
    terminal.program("sinfo", "printf 'p\\037n1\\0378\\03764000\\037gpu:h200:1\\0371:8:1\\n'");
    terminal.file(
        "configs/prices/default.yaml",
        "currency: EUR\nas_of: 2026-01-01\ngpu_hour: {h100: {price: 3, source: ours}}\n");

    assertThat(terminal.type("init").out())
        .contains("put your price of h200 into configs/prices/default.yaml: it has none\n");
    terminal.file(
        "configs/prices/default.yaml",
        "currency: EUR\nas_of: 2026-01-01\ngpu_hour: {H200: {price: 3, source: ours}}\n");
    assertThat(terminal.type("init").out()).doesNotContain("price of");
  }

  /** With a Slurm that tells what src/test/resources/cluster has of that name. */
  private Terminal onCluster(String name) {
    Terminal terminal = new Terminal(folder).withSlurm();
    Path told = Clusters.FOLDER.toAbsolutePath().resolve(name);
    terminal.program(
        "scontrol",
        "case $* in *config) "
            + print(told + "-config.txt")
            + ";; *) "
            + print(told + "-partitions.txt")
            + ";; esac");
    terminal.program("sinfo", print(told + "-nodes.txt"));
    return terminal;
  }

  /** The terminal has no `cat`. */
  private static String print(String file) {
    return "while IFS= read -r line; do printf '%s\\n' \"$line\"; done <" + file;
  }

  @ParameterizedTest
  @ValueSource(strings = {"configs/train/science.yaml", "configs/data/quickstart.yaml"})
  void theShippedConfigsNeedNoApproval(String config) {
    Screen estimate = new Terminal(folder).type("estimate", config);

    assertThat(estimate.exit()).isZero();
    assertThat(estimate.out()).startsWith("At most ").contains("No approval needed");
  }
}
