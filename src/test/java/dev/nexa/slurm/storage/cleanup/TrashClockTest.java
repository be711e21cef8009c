package dev.nexa.slurm.storage.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.cleanup.CleanupJournal.CleanupId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A wrong clock of the host that cleans, when it moves or when it deletes, empties no trash. */
class TrashClockTest {
  private static final Duration GRACE = Duration.ofDays(3);

  @TempDir Path folder;

  private static CleanTiers.Done clean(CleanupSite site, Instant now) {
    CleanTiers clean = site.clean(step -> {});
    return clean.run(
        clean.plan(
            new Settings(Duration.ofDays(7), 0, GRACE, Optional.empty()), site.roots(), now));
  }

  /** What a cleanup writes on a host whose clock is behind: its grace period ends in the past. */
  private static void journalOfAClockBehind(CleanupSite site, CleanupId id, Duration behind)
      throws IOException {
    Path file = CleanupJournal.existing(site.workspace, id.value()).file();
    Instant at = Instant.now().plus(behind);
    Files.writeString(
        file,
        Files.readString(file)
            .replaceFirst("\"at\":\"[^\"]*\"", "\"at\":\"" + at + "\"")
            .replaceFirst(
                "\"delete_after\":\"[^\"]*\"", "\"delete_after\":\"" + at.plus(GRACE) + "\""));
  }

  @Test
  void theTiersClockDecidesWhenAGracePeriodIsOver() throws IOException {
    for (int days : new int[] {4, 400, -400}) {
      CleanupSite site = new CleanupSite(Files.createDirectories(folder.resolve("of" + days)));
      Path left = site.scratchOf(site.ended("train_20251101_100000"), "data");
      CleanTiers.Done moved = clean(site, Instant.now());
      assertThat(moved.moved()).hasSize(1);
      assertThat(left).doesNotExist();
      Path trash = site.scratch.resolve(".nexa-trash").resolve(moved.id().orElseThrow().value());
      if (days < 0) {
        journalOfAClockBehind(site, moved.id().orElseThrow(), Duration.ofDays(days));
      }
      FileTime time = Files.getLastModifiedTime(trash);

      for (int i = 0; i < 2; i++) {
        CleanTiers.Done early = clean(site, Instant.now().plus(Duration.ofDays(Math.max(0, days))));
        assertThat(early.deleted()).as(days + " days").isEmpty();
        assertThat(early.failed())
            .singleElement()
            .satisfies(
                kept ->
                    assertThat(kept.reason())
                        .contains("the clock of this host says that its grace period is over")
                        .contains("the clock of " + site.scratch, "`date` shows"));
        assertThat(Files.getLastModifiedTime(trash)).isEqualTo(time);
      }

      Files.setLastModifiedTime(trash, FileTime.from(Instant.now().minus(GRACE)));
      CleanTiers.Done due = clean(site, Instant.now().plus(Duration.ofDays(Math.max(0, days))));
      assertThat(due.deleted()).hasSize(1);
      assertThat(due.failed()).isEmpty();
      assertThat(trash).doesNotExist();
    }
  }
}
