package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The bash scripts of src/test/resources/fake-slurm in a folder of their own: sbatch, squeue,
 * sacct, scancel, scontrol and sdiag that do what a test tells them to.
 */
public final class FakeSlurm {
  private static final List<String> PROGRAMS =
      List.of("sbatch", "squeue", "sacct", "scancel", "scontrol", "sdiag");
  private static final char US = '\u001f';

  private final Path bin;
  private final Path state;

  public FakeSlurm(Path folder) {
    bin = folder.resolve("bin");
    state = folder.resolve("state");
    try {
      Files.createDirectories(bin);
      Files.createDirectories(state);
      for (String program : PROGRAMS) {
        try (InputStream script =
            Objects.requireNonNull(
                FakeSlurm.class.getResourceAsStream("/fake-slurm/" + program), program)) {
          Files.copy(script, bin.resolve(program));
        }
        Files.setPosixFilePermissions(
            bin.resolve(program), PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    write("last_id", "100\n");
    write("queue", "");
    write("rows", "");
    write("calls", "");
    write("cancelled", "");
    write("accounting", "slurmdbd\n");
    sbatch("accept; echo \"$id\"");
  }

  /** What to start nexa-slurm with. */
  public Map<String, String> environment() {
    return Map.of("PATH", bin + ":/usr/bin:/bin", "HOME", state.toString(), "USER", "tester");
  }

  /** Lets sbatch do this. */
  public void sbatch(String bash) {
    write("sbatch", bash + "\n");
  }

  /** Lets squeue, sacct … do this instead of what they do by themselves. */
  public void instead(String program, String bash) {
    write(program, bash + "\n");
  }

  /** Lets the program do what it does by itself. */
  public void asUsual(String program) {
    try {
      Files.deleteIfExists(state.resolve(program));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** A cluster without slurmdbd. */
  void keepNoAccounting() {
    write("accounting", "none\n");
  }

  /** How often sbatch was called. */
  public int calls() {
    return lines("calls").size();
  }

  public List<String> cancelled() {
    return lines("cancelled");
  }

  /** Ids of the jobs in the queue. */
  public List<Long> queued() {
    return lines("queue").stream().map(line -> Long.parseLong(line.split(US + "", -1)[0])).toList();
  }

  /** Puts a pending job there. */
  public void queue(long id, String name) {
    List<String> all = new ArrayList<>(lines("queue"));
    all.add(String.join(US + "", "" + id, "" + id, "0", "PENDING", "Priority", "N/A", "N/A", name));
    write("queue", String.join("\n", all) + "\n");
  }

  /** Everything in the queue runs, ends well and leaves the queue. */
  public void finishAll() {
    List<String> rows = new ArrayList<>(lines("rows"));
    for (String entry : lines("queue")) {
      String[] field = entry.split(US + "", -1);
      rows.add(row(field[0], field[7], "COMPLETED"));
    }
    write("rows", String.join("\n", rows) + (rows.isEmpty() ? "" : "\n"));
    write("queue", "");
  }

  /** Everything in the queue is forgotten, as by a slurmctld that was killed. */
  public void loseAll() {
    write("queue", "");
  }

  /** Accounting has a row of a job. */
  public void addRow(long id, String name, String rowState) {
    List<String> rows = new ArrayList<>(lines("rows"));
    rows.add(row("" + id, name, rowState));
    write("rows", String.join("\n", rows) + "\n");
  }

  /** A row with the fields that our sacct call asks for; its times are just before the call. */
  private static String row(String id, String name, String rowState) {
    long now = Instant.now().getEpochSecond();
    boolean ran = !rowState.equals("PENDING");
    boolean ended = ran && !rowState.equals("RUNNING");
    Map<String, String> fields = new HashMap<>();
    fields.put("JobIDRaw", id);
    fields.put("JobID", id + "_0");
    fields.put("JobName", name);
    fields.put("State", rowState);
    fields.put("ExitCode", "0:0");
    fields.put("Submit", "" + (now - 3));
    fields.put("Start", ran ? "" + (now - 2) : "Unknown");
    fields.put("End", ended ? "" + now : "Unknown");
    fields.put("ElapsedRaw", ran ? "2" : "0");
    fields.put("NNodes", "1");
    fields.put("NodeList", ran ? "n1" : "None assigned");
    fields.put("Suspended", "00:00:00");
    fields.put("AllocCPUS", "1");
    fields.put("ReqTRES", "billing=1,cpu=1,mem=100M,node=1");
    fields.put("AllocTRES", ran ? "billing=1,cpu=1,mem=100M,node=1" : "");
    return Stream.concat(SacctText.FIELDS.stream(), SacctText.CHECKS.stream())
        .map(field -> fields.getOrDefault(field, "other"))
        .collect(Collectors.joining(US + ""));
  }

  /** What the whole state is, to see that nothing changed it. */
  String digest() {
    StringBuilder all = new StringBuilder();
    for (String file : List.of("queue", "rows", "calls", "cancelled")) {
      all.append(file).append(lines(file));
    }
    return Sha256.of(all.toString());
  }

  private List<String> lines(String file) {
    try {
      return Files.readAllLines(state.resolve(file));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void write(String file, String text) {
    try {
      Files.writeString(state.resolve(file), text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
