package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.base.units.Money;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Counts the uses of one approval over all workspaces and hosts.
 *
 * <p>Each use is a file with the next number, and only one process can create a file. A process
 * that loses that race counts again, so two processes cannot both take the last use, or the last
 * money of a month.
 */
public final class ApprovalUseLog {
  private static final int TRIES = 400;
  private static final long PAUSE_MILLIS = 25;
  private static final int MAX_BYTES = 1 << 16;
  private static final String MODE = "rw-r--r--";

  private final Path used;
  private final Path folder;
  private final Approval approval;
  private final DurableFiles files;

  ApprovalUseLog(Path used, Approval approval, DurableFiles files) {
    this.used = used;
    this.folder = used.resolve(approval.id());
    this.approval = approval;
    this.files = files;
  }

  /**
   * Returns every use by number, released ones included.
   *
   * @throws NexaException if the uses cannot be counted; the approval then allows nothing
   */
  public List<ApprovalUse> all() {
    requireNoLink(used);
    requireNoLink(folder);
    try {
      return read();
    } catch (UncheckedIOException failed) {
      throw ErrorCode.APPROVAL_USES_UNCOUNTED.error(
          "its uses can't be counted: " + failed.getMessage(),
          failed,
          Advice.step("ask the owner of the approvals directory to check it"));
    }
  }

  private List<ApprovalUse> read() {
    List<ApprovalUse> uses = new ArrayList<>();
    for (Path file : DurableFiles.list(folder, "*")) {
      String name = file.getFileName().toString();
      if (name.length() < 8 && name.chars().allMatch(c -> c >= '0' && c <= '9')) {
        requireNoLink(file);
        String text = DurableFiles.readRegular(file, MAX_BYTES);
        uses.add(ApprovalUse.parse(Integer.parseInt(name), text, approval.maxCost().currency()));
      }
    }
    uses.sort(Comparator.comparingInt(ApprovalUse::number));
    return uses;
  }

  /** Returns the number of uses that are not released. */
  public static int taken(List<ApprovalUse> uses) {
    return (int) uses.stream().filter(use -> !use.released()).count();
  }

  /**
   * Returns why the approval does not allow one more run; empty if it does. It checks the number of
   * uses and an envelope's monthly limit.
   *
   * @param settled returns the actual cost of a use's run; empty while the run is not over
   */
  public Optional<String> refusal(
      ApprovalUse next, Function<ApprovalUse, Optional<BigDecimal>> settled) {
    return refusal(all(), next, settled);
  }

  private Optional<String> refusal(
      List<ApprovalUse> uses,
      ApprovalUse next,
      Function<ApprovalUse, Optional<BigDecimal>> settled) {
    int taken = taken(uses);
    if (taken >= approval.uses()) {
      ApprovalUse last =
          uses.stream().filter(use -> !use.released()).reduce((a, b) -> b).orElse(next);
      return Optional.of(
          "it is used up: " + taken + " of " + approval.uses() + " uses, the last " + last);
    }
    return overMonth(uses, next, "", settled);
  }

  private Optional<String> overMonth(
      List<ApprovalUse> others,
      ApprovalUse next,
      String inAll,
      Function<ApprovalUse, Optional<BigDecimal>> settled) {
    Optional<Money> most = maxMonth();
    if (most.isEmpty()) {
      return Optional.empty();
    }
    YearMonth month = YearMonth.from(next.at().atZone(ZoneOffset.UTC));
    BigDecimal sum =
        others.stream()
            .filter(use -> !use.released())
            .filter(use -> YearMonth.from(use.at().atZone(ZoneOffset.UTC)).equals(month))
            .map(use -> settled.apply(use).orElse(use.reservation().amount()))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    BigDecimal left = most.get().amount().subtract(sum);
    return next.reservation().amount().compareTo(left) > 0
        ? Optional.of(
            "the month %s: needs %s%s, left %s of %s"
                .formatted(month, next.reservation(), inAll, left.toPlainString(), most.get()))
        : Optional.empty();
  }

  private Optional<Money> maxMonth() {
    return approval.scope() instanceof ApprovalEnvelope envelope
        ? envelope.maxMonth()
        : Optional.empty();
  }

  /**
   * Returns why a run that holds a use may not cost this much in total, by the envelope's limit for
   * the month of its use; empty if it may. The number of uses is not checked, because no further
   * use is needed.
   */
  public Optional<String> refusalOf(
      ApprovalUse held, Money inAll, Function<ApprovalUse, Optional<BigDecimal>> settled) {
    return refusalOf(all(), held, inAll, settled);
  }

  private Optional<String> refusalOf(
      List<ApprovalUse> uses,
      ApprovalUse held,
      Money inAll,
      Function<ApprovalUse, Optional<BigDecimal>> settled) {
    List<ApprovalUse> others = uses.stream().filter(use -> use.number() != held.number()).toList();
    return overMonth(others, held.reserving(inAll), " in all", settled);
  }

  /**
   * Raises the reservation of a use to the run's total cost, if the envelope has a monthly limit.
   * It claims a new use with the higher reservation and releases the old one.
   *
   * @return false if another process has just taken the rest of the month's money
   * @throws NexaException if the use cannot be written
   */
  public boolean enlarge(
      ApprovalUse held, Money inAll, Function<ApprovalUse, Optional<BigDecimal>> settled) {
    if (maxMonth().isEmpty()) {
      return true;
    }
    try {
      ApprovalUse next = held.reserving(inAll);
      OptionalInt number = claimed(next, uses -> refusalOf(uses, held, inAll, settled));
      if (number.isPresent()) {
        // For a moment both uses count; in the reverse order neither would.
        replaced(held, number.getAsInt());
      }
      return number.isPresent();
    } catch (UncheckedIOException failed) {
      throw notWritten(failed);
    }
  }

  private void replaced(ApprovalUse held, int by) {
    try {
      files.replace(
          file(held.number()), bytes(held.numbered(held.number(), held.run(), true)), MODE);
    } catch (UncheckedIOException another) {
      // In a sticky folder only the user who claimed the old use may change it.
      release(held, by);
      throw another;
    }
  }

  /**
   * Claims the next use, durably.
   *
   * @return its number; empty if another process has just taken what was left
   * @throws NexaException if the use cannot be written
   */
  public OptionalInt claim(ApprovalUse next, Function<ApprovalUse, Optional<BigDecimal>> settled) {
    try {
      return claimed(next, uses -> refusal(uses, next, settled));
    } catch (UncheckedIOException failed) {
      throw notWritten(failed);
    }
  }

  private NexaException notWritten(UncheckedIOException failed) {
    return ErrorCode.APPROVAL_USES_UNCOUNTED.error(
        "the use of an approval can't be counted: " + failed.getMessage(),
        failed,
        Advice.step("nothing was submitted"),
        Advice.step(opens(used, folder, Files::isWritable)));
  }

  /**
   * Returns the command that lets every submitter count uses, and who may type it.
   *
   * @param used the folder of all approvals' uses
   * @param folder the folder of one approval, in {@code used}
   */
  static String opens(Path used, Path folder, Predicate<Path> writable) {
    for (Path path : List.of(used, folder)) {
      if (Files.exists(path) && !writable.test(path)) {
        return "each submitter must be able to write to %s; %s types: chmod 1777 %s"
            .formatted(path, owner(path), Advice.word(path.toString()));
      }
    }
    if (Files.exists(used)) {
      return "ask the owner of " + used + " (" + owner(used) + ") to check its file system";
    }
    Optional<Path> above =
        Stream.iterate(used, Objects::nonNull, Path::getParent).filter(Files::exists).findFirst();
    return ("each submitter must be able to write to %s, which does not exist; %s"
            + " types: mkdir -p -m 1777 %s")
        .formatted(
            used, above.map(ApprovalUseLog::owner).orElse("root"), Advice.word(used.toString()));
  }

  private static String owner(Path path) {
    try {
      String owner = Files.getOwner(path).getName();
      return owner.equals("root") ? owner : owner + " or root";
    } catch (IOException | UnsupportedOperationException unknown) {
      return "root";
    }
  }

  private OptionalInt claimed(
      ApprovalUse next, Function<List<ApprovalUse>, Optional<String>> refusal) {
    makeFolder();
    for (int i = 0; i < TRIES; i++) {
      List<ApprovalUse> uses = all();
      if (refusal.apply(uses).isPresent()) {
        return OptionalInt.empty();
      }
      int number = uses.isEmpty() ? 1 : uses.get(uses.size() - 1).number() + 1;
      if (files.claim(file(number), bytes(next.numbered(number, next.run(), false)), MODE)) {
        return OptionalInt.of(number);
      }
      Sleep.millis(PAUSE_MILLIS, "counting uses");
    }
    throw ErrorCode.CONCURRENT_CHANGE.error(
        "cannot count the uses in " + folder + ": it changes all the time, or shows old names",
        "try again");
  }

  /** Records which run holds the use. */
  public void hold(ApprovalUse use, int number, String run) {
    files.replace(file(number), bytes(use.numbered(number, Optional.of(run), false)), MODE);
  }

  /** Releases a use that no run followed. In a sticky folder only the user who claimed it can. */
  public void release(ApprovalUse use, int number) {
    files.replace(file(number), bytes(use.numbered(number, Optional.empty(), true)), MODE);
  }

  private Path file(int number) {
    return folder.resolve("" + number);
  }

  private static byte[] bytes(ApprovalUse use) {
    return Json.pretty(use.toJson()).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Creates the approval's folder with the mode of the folder above, so that all users who may
   * count uses can write here.
   */
  private void makeFolder() {
    requireNoLink(used);
    files.directories(used);
    try {
      Files.createDirectory(folder);
      Files.setAttribute(folder, "unix:mode", Files.getAttribute(used, "unix:mode"));
      files.force(used);
    } catch (FileAlreadyExistsException there) {
      requireNoLink(folder);
    } catch (UnsupportedOperationException | IllegalArgumentException noModes) {
      // A file system without Unix modes has nothing to copy.
    } catch (IOException failed) {
      throw DurableFiles.failure("create", folder, failed);
    }
  }

  /** A link could lead to a folder with fewer uses, so that an approval is used once more. */
  private static void requireNoLink(Path path) {
    if (Files.isSymbolicLink(path)) {
      throw ErrorCode.APPROVAL_USES_UNCOUNTED.error(
          path + " is a symbolic link: uses are not counted through one",
          "ask the owner of the approvals directory to check it");
    }
  }
}
