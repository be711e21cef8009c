package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ServiceLoader;

/**
 * Package {@code costs.aws} and the SDK, which lie in our jar as a jar: 3800 classes that no other
 * command shall pay for when it starts (docs/decisions/005).
 */
public final class AwsModule implements CostSource {
  private static final String JAR = "/aws.jar";

  @Override
  public Answer ask(Question question) {
    try (InputStream packed = AwsModule.class.getResourceAsStream(JAR)) {
      if (packed == null) {
        // Not from the jar: all classes are on the class path.
        return ask(question, AwsModule.class.getClassLoader());
      }
      Path jar = Files.createTempFile("nexa-slurm-aws-", ".jar");
      try {
        Files.copy(packed, jar, StandardCopyOption.REPLACE_EXISTING);
        URL[] urls = {jar.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(urls, AwsModule.class.getClassLoader())) {
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
