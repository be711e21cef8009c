package dev.nexa.slurm.costs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WhereTest {
  private static final Instant NOW = Instant.parse("2025-11-10T12:00:00Z");
  private static final RunLine RUN =
      Lines.run(
          "'stage': 'train', 'status': 'failed', 'state': 'timeout', 'model': 'mistral 7b',"
              + " 'tags': ['backend:hf', 'experiment:science_v1', 'project:nlp'],"
              + " 'user': 'ada', 'currency': 'USD', 'cost': '12.50', 'gpu_seconds': 5400,"
              + " 'created': '2025-11-09T11:59:59Z', 'started': '2025-11-09T12:10:00Z',"
              + " 'ended': '2025-11-09T13:40:00Z', 'queue_seconds': 601");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "status=failed",
        "status=failed cost>10 created>=7d tag=experiment:science_v1",
        "status!=completed",
        "status=FAILED",
        "state~TIME state=Timeout",
        "run_time<1d12h",
        "created>=2025-11-09T00:00",
        "state~time",
        "model=\"mistral 7b\"",
        "model~7b",
        "tag~science",
        "tag!=project:cv",
        "project=nlp experiment=science_v1",
        "cost=12.5",
        "cost!=12.51",
        "cost>=12.50 cost<=12.50 cost<13",
        "gpu_hours=1.5",
        "run_time=90m",
        "run_time>1h",
        "queue_time<11m",
        "created<1d",
        "created>=25h",
        "created=2025-11-09",
        "created=2025-11 created>2025-10 created<=2025-11",
        "created<2025-11-10",
        "ended>=2025-11-09T13:40:00Z",
        "ended!=2025-11-08",
        "month=2025-11 month>2025-10",
        "account!=lab",
        "loss!=1",
        "run=train_20251101_120000"
      })
  void itIsMeant(String text) {
    assertThat(Where.parse(text, NOW).accepts(RUN)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status=completed",
        "status=failed cost>12.50",
        "tag=experiment:science",
        "tag!=project:nlp",
        "project!=nlp",
        "pipeline=x",
        "account=lab",
        "account~l",
        "loss<100",
        "created>=1d",
        "created>2025-11",
        "ended>2025-11-09",
        "run_time>90m",
        "month<2025-11"
      })
  void itIsNotMeant(String text) {
    assertThat(Where.parse(text, NOW).accepts(RUN)).isFalse();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          stauts=failed          | term 1 'stauts=failed', at character 1: unknown name 'stauts' (did you mean 'status'?)
          stage=x  cots>1        | term 2 'cots>1', at character 10: unknown name 'cots' (did you mean 'cost'?)
          zzzzzz=1               | unknown name 'zzzzzz'; known are run, stage, status
          status=faild           | no run has the status 'faild' (did you mean 'failed'?); known are running, retry, completed, failed
          state!=compelted       | no run has the state 'compelted' (did you mean 'completed'?)
          status                 | expected a name, one of = != < <= > >= ~, and a value
          status=                | there is no value behind =
          stage<train            | stage is a word: it takes =, != and ~ only
          cost~1                 | cost is no word: ~ is for words
          cost>lots              | expected a number such as 10 or 0.5, got 'lots'
          run_time>1             | expected a time such as 30s, 15m, 12h, 7d, 2w or 1d12h, got '1'
          created>=soon          | expected a time such as 7d (before now), 2025-11, 2025-11-01, 2025-11-01T12:00 or 2025-11-01T12:00:00Z, got 'soon'
          created=2025-13-01     | expected a time such as 7d
          model="mistral 7b      | the quote is not closed
          """)
  void whatIsWrongIsToldWithTheTermAndThePlace(String text, String said) {
    assertThatThrownBy(() -> Where.parse(text, NOW)).hasMessageContaining(said);
  }
}
