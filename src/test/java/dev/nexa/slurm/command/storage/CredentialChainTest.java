package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each place where the AWS SDK looks for credentials. An HTTP server on this machine stands for
 * STS, SSO, the instance metadata and the container's endpoint; s3proxy accepts only the key that
 * they hand out.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class CredentialChainTest {
  private static final String TOKEN = "session-token-that-no-log-may-hold";

  /** When the credentials of the stand-in end. */
  private final String later =
      Instant.now().plus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.SECONDS).toString();

  private final List<String> asked = new CopyOnWriteArrayList<>();
  private Path folder;
  private Path source;
  private S3Server server;
  private HttpServer aws;

  @BeforeAll
  void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    source = Files.createDirectories(folder.resolve("source"));
    Files.writeString(source.resolve("final.pt"), "weights");
    server = S3Server.proxy(folder);
    aws = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    aws.createContext("/", this::answer);
    aws.start();
  }

  @AfterAll
  void stop() {
    aws.stop(0);
    server.close();
  }

  private String address() {
    return "http://127.0.0.1:" + aws.getAddress().getPort();
  }

  /** Plays each of the services, as far as the SDK asks them. */
  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String text;
    if (path.equals("/latest/api/token")) {
      asked.add("IMDSv2 token");
      exchange.getResponseHeaders().set("x-aws-ec2-metadata-token-ttl-seconds", "21600");
      text = "metadata-token";
    } else if (path.startsWith("/latest/meta-data/iam/security-credentials")) {
      String token = exchange.getRequestHeaders().getFirst("x-aws-ec2-metadata-token");
      asked.add("IMDS with " + token);
      text = path.endsWith("/node-role") ? document() : "node-role";
    } else if (path.equals("/container")) {
      asked.add("container with " + exchange.getRequestHeaders().getFirst("Authorization"));
      text = document();
    } else if (path.equals("/federation/credentials")) {
      asked.add("SSO with " + exchange.getRequestHeaders().getFirst("x-amz-sso_bearer_token"));
      text =
          "{\"roleCredentials\":{\"accessKeyId\":\"%s\",\"secretAccessKey\":\"%s\",\"sessionToken\":\"%s\",\"expiration\":%d}}"
              .formatted(S3Server.KEY, S3Server.SECRET, TOKEN, Instant.parse(later).toEpochMilli());
    } else if (body.contains("Action=AssumeRole")) {
      String action = body.contains("WebIdentity") ? "AssumeRoleWithWebIdentity" : "AssumeRole";
      asked.add(action);
      text =
          "<%1$sResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><%1$sResult><Credentials><AccessKeyId>%2$s</AccessKeyId><SecretAccessKey>%3$s</SecretAccessKey><SessionToken>%4$s</SessionToken><Expiration>%5$s</Expiration></Credentials></%1$sResult></%1$sResponse>"
              .formatted(action, S3Server.KEY, S3Server.SECRET, TOKEN, later);
    } else {
      asked.add("unknown " + path);
      exchange.sendResponseHeaders(404, -1);
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private String document() {
    return "{\"Code\":\"Success\",\"LastUpdated\":\"%s\",\"Type\":\"AWS-HMAC\",\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"%s\",\"Token\":\"%s\",\"Expiration\":\"%s\"}"
        .formatted(
            Instant.now().truncatedTo(ChronoUnit.SECONDS),
            S3Server.KEY,
            S3Server.SECRET,
            TOKEN,
            later);
  }

  /**
   * A way to have credentials.
   *
   * @param variables of the environment; ADDRESS is the stand-in's, HOME the user's folder
   * @param config the file ~/.aws/config
   * @param asks what the stand-in was asked; empty if nothing
   */
  private record Way(String name, Map<String, String> variables, String config, String asks) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Way> ways() {
    return Stream.of(
        new Way(
            "variables",
            Map.of("AWS_ACCESS_KEY_ID", S3Server.KEY, "AWS_SECRET_ACCESS_KEY", S3Server.SECRET),
            "",
            ""),
        new Way(
            "profile",
            Map.of("AWS_PROFILE", "lab"),
            "[profile lab]\naws_access_key_id = %s\naws_secret_access_key = %s\n"
                .formatted(S3Server.KEY, S3Server.SECRET),
            ""),
        new Way(
            "process",
            Map.of("AWS_PROFILE", "lab"),
            "[profile lab]\ncredential_process = HOME/credentials.sh\n",
            ""),
        new Way(
            "role of a profile",
            Map.of("AWS_PROFILE", "role", "AWS_ENDPOINT_URL_STS", "ADDRESS"),
            "[profile base]\naws_access_key_id = other\naws_secret_access_key = other\n"
                + "[profile role]\nrole_arn = arn:aws:iam::123456789012:role/train\nsource_profile = base\n",
            "AssumeRole"),
        new Way(
            "web identity",
            Map.of(
                "AWS_ROLE_ARN",
                "arn:aws:iam::123456789012:role/train",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "HOME/web-token",
                "AWS_ENDPOINT_URL_STS",
                "ADDRESS"),
            "",
            "AssumeRoleWithWebIdentity"),
        new Way(
            "SSO",
            Map.of("AWS_PROFILE", "sso", "AWS_ENDPOINT_URL_SSO", "ADDRESS"),
            "[profile sso]\nsso_session = lab\nsso_account_id = 123456789012\nsso_role_name = train\n"
                + "[sso-session lab]\nsso_region = us-east-1\nsso_start_url = https://lab.example.org/start\n",
            "SSO with sso-access-token"),
        new Way(
            "container",
            Map.of(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                "ADDRESS/container",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                "container-token"),
            "",
            "container with container-token"),
        new Way(
            "instance role",
            Map.of(
                "AWS_EC2_METADATA_DISABLED",
                "false",
                "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                "ADDRESS"),
            "",
            "IMDS with metadata-token"));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void syncFindsTheCredentials(Way way) throws Exception {
    asked.clear();

    String text = plan(way, 0);

    assertThat(text).contains("final.pt").doesNotContain(S3Server.SECRET).doesNotContain(TOKEN);
    if (way.asks().isEmpty()) {
      assertThat(asked).isEmpty();
    } else {
      assertThat(asked).contains(way.asks());
    }
  }

  @Test
  void withoutCredentialsTheUserIsAskedToLogIn() throws Exception {
    String text = plan(new Way("none", Map.of(), "", ""), 2);

    assertThat(text).contains("credentials").doesNotContain("Exception");
  }

  /** Types {@code sync plan} in a process of its own, because the SDK reads its environment. */
  private String plan(Way way, int status) throws Exception {
    Path home = Files.createTempDirectory(folder, "home");
    Path credentials =
        Files.writeString(
            home.resolve("credentials.sh"),
            "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"%s\"}'\n"
                .formatted(S3Server.KEY, S3Server.SECRET));
    Files.setPosixFilePermissions(credentials, PosixFilePermissions.fromString("rwx------"));
    Files.writeString(home.resolve("web-token"), "a token of the identity provider");
    Path cache = Files.createDirectories(home.resolve(".aws/sso/cache"));
    Files.writeString(
        cache.resolve(sha1("lab") + ".json"),
        "{\"accessToken\":\"sso-access-token\",\"expiresAt\":\"%s\",\"region\":\"us-east-1\",\"startUrl\":\"https://lab.example.org/start\"}"
            .formatted(later));
    Path config =
        Files.writeString(
            home.resolve(".aws/config"), way.config().replace("HOME", home.toString()));
    Map<String, String> own = new TreeMap<>(way.variables());
    own.putIfAbsent("AWS_EC2_METADATA_DISABLED", "true");
    own.put("AWS_REGION", "us-east-1");
    own.put("AWS_CONFIG_FILE", config.toString());
    own.replaceAll(
        (name, value) -> value.replace("ADDRESS", address()).replace("HOME", home.toString()));
    String bucket = "s3://" + S3Server.BUCKET + "/chain";
    String endpoint = server.address().toString();
    OwnProcess.Ended ended =
        new OwnProcess(folder, home)
            .type(own, List.of("sync", "plan", source.toString(), bucket, "--endpoint", endpoint));
    String text = ended.text();
    assertThat(ended.status()).as(text).isEqualTo(status);
    return text;
  }

  private static String sha1(String text) throws Exception {
    return java.util.HexFormat.of()
        .formatHex(
            java.security.MessageDigest.getInstance("SHA-1")
                .digest(text.getBytes(StandardCharsets.UTF_8)));
  }
}
