package dev.nexa.slurm.records.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SnapshotChangeTest {
  private static Snapshot of(String... pairs) {
    return Snapshot.parse(String.join("\n", pairs).replace('=', '\t'));
  }

  private static List<String> lines(List<SnapshotChange> changes) {
    return changes.stream().map(SnapshotChange::line).toList();
  }

  @Test
  void changesComeByTheirLikelyEffect() {
    String names =
        "package.a run.nodes nexa-slurm.version uv.lock slurm.version kernel gpus env.CUDA_X"
            + " env.NCCL_X mapped.libmpi.version python.version torch.cuda torch.version"
            + " disagrees.nccl mapped.libnccl.version nvidia.driver run.process run.job";
    Snapshot one = of((names + " ").replace(" ", "=1\n"));
    Snapshot other = of((names + " ").replace(" ", "=2\n"));

    assertThat(SnapshotChange.between(one, other).stream().map(SnapshotChange::name))
        .containsExactly(
            ("nvidia.driver mapped.libnccl.version disagrees.nccl torch.version torch.cuda"
                    + " python.version mapped.libmpi.version env.NCCL_X env.CUDA_X gpus kernel"
                    + " slurm.version uv.lock package.a nexa-slurm.version run.nodes")
                .split(" "));
    assertThat(SnapshotChange.between(one, one)).isEmpty();
  }

  @Test
  void anotherContentOfAnotherVersionIsNotToldTwice() {
    String digest = "0123456789ab" + "c".repeat(52);
    Snapshot one =
        of("run.process=x", "mapped.a.version=1", "mapped.a.sha256=9", "mapped.b.sha256=9");
    Snapshot other =
        of("run.process=x", "mapped.a.version=2", "mapped.a.sha256=8", "mapped.b.sha256=" + digest);

    assertThat(lines(SnapshotChange.between(one, other)))
        .containsExactly("mapped.a.version  1 -> 2", "mapped.b.sha256  9 -> 0123456789ab");
  }

  @Test
  void ofARunThatEndedAtOnceOnlyTheNodeIsCompared() {
    Snapshot whole = of("run.process=x", "package.a=1", "kernel=5");

    assertThat(lines(SnapshotChange.between(whole, of("kernel=6"))))
        .containsExactly("kernel  5 -> 6");
    assertThat(lines(SnapshotChange.between(whole, of("run.process=x", "kernel=5"))))
        .containsExactly("package.a  1 -> none");
  }

  @Test
  void aMachineIsComparedByWhatIsKnownThere() {
    Snapshot run = of("run.nodes=n1", "nvidia.driver=5", "package.a=1", "package.b=1", "os=x");

    assertThat(lines(SnapshotChange.known(run, of("os=x", "package.a=1", "env.NCCL_X=1"))))
        .containsExactly("package.b  1 -> none");
    assertThat(SnapshotChange.known(run, of("os=x"))).isEmpty();
  }
}
