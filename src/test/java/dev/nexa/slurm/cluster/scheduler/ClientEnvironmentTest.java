package dev.nexa.slurm.cluster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientEnvironmentTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "MODULEPATH",
        "LMOD_CMD",
        "BASH_FUNC_module%%",
        "SLURM_CONF"
      })
  void whatAJobNeedsIsKept(String name) {
    assertThat(ClientEnvironment.forJobs(Map.of(name, "x"))).containsOnlyKeys(name);
    assertThat(ClientEnvironment.forClients(Map.of(name, "x"))).containsOnlyKeys(name);
  }

  /** They beat the script and our arguments, or are secrets that slurmdbd would keep. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SBATCH_TIMELIMIT",
        "SBATCH_EXPORT",
        "SACCT_FORMAT",
        "SQUEUE_FORMAT",
        "SLURM_TIME_FORMAT",
        "SLURM_CLUSTERS",
        "SLURM_JOB_ID",
        "AWS_SECRET_ACCESS_KEY",
        "HF_TOKEN",
        "path",
        ""
      })
  void everythingElseIsLeftBehind(String name) {
    assertThat(ClientEnvironment.forClients(Map.of(name, "x"))).isEmpty();
  }

  @Test
  void aTokenForSlurmIsTheClientsAlone() {
    Map<String, String> all = Map.of("SLURM_JWT", "secret");

    assertThat(ClientEnvironment.forClients(all)).containsKey("SLURM_JWT");
    assertThat(ClientEnvironment.forJobs(all)).isEmpty();
    assertThat(ClientEnvironment.isClientOnly("SLURM_JWT")).isTrue();
    assertThat(ClientEnvironment.isClientOnly("PATH")).isFalse();
  }
}
