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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A store whose certificate is of an authority of its own, as stores in a cluster have it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class CaBundleTest {
  private static final String VARIABLE = "AWS_CA_BUNDLE";

  private Path folder;
  private Path authorities;
  private String authority;
  private S3Server server;

  @BeforeAll
  void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    Files.writeString(Files.createDirectories(folder.resolve("source")).resolve("a"), "weights");
    authorities = Files.createDirectories(folder.resolve("authority"));
    S3Server.authority(authorities);
    authority = authorities.resolve("authority.pem").toString();
    server = server("right", "-ext SAN=ip:127.0.0.1");
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private S3Server server(String name, String certificate) throws IOException {
    return S3Server.secure(Files.createDirectories(folder.resolve(name)), authorities, certificate);
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

    Path another = Files.createDirectories(folder.resolve("another"));
    S3Server.authority(another);
    String other = another.resolve("authority.pem").toString();
    OwnProcess.Ended wrong = push(server, "none", Map.of(VARIABLE, other));
    assertThat(wrong.status()).isEqualTo(2);
    assertThat(wrong.text())
        .contains("is not trusted: no certificate in " + other + " (AWS_CA_BUNDLE) leads to it");
    assertThat(folder.resolve("right/objects/" + S3Server.BUCKET + "/none")).doesNotExist();
  }

  @Test
  void aCertificateThatIsWrongIsExplained() throws Exception {
    Map<String, String> trusting = Map.of(VARIABLE, authority);
    String valid = "-ext SAN=ip:127.0.0.1 -startdate -20d -validity 5";
    try (S3Server expired = server("expired", valid)) {
      assertThat(push(expired, "x", trusting).text())
          .contains("S3: the certificate of 127.0.0.1:" + expired.port() + " has expired");
    }
    try (S3Server elsewhere = server("elsewhere", "-ext SAN=dns:elsewhere.example.org")) {
      assertThat(push(elsewhere, "x", trusting).text())
          .contains("the certificate of 127.0.0.1:" + elsewhere.port() + " is for other hosts");
    }
  }
}
