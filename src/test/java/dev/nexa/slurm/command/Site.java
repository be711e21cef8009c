package dev.nexa.slurm.command;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.ApprovedRun;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.signatures.SshKeygen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A site where runs over 1.00 USD need an approval: boss@site may give one; mallory has a key too,
 * and may not. Each workspace is a person's own, with the fake clients of a Slurm.
 */
public final class Site {
  public static final String PROFILE =
      "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n";

  public static final String ME = UnixUser.me().user();

  final Path folder;
  public final Path boss;
  public final Path mallory;
  public final Path approvals;
  public final Path allowedSigners;
  private String more = "";

  public Site(Path folder) {
    this.folder = folder;
    boss = Keys.make(folder, "boss");
    mallory = Keys.make(folder, "mallory");
    approvals = folder.resolve("approvals");
    allowedSigners = folder.resolve("allowed_signers");
    allow("boss@site " + Keys.line(boss) + "\n");
  }

  /** Lets these sign. */
  public Site allow(String lines) {
    write(allowedSigners, lines);
    return this;
  }

  /** Adds to the policy's section {@code approvals}. */
  public Site policy(String yaml) {
    more = yaml;
    return this;
  }

  /** A workspace with a run that needs an approval. */
  public Terminal workspace(String name) {
    Terminal terminal = new Terminal(folder.resolve(name)).withSlurm();
    terminal.program("ssh-keygen", "exec /usr/bin/ssh-keygen \"$@\"");
    return terminal
        .file(
            "configs/policy.yaml",
            "approval_over: {amount: 1.00, currency: USD}\napprovals:\n  directory: "
                + approvals
                + "\n  allowed_signers: "
                + allowedSigners
                + "\n"
                + more)
        .file("configs/clusters/default.yaml", PROFILE)
        .file("run.yaml", run("echo approved", "5h"));
  }

  public static String run(String command, String time) {
    return "stage: data\nbackend: shell\nrun: "
        + command
        + "\narray: {shards: 8}\nresources: {time: "
        + time
        + ", memory: 1G}\n";
  }

  /** Asks for an approval, as submit does without one. */
  public JsonObject estimate(Terminal terminal) {
    Screen refused = terminal.type("submit", "run.yaml");
    if (refused.exit() != 3) {
      throw new IllegalStateException(refused.toString());
    }
    try (Stream<Path> files = Files.list(terminal.workspace.resolve("estimates"))) {
      return Json.parseObject(DurableFiles.read(files.findFirst().orElseThrow()));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** What boss would sign of it. */
  public Approval statement(Terminal terminal) {
    JsonObject json = terminal.type("estimate", "run.yaml", "--json").json();
    Money total =
        new Money(new BigDecimal(json.object("reservation").text("total")), json.text("currency"));
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    return new Approval(
        Approval.newId(),
        "boss@site",
        now,
        now.plus(7, ChronoUnit.DAYS),
        1,
        total,
        false,
        Optional.empty(),
        new ApprovedRun(
            json.text("config"),
            json.text("config_digest"),
            json.object("what_runs"),
            json.object("limits"),
            Optional.of(UnixUser.me()),
            json.object("rates"),
            total));
  }

  /** The text of a file with the statement, signed by that key. */
  public static String signed(Path key, String namespace, Approval approval) {
    byte[] bytes = approval.statement().getBytes(StandardCharsets.UTF_8);
    return approval.statement()
        + new SshKeygen(Map.of("PATH", "/usr/bin:/bin")).sign(key, namespace, bytes);
  }

  /** Boss approves the workspace's run, with a change to the statement before it is signed. */
  public ApprovalFile approve(Terminal terminal, UnaryOperator<Approval> change) {
    String text = signed(boss, "nexa-slurm", change.apply(statement(terminal)));
    ApprovalFile file = ApprovalFile.parse("approval", text);
    put(file.approval().fileName(), text);
    return file;
  }

  public ApprovalFile approve(Terminal terminal) {
    return approve(terminal, same -> same);
  }

  /** Puts a file where approvals are looked for. */
  public Path put(String name, String text) {
    return write(approvals.resolve(name), text);
  }

  public static Path write(Path file, String text) {
    try {
      Files.createDirectories(file.getParent());
      return Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  public static boolean submitted(Terminal terminal) {
    List<String> argv = terminal.argv("sbatch");
    return !argv.isEmpty() && !argv.contains("--test-only");
  }

  /** Everything of an approval but its times. */
  public static Approval at(Approval old, Instant created, Instant expires) {
    return new Approval(
        old.id(),
        old.approver(),
        created,
        expires,
        old.uses(),
        old.maxCost(),
        old.overBudget(),
        old.note(),
        old.scope());
  }

  public static Approval uses(Approval old, int uses) {
    return new Approval(
        old.id(),
        old.approver(),
        old.created(),
        old.expires(),
        uses,
        old.maxCost(),
        old.overBudget(),
        old.note(),
        old.scope());
  }

  public static Approval by(Approval old, String approver) {
    return new Approval(
        old.id(),
        approver,
        old.created(),
        old.expires(),
        old.uses(),
        old.maxCost(),
        old.overBudget(),
        old.note(),
        old.scope());
  }

  public static List<String> names(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
