package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.Utf8Pool;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Removes broken lines from the ledger once complete lines replace them. Removed lines are moved,
 * byte for byte, to {@code runs/ledger-YYYY-MM.rejected}. A broken line without a replacement
 * stays, because it may be all that is left of a run.
 */
public final class LedgerRepair {
  private static final Pattern RUN_ID = Pattern.compile("^\\{\"run_id\":\"([^\"]*)\"");

  private final Workspace workspace;
  private final Set<String> whole;
  private final List<byte[]> good = new ArrayList<>();

  /**
   * Creates a repair.
   *
   * @param whole the ids of the runs whose newest complete line is known to be right
   */
  public LedgerRepair(Workspace workspace, Set<String> whole) {
    this.workspace = workspace;
    this.whole = whole;
  }

  /** Moves the replaced lines and returns a sentence for each. */
  public List<String> repair() {
    List<String> moved = new ArrayList<>();
    try (FileLock held = Ledger.lock(workspace.ledgerLock())) {
      List<Path> files = new Ledger(workspace).files();
      for (Path file : files.stream().filter(this::read).filter(this::isOwn).toList()) {
        if (held.holds()) {
          repair(file, moved);
        }
      }
    }
    return moved;
  }

  /** In a workspace of several users, each of them repairs the files of their own. */
  private boolean isOwn(Path file) {
    return file.equals(workspace.own(workspace.runs(), "ledger-" + Ledger.month(file), ".jsonl"));
  }

  /** Remembers the file's right lines, and returns whether the file has broken ones. */
  private boolean read(Path file) {
    boolean broken = false;
    for (byte[] line : lines(DurableFiles.readBytes(file))) {
      if (isWhole(line)) {
        if (whole.contains(run(line))) {
          good.add(line);
        }
      } else {
        broken |= line[line.length - 1] == '\n';
      }
    }
    return broken;
  }

  private void repair(Path file, List<String> moved) {
    Path rejected = workspace.own(workspace.runs(), "ledger-" + Ledger.month(file), ".rejected");
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    String name = workspace.root().relativize(file).toString();
    int number = 0;
    for (byte[] line : lines(DurableFiles.readBytes(file))) {
      number++;
      // A crash cut a last line without a line feed. The next append removes it.
      if (line[line.length - 1] != '\n' || isWhole(line) || !isReplaced(line)) {
        kept.writeBytes(line);
      } else {
        out.writeBytes(line);
        moved.add(
            "%s:%s: moved to %s; a whole line says what it was to say"
                .formatted(name, number, workspace.root().relativize(rejected)));
      }
    }
    if (out.size() > 0) {
      byte[] before = Files.exists(rejected) ? DurableFiles.readBytes(rejected) : new byte[0];
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.writeBytes(before);
      // A process that died between the two writes has already moved them.
      if (!endsWith(before, out.toByteArray())) {
        all.writeBytes(out.toByteArray());
      }
      workspace.files().replace(rejected, all.toByteArray(), "rw-r--r--");
      workspace.files().replace(file, kept.toByteArray(), "rw-r--r--");
    }
  }

  private static boolean endsWith(byte[] all, byte[] end) {
    int from = all.length - end.length;
    return from >= 0 && Arrays.equals(all, from, all.length, end, 0, end.length);
  }

  /** Splits the bytes into lines with their line feeds; the last line may lack one. */
  private static List<byte[]> lines(byte[] bytes) {
    List<byte[]> lines = new ArrayList<>();
    int begin = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\n' || i == bytes.length - 1) {
        lines.add(Arrays.copyOfRange(bytes, begin, i + 1));
        begin = i + 1;
      }
    }
    return lines;
  }

  private static boolean isWhole(byte[] line) {
    List<String> problems = new ArrayList<>();
    boolean[] told = {false};
    new LedgerScan(line, "", "", new Utf8Pool(1), problems).scan(run -> told[0] = true);
    return told[0] && problems.isEmpty();
  }

  private static String run(byte[] line) {
    Matcher id = RUN_ID.matcher(new String(line, StandardCharsets.ISO_8859_1));
    return id.find() ? id.group(1) : "";
  }

  /** Returns whether a right line is of the same run, or resembles the broken line. */
  private boolean isReplaced(byte[] line) {
    return whole.contains(run(line)) || good.stream().anyMatch(right -> isAlike(line, right));
  }

  /**
   * Returns whether two lines share more than half of their bytes at both ends. Lines of two runs
   * share only a few keys there.
   */
  private static boolean isAlike(byte[] one, byte[] other) {
    int most = Math.min(one.length, other.length);
    int differs = Arrays.mismatch(one, 0, most, other, 0, most);
    int begin = differs < 0 ? most : differs;
    int end = 0;
    while (end < most - begin && one[one.length - 1 - end] == other[other.length - 1 - end]) {
      end++;
    }
    return 2 * (begin + end) > Math.max(one.length, other.length);
  }
}
