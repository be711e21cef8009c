package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;

/**
 * Three Unix users in one group, and a workspace of the first of them. Only root can make them;
 * they are deleted at the end.
 */
public final class Team implements AutoCloseable {
  /** Several test runs on one machine have users of their own. */
  private static final String OURS = "nexa" + ProcessHandle.current().pid();

  public static final String GROUP = OURS + "team";
  public static final String ANN = OURS + "ann";
  public static final String BOB = OURS + "bob";
  public static final String EVE = OURS + "eve";
  public static final List<String> ALL = List.of(ANN, BOB, EVE);

  private static String copied = "";

  private final Path folder;
  private final Path workspace;
  private final String classPath;

  private Team(Path folder) throws IOException {
    this.folder = folder;
    workspace = folder.resolve("workspace");
    classPath = readableClasses();
  }

  /** Makes the users. Skips the test for everybody but root; in CI that is a failure. */
  public static Team make() throws IOException {
    boolean root = run("id", "-u").out().strip().equals("0");
    if (!root) {
      assertThat(System.getenv("CI")).as("in CI the tests run as root").isNotEqualTo("true");
      Assumptions.abort("only root can make users");
    }
    deleteUsers();
    assertThat(account("groupadd", GROUP)).returns(0, CommandResult::exit);
    for (String user : ALL) {
      assertThat(account("useradd", "--no-create-home", "-G", GROUP, user))
          .returns(0, CommandResult::exit);
    }
    Path folder = Files.createTempDirectory("nexa-team");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Team team = new Team(folder);
    Files.createDirectory(team.workspace);
    run("chown", ANN, team.workspace.toString());
    return team;
  }

  public Path workspace() {
    return workspace;
  }

  /** Our classes and their libraries where every user can read them: one copy for all tests. */
  private static synchronized String readableClasses() throws IOException {
    if (!copied.isEmpty()) {
      return copied;
    }
    Path lib = Files.createTempDirectory("nexa-team-classes");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(lib)));
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(":", -1)) {
      Path from = Path.of(entry).toAbsolutePath();
      boolean ofTests = from.toString().matches(".*(awssdk|junit|assertj|archunit|test-classes).*");
      if (!ofTests) {
        Path to = lib.resolve(from.getFileName());
        assertThat(run("cp", "-r", from.toString(), to.toString()).exit()).isZero();
        entries.add(to.toString());
      }
    }
    run("chmod", "-R", "a+rX", lib.toString());
    copied = String.join(":", entries);
    return copied;
  }

  private static void delete(Path folder) {
    try {
      run("rm", "-rf", folder.toString());
    } catch (IOException left) {
      System.err.println(folder + " is left: " + left);
    }
  }

  /** What a user gets who types a command of nexa-slurm in the workspace. */
  public CommandResult types(String user, String... command) throws IOException {
    return typesUnder("022", user, command);
  }

  /** The same with a umask. */
  public CommandResult typesUnder(String umask, String user, String... command) throws IOException {
    List<String> argv = new ArrayList<>();
    argv.addAll(List.of("sh", "-c", "umask " + umask + " && exec \"$@\"", "sh"));
    argv.addAll(program());
    argv.addAll(List.of(command));
    return as(user, argv.toArray(String[]::new));
  }

  private List<String> program() {
    List<String> words = OwnJvm.java(classPath);
    words.add(Main.class.getName());
    return words;
  }

  /** Returns the shell's line for a command of nexa-slurm. */
  public String command(String arguments) {
    return String.join(" ", program()) + " " + arguments;
  }

  /** What a user gets who types any command in the workspace's folder. */
  public CommandResult as(String user, String... command) throws IOException {
    List<String> argv = new ArrayList<>(List.of("setpriv", "--reuid", user, "--regid", user));
    argv.add("--init-groups");
    argv.addAll(List.of(command));
    Map<String, String> environment = new TreeMap<>();
    environment.put("PATH", "/usr/bin:/bin");
    environment.put("LC_ALL", "C.UTF-8");
    environment.put("HOME", "/nonexistent");
    environment.put("NEXA_WORKSPACE", workspace.toString());
    return new CommandRunner()
        .run(new Command(argv, environment, workspace, Duration.ofMinutes(3)));
  }

  /** What a shell prints as that user, and its errors. */
  public String shell(String user, String script) throws IOException {
    CommandResult result = as(user, "sh", "-c", script);
    return result.out() + result.err();
  }

  /** Makes a file of the workspace as its owner. */
  public void file(String name, String text) throws IOException {
    Path made = Files.writeString(Files.createTempFile(folder, "made", ""), text);
    run("chmod", "644", made.toString());
    String to = workspace.resolve(name).toString();
    assertThat(shell(ANN, "cp " + made + " " + to + " && chmod 640 " + to)).isEmpty();
  }

  private static CommandResult run(String... argv) throws IOException {
    Map<String, String> environment =
        Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL", "C.UTF-8");
    return new CommandRunner()
        .run(new Command(List.of(argv), environment, Path.of("/"), Duration.ofMinutes(1)));
  }

  private static void deleteUsers() throws IOException {
    for (String user : ALL) {
      run("pkill", "-KILL", "-u", user);
      account("userdel", user);
    }
    account("groupdel", GROUP);
  }

  /**
   * Changes users or groups. Another test may hold the lock on /etc/passwd (exit status 1 or 10),
   * and a killed process may still count as the user's (8).
   */
  static CommandResult account(String... argv) throws IOException {
    CommandResult result = run(argv);
    for (int i = 0; i < 100 && List.of(1, 8, 10).contains(result.exit()); i++) {
      try {
        Thread.sleep(100);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        return result;
      }
      result = run(argv);
    }
    return result;
  }

  @Override
  public void close() throws IOException {
    run("rm", "-rf", folder.toString());
    deleteUsers();
  }
}
