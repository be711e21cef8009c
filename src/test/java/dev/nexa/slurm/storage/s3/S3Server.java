package dev.nexa.slurm.storage.s3;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A real S3 server as a child process: s3proxy, which checks signatures and is atomic, or s3mock,
 * which returns checksums. Maven puts their jars into target/s3-servers.
 */
public final class S3Server implements AutoCloseable {
  /** The bucket that each server has. */
  public static final String BUCKET = "nexacompute";

  public static final String KEY = "test-key";
  public static final String SECRET = "test-secret-that-no-log-may-hold";

  private static final String NEW_KEY = "-genkeypair -keyalg EC -groupname secp256r1 -dname ";
  private static final Path JARS = Path.of("target/s3-servers").toAbsolutePath();

  private final Process process;
  private final String scheme;
  private final int port;

  private S3Server(Process process, String scheme, int port) {
    this.process = process;
    this.scheme = scheme;
    this.port = port;
  }

  /** The variables with which the AWS SDK of another process signs its requests. */
  public static Map<String, String> credentials() {
    return Map.of("AWS_ACCESS_KEY_ID", KEY, "AWS_SECRET_ACCESS_KEY", SECRET);
  }

  /** Starts s3proxy, whose objects are files below a folder. */
  public static S3Server proxy(Path folder) throws IOException {
    int port = freePort();
    return proxy(folder, "http", port, "s3proxy.endpoint=http://127.0.0.1:" + port);
  }

  /** Makes an authority in the folder; its certificate is {@code authority.pem}. */
  public static void authority(Path folder) throws IOException {
    keytool(folder, "authority", NEW_KEY + "CN=authority -ext bc:c");
    String pem = folder.resolve("authority.pem").toString();
    keytool(folder, "authority", "-exportcert -rfc -file " + pem);
  }

  /**
   * Starts s3proxy with TLS. Its certificate is signed by the authority.
   *
   * @param authority a folder with an authority
   * @param options of {@code keytool -gencert} for the server's certificate
   */
  public static S3Server secure(Path folder, Path authority, String options) throws IOException {
    Path keystore = folder.resolve("keystore");
    Files.copy(authority.resolve("keystore"), keystore);
    String request = folder.resolve("request").toString();
    String signed = folder.resolve("signed").toString();
    keytool(folder, "server", NEW_KEY + "CN=s3");
    keytool(folder, "server", "-certreq -file " + request);
    String sign = "-gencert -rfc -infile " + request + " -outfile " + signed + " ";
    keytool(folder, "authority", sign + options);
    keytool(folder, "server", "-importcert -noprompt -file " + signed);
    int port = freePort();
    return proxy(
        folder,
        "https",
        port,
        "s3proxy.secure-endpoint=https://127.0.0.1:" + port,
        "s3proxy.keystore-path=" + keystore,
        "s3proxy.keystore-password=" + SECRET);
  }

  /** Starts s3proxy with TLS; {@code authority/authority.pem} in the folder is its authority. */
  public static S3Server secure(Path folder) throws IOException {
    Path authority = Files.createDirectories(folder.resolve("authority"));
    authority(authority);
    return secure(folder, authority, "-ext SAN=ip:127.0.0.1");
  }

  private static void keytool(Path folder, String alias, String words) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(words.split(" ", -1)));
    command.addAll(List.of("-alias", alias, "-keystore", folder.resolve("keystore").toString()));
    command.addAll(List.of("-storetype", "PKCS12", "-storepass", SECRET));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IOException(said);
      }
    } catch (InterruptedException interrupted) {
      throw new IOException(interrupted);
    }
  }

  private static S3Server proxy(Path folder, String scheme, int port, String... endpoint)
      throws IOException {
    Path conf = folder.resolve("s3proxy.conf");
    Files.createDirectories(folder.resolve("objects").resolve(BUCKET));
    List<String> lines = new ArrayList<>(List.of(endpoint));
    lines.addAll(
        List.of(
            "s3proxy.authorization=aws-v2-or-v4",
            "s3proxy.identity=" + KEY,
            "s3proxy.credential=" + SECRET,
            "s3proxy.ignore-unknown-headers=true",
            "jclouds.provider=filesystem-nio2",
            "jclouds.identity=x",
            "jclouds.credential=x",
            "jclouds.filesystem.basedir=" + folder.resolve("objects")));
    Files.write(conf, lines);
    Path log = folder.resolve("logback.xml");
    Files.writeString(log, "<configuration><root level=\"OFF\"/></configuration>");
    return start(
        folder,
        scheme,
        port,
        "-Dlogback.configurationFile=" + log,
        "-cp",
        JARS.resolve("jackson-annotations-2.21.jar") + ":" + JARS.resolve("s3proxy.jar"),
        "org.gaul.s3proxy.Main",
        "--properties",
        conf.toString());
  }

  /** Starts s3mock. */
  public static S3Server mock(Path folder) throws IOException {
    int port = freePort();
    return start(
        folder,
        "http",
        port,
        "-Dcom.adobe.testing.s3mock.store.initialBuckets=" + BUCKET,
        "-Dcom.adobe.testing.s3mock.store.initial-buckets=" + BUCKET,
        "-jar",
        JARS.resolve("s3mock.jar").toString(),
        "--server.port=" + freePort(),
        "--http.port=" + port);
  }

  private static S3Server start(Path folder, String scheme, int port, String... arguments)
      throws IOException {
    if (!Files.exists(JARS.resolve("s3proxy.jar"))) {
      throw new IOException("no S3 servers: mvn generate-test-resources");
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // dev/bench-sync sets it: a server that runs for long needs the second compiler.
    String compiler = System.getProperty("s3.server.compiler", "-XX:TieredStopAtLevel=1");
    command.addAll(List.of("-Xmx512m", compiler, "-XX:+UseSerialGC"));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("server.log").toFile())
            .start();
    S3Server server = new S3Server(process, scheme, port);
    for (int i = 0; i < 600 && process.isAlive(); i++) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 200);
        return server;
      } catch (IOException notYet) {
        pause();
      }
    }
    server.close();
    throw new IOException("no server: " + Files.readString(folder.resolve("server.log")));
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(100);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns a free port that no client gets as its own (net.ipv4.ip_local_port_range): there, a
   * test that waits for the server can connect to itself, and the server then finds its port taken.
   */
  private static int freePort() throws IOException {
    IOException taken = new IOException("no free port");
    for (int i = 0; i < 100; i++) {
      try (ServerSocket socket = new ServerSocket(new Random().nextInt(16_000, 32_000))) {
        return socket.getLocalPort();
      } catch (IOException used) {
        taken = used;
      }
    }
    throw taken;
  }

  public int port() {
    return port;
  }

  public URI address() {
    return URI.create(scheme + "://127.0.0.1:" + port);
  }

  /** Writes an object as another program does: without our SHA-256. */
  public void put(String key, String content) {
    try (S3Client client = client()) {
      client.putObject(request -> request.bucket(BUCKET).key(key), RequestBody.fromString(content));
    }
  }

  /** Returns the media type of an object. */
  public String mediaType(String key) {
    try (S3Client client = client()) {
      return client.headObject(request -> request.bucket(BUCKET).key(key)).contentType();
    }
  }

  private S3Client client() {
    return S3Client.builder()
        .endpointOverride(address())
        .region(Region.US_EAST_1)
        .forcePathStyle(true)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create(KEY, SECRET)))
        .build();
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs a server for a benchmark until it is killed: {@code proxy|secure|mock FOLDER}. */
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[1]).toAbsolutePath();
    Files.createDirectories(folder);
    try (S3Server server =
        switch (args[0]) {
          case "mock" -> mock(folder);
          case "secure" -> secure(folder);
          default -> proxy(folder);
        }) {
      Runtime.getRuntime().addShutdownHook(new Thread(server::close));
      System.out.println(server.address());
      server.process.waitFor();
    }
  }
}
