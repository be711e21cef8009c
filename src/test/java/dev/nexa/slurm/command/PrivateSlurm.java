package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Slurm beside that of dev/cluster, with a configuration of its own, for what nobody else may
 * meet: ports, folder and nodes are its own, munge and the pretended GPUs are shared. As root. It
 * keeps no accounting, unless {@link #withAccounting} asks for it: account and QOS are what the job
 * says.
 */
public final class PrivateSlurm implements AutoCloseable {
  /** A user like any other: it may submit, and change its own jobs. */
  public static final String USER = "nexa-second";

  private static final AtomicInteger PREPARED = new AtomicInteger();

  /**
   * What a cluster has.
   *
   * @param gpus for each node's name the pretended devices by type: {@code h100=0-7 a100=8-9};
   *     empty for nodes that no slurmd runs, which are enough for jobs that are held
   * @param configuration lines of slurm.conf besides: nodes without name and address as {@code
   *     NodeName=p1 AT CPUs=16}, and partitions
   */
  public record Layout(Map<String, String> gpus, String configuration) {}

  public static final Layout TWO_NODES =
      new Layout(
          Map.of("p1", "h100=0-7", "p2", "h100=0-7"),
          """
          SelectTypeParameters=CR_CPU_Memory
          NodeName=p1 AT CPUs=16 RealMemory=64000 Gres=gpu:h100:8
          NodeName=p2 AT CPUs=16 RealMemory=64000 Gres=gpu:h100:8
          PartitionName=DEFAULT Nodes=p[1-2] MaxTime=2-00:00:00 DefaultTime=1:00:00 DefMemPerCPU=1000
          PartitionName=gpu Default=YES
          PartitionName=debug
          PartitionName=whole OverSubscribe=EXCLUSIVE
          """);

  public final Path folder;
  public final String user;
  public final long uid;
  private final Layout layout;
  private final List<Process> daemons = new ArrayList<>();

  /** The name of its database in MariaDB of dev/cluster; null if it keeps no accounting. */
  private @Nullable String database;

  private int accountingPort;

  private PrivateSlurm(Path folder, String user, long uid, Layout layout) {
    this.folder = folder;
    this.user = user;
    this.uid = uid;
    this.layout = layout;
  }

  /** The workspace of {@link #person}. */
  public Path workspace() {
    return folder.resolve("workspace");
  }

  /** Makes a workspace on this Slurm, and returns somebody who types there. */
  public Person person() throws IOException {
    Path configs = Files.createDirectories(workspace().resolve("configs/clusters")).getParent();
    Files.writeString(
        configs.resolve("policy.yaml"),
        "approval_over: {amount: 1000, currency: USD}\nsettle_window_seconds: 2\n");
    Files.writeString(
        configs.resolve("clusters/default.yaml"),
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: %1$s/s, durable: %1$s/d, shared: %1$s/h}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10}
        """
            .formatted(workspace()));
    return new Person(workspace(), Map.of("SLURM_CONF", folder.resolve("slurm.conf").toString()));
  }

  /** Makes the folder, where job_submit.lua goes, and the second user; starts nothing. */
  public static PrivateSlurm prepare() throws IOException {
    return prepare(TWO_NODES);
  }

  /** A user of its own: another class may delete its user at any moment. */
  public static PrivateSlurm prepare(Layout layout) throws IOException {
    return prepare(
        layout, "nexa-" + ProcessHandle.current().pid() + "-" + PREPARED.incrementAndGet());
  }

  public static PrivateSlurm prepare(Layout layout, String user) throws IOException {
    Path folder = Files.createTempDirectory("nexa-private-slurm");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    for (String name : List.of("state", "spool", "log")) {
      Files.createDirectory(folder.resolve(name));
    }
    Path home = Files.createDirectory(folder.resolve("home"));
    if (run(Map.of(), "id", "-u", user).exit() != 0) {
      assertThat(Team.account("useradd", "--no-create-home", user)).returns(0, c -> c.exit());
    }
    assertThat(run(Map.of(), "chown", user, home.toString()).exit()).isZero();
    long uid = Long.parseLong(run(Map.of(), "id", "-u", user).out().strip());
    return new PrivateSlurm(folder, user, uid, layout);
  }

  /**
   * Gives it a slurmdbd, and a database of its own in MariaDB of dev/cluster, whose limits it
   * enforces. Root's account is {@code lab}.
   *
   * @param limits limits of root's association, as sacctmgr takes them
   */
  public void withAccounting(String... limits) throws Exception {
    database = folder.getFileName().toString().replace('-', '_');
    accountingPort = freePort();
    Path file = folder.resolve("slurmdbd.conf");
    Files.writeString(
        file,
        """
        DbdHost=localhost
        DbdPort=%d
        SlurmUser=root
        %s
        PidFile=%s/slurmdbd.pid
        StorageType=accounting_storage/mysql
        StorageUser=root
        StorageLoc=%s
        """
            .formatted(accountingPort, authInfo(), folder, database));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.writeString(folder.resolve("slurm.conf"), configuration());
    daemon("slurmdbd", "slurmdbd", "-D");
    CommandResult answer = root("sacctmgr", "-i", "add", "cluster", "private");
    for (int i = 0; answer.exit() != 0 && i < 300; i++) {
      Thread.sleep(200);
      answer = root("sacctmgr", "-i", "add", "cluster", "private");
    }
    assertThat(answer.exit())
        .as(answer + Files.readString(folder.resolve("log/slurmdbd")))
        .isZero();
    assertThat(root("sacctmgr", "-i", "add", "account", "lab").exit()).isZero();
    List<String> user = new ArrayList<>(List.of("sacctmgr", "-i", "add", "user", "root"));
    user.add("account=lab");
    user.addAll(List.of(limits));
    CommandResult added = root(user.toArray(String[]::new));
    assertThat(added.exit()).as(added.toString()).isZero();
    // A new cluster has root in the account root already.
    assertThat(root("sacctmgr", "-i", "modify", "user", "root", "set", "defaultaccount=lab").exit())
        .isZero();
  }

  /** Writes a job_submit.lua that accepts every job. */
  public void letAllThrough() throws IOException {
    Files.writeString(
        folder.resolve("job_submit.lua"),
        """
        function slurm_job_submit(job, partitions, uid) return slurm.SUCCESS end
        function slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end
        """);
  }

  /** Returns once its nodes are idle, or, if no slurmd runs them, known. */
  public void start() throws Exception {
    if (database == null) {
      Files.writeString(folder.resolve("slurm.conf"), configuration());
    }
    Files.writeString(folder.resolve("gres.conf"), gres());
    Path cgroups = Path.of("/etc/slurm/cgroup.conf"); // on newer Slurms
    if (Files.exists(cgroups)) {
      Files.copy(cgroups, folder.resolve("cgroup.conf"), StandardCopyOption.REPLACE_EXISTING);
    }
    daemon("slurmctld", "slurmctld", "-D");
    for (String node : layout.gpus().keySet()) {
      daemon(node, "slurmd", "-D", "-N", node);
    }
    String states = "";
    for (int i = 1; i <= 600; i++) {
      states = run(environment(), "sinfo", "-h", "-o", "%D %T").out();
      if (layout.gpus().isEmpty() ? !states.isEmpty() : idle(states)) {
        return;
      }
      Thread.sleep(200);
    }
    throw new AssertionError(
        "not up: " + states + Files.readString(folder.resolve("log/slurmctld")));
  }

  /** Keeps slurmctld's state on disk as it is now. */
  public void keepState() throws IOException {
    assertThat(root("rm", "-rf", folder + "/kept").exit()).isZero();
    assertThat(root("cp", "-a", folder + "/state", folder + "/kept").exit()).isZero();
  }

  /** Keeps slurmctld's state as soon as a job with this in its name is on disk. */
  public void keepStateWith(String jobName) throws Exception {
    String jobs = folder + "/state/job_state";
    for (int i = 0; root("grep", "-q", jobName, jobs).exit() != 0; i++) {
      assertThat(i).as("tenths of a second without %s in %s", jobName, jobs).isLessThan(600);
      Thread.sleep(100);
    }
    keepState();
  }

  /**
   * Kills slurmctld and starts it with the state that was kept, as after a disk that lost what was
   * written last.
   *
   * @param firstJobId the least id that it gives from now on; it may have given that before
   * @param jobsToo whether the jobs that run die meanwhile; else slurmctld cancels those that it
   *     does not know
   */
  public void loseState(int firstJobId, boolean jobsToo) throws Exception {
    Process controller = daemons.get(daemons.size() - 1 - layout.gpus().size());
    controller.destroyForcibly().waitFor();
    if (jobsToo) {
      killSteps();
      root("pkill", "-KILL", "-f", folder + "/spool");
    }
    assertThat(root("rm", "-rf", folder + "/state").exit()).isZero();
    assertThat(root("cp", "-a", folder + "/kept", folder + "/state").exit()).isZero();
    Path conf = folder.resolve("slurm.conf");
    String text = Files.readString(conf).replaceAll("(?m)^FirstJobId=.*\n", "");
    Files.writeString(conf, text + "FirstJobId=" + firstJobId + "\n");
    daemons.remove(controller);
    daemon("slurmctld", "slurmctld", "-D");
    Process restarted = daemons.remove(daemons.size() - 1);
    daemons.add(daemons.size() - layout.gpus().size(), restarted);
    for (int i = 0; root("scontrol", "ping").exit() != 0 && i < 300; i++) {
      Thread.sleep(100);
    }
  }

  private static boolean idle(String states) {
    return !states.isEmpty() && states.lines().allMatch(line -> line.endsWith(" idle"));
  }

  /** The devices are those of dev/cluster. */
  private String gres() throws IOException {
    String devices =
        Files.readAllLines(Path.of("/etc/slurm/gres.conf")).stream()
            .filter(line -> line.contains(" File="))
            .map(line -> line.replaceAll(".* File=|\\[.*", ""))
            .findFirst()
            .orElseThrow();
    StringBuilder lines = new StringBuilder("AutoDetect=off\n");
    layout
        .gpus()
        .forEach(
            (node, types) -> {
              for (String type : types.split(" ", -1)) {
                if (!type.isEmpty()) {
                  lines.append("NodeName=").append(node).append(" Name=gpu Type=");
                  lines.append(type.replace("=", " File=" + devices + "[")).append("]\n");
                }
              }
            });
    return lines.toString();
  }

  private void daemon(String name, String... argv) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(argv).directory(new File("/"));
    builder.environment().clear();
    builder.environment().putAll(environment());
    builder.environment().put("MYSQL_UNIX_PORT", mysqlSocket());
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("log/" + name).toFile());
    daemons.add(builder.start());
  }

  /** The variables that a client needs. */
  public Map<String, String> environment() {
    Map<String, String> environment = new TreeMap<>();
    environment.put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    environment.put("SLURM_CONF", folder.resolve("slurm.conf").toString());
    environment.put("HOME", folder.resolve("home").toString());
    return environment;
  }

  private static String authInfo() throws IOException {
    return Files.readAllLines(Path.of("/etc/slurm/slurm.conf")).stream()
        .filter(line -> line.startsWith("AuthInfo="))
        .findAny()
        .orElse("");
  }

  private static Path mungeSocket() throws IOException {
    return Path.of(authInfo().replaceAll("^AuthInfo=socket=|,.*", ""));
  }

  /** MariaDB of dev/cluster; it lets root in without a password. */
  public static String mysqlSocket() throws IOException {
    return mungeSocket().resolve("../../mysql/socket").normalize().toString();
  }

  private String accounting() throws IOException {
    return database == null
        ? ""
        : """
        AccountingStorageType=accounting_storage/slurmdbd
        AccountingStorageHost=127.0.0.1
        AccountingStoragePort=%d
        AccountingStoragePass=%s
        AccountingStorageEnforce=limits
        JobAcctGatherType=jobacct_gather/linux
        """
            .formatted(accountingPort, mungeSocket());
  }

  private String configuration() throws IOException {
    String host = run(Map.of(), "uname", "-n").out().strip().split("\\.", -1)[0];
    String text =
        """
        ClusterName=private
        SlurmctldHost=THIS(127.0.0.1)
        SlurmctldPort=PORT
        SlurmUser=root
        AUTH
        StateSaveLocation=FOLDER/state
        SlurmdSpoolDir=FOLDER/spool/%n
        SlurmctldPidFile=FOLDER/slurmctld.pid
        SlurmdPidFile=FOLDER/%n.pid
        SlurmdParameters=config_overrides
        ProctrackType=proctrack/linuxproc
        TaskPlugin=task/none
        SelectType=select/cons_tres
        GresTypes=gpu
        SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,bf_max_job_test=2000,bf_continue,default_queue_depth=2000
        ReturnToService=2
        JobSubmitPlugins=lua
        """
                .replace("AUTH\n", authInfo() + "\n")
                .replace("PORT", "" + freePort())
            + accounting()
            + layout.configuration();
    while (text.contains(" AT ")) {
      text =
          text.replaceFirst(
              " AT ", " NodeHostname=THIS NodeAddr=127.0.0.1 Port=" + freePort() + " ");
    }
    return text.replace("THIS", host).replace("FOLDER", folder.toString());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Types a command as root. */
  public CommandResult root(String... argv) throws IOException {
    return run(environment(), argv);
  }

  /** Types a command as the second user. */
  public CommandResult user(String... argv) throws IOException {
    return user(Map.of(), argv);
  }

  /** The same with more in its environment. */
  public CommandResult user(Map<String, String> more, String... argv) throws IOException {
    return user(Duration.ofSeconds(60), more, argv);
  }

  /** The same for so long. */
  public CommandResult user(Duration timeout, Map<String, String> more, String... argv)
      throws IOException {
    Map<String, String> environment = environment();
    environment.putAll(more);
    List<String> all = new ArrayList<>(List.of("runuser", "-u", user, "--"));
    all.addAll(List.of(argv));
    return new CommandRunner().run(new Command(all, environment, folder.resolve("home"), timeout));
  }

  /** Compiles raw_job.c, by which any field can be set; where it is. */
  public String rawJob() throws IOException {
    String program = folder.resolve("raw_job").toString();
    String source = Path.of("src/test/resources/slurm/raw_job.c").toAbsolutePath().toString();
    CommandResult compiled = root("gcc", "-O1", "-o", program, source, "-lslurm");
    assertThat(compiled.exit()).as(compiled.err()).isZero();
    return program;
  }

  private static CommandResult run(Map<String, String> environment, String... argv)
      throws IOException {
    Map<String, String> all = new TreeMap<>(Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"));
    all.putAll(environment);
    return new CommandRunner()
        .run(new Command(List.of(argv), all, Path.of("/"), Duration.ofSeconds(60)));
  }

  public String log() throws IOException {
    return Files.readString(folder.resolve("log/slurmctld"));
  }

  @Override
  public void close() throws IOException {
    root("scancel", "-u", user);
    root("scancel", "-u", "root");
    for (Process daemon : daemons) {
      daemon.destroy();
    }
    for (Process daemon : daemons) {
      try {
        if (!daemon.waitFor(10, TimeUnit.SECONDS)) {
          daemon.destroyForcibly();
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    // Without its slurmd, a step would wait for an answer for ever.
    killSteps();
    if (database != null) {
      run(Map.of(), "mariadb", "--socket=" + mysqlSocket(), "-e", "DROP DATABASE " + database);
    }
    Team.account("userdel", user);
    for (int i = 0; !deleted() && i < 20; i++) {
      try {
        Thread.sleep(100); // a slurmstepd that writes its last
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void killSteps() {
    ProcessHandle.allProcesses()
        .filter(process -> process.info().command().orElse("").contains("/slurmstepd"))
        .filter(this::isOurs)
        .forEach(ProcessHandle::destroyForcibly);
  }

  /** Returns whether a process has a file of this Slurm open. */
  private boolean isOurs(ProcessHandle process) {
    try (Stream<Path> open = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
      for (Path file : open.toList()) {
        if (Files.readSymbolicLink(file).startsWith(folder)) {
          return true;
        }
      }
    } catch (IOException | UncheckedIOException ended) {
      return false;
    }
    return false;
  }

  private boolean deleted() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
      return true;
    } catch (DirectoryNotEmptyException | NoSuchFileException | UncheckedIOException written) {
      return false;
    }
  }
}
