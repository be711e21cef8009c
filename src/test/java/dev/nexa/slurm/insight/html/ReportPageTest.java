package dev.nexa.slurm.insight.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.insight.html.ScannedPage.Element;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The HTML of a report, whatever users and jobs write into their texts. */
class ReportPageTest {
  private static final String MARKUP =
      "</script></style></title><img src=x onerror=alert(1)><!--<script>alert(2)</script>";
  private static final Set<String> ELEMENTS =
      Set.of(
          ("html head meta title style body a header strong nav button main section h1 h2 p div dl"
                  + " dt dd span ul li svg rect text line path g figure figcaption table caption thead"
                  + " tbody tfoot tr th td fieldset legend input label details summary pre code footer"
                  + " script")
              .split(" "));

  /** None of these loads anything or runs a program. */
  private static final Set<String> ATTRIBUTES =
      Set.of(
          ("lang charset http-equiv content name id class href type hidden role scope tabindex dir"
                  + " for checked rel viewBox width height x y x1 y1 x2 y2 rx d text-anchor"
                  + " preserveAspectRatio aria-label aria-hidden data-of data-rows data-name"
                  + " data-search data-filters data-sum data-column data-kind")
              .split(" "));

  private static ScannedPage page(String hostile, int attempts) {
    return new ScannedPage(ReportPage.html(new HostileReport(hostile, attempts).report()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        MARKUP,
        "\" onmouseover=\"alert(1)\" x='",
        "' autofocus onfocus='alert(1)",
        "&lt;b&gt; &amp; &#60; &nbsp",
        "a\u2028b\u2029c\rd\ne\tf",
        "\u202egpj.exe\u202c \u200f\u2066x\u2069 \ufeff",
        "\0\u0007\u001b]52;c;AAAA\u0007\u007f\u009b31m",
        "\\\" ${x} `id` {{x}} <%= x %>",
        "]]> --> <![CDATA[ <?php",
        "<svg/onload=alert(1)><math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">",
        "javascript:alert(1)"
      })
  void noTextBecomesMarkup(String hostile) {
    HostileReport made = new HostileReport(hostile, 120);
    ScannedPage page = new ScannedPage(ReportPage.html(made.report()));

    TreeSet<String> names = new TreeSet<>();
    TreeSet<String> attributes = new TreeSet<>();
    for (Element element : page.elements()) {
      names.add(element.name());
      attributes.addAll(element.attributes().keySet());
    }
    assertThat(ELEMENTS).containsAll(names);
    assertThat(ATTRIBUTES).containsAll(attributes);
    // The same elements in the same order as with a harmless text.
    assertThat(page.elements().stream().map(Element::name))
        .isEqualTo(page("plain", 120).elements().stream().map(Element::name).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {MARKUP, "\"'&lt;\\ \u00e9\u4e2d\ud83d\ude00", "a\u2028b\u202ec\u001bd"})
  void eachTextIsShownAsItIs(String hostile) {
    HostileReport made = new HostileReport(hostile, 120);
    ScannedPage page = new ScannedPage(ReportPage.html(made.report()));

    String shown = String.join("\n", page.texts());
    // Words of states are shown as words; names in the graph are cut.
    for (String text : made.texts()) {
      if (!text.matches("(?s)(state|gpu type|pipeline state|its state|gate) .*")) {
        assertThat(shown).contains(VisibleText.line(text));
      }
    }
  }

  @Test
  void theDataIsJsonWithTheSameTexts() {
    String hostile = MARKUP + "\"'\\\u2028\u202e\u001b\ud83d\ude00";
    ScannedPage page = page(hostile, 120);

    List<Element> data = page.elements("script");
    assertThat(data)
        .extracting(script -> script.attribute("type"))
        .containsExactlyInAnyOrder("application/json", "application/json", "");
    JsonObject runs = json(data, "runs-data");
    for (String field : List.of("name", "stage", "project", "user", "model", "dataset")) {
      assertThat(runs.object("columns").object(field).texts("words"))
          .containsExactly(VisibleText.line(field + " " + hostile));
    }
    JsonObject attempts = json(data, "attempts-" + HostileReport.RUN + "-data");
    assertThat(attempts.number("rows")).isEqualTo(120);
    assertThat(attempts.object("columns").object("nodes").texts("words"))
        .containsExactly(VisibleText.line("nodes " + hostile));
  }

  private static JsonObject json(List<Element> scripts, String id) {
    Element found =
        scripts.stream().filter(one -> one.attribute("id").equals(id)).findFirst().orElseThrow();
    assertThat(found.content()).doesNotContain("<", ">", "&", "\u2028", "\u2029");
    return Json.parseObject(found.content());
  }

  @Test
  void aTextOfTenThousandCharactersIsCutInTheTableAndWholeOnThePage() {
    String longest = "<".repeat(10_000);
    ScannedPage page = page(longest, 1);

    JsonObject runs = json(page.elements("script"), "runs-data");
    assertThat(runs.object("columns").object("name").texts("words").get(0))
        .hasSize(201)
        .startsWith("name <<<")
        .endsWith("<\u2026");
    assertThat(page.texts()).contains("script " + longest, "log line " + longest);
  }

  @Test
  void halfASurrogatePairIsReplaced() {
    String html = ReportPage.html(new HostileReport("x\ud83dy\ude00", 120).report());

    assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(html)).isTrue();
    assertThat(html).contains("name x\ufffdy\ufffd");
  }

  @Test
  void thePolicyAllowsOnlyTheProgramAndTheStyleSheet() throws Exception {
    ScannedPage page = page(MARKUP, 120);
    String policy =
        page.elements("meta").stream()
            .filter(meta -> meta.attribute("http-equiv").equals("Content-Security-Policy"))
            .map(meta -> meta.attribute("content"))
            .findFirst()
            .orElseThrow();
    Element program = page.elements("script").get(page.elements("script").size() - 1);

    assertThat(program.attributes()).isEmpty();
    assertThat(program.content()).isEqualTo(resource("report.js"));
    assertThat(page.elements("style")).hasSize(1);
    assertThat(page.elements("style").get(0).content()).isEqualTo(resource("report.css"));
    assertThat(policy)
        .isEqualTo(
            "default-src 'none'; script-src 'sha256-"
                + digest(program.content())
                + "'; style-src 'sha256-"
                + digest(page.elements("style").get(0).content())
                + "'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'");
    // The policy stands before everything that it is about.
    List<String> head = page.elements().stream().map(Element::name).limit(5).toList();
    assertThat(head).containsExactly("html", "head", "meta", "meta", "meta");
  }

  @Test
  void nothingIsLoadedAndNothingIsSent() throws IOException {
    ScannedPage page = page(MARKUP, 120);

    for (Element link : page.elements("a")) {
      assertThat(link.attribute("href")).matches("(?s)#.*|https://wandb\\.example/run\\?a=1&b=2");
      if (!link.attribute("href").startsWith("#")) {
        assertThat(link.attribute("rel")).isEqualTo("noopener noreferrer");
      }
    }
    assertThat(resource("report.css")).doesNotContain("@import", "url(", "http:", "https:");
    assertThat(resource("report.js"))
        .doesNotContain("http:", "https:", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon")
        .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(");
  }

  @Test
  void aTextThatCouldEndAScriptIsRefused() {
    assertThatThrownBy(() -> Tag.of("script").raw("x</script>"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Tag.of("img onerror=x")).isInstanceOf(IllegalArgumentException.class);
  }

  private static String digest(String text) throws Exception {
    return Base64.getEncoder()
        .encodeToString(
            MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = Objects.requireNonNull(ReportPage.class.getResourceAsStream(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
