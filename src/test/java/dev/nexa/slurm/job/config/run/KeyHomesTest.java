package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.run.KeyHomes.Home;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of names that people type for our keys. */
class KeyHomesTest {
  @Test
  void eachHomeIsAKeyOfAConfig() {
    for (Map.Entry<String, Home> home : KeyHomes.all().entrySet()) {
      String key = home.getValue().key();
      assertThat(key.isEmpty() || exists(key)).as(home.getKey() + " -> " + key).isTrue();
      assertThat(key.isEmpty() && home.getValue().remark().isEmpty()).as(home.getKey()).isFalse();
    }
    assertThat(KeyHomes.all()).hasSizeGreaterThan(120);
  }

  @Test
  void noNameOfTheTableIsAKeyItself() {
    for (String name : KeyHomes.all().keySet()) {
      assertThat(exists(name)).as(name).isFalse();
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "'', ntasks, resources.ntasks",
    "'', cpus-per-task, resources.cpus_per_task",
    "'', gpus-per-node, resources.gpus_per_node",
    "'', gres, resources.gpus_per_node",
    "'', time, resources.time",
    "'', job-name, name",
    "'', mail-user, mail.user",
    "'', mail-type, mail.type",
    "'', constraint, resources.constraint",
    "'', qos, resources.qos",
    "'', nodelist, resources.nodelist",
    "'', exclude, resources.exclude",
    "'', memory, resources.memory",
    "'', gpu_per_node, resources.gpus_per_node",
    "'', args, entrypoint.args",
    "'', venv, software.venv",
    "'', max_parallel, array.max_parallel",
    "resources, lr, lr",
    "resources, mem, resources.memory",
    "resources, mem_per_cpu, resources.memory_per_cpu",
    "resources, script, entrypoint.script",
    "sweep, learning_rate, sweep.lr",
  })
  void aNameHasItsHome(String section, String name, String key) {
    assertThat(KeyHomes.of(section, name)).map(Home::key).contains(key);
  }

  @Test
  void optionsOfSbatchWithoutAKeyHaveARemark() {
    for (String name : List.of("output", "error", "dependency")) {
      Optional<Home> home = KeyHomes.of("", name);

      assertThat(home).map(Home::key).contains("");
      assertThat(home.orElseThrow().remark()).isNotEmpty();
    }
  }

  @Test
  void aNameLikeNoOtherHasNone() {
    assertThat(KeyHomes.of("", "frobnicate")).isEmpty();
    assertThat(KeyHomes.of("array", "frobnicate")).isEmpty();
    assertThat(KeyHomes.of("no.section", "frobnicate")).isEmpty();
  }

  private static boolean exists(String path) {
    Section section = RunConfig.SPEC;
    List<String> steps = Overrides.path(path);
    for (int i = 0; i < steps.size(); i++) {
      String step = steps.get(i);
      Optional<KnownKey> key =
          section.keys().stream().filter(one -> one.name().equals(step)).findFirst();
      if (key.isEmpty()) {
        return false;
      }
      if (i == steps.size() - 1) {
        return true;
      }
      section = (Section) key.get().shape();
    }
    return false;
  }
}
