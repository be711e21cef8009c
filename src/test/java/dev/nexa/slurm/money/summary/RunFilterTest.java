package dev.nexa.slurm.money.summary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.Lines;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RunFilterTest {
  private static final Instant NOW = Instant.parse("2025-11-10T12:00:00Z");
  private static final LedgerLine RUN =
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
        "account=- project!=- tag:nothing=- tag!=- currency!=-",
        "tag:experiment=science_v1 tag:project!=cv tag:backend~h",
        "run=train_20251101_120000"
      })
  void itIsMeant(String text) {
    assertThat(RunFilter.parse(text, NOW).accepts(RUN)).isTrue();
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
        "project=-",
        "account!=-",
        "tag:team=west",
        "tag:team!=-",
        "month<2025-11"
      })
  void itIsNotMeant(String text) {
    assertThat(RunFilter.parse(text, NOW).accepts(RUN)).isFalse();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          project=my lab x       | term 2 'lab', at character 12: expected a name, one of = != < <= > >= ~, and a value, such as status=failed; a value with spaces needs double quotes: project="my lab"
          prject=x               | unknown name 'prject' (did you mean 'project'?); known are run, stage
          tag:=x                 | unknown name 'tag:'
          project=               | there is no value behind =; project=- selects the runs that have none
          month=2026-Q4          | got '2026-Q4'; for several months: --where 'month>=2026-01 month<=2026-12'
          month=-                | expected a month such as 2025-11, this or last, got '-'
          cost=-                 | expected a number such as 10 or 0.5, got '-'
          stauts=failed          | term 1 'stauts=failed', at character 1: unknown name 'stauts' (did you mean 'status'?)
          stage=x  cots>1        | term 2 'cots>1', at character 10: unknown name 'cots' (did you mean 'cost'?)
          zzzzzz=1               | unknown name 'zzzzzz'; known are run, stage, status
          status=faild           | no run has the status 'faild' (did you mean 'failed'?); known are running, retry, completed, failed
          state!=compelted       | no run has the state 'compelted' (did you mean 'completed'?)
          status                 | expected a name, one of = != < <= > >= ~, and a value
          status=                | there is no value behind =
          project=x and cost>1   | such as status=failed; write a space between two terms, and both must hold; there is no 'or'
          cost > 10              | such as status=failed; write cost>10, without spaces
          cost                   | put the expression into single quotes, because the shell takes > and < itself: 'cost>10'
          ended                  | because the shell takes > and < itself: 'ended>=2025-11'
          run_time               | because the shell takes > and < itself: 'run_time>2h'
          project                | and a value, such as status=failed; write project=VALUE
          project in (nlp,vision) | write project=nlp; it takes one value, and --by project shows each
          project is nlp         | such as status=failed; write project=nlp
          project == nlp         | write project=nlp, without spaces
          project==nlp           | the operator is one =: project=nlp
          project=a project=b    | a run has one project, and 'a' was asked for too; for several, leave both out and type --by project
          cost>100 USD           | an amount has no currency: currency=USD selects the runs in it
          month=Q4               | for a quarter: --where 'month>=YEAR-10 month<=YEAR-12', with your year
          stage<train            | stage is a text: it takes =, != and ~ only
          cost~1                 | cost is a number: it takes =, !=, <, <=, > and >= only
          cost>lots              | expected a number such as 10 or 0.5, got 'lots'
          run_time>1             | expected a time such as 30s, 15m, 12h, 7d, 2w or 1d12h, got '1'
          created>=soon          | expected a time such as 7d (before now), 2025-11, 2025-11-01, 2025-11-01T12:00 or 2025-11-01T12:00:00Z, got 'soon'
          created=2025-13-01     | expected a time such as 7d
          model="mistral 7b      | the quote is not closed
          month=2026-13          | expected a month such as 2025-11, this or last, got '2026-13'
          month=lats             | got 'lats' (did you mean 'last'?)
          month=2025-1           | got '2025-1' (did you mean '2025-01'?)
          month~novem            | expected a month such as 2025-11
          method=histroy         | no run has the method 'histroy' (did you mean 'history'?)
          status~zzz             | no run has the status 'zzz'
          currency=dollars       | expected an ISO 4217 code such as USD, got 'dollars'
          """)
  void whatIsWrongIsToldWithTheTermAndThePlace(String text, String said) {
    assertThatThrownBy(() -> RunFilter.parse(text, NOW)).hasMessageContaining(said);
  }

  @Test
  void aMonthMayBeThisOrTheLast() {
    Instant december = Instant.parse("2025-12-31T23:59:59Z");
    assertThat(RunFilter.parse("month=last", december).accepts(RUN)).isTrue();
    assertThat(RunFilter.parse("month=this", december).accepts(RUN)).isFalse();
    assertThat(RunFilter.parse("month=this", NOW).accepts(RUN)).isTrue();
    assertThat(RunFilter.parse("month<last", NOW).accepts(RUN)).isFalse();
    assertThat(RunFilter.parse("month~2025 currency=usd", NOW).accepts(RUN)).isTrue();
    assertThat(RunFilter.parse("month=this", december.plusSeconds(1)).accepts(RUN)).isFalse();
  }

  /** Each field, with values that it can have and values that it cannot. */
  @ParameterizedTest
  @EnumSource(RunField.class)
  void eachFieldTakesWhatItCanHaveAndNothingElse(RunField field) {
    List<String> good;
    List<String> bad;
    if (field == RunField.MONTH) {
      good = List.of("2025-11", "0001-01", "9999-12", "this", "last");
      bad =
          List.of("2026-13", "2026-00", "2026", "2026-1", "26-01", "next", "2025-11-01", "7d", "x");
    } else if (field == RunField.CURRENCY) {
      good = List.of("USD", "eur");
      bad = List.of("US", "dollars", "12", "U$D");
    } else if (!field.known().isEmpty()) {
      good = field.known();
      bad = List.of("zzz", "0", "2025-11", field.known().get(0) + "x");
    } else {
      switch (field.type()) {
        case TEXT -> {
          good = List.of("x", "a-b:c", "7");
          bad = List.of();
        }
        case NUMBER -> {
          good = List.of("0", "-1", "0.5", "1e3");
          bad = List.of("ten", "1,5", "1 USD", "NaN", "0x1", "7d");
        }
        case DURATION -> {
          good = List.of("90s", "1d12h", "2w");
          bad = List.of("90", "-1h", "1y", "x", "2025-11");
        }
        default -> {
          good = List.of("7d", "2025-11", "2025-11-01", "2025-11-01T12:00:00Z");
          bad = List.of("2025-13", "2025-02-30", "x", "12", "last", "2025-11-01T25:00");
        }
      }
    }
    for (String value : good) {
      assertThatCode(() -> RunFilter.parse(field.word() + "=" + value, NOW).accepts(RUN))
          .as("%s=%s", field.word(), value)
          .doesNotThrowAnyException();
    }
    for (String value : bad) {
      for (String operator : List.of("=", "!=")) {
        assertThatThrownBy(() -> RunFilter.parse(field.word() + operator + '"' + value + '"', NOW))
            .as("%s%s%s", field.word(), operator, value)
            .isInstanceOfSatisfying(
                NexaException.class,
                wrong -> assertThat(wrong.exitCode()).isEqualTo(ExitCode.USAGE));
      }
    }
    assertThatThrownBy(() -> RunFilter.parse(field.word() + "=", NOW))
        .isInstanceOf(NexaException.class);
  }
}
