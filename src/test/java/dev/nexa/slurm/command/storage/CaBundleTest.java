package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A store whose certificate is of an authority of its own, as stores in a cluster have it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CaBundleTest {
  private static final String VARIABLE = "AWS_CA_BUNDLE";

  private Path folder;
  private S3Server server;
  private String authority;

  @BeforeAll
  void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    Files.writeString(Files.createDirectories(folder.resolve("source")).resolve("a"), "weights");
    server = server("right", "-ext", "SAN=ip:127.0.0.1");
    authority = authority("right");
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private S3Server server(String name, String... certificate) throws IOException {
    return S3Server.secure(Files.createDirectories(folder.resolve(name)), certificate);
  }

  private String authority(String name) {
    return folder.resolve(name).resolve("authority.pem").toString();
  }

  private OwnProcess.Ended push(S3Server to, String prefix, Map<String, String> variables) {
    Map<String, String> all = new TreeMap<>(S3Server.credentials());
    all.put("AWS_REGION", "us-east-1");
    all.putAll(variables);
    String place = "s3://" + S3Server.BUCKET + "/" + prefix;
    String endpoint = to.address().toString();
    return new OwnProcess(folder, folder)
        .type(all, List.of("sync", "push", "source", place, "--endpoint", endpoint));
  }

  @Test
  void theVariableNamesTheCertificates() throws Exception {
    // Text beside the certificates is usual in such files.
    Path commented =
        Files.writeString(
            folder.resolve("commented.pem"),
            "# our store\n" + Files.readString(Path.of(authority)) + "\n# the end\n");
    for (String file : List.of(authority, commented.toString())) {
      String prefix = "by-variable-" + file.length();
      OwnProcess.Ended pushed = push(server, prefix, Map.of(VARIABLE, file));
      assertThat(pushed.status()).as(pushed.text()).isZero();
      assertThat(folder.resolve("right/objects/" + S3Server.BUCKET + "/" + prefix + "/a"))
          .hasContent("weights");
    }
  }

  @Test
  void theProfileNamesTheCertificatesAndTheVariableComesFirst() throws Exception {
    Path config =
        Files.writeString(
            folder.resolve("config"),
            "[default]\nca_bundle = /none\n[profile lab]\nca_bundle = " + authority + "\n");
    Map<String, String> lab = Map.of("AWS_CONFIG_FILE", config.toString(), "AWS_PROFILE", "lab");
    OwnProcess.Ended pushed = push(server, "by-profile", lab);
    assertThat(pushed.status()).as(pushed.text()).isZero();

    OwnProcess.Ended other =
        push(server, "by-default", Map.of("AWS_CONFIG_FILE", config.toString()));
    assertThat(other.text())
        .contains("S3: ca_bundle of the AWS profile 'default' is /none, but there is no such file");

    Map<String, String> both = new TreeMap<>(lab);
    both.put(VARIABLE, "/nowhere.pem");
    assertThat(push(server, "by-both", both).text())
        .contains("S3: AWS_CA_BUNDLE is /nowhere.pem, but there is no such file");
  }

  @Test
  void withoutTheAuthorityNothingIsSent() throws Exception {
    OwnProcess.Ended none = push(server, "none", Map.of());
    assertThat(none.status()).isEqualTo(2);
    assertThat(none.text())
        .contains(" is not trusted by Java", "AWS_CA_BUNDLE=FILE, or ca_bundle in the AWS profile");

    try (S3Server another = server("another", "-ext", "SAN=ip:127.0.0.1")) {
      OwnProcess.Ended wrong = push(another, "wrong", Map.of(VARIABLE, authority));
      assertThat(wrong.status()).isEqualTo(2);
      assertThat(wrong.text())
          .contains(
              "is not trusted: no certificate in " + authority + " (AWS_CA_BUNDLE) leads to it");
    }
    assertThat(folder.resolve("right/objects/" + S3Server.BUCKET + "/none")).doesNotExist();
    assertThat(folder.resolve("another/objects/" + S3Server.BUCKET + "/wrong")).doesNotExist();
  }

  @Test
  void aCertificateThatIsWrongIsExplained() throws Exception {
    try (S3Server expired =
        server("expired", "-ext", "SAN=ip:127.0.0.1", "-startdate", "-20d", "-validity", "5")) {
      assertThat(push(expired, "x", Map.of(VARIABLE, authority("expired"))).text())
          .contains("S3: the certificate of 127.0.0.1:" + expired.port() + " has expired");
    }
    try (S3Server elsewhere = server("elsewhere", "-ext", "SAN=dns:elsewhere.example.org")) {
      assertThat(push(elsewhere, "x", Map.of(VARIABLE, authority("elsewhere"))).text())
          .contains("the certificate of 127.0.0.1:" + elsewhere.port() + " is for other hosts");
    }
  }

  @Test
  void aFileThatHoldsNoCertificatesIsNamed() throws Exception {
    for (String content : List.of("", "hello\n", "-----BEGIN CERTIFICATE-----\nAAAA\n")) {
      Path file = Files.writeString(folder.resolve("broken.pem"), content);
      OwnProcess.Ended refused = push(server, "broken", Map.of(VARIABLE, file.toString()));
      assertThat(refused.status()).as(content).isEqualTo(2);
      assertThat(refused.text())
          .as(content)
          .contains("S3: AWS_CA_BUNDLE is " + file + ", which holds no certificates in PEM");
    }
  }
}
