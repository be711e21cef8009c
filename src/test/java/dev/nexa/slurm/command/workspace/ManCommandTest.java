package dev.nexa.slurm.command.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManCommandTest {
  @TempDir Path folder;

  private Path pages() {
    Path pages = folder.resolve("new/man1");
    assertThat(new Terminal(folder).type("generate-man", pages.toString()).out())
        .matches("wrote \\d+ man pages to " + pages + "\n");
    return pages;
  }

  @Test
  void eachCommandHasAPageWithAllSections() throws IOException {
    Path pages = pages();
    try (Stream<Path> all = Files.list(pages)) {
      List<Path> files = all.toList();
      assertThat(files).hasSizeGreaterThan(100);
      for (Path file : files) {
        assertThat(Files.readString(file))
            .as(file.toString())
            .contains("\n.SH NAME\nnexa\\-slurm")
            .contains(".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", ".SH EXIT STATUS")
            .contains(".SH EXAMPLES", ".SH SEE ALSO")
            .doesNotContain("%%", "%n", "$${");
      }
    }
    assertThat(pages.resolve("nexa-slurm-costs-import-csv.1")).exists();
  }

  @Test
  void thePageSaysWhatTheHelpSays() throws IOException {
    String submit = Files.readString(pages().resolve("nexa-slurm-submit.1"));

    assertThat(submit)
        .contains("nexa\\-slurm\\-submit \\- Estimates the cost of a run")
        .contains("\\fBnexa\\-slurm submit\\fR [OPTION]... [CONFIG] [ARGS...]")
        .contains(".TP\n\\fB\\-J\\fR, \\fB\\-\\-name\\fR=NAME\nThe run\\(aqs name in reports.\n")
        .contains(".TP\n\\fB\\-\\-save\\fR[=FILE]\n")
        .contains(".SS The same as \\-\\-set of a key\n")
        .contains(".TP\n\\fB6\\fR\na gate failed\n")
        .contains("resources.nodes=2 \\(rs\n");
  }

  @Test
  void noTextIsARequestToRoff() {
    assertThat(ManPage.escaped(".so /etc/passwd\n'br a-b \\n \"x\" ~^`"))
        .isEqualTo("\\&.so /etc/passwd\n\\(aqbr a\\-b \\(rsn \\(dqx\\(dq \\(ti\\(ha\\(ga");
  }
}
