package dev.nexa.slurm.approve;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.units.Money;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The uses of one approval, counted over all workspaces and hosts: a file each, whose number is
 * made by exactly one process. Who comes second reads again what is left, so that no two can both
 * take the last use, nor the last of a month's money.
 */
public final class Uses {
  private static final int TRIES = 400;
  private static final long PAUSE_MILLIS = 25;
  private static final int MAX_BYTES = 1 << 16;
  private static final String MODE = "rw-r--r--";

  private final Path used;
  private final Path folder;
  private final Approval approval;
  private final DurableFiles files;

  Uses(Path used, Approval approval, DurableFiles files) {
    this.used = used;
    this.folder = used.resolve(approval.id());
    this.approval = approval;
    this.files = files;
  }

  /**
   * Every use, in order, also those that were given back.
   *
   * @throws NexaException if they can't be counted: then the approval allows nothing
   */
  public List<Use> all() {
    requireNoLink(used);
    requireNoLink(folder);
    try {
      return read();
    } catch (UncheckedIOException failed) {
      throw new NexaException(
          ExitCode.NEEDS_APPROVAL,
          "its uses can't be counted: " + failed.getMessage(),
          failed,
          "whoever keeps the approvals directory should look at it");
    }
  }

  private List<Use> read() {
    List<Use> uses = new ArrayList<>();
    try (Stream<Path> found = Files.list(folder)) {
      for (Path file : (Iterable<Path>) found::iterator) {
        String name = file.getFileName().toString();
        if (name.length() < 8 && name.chars().allMatch(c -> c >= '0' && c <= '9')) {
          requireNoLink(file);
          String text = DurableFiles.readRegular(file, MAX_BYTES);
          uses.add(Use.parse(Integer.parseInt(name), text, approval.maxCost().currency()));
        }
      }
    } catch (NoSuchFileException none) {
      return List.of();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    }
    uses.sort(Comparator.comparingInt(Use::number));
    return uses;
  }

  /** How many were taken and not given back. */
  public static int taken(List<Use> uses) {
    int taken = 0;
    for (Use use : uses) {
      taken += use.released() ? 0 : 1;
    }
    return taken;
  }

  /**
   * Why one more run is not allowed; empty if it is.
   *
   * @param settled what a use's run has cost in the end; empty while it is not over
   */
  public Optional<String> refusal(Use next, Function<Use, Optional<BigDecimal>> settled) {
    return refusal(all(), next, settled);
  }

  private Optional<String> refusal(
      List<Use> uses, Use next, Function<Use, Optional<BigDecimal>> settled) {
    int taken = taken(uses);
    if (taken >= approval.uses()) {
      Use last = uses.stream().filter(use -> !use.released()).reduce((a, b) -> b).orElse(next);
      return Optional.of(
          "it is used up: " + taken + " of " + approval.uses() + " uses, the last " + last);
    }
    return overMonth(uses, next, "", settled);
  }

  private Optional<String> overMonth(
      List<Use> others, Use next, String inAll, Function<Use, Optional<BigDecimal>> settled) {
    Optional<Money> most = maxMonth();
    if (most.isEmpty()) {
      return Optional.empty();
    }
    YearMonth month = YearMonth.from(next.at().atZone(ZoneOffset.UTC));
    BigDecimal sum = BigDecimal.ZERO;
    for (Use use : others) {
      if (!use.released() && YearMonth.from(use.at().atZone(ZoneOffset.UTC)).equals(month)) {
        sum = sum.add(settled.apply(use).orElse(use.reservation().amount()));
      }
    }
    BigDecimal left = most.get().amount().subtract(sum);
    return next.reservation().amount().compareTo(left) > 0
        ? Optional.of(
            "the month "
                + month
                + ": needs "
                + next.reservation()
                + inAll
                + ", left "
                + left.toPlainString()
                + " of "
                + most.get())
        : Optional.empty();
  }

  private Optional<Money> maxMonth() {
    return approval.scope() instanceof Envelope envelope ? envelope.maxMonth() : Optional.empty();
  }

  /**
   * Why the run that holds a use may not cost so much in all, in the month that the use is of;
   * empty if it may. How many uses there are does not matter: it takes no other.
   */
  public Optional<String> refusalOf(
      Use held, Money inAll, Function<Use, Optional<BigDecimal>> settled) {
    return refusalOf(all(), held, inAll, settled);
  }

  private Optional<String> refusalOf(
      List<Use> uses, Use held, Money inAll, Function<Use, Optional<BigDecimal>> settled) {
    List<Use> others = new ArrayList<>(uses);
    others.removeIf(use -> use.number() == held.number());
    return overMonth(others, held.reserving(inAll), " in all", settled);
  }

  /**
   * Lets the use carry what its run can cost in all, where a month's money is counted: under a new
   * number, which only one process gets, as with any use. False if somebody else has just taken
   * what was left of the month.
   */
  public boolean enlarge(Use held, Money inAll, Function<Use, Optional<BigDecimal>> settled) {
    if (maxMonth().isEmpty()) {
      return true;
    }
    try {
      Use next = held.reserving(inAll);
      OptionalInt number = claimed(next, uses -> refusalOf(uses, held, inAll, settled));
      if (number.isPresent()) {
        // For a moment both count: better than neither.
        replaced(held, number.getAsInt());
      }
      return number.isPresent();
    } catch (UncheckedIOException failed) {
      throw notWritten(failed);
    }
  }

  private void replaced(Use held, int by) {
    try {
      files.replace(
          file(held.number()), bytes(held.numbered(held.number(), held.run(), true)), MODE);
    } catch (UncheckedIOException another) {
      // In a sticky folder only who took the use may change it.
      release(held, by);
      throw another;
    }
  }

  /** Takes the next use, durably; empty if somebody else has just taken what was left. */
  public OptionalInt claim(Use next, Function<Use, Optional<BigDecimal>> settled) {
    try {
      return claimed(next, uses -> refusal(uses, next, settled));
    } catch (UncheckedIOException failed) {
      throw notWritten(failed);
    }
  }

  private NexaException notWritten(UncheckedIOException failed) {
    return new NexaException(
        ExitCode.NEEDS_APPROVAL,
        "the use of an approval can't be counted: " + failed.getMessage(),
        failed,
        "nothing was submitted",
        "who submits must be able to write there: mkdir -m 1777 " + used);
  }

  private OptionalInt claimed(Use next, Function<List<Use>, Optional<String>> refusal) {
    makeFolder();
    for (int i = 0; i < TRIES; i++) {
      List<Use> uses = all();
      if (refusal.apply(uses).isPresent()) {
        return OptionalInt.empty();
      }
      int number = uses.isEmpty() ? 1 : uses.get(uses.size() - 1).number() + 1;
      if (files.claim(file(number), bytes(next.numbered(number, next.run(), false)), MODE)) {
        return OptionalInt.of(number);
      }
      pause();
    }
    throw new NexaException(
        ExitCode.DEFECT,
        "cannot count the uses in " + folder + ": it changes all the time, or shows old names",
        "try again");
  }

  /** Says which run holds the use. */
  public void hold(Use use, int number, String run) {
    files.replace(file(number), bytes(use.numbered(number, Optional.of(run), false)), MODE);
  }

  /** Gives a use back of which no run came: only who took it may. */
  public void release(Use use, int number) {
    files.replace(file(number), bytes(use.numbered(number, Optional.empty(), true)), MODE);
  }

  private Path file(int number) {
    return folder.resolve("" + number);
  }

  private static byte[] bytes(Use use) {
    return Json.pretty(use.toJson()).getBytes(StandardCharsets.UTF_8);
  }

  /** With the rights of the folder above: whoever may count one approval may count them all. */
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
      // A file system without rights has none to hand on.
    } catch (IOException failed) {
      throw DurableFiles.failure("create", folder, failed);
    }
  }

  /** A link could lead the count elsewhere, and an approval be used once more. */
  private static void requireNoLink(Path path) {
    if (Files.isSymbolicLink(path)) {
      throw new NexaException(
          ExitCode.NEEDS_APPROVAL,
          path + " is a symbolic link: uses are not counted through one",
          "whoever keeps the approvals directory should look at it");
    }
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while counting uses", interrupted);
    }
  }
}
