package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCommands;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.PrivateSlurm;
import dev.nexa.slurm.records.approvals.SlurmToken;
import dev.nexa.slurm.records.approvals.TokenDirectory;
import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What `policy install` renders, in a real slurmctld, against a second user who types raw commands.
 * Over 8 GPU-hours an approval is needed; `debug` is exempt.
 */
@Tag("slurm")
class PolicyOnSlurmTest {
  private static final String SCRIPT = "#!/bin/bash\necho approved\n";
  private static final String NEEDS = "more than 8 need an approval";

  private static final String RUN =
      """
      stage: data
      backend: shell
      array: {shards: 3, max_parallel: 2}
      run: hostname
      resources: {partition: gpu, nodes: 2, gpus_per_node: 4, gpu_type: h100, cpus_per_task: 4, memory: 8G, time: 5h}
      requeues: 0
      """;

  private static PrivateSlurm slurm;
  private static TokenDirectory approved;
  private static Path script;

  @BeforeAll
  static void placeIt() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "a second user is root's to make");
    slurm = PrivateSlurm.prepare(PrivateSlurm.TWO_NODES, PrivateSlurm.USER);
    Path workspace = workspace("workspace");
    approved = new TokenDirectory(slurm.folder.resolve("approved"));
    Files.createDirectories(approved.path().resolve("used"));
    String installed =
        type(
            workspace,
            "policy",
            "install",
            "--to",
            slurm.folder.resolve("job_submit.lua").toString(),
            "--approved-dir",
            approved.path().toString());
    assertThat(installed).contains("JobSubmitPlugins=lua");
    script = slurm.folder.resolve("home/job.sbatch");
    Files.writeString(script, SCRIPT);
    slurm.start();
  }

  private static Path workspace(String name) throws IOException {
    Path workspace = Files.createDirectory(slurm.folder.resolve(name));
    Files.createDirectories(workspace.resolve("configs/clusters"));
    Files.writeString(
        workspace.resolve("configs/policy.yaml"),
        """
        approval_over: {amount: 100, currency: USD}
        slurm: {gpu_hours_over: 8, exempt_partitions: [debug]}
        approvals: {directory: approvals, allowed_signers: allowed_signers}
        """);
    Files.writeString(
        workspace.resolve("configs/clusters/default.yaml"),
        """
        partitions:
          gpu: {gpus_per_node: 8}
          debug: {gpus_per_node: 8}
          whole: {gpus_per_node: 8}
        storage: {scratch: /tmp, durable: /tmp, shared: /tmp}
        """);
    return workspace;
  }

  private static String type(Path workspace, String... command) {
    return type(0, workspace, command);
  }

  private static String type(int exit, Path workspace, String... command) {
    StringWriter out = new StringWriter();
    Map<String, String> environment = new TreeMap<>(System.getenv());
    environment.putAll(slurm.environment());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    PrintWriter said = new PrintWriter(out, true);
    assertThat(Main.run(command, environment, said, said)).as(out.toString()).isEqualTo(exit);
    return out.toString();
  }

  /** Makes a key that may approve in a workspace. */
  private static Path key(Path workspace) throws IOException {
    Path key = workspace.resolve("boss_key");
    slurm.root("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key.toString());
    Files.writeString(
        workspace.resolve("allowed_signers"),
        "boss " + Files.readString(workspace.resolve("boss_key.pub")));
    return key;
  }

  private static Path only(Path folder, String end) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(end)).findAny().orElseThrow();
    }
  }

  @AfterAll
  static void tidyUp() throws IOException {
    if (slurm != null) {
      slurm.close();
    }
  }

  @Test
  void aRawJobUnderTheLimitPasses() throws IOException {
    passes(sbatch("--gpus=8", "--time=60"));
    passes(sbatch("--gpus-per-node=h100:2", "--nodes=2", "--time=2:00:00"));
    passes(sbatch("--array=0-7", "--gpus=1", "--time=60"));
    passes(sbatch("--time=2-00:00:00"));
    passes(sbatch("--exclusive", "--time=60"));
    passes(sbatch("--partition=debug", "--gpus=16", "--time=1-00:00:00"));
  }

  @Test
  void aRawJobOverItIsToldWhatItNeeds() throws IOException {
    CommandResult refused = sbatch("--gpus=8", "--time=61");

    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err())
        .contains(
            "this job could use 8.1 GPU-hours (1 tasks x 8 GPUs x 61 minutes); " + NEEDS,
            "ask for less (--time, --gpus, --array), or: nexa-slurm submit CONFIG.yaml",
            "--comment=nexa:v1:APPROVAL_ID",
            "Access/permission denied");
  }

  static final List<List<String>> OVER =
      List.of(
          List.of("--gpus=16"), // of the default time, an hour
          List.of("--gpus=1", "--time=UNLIMITED"),
          List.of("--gpus=+64", "--time=8:00:00"),
          List.of("--ntasks=8", "--mincpus=16", "--gpus-per-task=8", "--time=7"),
          List.of("--gpus=1", "--array=0-8"),
          List.of("--gpus=1", "--array=1-100%1"),
          List.of("--gpus=1", "--array=1%1,2-9"),
          List.of("--gres=gpu:h100:8", "--nodes=2"),
          List.of("--gres=gpu:8", "--nodes=1-2"),
          List.of("--gres=gpu:8", "--ntasks=2"),
          List.of("--gpus-per-task=1", "--ntasks=9"),
          List.of("--ntasks-per-gpu=1", "--ntasks=9"),
          List.of("--gpus-per-node=8", "--nodelist=p[1-2]"),
          List.of("--gpus-per-socket=1", "--sockets-per-node=2", "--time=1-00:00:00"),
          List.of("--exclusive", "--time=61"),
          List.of("--partition=whole", "--nodes=2"),
          List.of("--partition=gpu,debug", "--gpus=16"));

  @ParameterizedTest
  @FieldSource("OVER")
  void howeverGpusAreAskedForTheyCount(List<String> options) throws IOException {
    refused(sbatch(options.toArray(String[]::new)), NEEDS);
  }

  /** Slurm 24.11's own parser refuses it before the policy is asked. */
  @Test
  void aSignBehindTheTypeHidesNoGpu() throws IOException {
    CommandResult refusal = sbatch("--gpus=h100:+064", "--time=8:00:00");

    assertThat(refusal.exit()).isNotZero();
    assertThat(refusal.err()).containsAnyOf(NEEDS, "Invalid Trackable RESource (TRES)");
  }

  @Test
  void variablesThatOverrideTheScriptAreSeen() throws IOException {
    Path modest = slurm.folder.resolve("home/modest.sbatch");
    Files.writeString(modest, "#!/bin/bash\n#SBATCH --time=1\n#SBATCH --gpus=8\ntrue\n");
    String[] sbatch = {"sbatch", "--parsable", "--hold", "--output=/dev/null", modest.toString()};

    passes(slurm.user(sbatch));
    refused(slurm.user(Map.of("SBATCH_TIMELIMIT", "600"), sbatch), NEEDS);
    refused(slurm.user(Map.of("SBATCH_ARRAY_INX", "0-999"), sbatch), NEEDS);
    refused(
        slurm.user(Map.of("SBATCH_EXCLUSIVE", "exclusive", "SBATCH_TIMELIMIT", "61"), sbatch),
        NEEDS);
  }

  @Test
  void sallocAndSrunAreHeldToItToo() throws IOException {
    assertThat(slurm.user("srun", "--gpus=1", "--time=5", "echo", "ran").out()).isEqualTo("ran\n");
    assertThat(slurm.user("salloc", "--gpus=1", "--time=5", "echo", "ran").out())
        .isEqualTo("ran\n");
    refused(slurm.user("srun", "--gpus=9", "--time=60", "echo", "ran"), NEEDS);
    refused(slurm.user("salloc", "--gpus=9", "--time=60", "echo", "ran"), NEEDS);
    String comment = "--comment=nexa:v1:" + install(Map.of());
    refused(
        slurm.user("srun", "--gpus=8", "--time=300", "-Anlp", "-pgpu", comment, "true"),
        "it has no script, and the approval covers one script");
  }

  @Test
  void anApprovedJobPassesOnce() throws IOException {
    String id = install(Map.of());

    passes(big(id));

    assertThat(approved.path().resolve("used").resolve(id))
        .content()
        .matches("2 \\d+ " + slurm.uid + " job.sbatch\n");
    refused(big(id), "the approval is used up: it has 0 array tasks left");
    assertThat(slurm.log()).contains("80 GPU-hours of nexa-second by approval " + id);
  }

  @Test
  void aRunInPartsIsOneUse() throws IOException {
    String id = install(Map.of());

    passes(big(id, "--array=0"));
    passes(big(id, "--array=1"));
    refused(big(id, "--array=0"), "used up");
  }

  static final List<List<String>> NOT_COVERED =
      List.of(
          List.of("--gpus-per-node=5", "it asks for 10 GPUs, the approval covers 8"),
          List.of("--time=301", "it asks for 301 minutes, the approval covers 300"),
          List.of("--array=0-2", "it asks for 3 array tasks, the approval covers 2"),
          List.of("--array=0%1,1-2", "it asks for 3 array tasks, the approval covers 2"),
          List.of("--cpus-per-task=5", "it asks for 10 CPUs, the approval covers 8"),
          List.of("--mincpus=5", "it asks for 10 CPUs, the approval covers 8"),
          List.of("--ntasks-per-node=2", "it asks for 16 CPUs, the approval covers 8"),
          List.of("--threads-per-core=1", "it asks for CPUs by the hardware (--threads-per-core)"),
          List.of("--sockets-per-node=1", "it asks for CPUs by the hardware (--sockets-per-node)"),
          List.of("--mem=20G", "MiB of memory"),
          List.of("--mem=0", "unlimited MiB of memory"),
          List.of("--exclusive", "it asks for 16 GPUs"),
          List.of("--partition=whole", "for the partition 'gpu'"),
          List.of("--account=vision", "for the account 'nlp'"),
          List.of("--qos=high", "for the QOS ''"),
          List.of("--requeue", "the approval covers one attempt"));

  @ParameterizedTest
  @FieldSource("NOT_COVERED")
  void whatTheApprovalDoesNotCoverIsNamed(List<String> option) throws IOException {
    String id = install(Map.of());

    refused(big(id, option.get(0)), option.get(1));

    assertThat(approved.path().resolve("used").resolve(id)).doesNotExist();
    passes(big(id));
  }

  @Test
  void wholeNodesAreCoveredWhereTheyWereApproved() throws IOException {
    String shared = install(Map.of("gpus", 16));
    String whole = install(Map.of("gpus", 16, "exclusive", true));

    refused(
        big(shared, "--exclusive", "--gpus-per-node=8"), "it asks for whole nodes (--exclusive)");
    refused(big(whole, "--exclusive=user"), "it asks for whole nodes (--exclusive)");
    passes(big(shared));
    passes(big(whole, "--exclusive", "--gpus-per-node=8"));
  }

  @Test
  void oneByteOfTheScriptIsAnotherScript() throws IOException {
    String id = install(Map.of());
    Path other = slurm.folder.resolve("home/other.sbatch");
    Files.writeString(other, SCRIPT + "\n");

    refused(big(id, other), "its script is not the approved one");
    refused(
        slurm.user(
            "sbatch",
            "--hold",
            "--gpus=9",
            "--no-requeue",
            "--account=nlp",
            "--partition=gpu",
            "--comment=nexa:v1:" + id,
            "--wrap=echo approved"),
        "asks for 9 GPUs");
  }

  @Test
  void anothersAndExpiredApprovalsAreNone() throws IOException {
    refused(big(install(Map.of("user", "root"))), "the approval is for the user root");
    refused(big(install(Map.of("uid", slurm.uid + 1))), "the approval is for the user");
    refused(big(install(Map.of("expires", Instant.now()))), "the approval has expired");
    refused(big("0123456789abcdef"), "the admin has not installed the approval 0123456789abcdef");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nexa:v1:",
        "nexa:v1:../../etc/passwd",
        "nexa:v1:..",
        "nexa:v1:used",
        "nexa:v1:0123456789ABCDEF",
        "nexa:v1:0123456789abcdef0",
        "nexa:v1:0123456789abcdef\nx",
        "nexa:v1:%d%s%s%n%999999d",
        "nexa:v1:0123456789abcdef ",
        "nexa:v1:'$(touch /tmp/canary)'",
        "nexa:v2:0123456789abcdef",
        "\"]]--nexa:v1:0123456789abcdef"
      })
  void aHostileCommentIsRefusedAndNothingMore(String comment) throws IOException {
    refused(sbatch("--gpus=9", "--time=60", "--comment=" + comment), NEEDS);
    passes(sbatch("--gpus=1", "--time=60", "--comment=" + comment));
    assertThat(slurm.log()).doesNotContain("job_submit.lua failed");
  }

  @Test
  void whatWasApprovedMayOnlyBeMadeSmaller() throws IOException {
    String id = install(Map.of());
    // A changed Nice lets a held job go (22.05.8), and this job must not end before the last
    // change.
    String job = passes(big(id, "--begin=now+1hour"));

    for (String wider :
        List.of(
            "TimeLimit=301",
            "TimeLimit=UNLIMITED",
            "NumNodes=3",
            "NumTasks=3",
            "NumCPUs=16",
            "NumCPUs=8-16",
            "CPUsPerTask=5",
            "MinCPUsNode=5",
            "MinCPUsNode=1",
            "ReqSockets=2",
            "ReqThreads=1",
            "TresPerNode=gpu:5",
            "Gres=gpu:5",
            "TresPerJob=gpu:9",
            "MinMemoryNode=20000",
            "OverSubscribe=no",
            "Requeue=1",
            "Partition=debug",
            "QOS=high",
            "Account=vision",
            "Comment=please")) {
      CommandResult update = slurm.user("scontrol", "update", "JobId=" + job, wider);
      assertThat(update.exit()).as(wider).isEqualTo(1);
      assertThat(update.err()).as(wider).contains("Access/permission denied");
    }
    for (String narrower :
        List.of(
            "TimeLimit=299",
            "NumNodes=1",
            "Requeue=0",
            "ArrayTaskThrottle=1",
            "Nice=5",
            "Name=x")) {
      CommandResult update = slurm.user("scontrol", "update", "JobId=" + job, narrower);
      assertThat(update.exit()).as(narrower + update.err()).isZero();
    }
    assertThat(slurm.user("scontrol", "update", "JobId=" + job + "_1", "TimeLimit=301").exit())
        .isEqualTo(1);
    assertThat(slurm.user("scontrol", "update", "JobId=" + job + "_1", "TimeLimit=300").exit())
        .isZero();
    passes(slurm.root("scontrol", "update", "JobId=" + job, "TimeLimit=600"));
  }

  @Test
  void aSmallJobMayGrowUpToTheLimit() throws IOException {
    String job = passes(sbatch("--gpus=1", "--time=60"));

    assertThat(slurm.user("scontrol", "update", "JobId=" + job, "TimeLimit=480").exit()).isZero();
    assertThat(slurm.user("scontrol", "update", "JobId=" + job, "TimeLimit=481").exit()).isOne();
    assertThat(slurm.user("scontrol", "update", "JobId=" + job, "TimeLimit=60").exit()).isZero();
    String whole = passes(sbatch("--exclusive", "--time=10"));
    assertThat(slurm.user("scontrol", "update", "JobId=" + whole, "TimeLimit=60").exit()).isZero();
    assertThat(slurm.user("scontrol", "update", "JobId=" + whole, "TimeLimit=61").exit()).isOne();
    String exempt = passes(sbatch("--partition=debug", "--gpus=9", "--time=60"));
    assertThat(slurm.user("scontrol", "update", "JobId=" + exempt, "Partition=gpu").exit()).isOne();
  }

  /** Each ran 64 GPUs under a limit of 8 GPU-hours before there were bounds. */
  static final List<List<String>> GREW =
      List.of(
          List.of("NumCPUs=128", "--gres=gpu:8", "--time=60"),
          List.of("NumCPUs=128", "--exclusive", "--time=60"),
          List.of("TimeLimit=60", "--ntasks=8", "--mincpus=16", "--gpus-per-task=8", "--time=1"));

  @ParameterizedTest
  @FieldSource("GREW")
  void aHeldJobDoesNotGrowAfterwards(List<String> options) throws IOException {
    String job = passes(sbatch(options.subList(1, options.size()).toArray(String[]::new)));

    CommandResult update = slurm.user("scontrol", "update", "JobId=" + job, options.get(0));

    assertThat(update.exit()).isOne();
    assertThat(update.err()).contains("Access/permission denied");
  }

  /** Fields of the C API; scontrol and sbatch cannot set most of them so. */
  static final List<String> RAW =
      List.of(
          "max_nodes=0",
          "max_nodes=2",
          "min_nodes=0xffffffff",
          "min_cpus=129",
          "max_cpus=129",
          "num_tasks=128",
          "pn_min_cpus=16",
          "cpus_per_task=16",
          "ntasks_per_node=8",
          "ntasks_per_tres=1",
          "ntasks_per_socket=1",
          "sockets_per_node=2",
          "boards_per_node=1",
          "shared=0",
          "shared=2",
          "tres_per_job=gres:gpu:16",
          "tres_per_socket=gres:gpu:8",
          "tres_per_task=gres:gpu:8",
          "tres_per_node=gres:gpu:\t+16",
          "tres_per_node=gres:gpu:-18446744073709551600",
          "tres_per_node=license:x gres:gpu:16",
          "cpus_per_tres=gres:gpu:16",
          "mem_per_tres=gres:gpu:64000",
          "pn_min_memory=0",
          "req_nodes=p[1-2]",
          "dependency=expand:1",
          "comment=nexa:v1:0123456789abcdef",
          "time_limit=0",
          "time_limit=0xffffffff",
          "time_limit=61");

  @Test
  void noFieldOfTheApiMakesAJobLarger() throws IOException {
    String raw = slurm.rawJob();
    String[] submit = {raw, "submit", "priority=0", "tres_per_node=gres:gpu: +8", "time_limit=60"};
    String job = passes(slurm.user(submit));

    for (String field : RAW) {
      CommandResult update = slurm.user(raw, "update", job, field);
      assertThat(update.err()).as(field).contains("Access/permission denied");
    }
    passes(slurm.user(raw, "update", job, "time_limit=59", "max_nodes=1"));
    // 128 CPUs would be on 8 nodes, with 8 GPUs each.
    String[] wide = Arrays.copyOf(submit, submit.length + 1);
    wide[submit.length] = "min_cpus=128";
    job = passes(slurm.user(wide));
    assertThat(slurm.root("scontrol", "show", "job", job).out()).contains("NumNodes=1-1");
    CommandResult forged =
        slurm.user(
            raw, "submit", "priority=0", "time_limit=1", "admin_comment=nexa:v1:bound(gpus=0)");
    assertThat(forged.err()).contains("Access/permission denied");
  }

  @Test
  void slurmrestdIsHeldToItToo() throws IOException {
    CommandResult plugins = slurm.user("slurmrestd", "-s", "list");
    assumeTrue(
        (plugins.out() + plugins.err()).contains("openapi/v0.0.38"),
        "Slurm 24.11's slurmrestd knows only later versions of its protocol");
    Path script = slurm.folder.resolve("home/rest.sh");
    Files.writeString(
        script,
        """
        socket=$PWD/rest.sock
        slurmrestd -a rest_auth/local -s openapi/v0.0.38 "unix:$socket" >rest.log 2>&1 &
        for i in {1..100}; do [[ -S $socket ]] && break; sleep 0.1; done
        post() {
          curl -s --unix-socket "$socket" -H 'Content-Type: application/json' -d "$2" "http://x/slurm/v0.0.38/job/$1" |
            tr -d ' \n' | grep -oE '"error":"[^"]*"|"job_id":[0-9]*' | sed "s/^/$3 /"
        }
        job() {
          echo '{"script": "#!/bin/bash\\nexit\\n", "job": {"hold": true, "nodes": 1, "current_working_directory": "/tmp",
            "environment": {"PATH": "/bin"}, '"$1"'}}'
        }
        post submit "$(job '"time_limit": 480, "gpus": "+64"')" large
        id=$(post submit "$(job '"time_limit": 60, "gres": "gpu:8"')" small | sed -n 's/.*"job_id"://p')
        echo "id ${id:+given}"
        post "$id" '{"time_limit": 61}' longer
        post "$id" '{"time_limit": 60}' same
        post "$id" '{"name": "other"}' name
        kill %1
        """);

    CommandResult said = slurm.user("bash", script.toString());

    assertThat(said.out().lines())
        .as(said.err() + Files.readString(script.resolveSibling("rest.log")))
        .containsExactly(
            "large \"error\":\"Access\\/permissiondenied\"",
            "id given",
            "longer \"error\":\"Access\\/permissiondenied\"");
  }

  @Test
  void thePartsOfAHeterogeneousJobAreJudgedTogether() throws IOException, InterruptedException {
    refused(
        sbatch("--gpus=8", "--time=40", ":", "--gpus=8", "--time=40"), "that is 10.7 GPU-hours");
    Thread.sleep(3_100); // the parts of seconds ago count
    String job = passes(sbatch("--gpus=4", "--time=60", ":", "--gpus=4", "--time=60"));

    for (String part : List.of(job, job + "+0", job + "+1")) {
      assertThat(slurm.user("scontrol", "update", "JobId=" + part, "TimeLimit=61").exit()).isOne();
      assertThat(slurm.user("scontrol", "update", "JobId=" + part, "TimeLimit=59").exit()).isZero();
    }
  }

  @Test
  void theBoundIsTheAdminsToWrite() throws IOException {
    String forged = "nexa:v1:bound(gpus=0)";
    refused(sbatch("--gpus=1", "--time=60", "--admin-comment=" + forged), "unrecognized option");
    String job = passes(sbatch("--gpus=1", "--time=60"));
    assertThat(slurm.user("scontrol", "update", "JobId=" + job, "AdminComment=" + forged).exit())
        .isOne();
    slurm.root("scontrol", "update", "JobId=" + job, "AdminComment=watched " + forged);
    assertThat(slurm.root("scontrol", "show", "job", job).out())
        .contains("AdminComment=watched nexa:v1:bound(gpus=1,nodes=1,");
  }

  @Test
  void whatWasEstimatedApprovedAndInstalledIsWhatSlurmLetsThrough() throws IOException {
    Path workspace = slurm.folder.resolve("workspace");
    Path key = key(workspace);
    Files.writeString(workspace.resolve("run.yaml"), RUN);
    type(
        workspace,
        "approve",
        "--yes",
        "run.yaml",
        "--key",
        key.toString(),
        "--for",
        PrivateSlurm.USER);
    Path signed = only(workspace.resolve("approvals"), ".approval");
    String name = signed.getFileName().toString();
    String id =
        name.substring(
            name.length() - ".approval".length() - 16, name.length() - ".approval".length());
    Path rendered = slurm.folder.resolve("home/rendered.sbatch");
    Files.writeString(rendered, type(workspace, "render", "run.yaml"));
    String[] sbatch = sbatchOf(rendered, "nexa:v1:" + id);

    refused(slurm.user(sbatch), "the admin has not installed the approval " + id);
    type(workspace, "approvals", "install", signed.toString(), "--to", approved.path().toString());
    refused(slurm.user(Map.of("SBATCH_TIMELIMIT", "301"), sbatch), "301 minutes");
    refused(slurm.user(sbatchOf(rendered, "")), NEEDS);
    String job = passes(slurm.user(sbatch));
    assertThat(slurm.root("scontrol", "show", "job", job).out()).contains("Comment=nexa:v1:" + id);
    refused(slurm.user(sbatch), "used up");
    slurm.root("scancel", job);
  }

  @Test
  void eachStageOfAnApprovedPipelineIsLetThroughOnceByItsOwnId() throws IOException {
    Path workspace = workspace("pipelines");
    Path key = key(workspace);
    Files.writeString(workspace.resolve("first.yaml"), RUN);
    Files.writeString(workspace.resolve("next.yaml"), RUN.replace("hostname", "date"));
    Files.writeString(
        workspace.resolve("p.yaml"),
        "stages:\n  first: {config: first.yaml}\n  next: {config: next.yaml, after: [first]}\n");
    type(3, workspace, "pipeline", "run", "p.yaml");
    String estimate = only(workspace.resolve("estimates"), ".json").toString();
    type(workspace, "approve", "--yes", estimate, "--key", key.toString(), "--for", "any");
    String signed = only(workspace.resolve("approvals"), ".approval").toString();
    JsonObject installed =
        Json.parseObject(
            type(
                workspace,
                "approvals",
                "install",
                signed,
                "--to",
                approved.path().toString(),
                "--for",
                PrivateSlurm.USER,
                "--json"));
    assertThat(installed.objects("tokens")).hasSize(2);

    // Slurm does not stop root, so the stages' own scripts and comments can be read.
    type(workspace, "pipeline", "run", "p.yaml");
    Map<String, Path> scripts = new TreeMap<>();
    for (String line : slurm.root("squeue", "--noheader", "--format=%j %k").out().split("\n", -1)) {
      String[] job = line.strip().split(" ", -1);
      Optional<RunId> id = RunId.ofKey(job[0]);
      if (id.isPresent() && Files.exists(workspace.resolve("runs/" + id.get()))) {
        Path script = workspace.resolve("runs/" + id.get() + "/job.sbatch");
        Path copy = slurm.folder.resolve("home/" + id.get() + ".sbatch");
        scripts.put(job[1], Files.write(copy, Files.readAllBytes(script)));
      }
    }
    assertThat(scripts).hasSize(2);

    String other = List.copyOf(scripts.keySet()).get(1);
    Path first = List.copyOf(scripts.values()).get(0);
    refused(slurm.user(sbatchOf(first, other)), "its script is not the approved one");
    for (Map.Entry<String, Path> stage : scripts.entrySet()) {
      String[] own = sbatchOf(stage.getValue(), stage.getKey());
      String job = passes(slurm.user(own));
      refused(slurm.user(own), "used up");
      slurm.root("scancel", job);
    }
    slurm.root("scancel", "--user=root");
  }

  /** What submit would type. */
  private static String[] sbatchOf(Path rendered, String comment) {
    Path home = rendered.resolveSibling("");
    SubmitRequest request =
        new SubmitRequest(
            "data_20251101_143200.abcdef",
            rendered,
            home,
            "/dev/null",
            comment,
            home,
            Optional.empty(),
            "",
            "");
    return SlurmCommands.sbatch(request, Map.of()).toArray(String[]::new);
  }

  /**
   * slurmctld reads a file at the next job if the file is newer, in whole seconds, than its last
   * reading.
   */
  @Test
  void anObservingPolicyRefusesNothingAndLogsIt() throws IOException, InterruptedException {
    Path observed = workspace("observed");
    Path policy = observed.resolve("configs/policy.yaml");
    Files.writeString(
        policy,
        Files.readString(policy).replace("gpu_hours_over: 8", "gpu_hours_over: 8, mode: observe"));
    Path lua = slurm.folder.resolve("job_submit.lua");
    String enforcing = Files.readString(lua);
    try {
      Thread.sleep(1100);
      String installed =
          type(
              observed,
              "policy",
              "install",
              "--to",
              lua.toString(),
              "--approved-dir",
              approved.path().toString());
      assertThat(installed).contains("note: slurm.mode is observe: slurmctld refuses nothing");

      CommandResult over = sbatch("--gpus=8", "--time=61", "--job-name=observed");

      String job = passes(over);
      assertThat(over.err()).doesNotContain("nexa-slurm");
      assertThat(slurm.user("scontrol", "update", "JobId=" + job, "TimeLimit=120").exit()).isZero();
      assertThat(slurm.log())
          .contains(
              "nexa-slurm would refuse: user "
                  + PrivateSlurm.USER
                  + ", job observed: this job could use 8.1 GPU-hours (1 tasks x 8 GPUs x 61 minutes)")
          .containsPattern(
              "nexa-slurm would refuse: user .*, job observed: job \\d+ could use more");
    } finally {
      Thread.sleep(1100);
      Files.writeString(lua, enforcing);
    }
    refused(sbatch("--gpus=8", "--time=61"), NEEDS);
  }

  @Test
  void theAdminIsNotStopped() throws IOException {
    CommandResult root =
        slurm.root("sbatch", "--parsable", "--hold", "--gpus=16", "--time=600", script.toString());

    assertThat(root.exit()).as(root.err()).isZero();
  }

  // What is typed

  /** Asks for exactly what {@link #install} covers: 2 tasks, 2 nodes of 4 GPUs, 5 hours. */
  private static CommandResult big(String id, String... more) throws IOException {
    return big(id, script, more);
  }

  private static CommandResult big(String id, Path file, String... more) throws IOException {
    List<String> argv =
        new ArrayList<>(
            List.of(
                "sbatch",
                "--parsable",
                "--hold",
                "--output=/dev/null",
                "--array=0-1",
                "--nodes=2",
                "--ntasks-per-node=1",
                "--cpus-per-task=4",
                "--gpus-per-node=4",
                "--mem=8G",
                "--time=300",
                "--account=nlp",
                "--partition=gpu",
                "--no-requeue",
                "--comment=nexa:v1:" + id));
    argv.addAll(List.of(more));
    argv.add(file.toString());
    return slurm.user(argv.toArray(String[]::new));
  }

  private static CommandResult sbatch(String... options) throws IOException {
    List<String> argv =
        new ArrayList<>(List.of("sbatch", "--parsable", "--hold", "--output=/dev/null"));
    argv.addAll(List.of(options));
    argv.add(script.toString());
    return slurm.user(argv.toArray(String[]::new));
  }

  /** Installs an approval, with changes; its id. */
  private static String install(Map<String, Object> changes) {
    JsonObject limits =
        new JsonObject()
            .with("tasks", 2)
            .with("attempts", 1)
            .with("chain", 1)
            .with("time_limit_seconds", 18_000)
            .with("nodes", 2)
            .with("exclusive", changes.getOrDefault("exclusive", false))
            .with("gpus", changes.getOrDefault("gpus", 8))
            .with("cpus", 8)
            .with("memory_bytes", 16L << 30)
            .with("partition", "gpu")
            .with("account", "nlp");
    SlurmToken token =
        new SlurmToken(
            String.format("%016x", new SecureRandom().nextLong()),
            (String) changes.getOrDefault("user", PrivateSlurm.USER),
            (Long) changes.getOrDefault("uid", slurm.uid),
            limits,
            1,
            (Instant) changes.getOrDefault("expires", Instant.now().plusSeconds(600)),
            Sha256.of(SCRIPT));
    approved.install(token, DurableFiles.onDisk());
    return token.id();
  }

  /** The job's id. */
  private static String passes(CommandResult result) {
    assertThat(result.exit()).as(result.err()).isZero();
    return result.out().strip();
  }

  private static void refused(CommandResult result, String why) {
    assertThat(result.exit()).as(result.out()).isNotZero();
    assertThat(result.err()).contains(why);
  }
}
