package dev.nexa.slurm.base.program;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileOwner;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.jar.JarEntry;
import org.jspecify.annotations.Nullable;

/**
 * The AWS SDK and the classes that use it, in a jar inside our jar. The SDK has thousands of
 * classes, which would slow down the start of every other command (docs/decisions/005).
 */
public final class AwsJar implements AutoCloseable {
  private static final String NAME = "aws.jar";
  private static final String JAR = "/" + NAME;
  private static final String ON_CLASS_PATH = "/software/amazon/awssdk/services/s3/S3Client.class";

  /** The jar of another version is removed from the cache after this time. */
  private static final Duration KEPT = Duration.ofDays(30);

  private final @Nullable Path temporary;
  private final @Nullable URLClassLoader loader;

  private AwsJar(@Nullable Path temporary, @Nullable URLClassLoader loader) {
    this.temporary = temporary;
    this.loader = loader;
  }

  /**
   * Unpacks the jar into the user's cache, once for each version. If the cache cannot be written,
   * unpacks it to a temporary file, which {@link #close} deletes.
   */
  public static AwsJar open() {
    URL packed = AwsJar.class.getResource(JAR);
    if (packed == null || AwsJar.class.getResource(ON_CLASS_PATH) != null) {
      // Run from a class folder, or by the script nexa-slurm, which knows the jar.
      return new AwsJar(null, null);
    }
    try {
      return new AwsJar(null, loader(cached(packed, UserCache.folder())));
    } catch (IOException | UncheckedIOException noCache) {
      return temporary(packed);
    }
  }

  /**
   * Returns the jar as a file of the program; empty if the program runs from a folder of classes.
   *
   * @throws java.io.UncheckedIOException if our jar cannot be read
   */
  static Optional<ProgramFile> file() {
    URL packed = AwsJar.class.getResource(JAR);
    if (packed == null) {
      return Optional.empty();
    }
    return DurableFiles.attempt(
        "read", Path.of(NAME), () -> Optional.of(ProgramFile.of(NAME, out -> write(packed, out))));
  }

  private static void write(URL packed, OutputStream out) throws IOException {
    try (InputStream in = packed.openStream()) {
      in.transferTo(out);
    }
  }

  private static AwsJar temporary(URL packed) {
    try (InputStream in = packed.openStream()) {
      Path jar = Files.createTempFile("nexa-slurm-aws-", ".jar");
      Files.copy(in, jar, StandardCopyOption.REPLACE_EXISTING);
      return new AwsJar(jar, loader(jar));
    } catch (IOException failed) {
      throw DurableFiles.failure(
          "unpack aws.jar to", Path.of(System.getProperty("java.io.tmpdir", "/tmp")), failed);
    }
  }

  private static URLClassLoader loader(Path jar) throws IOException {
    return new URLClassLoader(new URL[] {jar.toUri().toURL()}, AwsJar.class.getClassLoader());
  }

  /** Returns the jar in the cache. Its name has the checksum and the size of the packed one. */
  static Path cached(URL packed, Path cache) throws IOException {
    if (!(packed.openConnection() instanceof JarURLConnection connection)) {
      throw new IOException(packed + " is no entry of a jar");
    }
    JarEntry entry = connection.getJarEntry();
    Path jar =
        cache.resolve("aws-" + Long.toHexString(entry.getCrc()) + "-" + entry.getSize() + ".jar");
    if (!isOurs(jar, entry.getSize())) {
      DurableFiles files = DurableFiles.onDisk();
      files.directories(cache);
      Files.deleteIfExists(jar);
      files.claim(jar, out -> write(packed, out), "r--r--r--");
      if (!isOurs(jar, entry.getSize())) {
        throw new IOException(jar + " is not the file that was written");
      }
      removeOld(cache, jar);
    }
    return jar;
  }

  private static boolean isOurs(Path jar, long bytes) throws IOException {
    return Files.isRegularFile(jar, LinkOption.NOFOLLOW_LINKS)
        && Files.size(jar) == bytes
        && FileOwner.of(jar).isMe();
  }

  private static void removeOld(Path cache, Path used) throws IOException {
    Instant before = Instant.now().minus(KEPT);
    try (DirectoryStream<Path> jars = Files.newDirectoryStream(cache, "aws-*.jar")) {
      for (Path jar : jars) {
        if (!jar.equals(used) && Files.getLastModifiedTime(jar).toInstant().isBefore(before)) {
          Files.deleteIfExists(jar);
        }
      }
    }
  }

  /** Returns the implementation of an interface that lies in the jar. */
  public <T> T load(Class<T> service) {
    ClassLoader from = loader == null ? AwsJar.class.getClassLoader() : loader;
    return ServiceLoader.load(service, from).findFirst().orElseThrow();
  }

  @Override
  public void close() {
    try {
      if (loader != null) {
        loader.close();
      }
      if (temporary != null) {
        Files.deleteIfExists(temporary);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("delete", temporary == null ? Path.of(JAR) : temporary, failed);
    }
  }
}
