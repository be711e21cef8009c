package dev.nexa.slurm.base.program;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * The AWS SDK and the classes that use it, in a jar inside our jar. The SDK has thousands of
 * classes, which would slow down the start of every other command (docs/decisions/005).
 */
public final class AwsJar implements AutoCloseable {
  private static final String JAR = "/aws.jar";

  private final @Nullable Path unpacked;
  private final @Nullable URLClassLoader loader;

  private AwsJar(@Nullable Path unpacked, @Nullable URLClassLoader loader) {
    this.unpacked = unpacked;
    this.loader = loader;
  }

  /** Unpacks the jar to a temporary file, which {@link #close} deletes. */
  public static AwsJar open() {
    try (InputStream packed = AwsJar.class.getResourceAsStream(JAR)) {
      if (packed == null) {
        // Run from a class folder, not from our jar: the SDK is on the class path.
        return new AwsJar(null, null);
      }
      Path jar = Files.createTempFile("nexa-slurm-aws-", ".jar");
      Files.copy(packed, jar, StandardCopyOption.REPLACE_EXISTING);
      URL[] urls = {jar.toUri().toURL()};
      return new AwsJar(jar, new URLClassLoader(urls, AwsJar.class.getClassLoader()));
    } catch (IOException failed) {
      throw DurableFiles.failure(
          "unpack aws.jar to", Path.of(System.getProperty("java.io.tmpdir", "/tmp")), failed);
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
      if (unpacked != null) {
        Files.deleteIfExists(unpacked);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("delete", unpacked == null ? Path.of(JAR) : unpacked, failed);
    }
  }
}
