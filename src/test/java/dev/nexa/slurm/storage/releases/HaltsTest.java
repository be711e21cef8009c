package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.releases.Halts.Halt;
import dev.nexa.slurm.storage.releases.Halts.LiftedHalt;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HaltsTest {
  private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");

  @TempDir Path folder;
  private DeploySite site;

  @BeforeEach
  void site() {
    site = new DeploySite(folder);
  }

  private Halt set(Optional<String> pipeline) {
    return site.halts().set(NOW, "ada", "login1", "bad answers", pipeline);
  }

  private LiftedHalt lifting(Halt halt, LineSigner signer) {
    return lifting(halt, signer, NOW);
  }

  private LiftedHalt lifting(Halt halt, LineSigner signer, Instant at) {
    LiftedHalt unsigned =
        new LiftedHalt(halt.id(), site.halts().digest(halt), at, signer.author(), "mended", "");
    return new LiftedHalt(
        unsigned.halt(),
        unsigned.digest(),
        unsigned.at(),
        unsigned.signer(),
        unsigned.reason(),
        signer.sign().apply(unsigned.statement()));
  }

  private List<Halt> inForce(Optional<String> pipeline) {
    return site.halts().inForce(Optional.of(site.signers()), pipeline).stream()
        .map(Halts.Judged::halt)
        .toList();
  }

  @Test
  void aHaltOfAPipelineStopsOnlyIt() {
    Halt one = set(Optional.of("distill"));

    assertThat(inForce(Optional.of("distill"))).containsExactly(one);
    assertThat(inForce(Optional.of("other"))).isEmpty();
    assertThat(inForce(Optional.empty())).isEmpty();
    Halt all = set(Optional.empty());
    assertThat(all.id()).isEqualTo(one.id() + "_2");
    assertThat(inForce(Optional.of("other"))).containsExactly(all);
  }

  @Test
  void anApproverLiftsIt() {
    Halt halt = set(Optional.empty());
    site.halts().lift(lifting(halt, site.signer()));

    assertThat(inForce(Optional.empty())).isEmpty();
    assertThat(site.halts().existing(halt.id(), Optional.of(site.signers())).inForce()).isFalse();
  }

  @Test
  void aLiftingThatIsNotAnApproversDoesNotCount() {
    Halt halt = set(Optional.empty());
    Path forger = dev.nexa.slurm.records.approvals.Keys.make(folder, "forger");
    site.halts().lift(lifting(halt, DeploySite.signer(forger, DeploySite.OPERATOR)));

    assertThat(inForce(Optional.empty())).containsExactly(halt);
    assertThat(site.halts().all(Optional.empty()).get(0).refusal())
        .contains("the policy names nobody who may lift a halt");
  }

  /** The lifting of one halt, copied beside another, or beside a halt that was changed. */
  @Test
  void aLiftingFitsOneHaltOnly() throws Exception {
    Halt first = set(Optional.empty());
    site.halts().lift(lifting(first, site.signer()));
    Halt second = set(Optional.empty());
    Path halts = site.deploy.resolve("halts");
    Files.copy(
        halts.resolve(first.id() + ".lifted.json"), halts.resolve(second.id() + ".lifted.json"));

    assertThat(inForce(Optional.empty())).containsExactly(second);
    Path file = halts.resolve(first.id() + ".json");
    Files.writeString(file, Files.readString(file).replace("bad answers", "nothing"));
    assertThat(inForce(Optional.empty())).hasSize(2);
  }

  @Test
  void aFileThatCannotBeReadStops() throws Exception {
    Files.createDirectories(site.deploy.resolve("halts"));
    Files.writeString(site.deploy.resolve("halts/halt_x.json"), "{");

    assertThat(inForce(Optional.of("any")))
        .singleElement()
        .satisfies(halt -> assertThat(halt.reason()).contains("cannot be read"));
  }

  @Test
  void aGateHaltsOnceForARun() {
    Halt halt =
        site.halts().setByGate(NOW, "ada", "login1", "f1", "distill", "eval_1").orElseThrow();
    assertThat(halt.id()).isEqualTo("halt_eval_1");
    assertThat(site.halts().setByGate(NOW, "ada", "login1", "f1", "distill", "eval_1")).isEmpty();
    site.halts().lift(lifting(halt, site.signer()));
    assertThat(site.halts().setByGate(NOW, "ada", "login1", "f1", "distill", "eval_1")).isEmpty();
    assertThat(inForce(Optional.of("distill"))).isEmpty();
  }

  @Test
  void anUnknownHaltIsNamed() {
    set(Optional.empty());
    assertThatThrownBy(() -> site.halts().existing("../x", Optional.empty()))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("there is no halt '../x'");
  }

  /** An expired key can sign a text with any time. */
  @Test
  void aLiftingFromBeforeTheHaltOrFromTheFutureDoesNotCount() {
    Halt halt = set(Optional.empty());
    for (Instant at : List.of(NOW.minus(Duration.ofDays(50)), NOW.plus(Duration.ofDays(9000)))) {
      site.halts().lift(lifting(halt, site.signer(), at));
      assertThat(inForce(Optional.empty())).as("%s", at).containsExactly(halt);
    }
  }
}
