package dev.nexa.slurm.base.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CodecTest {
  private static final String FULL =
      "{'document_id':'a','run_name':'r','ended':'2025-11-01T14:32:00Z','backend':null,'base':'b',"
          + "'color':'dark_red','size':3,'share':0.250,'where':'/tmp/x',"
          + "'total':'5.10','currency':'USD','lines':[{'name':'one','price':'0.50'}],'tags':['t'],"
          + "'after':{'train':'afterok'},'light_blue':{'price':'1'},'left_out':true}";
  private static final String LEAST =
      "{'document_id':'a','run_name':'r','ended':'2025-11-01T14:32:00Z','backend':null,'base':null,"
          + "'color':'light_blue','size':3,'share':0.250,'where':'/tmp/x',"
          + "'total':'5.10','currency':'USD','lines':[],'after':{}}";

  enum Color {
    DARK_RED,
    LIGHT_BLUE
  }

  record Name(String value) {
    Name {
      if (value.isEmpty()) {
        throw new IllegalStateException("no name");
      }
    }
  }

  record Origin(Name runName, Instant ended) implements Codec.Flat {}

  @Codec.WithNulls
  record Model(Optional<String> backend, Optional<String> base) implements Codec.Flat {}

  record Line(String name, Money price) {}

  record Price(Optional<Money> price, Optional<Long> since) {}

  record Prices(Map<Color, Price> all) implements Codec.Flat {}

  record Extent(int size, BigDecimal share, Path where) implements Codec.Flat {}

  record Costs(Money total, String currency, List<Line> lines) implements Codec.Flat {}

  record Document(
      @Codec.Key("document_id") String id,
      Origin origin,
      Model model,
      Color color,
      Extent extent,
      Costs costs,
      @Codec.IfAny List<String> tags,
      Map<String, String> after,
      Prices prices,
      @Codec.IfAny boolean leftOut) {}

  record Pair(long from, long to) implements Codec.Flat {}

  record Holder(Optional<Pair> pair, Optional<JsonObject> extra, Optional<Line> line) {}

  private static JsonObject json(String text) {
    return Json.parseObject(text.replace('\'', '"'));
  }

  @Test
  void aRecordComesBackAsItWasAndItsBytesToo() {
    for (String text : List.of(FULL, LEAST)) {
      Document read = Codec.read(json(text), Document.class);
      assertThat(Codec.write(read)).hasToString(text.replace('\'', '"'));
    }
    Document full = Codec.read(json(FULL), Document.class);
    assertThat(full.costs().lines())
        .containsExactly(new Line("one", new Money(new BigDecimal("0.50"), "USD")));
    assertThat(full.prices().all()).containsOnlyKeys(Color.LIGHT_BLUE);
    assertThat(full.origin().runName()).isEqualTo(new Name("r"));
    assertThat(Codec.read(json(LEAST), Document.class).tags()).isEmpty();
  }

  @Test
  void unknownMembersAreIgnored() {
    Document read =
        Codec.read(json(FULL.replace("'size'", "'unknown':{'a':[]},'size'")), Document.class);
    assertThat(Codec.write(read)).hasToString(FULL.replace('\'', '"'));
  }

  @Test
  void anOptionalFlatRecordExistsIfItsFirstMemberDoes() {
    assertThat(Codec.read(json("{'from':1,'to':2}"), Holder.class).pair()).contains(new Pair(1, 2));
    assertThat(Codec.read(json("{'to':2}"), Holder.class).pair()).isEmpty();
    assertThat(Codec.write(Codec.read(json("{'from':1,'to':2}"), Holder.class)))
        .hasToString("{\"from\":1,\"to\":2}");
  }

  @Test
  void whatShouldBeAnObjectAndIsNoneDoesNotExist() {
    Holder read = Codec.read(json("{'extra':'text','line':3}"), Holder.class);
    assertThat(read.extra()).isEmpty();
    assertThat(read.line()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      textBlock =
          """
          'document_id':'a' | 'document_id':1 | expected a string under "document_id"
          'document_id':'a' | 'x':'a'         | expected a string under "document_id"
          'dark_red'        | 'green'         | expected "dark_red" or "light_blue" under "color"
          'size':3          | 'size':3.5      | expected a whole number under "size"
          T14:32:00Z        | noon            | expected a time such as 2025-11-01T14:32:00Z under "ended"
          ['t']             | 't'             | expected a list of strings under "tags"
          [{'name'          | [1,{'name'      | expected a list of objects under "lines"
          'left_out':true   | 'left_out':1    | expected true or false under "left_out"
          'r'               | ''              | no name
          """)
  void anErrorNamesTheMember(String from, String to, String message) {
    assertThat(FULL).contains(from);
    assertThatThrownBy(() -> Codec.read(json(FULL.replace(from, to)), Document.class))
        .isInstanceOf(RuntimeException.class)
        .hasMessage(message);
  }
}
