package dev.nexa.slurm.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.process.Command;
import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.process.CommandRunner;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Slurm beside that of dev/cluster, with a configuration of its own, for what nobody else may
 * meet: ports, folder and nodes are its own, munge and the pretended GPUs are shared. As root. It
 * keeps no accounting: account and QOS are what the job says.
 */
final class PrivateSlurm implements AutoCloseable {
  /** A user like any other: it may submit, and change its own jobs. */
  static final String USER = "nexa-second";

  private static final List<String> NODES = List.of("p1", "p2");

  final Path folder;
  final long uid;
  private final List<Process> daemons = new ArrayList<>();

  private PrivateSlurm(Path folder, long uid) {
    this.folder = folder;
    this.uid = uid;
  }

  /** Makes the folder, where job_submit.lua goes, and the second user; starts nothing. */
  static PrivateSlurm prepare() throws IOException {
    Path folder = Files.createTempDirectory("nexa-private-slurm");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    for (String name : List.of("state", "spool", "log")) {
      Files.createDirectory(folder.resolve(name));
    }
    Path home = Files.createDirectory(folder.resolve("home"));
    if (run(Map.of(), "id", "-u", USER).exit() != 0) {
      assertThat(run(Map.of(), "useradd", "--no-create-home", USER)).returns(0, c -> c.exit());
    }
    assertThat(run(Map.of(), "chown", USER, home.toString()).exit()).isZero();
    long uid = Long.parseLong(run(Map.of(), "id", "-u", USER).out().strip());
    return new PrivateSlurm(folder, uid);
  }

  /** Returns once its nodes are idle. */
  void start() throws Exception {
    Files.writeString(folder.resolve("slurm.conf"), configuration());
    Files.writeString(
        folder.resolve("gres.conf"),
        Files.readString(Path.of("/etc/slurm/gres.conf"))
            .replaceAll("NodeName=\\S+", "NodeName=p[1-2]"));
    daemon("slurmctld", "slurmctld", "-D");
    for (String node : NODES) {
      daemon(node, "slurmd", "-D", "-N", node);
    }
    String states = "";
    for (int i = 0; i < 150; i++) {
      states = run(environment(), "sinfo", "-h", "-N", "-p", "gpu", "-o", "%T").out();
      if (states.lines().filter("idle"::equals).count() == NODES.size()) {
        return;
      }
      Thread.sleep(200);
    }
    throw new AssertionError(
        "not up: " + states + Files.readString(folder.resolve("log/slurmctld")));
  }

  private void daemon(String name, String... argv) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(argv).directory(new File("/"));
    builder.environment().clear();
    builder.environment().putAll(environment());
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("log/" + name).toFile());
    daemons.add(builder.start());
  }

  private Map<String, String> environment() {
    Map<String, String> environment = new TreeMap<>();
    environment.put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    environment.put("SLURM_CONF", folder.resolve("slurm.conf").toString());
    environment.put("HOME", folder.resolve("home").toString());
    return environment;
  }

  private String configuration() throws IOException {
    String authInfo =
        Files.readAllLines(Path.of("/etc/slurm/slurm.conf")).stream()
            .filter(line -> line.startsWith("AuthInfo="))
            .findAny()
            .orElse("");
    String host = run(Map.of(), "uname", "-n").out().strip().split("\\.", -1)[0];
    String text =
        """
        ClusterName=private
        SlurmctldHost=THIS(127.0.0.1)
        SlurmctldPort=PORT0
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
        SelectTypeParameters=CR_CPU_Memory
        GresTypes=gpu
        SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
        ReturnToService=2
        JobSubmitPlugins=lua
        NodeName=p1 NodeHostname=THIS NodeAddr=127.0.0.1 Port=PORT1 CPUs=16 RealMemory=64000 Gres=gpu:h100:8
        NodeName=p2 NodeHostname=THIS NodeAddr=127.0.0.1 Port=PORT2 CPUs=16 RealMemory=64000 Gres=gpu:h100:8
        PartitionName=DEFAULT Nodes=p[1-2] MaxTime=2-00:00:00 DefaultTime=1:00:00 DefMemPerCPU=1000
        PartitionName=gpu Default=YES
        PartitionName=debug
        PartitionName=whole OverSubscribe=EXCLUSIVE
        """
            .replace("THIS", host)
            .replace("FOLDER", folder.toString())
            .replace("AUTH\n", authInfo + "\n");
    for (int i = 0; i <= NODES.size(); i++) {
      text = text.replace("PORT" + i, "" + freePort());
    }
    return text;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Types a command as root. */
  CommandResult root(String... argv) throws IOException {
    return run(environment(), argv);
  }

  /** Types a command as the second user. */
  CommandResult user(String... argv) throws IOException {
    return user(Map.of(), argv);
  }

  /** The same with more in its environment. */
  CommandResult user(Map<String, String> more, String... argv) throws IOException {
    Map<String, String> environment = environment();
    environment.putAll(more);
    List<String> all = new ArrayList<>(List.of("runuser", "-u", USER, "--"));
    all.addAll(List.of(argv));
    return new CommandRunner()
        .run(new Command(all, environment, folder.resolve("home"), Duration.ofSeconds(60)));
  }

  private static CommandResult run(Map<String, String> environment, String... argv)
      throws IOException {
    Map<String, String> all = new TreeMap<>(Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"));
    all.putAll(environment);
    return new CommandRunner()
        .run(new Command(List.of(argv), all, Path.of("/"), Duration.ofSeconds(60)));
  }

  String log() throws IOException {
    return Files.readString(folder.resolve("log/slurmctld"));
  }

  @Override
  public void close() throws IOException {
    root("scancel", "-u", USER);
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
    run(Map.of(), "userdel", USER);
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
