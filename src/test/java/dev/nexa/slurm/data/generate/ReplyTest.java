package dev.nexa.slurm.data.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.units.Backoff;
import dev.nexa.slurm.data.generate.Reply.Kind;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What follows from a server's answer, and what a request may cost. */
class ReplyTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "200 | {\"choices\":[]} | ANSWER |",
        "200 | {\"error\":null} | ANSWER |",
        "200 | [1] | CUT | status 200 without a JSON object: [1]",
        "200 | {\"error\":{\"message\":\"m\"}} | CUT | status 200 with an error: m",
        "400 | {\"error\":{\"message\":\"too long\"}} | FAILED | status 400: too long",
        "400 | {\"object\":\"error\",\"message\":\"flat\",\"code\":400} | FAILED | status 400: flat",
        "422 | x | FAILED | status 422: x",
        "408 | x | AGAIN | status 408: x",
        "409 | x | AGAIN | status 409: x",
        "429 | {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"m\"}} | AGAIN | status 429: m",
        "429 | {\"error\":{\"code\":\"insufficient_quota\",\"message\":\"m\"}} | REFUSED | status 429: m",
        "529 | <html> busy </html> | AGAIN | status 529: <html> busy </html>",
        "401 | {\"error\":\"Unauthorized\"} | REFUSED | status 401: Unauthorized",
        "307 | x | REFUSED | status 307: x",
      })
  void eachStatusHasItsConsequence(int status, String body, Kind kind, String reason) {
    Reply reply = Reply.of(status, body);

    assertThat(reply.kind()).isEqualTo(kind);
    assertThat(reply.reason()).isEqualTo(reason == null ? "" : reason);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "7 | PT7S",
        "0 | PT0S",
        "Sun, 22 Nov 2026 12:00:30 GMT | PT30S",
        "Sun, 22 Nov 2026 11:00:00 GMT | PT0S",
        "soon |",
        "-3 |",
      })
  void retryAfterIsSecondsOrADate(String header, Duration wait) {
    assertThat(Teacher.retryAfter(header, Instant.parse("2026-11-22T12:00:00Z")))
        .isEqualTo(Optional.ofNullable(wait));
  }

  @Test
  void theWaitDoublesUpToAMinuteAndTheServerMayAskForMore() {
    Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1), () -> 1);

    assertThat(backoff.after(1, Optional.empty())).isEqualTo(Duration.ofSeconds(1));
    assertThat(backoff.after(4, Optional.empty())).isEqualTo(Duration.ofSeconds(8));
    assertThat(backoff.after(99, Optional.empty())).isEqualTo(Duration.ofMinutes(1));
    assertThat(backoff.after(1, Optional.of(Duration.ofSeconds(90)))).hasSeconds(90);
    assertThat(backoff.after(3, Optional.of(Duration.ZERO))).hasSeconds(4);
    assertThat(backoff.after(1, Optional.of(Duration.ofDays(1)))).hasMinutes(10);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/v1/completions | {\"prompt\":\"p\",\"max_tokens\":7} | 7",
        "/v1/completions | {\"prompt\":\"p\",\"max_tokens\":7,\"n\":3,\"best_of\":5} | 35",
        "/v1/completions | {\"prompt\":[\"a\",\"b\"],\"max_tokens\":7} | 14",
        "/v1/completions | {\"prompt\":[1,2,3],\"max_tokens\":7} | 7",
        "/v1/chat/completions | {\"max_completion_tokens\":9,\"max_tokens\":7} | 9",
        "/v1/responses | {\"max_output_tokens\":5} | 5",
        "/v1/embeddings | {\"input\":\"a\"} | 0",
        "/v1/chat/completions | {} |",
      })
  void aRequestSaysTheMostThatItMayUse(String path, String body, Long output) {
    Optional<Tokens> most = new Question(path, Json.parseObject(body)).most();

    assertThat(most.map(Tokens::output)).isEqualTo(Optional.ofNullable(output));
    most.ifPresent(tokens -> assertThat(tokens.input()).isEqualTo(body.length()));
  }

  @ParameterizedTest
  @CsvSource({
    "https://api.test/v1, HTTPS_PROXY=http://p:8080, p:8080",
    "https://api.test/v1, https_proxy=p:8080, p:8080",
    "https://api.test/v1, HTTP_PROXY=http://p:8080,",
    "http://api.test/v1, HTTP_PROXY=http://p, p:80",
    "https://api.test/v1, HTTPS_PROXY=http://p:1 NO_PROXY=.test,",
    "https://api.test/v1, HTTPS_PROXY=http://p:1 NO_PROXY=i.test, p:1",
    "http://127.0.0.1:9/v1, HTTP_PROXY=http://p:1,",
  })
  void aProxyIsReadFromTheUsualVariables(String base, String variables, String proxy) {
    Map<String, String> environment = new HashMap<>();
    for (String variable : List.of(variables.split(" ", -1))) {
      int equals = variable.indexOf('=');
      environment.put(variable.substring(0, equals), variable.substring(equals + 1));
    }

    assertThat(Proxy.of(environment, base).map(URI::getAuthority))
        .isEqualTo(Optional.ofNullable(proxy));
    assertThatThrownBy(() -> Proxy.of(Map.of("HTTPS_PROXY", "http://:1"), "https://api.test/v1"))
        .hasMessageContaining("HTTPS_PROXY: expected a form such as http://HOST:PORT");
  }
}
