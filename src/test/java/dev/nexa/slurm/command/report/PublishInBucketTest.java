package dev.nexa.slurm.command.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.storage.OwnProcess;
import dev.nexa.slurm.command.storage.OwnProcess.Ended;
import dev.nexa.slurm.insight.html.ManyReportedRuns;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `report --publish s3://…` with a real S3 server. */
class PublishInBucketTest {
  @TempDir Path folder;

  @Test
  void theReportReplacesTheEarlierReportAndOpensInABrowser() throws IOException {
    Terminal terminal = new Terminal(folder);
    ManyReportedRuns.write(terminal.workspace, 12, 3, Instant.now());
    try (S3Server server = S3Server.proxy(Files.createDirectories(folder.resolve("s3")))) {
      terminal.file(
          "configs/clusters/default.yaml",
          "storage:\n  scratch: /scratch\n  durable: /durable\n  shared: /shared\n"
              + "  s3: {path_style: true, region: us-east-1, storage_class: GLACIER, endpoint: '"
              + server.address()
              + "'}\n");
      OwnProcess person = new OwnProcess(terminal.workspace, folder);
      Path page = folder.resolve("s3/objects").resolve(S3Server.BUCKET).resolve("site/index.html");
      server.put("site/index.html", "earlier");

      Ended published = publish(person, "--publish", "s3://nexacompute/site", "--redact");

      assertThat(published.status()).as(published.err()).isZero();
      assertThat(published.out())
          .startsWith("wrote s3://nexacompute/site/index.html: 12 runs, ")
          .endsWith(" bytes, without names\n");
      assertThat(Files.readString(page)).startsWith("<!doctype html>").contains("user-1");
      assertThat(server.mediaType("site/index.html")).isEqualTo("text/html");

      Ended named = publish(person, "--publish", "s3://nexacompute/team.html");
      assertThat(named.out()).startsWith("wrote s3://nexacompute/team.html: ");
      assertThat(Files.readString(page.resolveSibling("../team.html"))).contains("amira");

      Ended none = publish(person, "--publish", "s3://no-such-bucket/site");
      assertThat(none.status()).isNotZero();
      assertThat(none.err()).contains("no-such-bucket").doesNotContain(S3Server.SECRET);
      assertThat(terminal.workspace.resolve("report.html")).doesNotExist();
    }
  }

  private static Ended publish(OwnProcess person, String... options) {
    List<String> words = new ArrayList<>(List.of("report"));
    words.addAll(List.of(options));
    return person.type(S3Server.credentials(), words);
  }
}
