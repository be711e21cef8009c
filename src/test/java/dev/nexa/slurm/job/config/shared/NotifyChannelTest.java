package dev.nexa.slurm.job.config.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.ConfigFolder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The keys of a channel. */
class NotifyChannelTest {
  private static List<NotifyChannel> read(String channel) {
    return new ConfigFolder()
        .with(
            "configs/policy.yaml",
            "approval_over: {amount: 1, currency: USD}\nnotify:\n  team: " + channel + "\n")
        .reader()
        .policy()
        .channels();
  }

  @Test
  void aChannelGetsAllEventsUnlessItNamesThem() {
    NotifyChannel all = read("{kind: slack, url_file: /home/ann/url}").get(0);
    NotifyChannel some = read("{kind: mail, to: [ann], events: [failed, halted]}").get(0);

    assertThat(all.kinds()).isEqualTo(NoticeKind.ofPolicy());
    assertThat(all.urlFile()).isEqualTo(Optional.of("/home/ann/url"));
    assertThat(some.kinds()).containsExactly(NoticeKind.FAILED, NoticeKind.HALTED);
    assertThat(some.sendmail()).isEqualTo("/usr/sbin/sendmail");
    assertThat(NotifyChannel.parse(NotifyChannel.toJson(List.of(all)))).containsExactly(all);
    assertThat(NotifyChannel.parse(NotifyChannel.toJson(List.of(some)))).containsExactly(some);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{kind: slack}; expected either url_file or url_env, got neither",
        "{kind: webhook, url_file: /a, url_env: A}; expected either url_file or url_env, got both",
        "{kind: slack, url_file: a}; expected an absolute path, got 'a'",
        "{kind: mail}; missing key to",
        "{kind: mail, to: ['a@b.c, eve@b.c']}; a mail address",
        "{kind: mail, to: ['-f']}; a mail address",
        "{kind: mail, to: [a], url_env: A}; a channel of kind mail has no url_env",
        "{kind: command}; expected the program's absolute path first",
        "{kind: command, command: [page]}; expected the program's absolute path first",
        "{kind: slack, url_env: A, events: [summary]}; one of ended, failed",
        "{kind: fax}; one of slack, webhook, mail, command",
      })
  void whatIsWrongIsSaid(String channel, String message) {
    assertThatThrownBy(() -> read(channel)).hasMessageContaining(message);
  }

  @Test
  void anAddressInThePlaceOfItsFileIsRefusedAndNotShown() {
    String address = "https://hooks.slack.com/services/T00000000/B00000000/abcdefgh";

    assertThatThrownBy(() -> read("{kind: slack, url: '" + address + "'}"))
        .satisfies(refused -> assertThat(refused.getMessage()).doesNotContain("abcdefgh"));
    assertThatThrownBy(() -> read("{kind: command, command: [/bin/curl, '" + address + "']}"))
        .hasMessageContaining("the address of a webhook of Slack")
        .satisfies(refused -> assertThat(refused.getMessage()).doesNotContain("abcdefgh"));
  }
}
