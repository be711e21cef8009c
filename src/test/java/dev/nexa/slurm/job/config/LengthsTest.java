package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.foreign.NexaCompute;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.GpuCatalog;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.Axis;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.ListOf;
import dev.nexa.slurm.job.config.yaml.Schema.MapOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Every key of every kind of file that takes a length of time. */
class LengthsTest {
  private static final Map<String, Section> FILES =
      Map.of(
          "run", RunConfig.SPEC,
          "cluster", ClusterProfile.SPEC,
          "prices", PriceBook.SPEC,
          "policy", Policy.SPEC,
          "gpus", GpuCatalog.SPEC,
          "pipeline", PipelineConfig.SPEC,
          "nexa_compute", NexaCompute.SPEC);

  private final Map<String, Object> lengths = new TreeMap<>();

  /** Slurm keeps its limits in whole minutes and rounds them up; all else is as it was written. */
  @Test
  void secondsAreKeptButForTheLimitsThatSlurmKeeps() {
    FILES.forEach((file, section) -> walk(section, file));

    assertThat(lengths).hasSizeGreaterThan(9);
    lengths.forEach(
        (key, length) -> {
          boolean ofSlurm =
              key.matches(
                  "(run|pipeline)\\..*(resources\\.time|grow\\.time\\.up_to)|cluster\\..*(max_time|resources\\.time)|nexa_compute\\..*");
          assertThat(length)
              .as(key)
              .isEqualTo(
                  ofSlurm
                      ? (Object) Duration.ofMinutes(1)
                      : length instanceof String ? "7s" : Duration.ofSeconds(7));
        });
    assertThat(lengths.keySet())
        .contains(
            "run.resources.time",
            "run.watchdog",
            "run.monitor",
            "run.warn_before_end",
            "run.checkpoints.copy_every",
            "run.ready_within",
            "run.data.generate.timeout",
            "policy.approvals.longest");
  }

  private void walk(Schema shape, String path) {
    if (shape instanceof Section section) {
      for (KnownKey key : section.keys()) {
        walk(key.shape(), path + "." + key.name());
      }
      section.others().ifPresent(others -> walk(others, path));
    } else if (shape instanceof ListOf list) {
      walk(list.element(), path);
    } else if (shape instanceof MapOf map) {
      walk(map.value(), path + ".*");
    } else if (shape instanceof Axis axis) {
      walk(axis.element(), path);
    } else if (shape instanceof ValueType type && !takesAnyText(type)) {
      try {
        lengths.put(path, type.parse("7s"));
      } catch (IllegalArgumentException noLength) {
        // It takes something else.
      }
    }
  }

  private static boolean takesAnyText(ValueType type) {
    try {
      type.parse("s7");
      return true;
    } catch (IllegalArgumentException oneForm) {
      return false;
    }
  }
}
