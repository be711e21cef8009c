package dev.nexa.slurm.records.notices;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.records.runs.LockOwner;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The notifications of one user, in {@code runs/notify}: {@code waiting/ID.json} until all their
 * deliveries have ended, then {@code done/ID.json} for 30 days. An empty {@code failed/ID.json}
 * marks a notification with a failed delivery, so that these can be counted.
 *
 * <p>Recording needs no lock: the name of the file is the event's id, so that an event that is
 * recorded twice is one file. Everything else happens under the lock.
 */
public final class Outbox {
  private static final String END = ".json";
  private static final Duration KEPT = Duration.ofDays(30);
  private static final int LARGEST = 1 << 20;

  /** How many files one pass reads. The next pass reads the others. */
  private static final int MOST = 10_000;

  private final Workspace workspace;
  private final Path folder;

  public Outbox(Workspace workspace) {
    this.workspace = workspace;
    this.folder = workspace.own(workspace.runs(), "notify", "");
  }

  private Path waitingFolder() {
    return folder.resolve("waiting");
  }

  private Path doneFolder() {
    return folder.resolve("done");
  }

  private Path failedFolder() {
    return folder.resolve("failed");
  }

  /** Returns whether anything was ever recorded. */
  public boolean exists() {
    return Files.isDirectory(folder);
  }

  /**
   * Records an event, durably, unless it is recorded already.
   *
   * @return false if the event waits already
   */
  public boolean record(Notice notice) {
    open();
    byte[] text = notice.text().getBytes(StandardCharsets.UTF_8);
    Path file = waitingFolder().resolve(notice.id() + END);
    return workspace.files().claim(file, text, "rw-r--r--");
  }

  /**
   * Records an event if a channel asks for it. For commands that have done their work: a failure
   * does not end them.
   *
   * @param channels the channels of the policy
   * @return why it could not be recorded; empty if it was, or if nobody asks for it
   */
  public Optional<String> recordIfAsked(List<NotifyChannel> channels, Notice notice) {
    if (channels.stream().noneMatch(channel -> notice.isFor(channel.kinds()))) {
      return Optional.empty();
    }
    try {
      record(notice);
      return Optional.empty();
    } catch (UncheckedIOException | NexaException failed) {
      return Optional.of("nobody is notified of it: " + failed.getMessage());
    }
  }

  /** Makes the folders. In a team's workspace another member could have made them. */
  private void open() {
    for (Path one : List.of(folder, waitingFolder(), doneFolder(), failedFolder())) {
      workspace.files().directories(one);
      if (Workspace.isOfAnotherUser(one)) {
        throw ErrorCode.RUN_OF_ANOTHER_USER.error(
            one + " belongs to another user, so your notifications cannot wait there",
            "ask that user to remove the folder");
      }
    }
  }

  /**
   * Takes the lock of the outbox.
   *
   * @param patience how long to wait for another holder
   * @return empty if another process still holds the lock
   */
  public Optional<FileLock> lock(Duration patience) {
    open();
    return LockOwner.take(folder.resolve("lock"), patience, () -> {});
  }

  /**
   * Returns the notifications that wait, oldest first. Removes what was recorded again after it was
   * done. The caller holds the lock.
   *
   * @param problems receives a line for each file that cannot be read
   */
  public List<Notice> waiting(List<String> problems) {
    List<Notice> waiting = new ArrayList<>();
    for (Path file : names(waitingFolder())) {
      if (Files.exists(doneFolder().resolve(file.getFileName()))) {
        workspace.files().unmark(file);
      } else if (waiting.size() < MOST) {
        read(file, problems).ifPresent(waiting::add);
      }
    }
    waiting.sort(Comparator.comparing(Notice::at).thenComparing(Notice::id));
    return waiting;
  }

  /** Returns all notifications: those that wait, and those that are done. Newest first. */
  public List<Notice> all(List<String> problems) {
    List<Notice> all = new ArrayList<>();
    names(waitingFolder()).stream()
        .filter(file -> Files.notExists(doneFolder().resolve(file.getFileName())))
        .forEach(file -> read(file, problems).ifPresent(all::add));
    names(doneFolder()).forEach(file -> read(file, problems).ifPresent(all::add));
    all.sort(Comparator.comparing(Notice::at).thenComparing(Notice::id).reversed());
    return all;
  }

  /** Returns this user's files that hold no notification. */
  public List<Path> damaged() {
    return Stream.of(waitingFolder(), doneFolder())
        .flatMap(folder -> names(folder).stream())
        .filter(file -> !Workspace.isOfAnotherUser(file))
        .filter(file -> read(file, new ArrayList<>()).isEmpty())
        .toList();
  }

  /** Returns how many notifications wait, by their files. */
  public int countWaiting() {
    return names(waitingFolder()).size();
  }

  /** Returns how many notifications are kept that did not arrive, or may not have arrived. */
  public int countFailed() {
    return names(failedFolder()).size();
  }

  private static List<Path> names(Path folder) {
    return DurableFiles.list(folder, "[!.]*" + END);
  }

  private static Optional<Notice> read(Path file, List<String> problems) {
    try {
      if (Workspace.isOfAnotherUser(file)) {
        problems.add("the notification " + file + " is not read: it belongs to another user");
        return Optional.empty();
      }
      return Optional.of(Notice.parse(DurableFiles.readRegular(file, LARGEST), file.toString()));
    } catch (UncheckedIOException | IllegalArgumentException | NexaException broken) {
      if (Files.exists(file)) {
        problems.add("the notification " + file + " cannot be read: " + broken.getMessage());
      }
      return Optional.empty();
    }
  }

  /** Returns the notification with this id; empty if there is none. */
  public Optional<Notice> find(String id, List<String> problems) {
    for (Path one : List.of(doneFolder(), waitingFolder())) {
      Path file = one.resolve(id + END).normalize();
      if (one.equals(file.getParent()) && Files.exists(file)) {
        return read(file, problems);
      }
    }
    return Optional.empty();
  }

  /**
   * Keeps the state of a notification, durably. If all its deliveries have ended, it no longer
   * waits. The caller holds the lock.
   */
  public void save(Notice notice) {
    Path waiting = waitingFolder().resolve(notice.id() + END);
    if (notice.isDone()) {
      if (notice.isFailed()) {
        workspace.files().mark(failedFolder().resolve(notice.id() + END));
      }
      workspace.files().replace(doneFolder().resolve(notice.id() + END), notice.text());
      workspace.files().unmark(waiting);
    } else {
      workspace.files().replace(waiting, notice.text());
    }
  }

  /** Lets a done notification wait again. The caller holds the lock. */
  public void reopen(Notice notice) {
    workspace.files().replace(waitingFolder().resolve(notice.id() + END), notice.text());
    workspace.files().unmark(doneFolder().resolve(notice.id() + END));
    workspace.files().unmark(failedFolder().resolve(notice.id() + END));
  }

  /**
   * Removes notifications that were done 30 days ago, and temporary files of dead processes. The
   * caller holds the lock.
   */
  public void sweep(Instant now) {
    DurableFiles.sweepDead(folder, now);
    DurableFiles.sweepDead(waitingFolder(), now);
    DurableFiles.sweepDead(doneFolder(), now);
    names(doneFolder()).stream()
        .filter(file -> DurableFiles.written(file).isBefore(now.minus(KEPT)))
        .forEach(workspace.files()::unmark);
    names(failedFolder()).stream()
        .filter(mark -> Files.notExists(doneFolder().resolve(mark.getFileName())))
        .forEach(workspace.files()::unmark);
  }

  /** Returns the file with the channels' pauses. */
  public Path pauses() {
    return folder.resolve("channels.json");
  }

  /** Replaces the file with the channels' pauses. The caller holds the lock. */
  public void replacePauses(String text) {
    workspace.files().replace(pauses(), text);
  }
}
