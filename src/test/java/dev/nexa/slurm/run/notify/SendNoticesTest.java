package dev.nexa.slurm.run.notify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.base.text.SecretLines;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.records.notices.Delivery;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Passes that send to receivers of every kind. */
class SendNoticesTest {
  private static final Duration SOON = Duration.ofSeconds(3);
  private static final Duration LONG = Duration.ofSeconds(25);

  @TempDir Path folder;
  private final List<String> problems = new ArrayList<>();
  private final Map<String, String> environment = new HashMap<>(Map.of("PATH", "/usr/bin:/bin"));
  private Receiver receiver;
  private Context context;
  private Outbox outbox;

  @BeforeEach
  void begin() throws IOException {
    receiver = new Receiver();
    Files.createDirectories(folder.resolve("runs"));
    address(receiver.address());
    policy("team: {kind: slack, url_file: " + folder.resolve("url") + "}");
    context = new Context(folder, environment);
    outbox = new Outbox(context.workspace());
  }

  @AfterEach
  void end() {
    receiver.close();
  }

  private void address(String text) throws IOException {
    Files.writeString(folder.resolve("url"), text + "\n");
    Files.setPosixFilePermissions(
        folder.resolve("url"), PosixFilePermissions.fromString("rw-------"));
  }

  private void policy(String channels) throws IOException {
    Files.createDirectories(folder.resolve("configs"));
    Files.writeString(
        folder.resolve("configs/policy.yaml"),
        "approval_over: {amount: 1, currency: USD}\nnotify:\n  "
            + channels.replace("\n", "\n  ")
            + "\n");
  }

  private static Notice notice(NoticeKind kind, String subject, String title, String... lines) {
    return Notice.of(kind, subject, Optional.empty(), title, List.of(lines));
  }

  private void record(String subject) {
    outbox.record(notice(NoticeKind.HALTED, subject, subject + " happened"));
  }

  private void pass() {
    new SendNotices(context, LONG, step -> {}).pass(problems);
  }

  /** Lets the pauses of failed channels be over. */
  private void later() throws IOException {
    Files.deleteIfExists(outbox.pauses());
  }

  private Delivery delivery(String id) {
    Notice notice = outbox.find(id, problems).orElseThrow();
    assertThat(notice.deliveries()).hasSize(1);
    return notice.deliveries().get(0);
  }

  private JsonObject pause() {
    return Json.parseObject(DurableFiles.read(outbox.pauses())).object("channels").object("team");
  }

  @Test
  void textOfAJobMentionsNobodyAndHasNoControlCharacters() {
    outbox.record(
        notice(
            NoticeKind.FAILED,
            "x",
            "<!channel> & <@U1> \u001b[31mred\u202e",
            "@channel see https://a.example/b\nSubject: x",
            "y".repeat(10_000)));

    pass();

    String text = receiver.got().get(0).text("text");
    assertThat(text)
        .startsWith(
            "&lt;!channel&gt; &amp; &lt;@\u200bU1&gt; ^[[31mred<U+202E>"
                .replace("<U", "&lt;U")
                .replace("E>", "E&gt;"))
        .contains("@\u200bchannel see https://a.example/b^JSubject: x")
        .doesNotContain("\u001b", "\u202e", "<")
        .hasSizeLessThan(1000);
    assertThat(receiver.got().get(0).flag("mrkdwn")).isFalse();
    assertThat(delivery("failed.x").state()).isEqualTo(Delivery.State.SENT);
    assertThat(problems).isEmpty();
  }

  @Test
  void theDocumentFitsItsSchema() throws IOException {
    policy("all: {kind: webhook, url_file: " + folder.resolve("url") + "}");
    context = new Context(folder, environment);
    outbox.record(notice(NoticeKind.HALTED, "x", "it stops").with("reason", "why"));

    pass();

    JsonObject got = receiver.got().get(0);
    assertThat(got.text("kind")).isEqualTo("halted");
    assertThat(got.object("facts").text("reason")).isEqualTo("why");
    JsonObject schema =
        Json.parseObject(DurableFiles.read(Path.of("docs/schemas/notification.schema.json")));
    assertThat(SchemaCheck.problems(schema, Json.pretty(got))).isEmpty();
    assertThat(SchemaCheck.problems(schema, Json.pretty(got.with("kind", "other")))).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 503, 429, 404, 302})
  void whatIsRefusedWaitsAndIsSentLaterOnce(int status) throws IOException {
    receiver.does(Receiver.status(status));
    record("x");

    pass();
    pass();

    assertThat(receiver.ids()).as("the channel rests").hasSize(1);
    assertThat(delivery("halted.x").state()).isEqualTo(Delivery.State.WAITING);
    assertThat(delivery("halted.x").error().orElseThrow()).startsWith("HTTP status " + status);
    assertThat(problems).hasSize(1).first().asString().contains("the channel team fails: HTTP");

    receiver.does(Receiver.status(200));
    later();
    pass();
    pass();

    assertThat(receiver.ids()).containsExactly("halted.x", "halted.x");
    assertThat(receiver.got().get(1).text("text")).doesNotContain("sent again");
    assertThat(delivery("halted.x").attempts()).isEqualTo(2);
    assertThat(problems).hasSize(1);
  }

  @Test
  void retryAfterIsHonouredAndBounded() {
    receiver.does(
        exchange -> {
          exchange.getResponseHeaders().add("Retry-After", "7200");
          exchange.sendResponseHeaders(429, -1);
          exchange.close();
        });
    record("x");
    Instant before = Instant.now();

    pass();

    assertThat(pause().instant("until"))
        .isBetween(before.plusSeconds(7199), Instant.now().plusSeconds(7201));
    assertThat(Webhook.wait("99999999")).contains(Duration.ofDays(1));
    assertThat(Webhook.wait("Wed, 21 Oct 2015 07:28:00 GMT")).isEmpty();
    assertThat(Webhook.wait("soon")).isEmpty();
  }

  @Test
  void thePauseDoublesUpToAnHour() throws IOException {
    receiver.does(Receiver.status(500));
    record("x");
    Pauses pauses = Pauses.read(outbox);
    Instant now = Instant.parse("2026-11-24T00:00:00Z");
    List<Long> minutes = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      assertThat(pauses.failed("team", Answer.failed("x"), now)).isEqualTo(i == 0);
      minutes.add(Duration.between(now, pauses.until("team", now).orElseThrow()).toMinutes());
    }
    assertThat(minutes).containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L);
    assertThat(Pauses.read(outbox).until("team", now)).isPresent();
    assertThat(Pauses.read(outbox).until("team", now.minus(Duration.ofDays(9)))).isEmpty();
    pauses.worked("team");
    assertThat(Pauses.read(outbox).until("team", now)).isEmpty();
  }

  @Test
  void aReceiverThatHangsBlocksNoPassAndMayHaveGotIt() throws IOException {
    receiver.does(receiver.silence());
    record("x");
    record("y");
    long begun = System.nanoTime();

    new SendNotices(context, SOON, step -> {}).pass(problems);

    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(LONG);
    assertThat(receiver.ids()).as("one attempt a pass").hasSize(1);
    assertThat(delivery("halted.x").doubtful()).isTrue();
    receiver.does(Receiver.status(200));
    later();
    pass();
    assertThat(receiver.ids()).containsExactly("halted.x", "halted.y", "halted.x");
    assertThat(receiver.got().get(2).text("text")).contains("(sent again: an earlier attempt");
    assertThat(receiver.got().get(1).text("text")).doesNotContain("sent again");
  }

  @Test
  void aConnectionThatBreaksIsInDoubtAndARefusedOneIsNot() throws IOException {
    receiver.does(exchange -> exchange.close());
    record("x");
    pass();
    assertThat(delivery("halted.x").doubtful()).isTrue();

    receiver.close();
    later();
    record("y");
    pass();
    assertThat(delivery("halted.y").doubtful()).isFalse();
    assertThat(delivery("halted.y").error()).contains("no connection");
  }

  @Test
  void aHugeAnswerIsNotRead() {
    receiver.does(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          byte[] much = new byte[1 << 20];
          try {
            for (int i = 0; i < 100_000; i++) {
              exchange.getResponseBody().write(much);
            }
          } catch (IOException closed) {
            exchange.close();
          }
        });
    record("x");

    pass();

    assertThat(delivery("halted.x").state()).isEqualTo(Delivery.State.SENT);
  }

  @Test
  void aRedirectIsNotFollowed() throws IOException {
    try (Receiver other = new Receiver()) {
      receiver.does(
          exchange -> {
            exchange.getResponseHeaders().add("Location", other.address());
            exchange.sendResponseHeaders(307, -1);
            exchange.close();
          });
      record("x");

      pass();

      assertThat(other.ids()).isEmpty();
      assertThat(delivery("halted.x").error().orElseThrow()).contains("redirect");
    }
  }

  @Test
  void theAddressIsInNoFileAndNoMessage() throws IOException {
    receiver.does(Receiver.status(403));
    record("x");
    pass();
    address("https://" + Receiver.SECRET + ":  not an address");
    later();
    pass();
    address("https://127.0.0.1:1/" + Receiver.SECRET);
    later();
    pass();

    assertThat(delivery("halted.x").attempts()).isEqualTo(3);
    assertThat(String.join("\n", problems)).doesNotContain(Receiver.SECRET);
    try (Stream<Path> files = Files.walk(folder.resolve("runs"))) {
      assertThat(files.filter(Files::isRegularFile))
          .isNotEmpty()
          .allSatisfy(file -> assertThat(DurableFiles.read(file)).doesNotContain(Receiver.SECRET));
    }
  }

  @Test
  void aFileThatOthersCanReadIsNotUsed() throws IOException {
    Files.setPosixFilePermissions(
        folder.resolve("url"), PosixFilePermissions.fromString("rw-r-----"));
    record("x");
    pass();
    assertThat(delivery("halted.x").error().orElseThrow())
        .contains("can be read by others: type chmod 600");
    Files.delete(folder.resolve("url"));
    later();
    pass();
    assertThat(delivery("halted.x").error().orElseThrow()).contains("there is no file");
    policy("team: {kind: slack, url_env: NEXA_HOOK}");
    context = new Context(folder, environment);
    later();
    pass();
    assertThat(delivery("halted.x").error().orElseThrow()).contains("NEXA_HOOK is not set here");
    environment.put("NEXA_HOOK", receiver.address());
    later();
    pass();
    assertThat(receiver.ids()).containsExactly("halted.x");
  }

  @Test
  void aMailHasTheHeadersThatWeWroteAndNoOther() throws IOException {
    StandIn.sh(
        folder.resolve("sendmail"), "echo \"$@\" >" + folder + "/argv; cat >" + folder + "/mail");
    policy("m: {kind: mail, to: [ann@example.org, bob], sendmail: " + folder + "/sendmail}");
    context = new Context(folder, environment);
    outbox.record(
        notice(
            NoticeKind.FAILED,
            "x",
            "größe\nBcc: eve@example.org " + "ü".repeat(300),
            ".",
            "Bcc: eve@example.org"));

    pass();

    assertThat(problems).isEmpty();
    String mail = Files.readString(folder.resolve("mail"));
    String[] parts = mail.split("\n\n", 2);
    assertThat(Files.readString(folder.resolve("argv"))).isEqualTo("-i -t\n");
    assertThat(
            parts[0]
                .lines()
                .map(line -> line.replaceFirst(":.*", ""))
                .filter(line -> !line.startsWith(" ")))
        .containsExactly(
            "To",
            "Subject",
            "Date",
            "Message-ID",
            "Auto-Submitted",
            "MIME-Version",
            "Content-Type",
            "Content-Transfer-Encoding");
    assertThat(parts[0]).startsWith("To: ann@example.org, bob\nSubject: =?UTF-8?B?");
    assertThat(mail.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(200));
    String body = new String(Base64.getMimeDecoder().decode(parts[1]), StandardCharsets.UTF_8);
    assertThat(body).startsWith("größe^JBcc: eve").contains("\n.\nBcc: eve@example.org\n");
  }

  /** In its title, its lines and its facts; also of a notification that an older program kept. */
  @Test
  void noKindOfChannelSendsASecret() throws IOException {
    StandIn.sh(folder.resolve("sendmail"), "cat >>" + folder + "/mail");
    StandIn.sh(folder.resolve("hook"), "cat >>" + folder + "/hooked");
    policy(
        "team: {kind: slack, url_file: U}\nhook: {kind: webhook, url_file: U2}\n"
                .replace("U2", folder + "/url2")
                .replace("U}", folder + "/url}")
            + "m: {kind: mail, to: [ann@example.org], sendmail: "
            + folder
            + "/sendmail}\np: {kind: command, command: ["
            + folder
            + "/hook]}");
    try (Receiver second = new Receiver()) {
      Files.writeString(folder.resolve("url2"), second.address() + "\n");
      Files.setPosixFilePermissions(
          folder.resolve("url2"), PosixFilePermissions.fromString("rw-------"));
      context = new Context(folder, environment);
      List<String> all = SecretLines.SECRET;
      for (int from = 0; from < all.size(); from += 15) {
        String[] lines = all.subList(from, Math.min(all.size(), from + 15)).toArray(String[]::new);
        outbox.record(notice(NoticeKind.FAILED, "n" + from, lines[0], lines).with("why", lines[0]));
      }

      pass();

      int sent = (all.size() + 14) / 15;
      assertThat(receiver.ids()).hasSize(sent);
      assertThat(second.ids()).hasSize(sent);
      StringBuilder mails = new StringBuilder();
      for (String part : Files.readString(folder.resolve("mail")).split("\n\n|\nTo: ", -1)) {
        mails.append(part).append('\n');
        if (part.matches("[A-Za-z0-9+/=\\s]+")) {
          mails.append(new String(Base64.getMimeDecoder().decode(part), StandardCharsets.UTF_8));
        }
      }
      assertThat(mails.toString()).contains("left out a line");
      assertThat(
              receiver.got()
                  + ""
                  + second.got()
                  + mails
                  + Files.readString(folder.resolve("hooked")))
          .contains("left out a line")
          .doesNotContain(SecretLines.MARK);
    }
  }

  @Test
  void aProgramGetsTheDocumentAndIsTriedAgainOnlyIfItSaysThatItFailed() throws IOException {
    Path count = folder.resolve("count");
    StandIn.sh(
        folder.resolve("hook"),
        "echo \"$NEXA_EVENT $NEXA_EVENT_ID $1\" >>"
            + count
            + "; cat >"
            + folder
            + "/got; test -e "
            + folder
            + "/fine");
    policy("p: {kind: command, command: [" + folder + "/hook, page]}");
    context = new Context(folder, environment);
    record("x");
    pass();
    assertThat(delivery("halted.x").error().orElseThrow()).endsWith("ended with exit status 1");
    Files.writeString(folder.resolve("fine"), "");
    later();
    pass();
    pass();
    assertThat(Files.readAllLines(count))
        .containsExactly("halted halted.x page", "halted halted.x page");
    assertThat(Json.parseObject(Files.readString(folder.resolve("got"))).text("id"))
        .isEqualTo("halted.x");
  }

  @Test
  void aProgramThatHangsIsKilledAndNotStartedAgain() throws IOException {
    StandIn.sh(
        folder.resolve("hook"), "echo x >>" + folder + "/count; while :; do /bin/sleep 1; done");
    policy("p: {kind: command, command: [" + folder + "/hook]}");
    context = new Context(folder, environment);
    record("x");
    new SendNotices(context, SOON, step -> {}).pass(problems);
    later();
    pass();
    assertThat(Files.readAllLines(folder.resolve("count"))).hasSize(1);
    assertThat(delivery("halted.x").state()).isEqualTo(Delivery.State.UNKNOWN);
    assertThat(problems)
        .hasSize(1)
        .first()
        .asString()
        .contains("nexa-slurm notify resend halted.x");
  }

  @Test
  void aProgramThatLeavesAnotherBehindKeepsNobodyWaiting() throws IOException {
    StandIn.sh(folder.resolve("hook"), "/bin/sleep 60 & echo $! >" + folder + "/pid");
    policy("p: {kind: command, command: [" + folder + "/hook]}");
    context = new Context(folder, environment);
    record("x");
    long begun = System.nanoTime();
    pass();
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(LONG);
    assertThat(delivery("halted.x").state()).isEqualTo(Delivery.State.SENT);
    ProcessHandle.of(Long.parseLong(Files.readString(folder.resolve("pid")).strip()))
        .ifPresent(ProcessHandle::destroyForcibly);
  }

  @Test
  void twoPassesAtOnceSendEachNotificationOnce() {
    for (int i = 0; i < 15; i++) {
      record("n" + i);
    }
    List<CompletableFuture<Void>> passes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      passes.add(CompletableFuture.runAsync(this::pass));
    }
    passes.forEach(CompletableFuture::join);
    pass();
    assertThat(receiver.ids()).hasSize(15).doesNotHaveDuplicates();
  }

  @Test
  void anEventThatIsRecordedAgainAfterItWasSentIsNotSentAgain() {
    record("x");
    pass();
    record("x");
    pass();
    assertThat(receiver.ids()).containsExactly("halted.x");
    assertThat(outbox.countWaiting()).isZero();
  }

  @Test
  void aBacklogBecomesOneSummaryAndNothingIsLost() throws IOException {
    receiver.does(Receiver.status(500));
    for (int i = 0; i < 25; i++) {
      record("a" + i);
    }
    pass();
    later();
    for (int i = 0; i < 30; i++) {
      outbox.record(notice(NoticeKind.ENDED, "b" + i, "b" + i));
    }
    pass();
    assertThat(outbox.countWaiting()).isEqualTo(1);
    receiver.does(Receiver.status(200));
    later();
    pass();
    pass();
    String text = receiver.got().get(receiver.got().size() - 1).text("text");
    assertThat(text)
        .startsWith("55 notifications waited for the channel team")
        .contains("30 ended, 25 halted", "nexa-slurm notify list");
    assertThat(delivery("halted.a3").state()).isEqualTo(Delivery.State.SUMMARISED);
    assertThat(outbox.countWaiting()).isZero();
  }

  @Test
  void whatWasTriedForAWeekIsGivenUpAndCanBeSentByHand() throws IOException {
    receiver.does(Receiver.status(500));
    Notice old =
        new Notice(
            "halted.x",
            NoticeKind.HALTED,
            Instant.now().minus(Duration.ofDays(8)),
            "ada",
            Optional.empty(),
            "old",
            List.of(),
            new JsonObject(),
            false,
            List.of());
    outbox.record(old);
    for (int i = 0; i < 5; i++) {
      assertThat(outbox.countWaiting()).isEqualTo(1);
      later();
      pass();
    }
    assertThat(delivery("halted.x").state()).isEqualTo(Delivery.State.FAILED);
    assertThat(problems.get(problems.size() - 1)).contains("nexa-slurm notify resend halted.x");
    receiver.does(Receiver.status(200));
    Notice sent =
        new SendNotices(context)
            .resend(outbox.find("halted.x", problems).orElseThrow(), problems)
            .orElseThrow();
    assertThat(sent.deliveries().get(0).state()).isEqualTo(Delivery.State.SENT);
    assertThat(receiver.ids()).hasSize(6);
  }

  @Test
  void aChannelThatIsGoneIsSaid() throws IOException {
    receiver.does(Receiver.status(500));
    record("x");
    pass();
    policy("other: {kind: slack, url_file: " + folder.resolve("url") + "}");
    context = new Context(folder, environment);
    pass();
    assertThat(delivery("halted.x").error()).contains("the policy has no such channel now");
  }

  @Test
  void aBrokenFileHoldsUpNoOther() throws IOException {
    record("x");
    Files.writeString(folder.resolve("runs/notify/waiting/broken.json"), "{");
    pass();
    assertThat(receiver.ids()).containsExactly("halted.x");
    assertThat(problems).hasSize(1).first().asString().contains("broken.json cannot be read");
  }
}
