package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Any text that a policy holds is one string of Lua, in each Lua that slurmctld is linked with. */
class LuaQuotingTest {
  static final List<String> LUAS = LuaInterpreters.ALL;

  @TempDir Path folder;

  @ParameterizedTest
  @FieldSource("LUAS")
  void anyTextIsOneString(String lua) throws IOException {
    HostileText hostile = new HostileText(401);
    List<String> texts =
        new ArrayList<>(
            List.of(
                "", " ", "\n", "\r\n", "\\", "\\\"", "]]", "--", "]==]", "\u007f", "\u0001" + "9"));
    while (texts.size() < 3_000) {
      texts.add(hostile.nextWithTiers());
      texts.add(hostile.nextLines());
    }
    StringBuilder script = new StringBuilder();
    for (String text : texts) {
      script.append("io.write(" + LuaFormat.INSTANCE.escapePlainText(text) + ", '\\0')\n");
    }
    Files.writeString(folder.resolve("words.lua"), script);

    CommandResult result = LuaInterpreters.run(lua, folder, "words.lua");

    assertThat(result.err()).isEmpty();
    assertThat(List.of(result.out().split("\0", -1))).startsWith(texts.toArray(String[]::new));
  }

  @ParameterizedTest
  @FieldSource("LUAS")
  void evenNulIsText(String lua) throws IOException {
    String literal = LuaFormat.INSTANCE.escapePlainText("a\0" + "1");
    Files.writeString(folder.resolve("nul.lua"), "io.write(#" + literal + ")");

    assertThat(LuaInterpreters.run(lua, folder, "nul.lua").out()).isEqualTo("3");
  }

  @Test
  void theJarsTemplateHasNoValueThatCouldBeAnythingButAString() {
    String text = new ConfigSource(folder).carried("templates/job_submit.lua.ftl").text();

    assertThat(text).doesNotContainPattern(TemplateLint.FORBIDDEN).doesNotContain("[[");
    for (String line : text.lines().filter(it -> it.contains("[=")).toList()) {
      for (int at = line.indexOf("[="); at >= 0; at = line.indexOf("[=", at + 1)) {
        String before = line.substring(0, at);
        assertThat(before).doesNotContain("--", "\\");
        assertThat(before.split("\"", -1).length % 2).as(line).isEqualTo(1);
        assertThat(before.split("'", -1).length % 2).as(line).isEqualTo(1);
      }
    }
  }
}
