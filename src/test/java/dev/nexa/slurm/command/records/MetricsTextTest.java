package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.records.runs.Heartbeat;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MetricsTextTest {
  private static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");
  private static final String HOSTILE = "/srv/a \"b\"\\c\nd";

  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-z_]+)\\{workspace=\"((?:[^\"\\\\\n]|\\\\[\\\\\"n])*)\"\\} (\\d+(?:\\.\\d+)?)");

  @Test
  void everyLineIsOfTheFormatAndSaysWhatThePassKnew() {
    assertThat(parsed(text(HOSTILE, Optional.of(NOON.minusSeconds(600)))))
        .containsEntry("nexa_slurm_last_pass_timestamp_seconds", "1761998400")
        .containsEntry("nexa_slurm_last_success_timestamp_seconds", "1761997800")
        .containsEntry("nexa_slurm_behind_seconds", "660")
        .containsEntry("nexa_slurm_runs_unfinished", "7")
        .containsEntry("nexa_slurm_runs_read", "12")
        .containsEntry("nexa_slurm_runs_changed", "5")
        .containsEntry("nexa_slurm_rows_read", "40000")
        .containsEntry("nexa_slurm_pass_duration_seconds", "0.412")
        .hasSize(8);
    assertThat(parsed(text("/srv/science", Optional.empty())))
        .containsEntry("nexa_slurm_behind_seconds", "0");
  }

  /** promtool of Prometheus knows the format best. */
  @Test
  void promtoolTakesIt() throws Exception {
    assumeTrue(
        Pattern.compile(":")
            .splitAsStream(System.getenv().getOrDefault("PATH", ""))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool"))));
    Process promtool =
        new ProcessBuilder("promtool", "check", "metrics").redirectErrorStream(true).start();
    try (var in = promtool.getOutputStream()) {
      in.write(text(HOSTILE, Optional.empty()).getBytes(StandardCharsets.UTF_8));
    }
    String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(promtool.waitFor()).as(said).isZero();
  }

  /** Each metric has its HELP, its TYPE and one sample, in this order. */
  private static Map<String, String> parsed(String text) {
    Map<String, String> values = new LinkedHashMap<>();
    assertThat(text).endsWith("\n");
    String[] lines = text.split("\n", -1);
    for (int i = 0; i + 2 < lines.length; i += 3) {
      Matcher sample = SAMPLE.matcher(lines[i + 2]);
      assertThat(sample.matches()).as(lines[i + 2]).isTrue();
      assertThat(lines[i]).startsWith("# HELP " + sample.group(1) + " ").endsWith(".");
      assertThat(lines[i + 1]).isEqualTo("# TYPE " + sample.group(1) + " gauge");
      assertThat(values.put(sample.group(1), sample.group(3))).isNull();
    }
    return values;
  }

  private static String text(String workspace, Optional<Instant> behind) {
    Heartbeat last =
        new Heartbeat(
            NOON,
            Optional.of(NOON.minusSeconds(600)),
            behind,
            behind.map(since -> "sacct failed"),
            12,
            5,
            40_000,
            Duration.ofMillis(412));
    return MetricsText.of(workspace, last, 7, NOON.plusSeconds(60));
  }
}
