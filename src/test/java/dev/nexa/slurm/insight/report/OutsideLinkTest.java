package dev.nexa.slurm.insight.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutsideLinkTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "//evil.example/x",
        "https:evil",
        "https://",
        "https://user:password@evil.example/",
        "https://evil.example/\"onclick=\"x",
        "https://evil.example/a b",
        "https://evil.example/<b>",
        "loss went down",
        ""
      })
  void whatABrowserMustNotOpenIsNoLink(String text) {
    assertThat(OutsideLink.of("link", text)).isEmpty();
  }

  @Test
  void anAddressOfTheWebIsALink() {
    String url = "https://wandb.example/lab/runs/7?tab=charts&x='1'";

    assertThat(OutsideLink.of("wandb_url", url)).contains(new OutsideLink("wandb_url", url));
  }

  @Test
  void anAddressOfOtherLettersIsWrittenInAscii() {
    assertThat(OutsideLink.of("link", "https://wandb.example/r\u00e9sum\u00e9"))
        .contains(new OutsideLink("link", "https://wandb.example/r%C3%A9sum%C3%A9"));
  }

  @Test
  void anAddressOfTooManyCharactersIsNoLink() {
    String base = "https://wandb.example/";
    String longest = base + "x".repeat(2000 - base.length());

    assertThat(OutsideLink.of("link", longest)).isPresent();
    assertThat(OutsideLink.of("link", longest + "x")).isEmpty();
  }
}
