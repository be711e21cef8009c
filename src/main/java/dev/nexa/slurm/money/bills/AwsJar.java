package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ServiceLoader;

/**
 * Loads package {@code money.bills.aws} and the AWS SDK from a jar inside our jar. The SDK has 3800
 * classes, which would slow down the start of every other command (docs/decisions/005).
 */
public final class AwsJar implements CostSource {
  private static final String JAR = "/aws.jar";

  @Override
  public Answer ask(Question question) {
    try (InputStream packed = AwsJar.class.getResourceAsStream(JAR)) {
      if (packed == null) {
        // Run from a class folder, not from our jar: the SDK is on the class path.
        return ask(question, AwsJar.class.getClassLoader());
      }
      Path jar = Files.createTempFile("nexa-slurm-aws-", ".jar");
      try {
        Files.copy(packed, jar, StandardCopyOption.REPLACE_EXISTING);
        URL[] urls = {jar.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(urls, AwsJar.class.getClassLoader())) {
          return ask(question, loader);
        }
      } finally {
        Files.deleteIfExists(jar);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure(
          "unpack aws.jar to", Path.of(System.getProperty("java.io.tmpdir", "/tmp")), failed);
    }
  }

  private static Answer ask(Question question, ClassLoader loader) {
    return ServiceLoader.load(CostSource.class, loader).findFirst().orElseThrow().ask(question);
  }
}
