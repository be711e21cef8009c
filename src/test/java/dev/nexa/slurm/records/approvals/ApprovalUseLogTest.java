package dev.nexa.slurm.records.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ApprovalUseLogTest {
  private static final UnixUser ADA = new UnixUser("ada", Optional.empty());

  @TempDir Path folder;

  @Test
  void theNumbersGoUpAndAUseThatIsGivenBackIsFree() {
    ApprovalUseLog uses = uses(2, Optional.empty());
    ApprovalUse use = use("1");

    assertThat(uses.claim(use, ApprovalUseLogTest::notOver)).hasValue(1);
    assertThat(uses.claim(use, ApprovalUseLogTest::notOver)).hasValue(2);
    assertThat(uses.claim(use, ApprovalUseLogTest::notOver)).isEmpty();
    uses.release(use, 1);
    assertThat(uses.claim(use, ApprovalUseLogTest::notOver)).hasValue(3);
    assertThat(uses.claim(use, ApprovalUseLogTest::notOver)).isEmpty();
    uses.hold(use, 3, "/work/runs/data_20261101_120000");

    assertThat(ApprovalUseLog.taken(uses.all())).isEqualTo(2);
    assertThat(uses.refusal(use, ApprovalUseLogTest::notOver).orElseThrow())
        .startsWith("it is used up: 2 of 2 uses, the last data_20261101_120000 by ada on ");
  }

  @Test
  void aUseThatCanNotBeReadCounts() throws Exception {
    ApprovalUseLog uses = uses(1, Optional.empty());
    Files.createDirectories(folder.resolve("used/" + "0".repeat(16)));
    Files.writeString(folder.resolve("used/" + "0".repeat(16) + "/7"), "nonsense");

    assertThat(uses.claim(use("1"), ApprovalUseLogTest::notOver)).isEmpty();
    assertThat(uses.all()).singleElement().asString().contains("no run known by unknown");
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void whatIsNoFileOrTooLargeIsNotCountedAndSaysSo() throws Exception {
    ApprovalUseLog uses = uses(1, Optional.empty());
    Path seven = folder.resolve("used/" + "0".repeat(16) + "/7");
    Files.createDirectories(seven);
    requireNotCounted(uses);
    Files.delete(seven);
    Files.writeString(seven, " ".repeat(1 << 20));
    requireNotCounted(uses);
    Files.delete(seven);
    Keys.run(folder, "mkfifo", seven.toString());
    requireNotCounted(uses);
    Files.delete(seven);
    Files.delete(seven.getParent());
    Files.writeString(seven.getParent(), "");
    requireNotCounted(uses);
  }

  private static void requireNotCounted(ApprovalUseLog uses) {
    assertThatThrownBy(uses::all)
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("can't be counted");
    assertThatThrownBy(() -> uses.claim(use("1"), ApprovalUseLogTest::notOver))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("can't be counted");
  }

  /** mkdir of a folder that exists would fail: the advice must work if it is typed. */
  @Test
  void theAdviceAgainstAMissingPermissionFitsWhatExists() throws Exception {
    Path used = folder.resolve("used");
    Path own = used.resolve("1");

    assertThat(ApprovalUseLog.opens(used, own, path -> false))
        .contains("which does not exist; ")
        .endsWith(" types: mkdir -p -m 1777 " + used);
    Files.createDirectory(used);
    assertThat(ApprovalUseLog.opens(used, own, path -> false))
        .endsWith(" types: chmod 1777 " + used);
    Files.createDirectory(own);
    assertThat(ApprovalUseLog.opens(used, own, path -> path.equals(used)))
        .endsWith(" types: chmod 1777 " + own);
    assertThat(ApprovalUseLog.opens(used, own, path -> true)).contains("check its file system");
  }

  @Test
  void aReservationThatIsNoAmountIsAUseOfNobodyKnowsWhom() throws Exception {
    ApprovalUseLog uses = uses(2, Optional.empty());
    assertThat(uses.claim(use("12.34"), ApprovalUseLogTest::notOver)).hasValue(1);
    Path one = folder.resolve("used/" + "0".repeat(16) + "/1");
    Files.writeString(one, Files.readString(one).replace("12.34", "1e2147483600"));

    assertThat(uses.all())
        .singleElement()
        .satisfies(use -> assertThat(use.reservation()).hasToString("0.00 USD"));
  }

  @Test
  void aMonthIsReservationsUntilTheirRunsAreOver() {
    ApprovalUseLog uses = uses(100, Optional.of(new Money(new BigDecimal("100.00"), "USD")));

    assertThat(uses.claim(use("60.00"), ApprovalUseLogTest::notOver)).hasValue(1);
    assertThat(uses.refusal(use("40.01"), ApprovalUseLogTest::notOver).orElseThrow())
        .contains(": needs 40.01 USD, left 40.00 of 100.00 USD");
    assertThat(uses.claim(use("40.00"), ApprovalUseLogTest::notOver)).hasValue(2);
    assertThat(uses.claim(use("0.01"), ApprovalUseLogTest::notOver)).isEmpty();
    assertThat(uses.claim(use("39.00"), use -> Optional.of(new BigDecimal("30.00")))).hasValue(3);
  }

  @Test
  void aRunThatRunsAgainCarriesWhatItCanCostInAllAndTakesNoOtherUse() {
    ApprovalUseLog uses = uses(2, Optional.of(usd("150")));
    ApprovalUse first = use("100");
    uses.claim(first, ApprovalUseLogTest::notOver);
    uses.hold(first, 1, "/work/runs/data_20261101_120000");
    Function<ApprovalUse, Optional<BigDecimal>> over =
        use -> use.number() == 1 ? Optional.of(new BigDecimal("60")) : Optional.empty();
    assertThat(uses.claim(use("90"), over)).hasValue(2);
    ApprovalUse held = uses.all().get(0);

    assertThat(uses.refusalOf(held, usd("100"), over).orElseThrow())
        .contains(": needs 100 USD in all, left 60 of 150 USD");
    assertThat(uses.enlarge(held, usd("100"), over)).isFalse();
    uses.release(use("90"), 2);
    assertThat(uses.claim(use("10"), over)).hasValue(3);
    assertThat(uses.refusalOf(held, usd("140"), over)).isEmpty();
    assertThat(uses.enlarge(held, usd("140"), over)).isTrue();

    assertThat(ApprovalUseLog.taken(uses.all())).isEqualTo(2);
    assertThat(uses.all())
        .extracting(use -> use.number() + " " + use.reservation() + " " + use.released())
        .containsExactly("1 100 USD true", "2 90 USD true", "3 10 USD false", "4 140 USD false");
    assertThat(uses.all().get(3).run()).contains("/work/runs/data_20261101_120000");
    assertThat(uses.all().get(3).at()).isEqualTo(held.at());
  }

  @Test
  void ofAClaimAndARerunAtOnceOneGetsTheLastOfAMonthsMoney() throws Exception {
    for (int round = 0; round < 20; round++) {
      ApprovalUseLog uses = uses(100, Optional.of(usd("150")), String.format("%016d", round));
      uses.claim(use("90"), ApprovalUseLogTest::notOver);
      ApprovalUse held = uses.all().get(0);
      ExecutorService two = Executors.newFixedThreadPool(2);
      Future<Boolean> rerun =
          two.submit(() -> uses.enlarge(held, usd("140"), ApprovalUseLogTest::notOver));
      Future<OptionalInt> claim =
          two.submit(() -> uses.claim(use("50"), ApprovalUseLogTest::notOver));

      assertThat(rerun.get() && claim.get().isPresent()).isFalse();
      two.shutdown();
    }
  }

  @Test
  void ofManyAtOnceExactlyAsManyGetThroughAsThereAreUses() throws Exception {
    assertThat(race(uses(7, Optional.empty()), "1")).isEqualTo(7);
  }

  @Test
  void ofManyAtOnceNoTwoTakeTheLastOfAMonthsMoney() throws Exception {
    assertThat(race(uses(1000, Optional.of(new Money(new BigDecimal("100"), "USD"))), "30"))
        .isEqualTo(3);
  }

  private static Optional<BigDecimal> notOver(ApprovalUse use) {
    return Optional.empty();
  }

  private static int race(ApprovalUseLog uses, String amount) throws Exception {
    ExecutorService crowd = Executors.newFixedThreadPool(20);
    List<Callable<OptionalInt>> claims = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      claims.add(() -> uses.claim(use(amount), ApprovalUseLogTest::notOver));
    }
    int through = 0;
    for (Future<OptionalInt> claim : crowd.invokeAll(claims)) {
      through += claim.get().isPresent() ? 1 : 0;
    }
    crowd.shutdown();
    return through;
  }

  private static ApprovalUse use(String amount) {
    return ApprovalUse.now(ADA, new Money(new BigDecimal(amount), "USD"));
  }

  private static Money usd(String amount) {
    return new Money(new BigDecimal(amount), "USD");
  }

  private ApprovalUseLog uses(int count, Optional<Money> maxMonth) {
    return uses(count, maxMonth, "0".repeat(16));
  }

  private ApprovalUseLog uses(int count, Optional<Money> maxMonth, String id) {
    ApprovalEnvelope envelope =
        new ApprovalEnvelope(
            "nightly", List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), maxMonth);
    Approval approval =
        new Approval(
            id,
            "boss",
            Instant.EPOCH,
            Instant.EPOCH.plusSeconds(60),
            count,
            new Money(new BigDecimal("100"), "USD"),
            false,
            Optional.empty(),
            envelope);
    return new ApprovalDirectory(folder, DurableFiles.onDisk()).uses(approval);
  }
}
