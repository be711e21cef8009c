package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.ConfigFolder;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A template in which a value could be anything but one word of the shell is not loaded. */
class TemplateLintTest {

  static final List<String> NOT_A_WORD =
      List.of(
          "echo \"[=x]\"",
          "echo \"a [=x]\"",
          "echo '[=x]'",
          "echo `ls [=x]`",
          "echo \"\\\"[=x]\"", // the escaped quote does not end the quotes
          "echo \"it's [=x]\"",
          "echo \"$(ls [=x])\"",
          "echo \"\n[=x]\n\"", // quotes that were opened on another line
          "echo '\n\n[=x]'",
          "# [=x]",
          "true # [=x]",
          "true\t# [=x]",
          "true;# [=x]",
          "<#if y>\"</#if>[=x]\"");

  @ParameterizedTest
  @FieldSource("NOT_A_WORD")
  void anInterpolationThatIsNoWordOfItsOwnIsRefused(String template) {
    assertRefused(
        template, "an interpolation inside quotes, backticks or a comment is not quoted as a word");
  }

  static final List<String> NO_QUOTING =
      List.of(
          "[=x?interpret]",
          "<@x?interpret/>",
          "[=x?eval]",
          "[=x ? eval]",
          "[=x?eval_json]",
          "[=x?no_esc]",
          "[=x?\n  no_esc]",
          "[='a.B'?new()]",
          "<#ftl output_format='plainText'>",
          "<#outputformat 'plainText'>[=x]</#outputformat>",
          "<#noautoesc>[=x]</#noautoesc>",
          "<#autoesc>[=x]</#autoesc>",
          "<#setting number_format='0.00'>",
          "<#noparse><#--</#noparse>");

  /**
   * With set -e, a background process that had ended already would end the job before its command.
   */
  @Test
  void aDisownMayFail() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("templates"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(Files.readAllLines(file).stream().filter(line -> line.contains("disown")))
            .as(file.toString())
            .allMatch(line -> line.contains("|| true"));
      }
    }
  }

  @ParameterizedTest
  @FieldSource("NO_QUOTING")
  void whatSwitchesQuotingOffIsRefused(String template) {
    assertThatThrownBy(() -> TemplateLint.check("x.ftl", template, false))
        .hasMessageStartingWith("templates/x.ftl:")
        .hasMessageEndingWith("switches quoting off or runs data as a template");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"cat <<EOF\n[=x]\nEOF", "cat <<-'E'", "cat << \"E\"", "cat <<\\E", "cat <<_E"})
  void aHeredocIsRefused(String template) {
    assertThatThrownBy(() -> TemplateLint.check("x.ftl", template, false))
        .hasMessageStartingWith("templates/x.ftl:1: '<<")
        .hasMessageEndingWith("begins a heredoc: nothing inside it is quoted");
  }

  static final List<String> WORDS =
      List.of(
          "echo [=x]",
          "A=[=x]",
          "echo \"a\"[=x]'b'",
          "echo \"$A\" [=x] # a comment, and \"a quote\" in it",
          "echo \\\" [=x]",
          "echo \"a\\\" b\" [=x]",
          "echo \"# none\" [=x]",
          "((${#a[@]} > [=x]))",
          "${A:-[=x]}",
          "# it's a comment\necho [=x]",
          "<#-- \"[=x]\" -->echo [=x]",
          "cat <<<[=x]",
          "<#list xs as x> [=x]</#list>",
          "<#if a == \"b\">[=x]</#if>");

  @ParameterizedTest
  @FieldSource("WORDS")
  void anInterpolationThatIsAWordMayStandAnywhere(String template) {
    assertThatCode(() -> TemplateLint.check("x.ftl", template, false)).doesNotThrowAnyException();
  }

  @Test
  void aDirectiveIsACommentToBashAndNotToSlurm() {
    assertThatCode(() -> TemplateLint.check("lib/directives.ftl", "#SBATCH --a=[=x]\n", true))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> TemplateLint.check("x.ftl", "#SBATCH --a=[=x]\n", false))
        .isInstanceOf(NexaException.class);
    assertThatThrownBy(
            () -> TemplateLint.check("lib/directives.ftl", "#SBATCH --a=\"[=x]\"\n", true))
        .isInstanceOf(NexaException.class);
  }

  @Test
  void theLineIsThatOfTheFileWhateverCommentsAreAboveIt() {
    assertThatThrownBy(
            () -> TemplateLint.check("x.ftl", "#!/bin/bash\n<#-- a\nb\n-->\necho '[=x]'\n", false))
        .hasMessageStartingWith("templates/x.ftl:5: ");
  }

  @Test
  void aTemplateOfTheWorkspacesOwnIsCheckedToo() {
    ConfigFolder folder =
        new ConfigFolder()
            .with("run.yaml", "stage: a\nbackend: shell\nrun: echo\nresources: {time: 1m}\n")
            .with("templates/task.sbatch.ftl", "#!/bin/bash\n<#include \"mydirectives.ftl\">\n")
            .with("templates/mydirectives.ftl", "#SBATCH --comment=[=stage]\n");

    assertThatThrownBy(() -> Scripts.of(folder, "run.yaml", "default"))
        .isInstanceOfSatisfying(
            NexaException.class,
            refused -> {
              assertThat(refused)
                  .hasMessage(
                      "templates/mydirectives.ftl:1: an interpolation inside quotes, backticks or a"
                          + " comment is not quoted as a word");
              assertThat(refused.exitCode()).isEqualTo(ExitCode.USAGE);
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          echo [=stgae]            | task.sbatch.ftl:2:8: The following has evaluated to null or missing:
          <#if x>                  | task.sbatch.ftl:2:8: Unexpected end of file reached.
          <#include "lib/nope.ftl">| task.sbatch.ftl:2:1: Template inclusion failed (for parameter value "lib/nope.ftl"):
          """)
  void whatATemplateDoesWrongIsToldWithItsLineAndNotAtLength(String line, String message) {
    ConfigFolder folder =
        new ConfigFolder()
            .with("run.yaml", "stage: a\nbackend: shell\nrun: echo\nresources: {time: 1m}\n")
            .with("templates/task.sbatch.ftl", "#!/bin/bash\n" + line + "\n");

    assertThatThrownBy(() -> Scripts.of(folder, "run.yaml", "default"))
        .isInstanceOf(NexaException.class)
        .hasMessageStartingWith("templates/" + message)
        .hasMessageNotContaining("----")
        .hasMessageNotContaining("TemplateSource");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[=stage?api.getClass()]",
        "[='freemarker.template.utility.Execute'?new()('id')]",
        "[=stage.class]",
        "[=.data_model?api]",
        "<#assign x='freemarker.template.utility.ObjectConstructor'?new()>"
      })
  void nothingOfJavaCanBeReached(String expression) {
    ConfigFolder folder =
        new ConfigFolder()
            .with("run.yaml", "stage: a\nbackend: shell\nrun: echo\nresources: {time: 1m}\n")
            .with("templates/task.sbatch.ftl", "echo " + expression + "\n");

    assertThatThrownBy(() -> Scripts.of(folder, "run.yaml", "default"))
        .isInstanceOf(NexaException.class);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("shipped")
  void ourOwnTemplatesPass(Path template) throws IOException {
    String name = Path.of("templates").relativize(template).toString();

    assertThatCode(
            () ->
                TemplateLint.check(
                    name, Files.readString(template), name.equals("lib/directives.ftl")))
        .doesNotThrowAnyException();
  }

  static List<Path> shipped() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("templates"), FileVisitOption.FOLLOW_LINKS)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static void assertRefused(String template, String why) {
    assertThatThrownBy(() -> TemplateLint.check("x.ftl", template, false))
        .isInstanceOf(NexaException.class)
        .hasMessageStartingWith("templates/x.ftl:")
        .hasMessageEndingWith(": " + why);
  }
}
