package dev.nexa.slurm.base.program;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The program that runs now, as the nodes get it: our jar, with DuckDB's files or the AWS SDK.
 *
 * <p>If the program runs from a folder of classes, as in tests, its jar is made of this folder. The
 * jar's manifest then names the libraries' own jars by their paths, so it runs on this machine
 * only.
 */
public final class OwnProgram {
  /** The name of the jar in the program's folder. */
  public static final String JAR = "nexa-slurm.jar";

  /** The class that starts the program. */
  public static final String MAIN = "dev.nexa.slurm.command.Main";

  private OwnProgram() {}

  /** Returns the jar or the folder of classes that this code runs from. */
  public static Path location() {
    try {
      return Path.of(OwnProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException("the JVM gives a URI", impossible);
    }
  }

  /**
   * Returns the command that starts this program, without an alias of a shell. It is the start
   * script beside the jar, which starts twice as fast. Without a start script it is java.
   *
   * @param javaHome the JDK that runs this process
   * @param classPath the class path of this process: nexa-slurm.jar, or folders and jars
   */
  public static List<String> command(String javaHome, String classPath) {
    String java = javaHome + "/bin/java";
    if (!classPath.endsWith(".jar") || classPath.contains(File.pathSeparator)) {
      return List.of(java, "-cp", classPath, MAIN);
    }
    Path jar = Path.of(classPath).toAbsolutePath().normalize();
    Path script = jar.resolveSibling("nexa-slurm");
    return jar.endsWith("nexa-slurm.jar") && Files.isExecutable(script)
        ? List.of(script.toString())
        : List.of(java, "-jar", jar.toString());
  }

  /** The program does not change while it runs, so its digest is computed once. */
  private static final class Digested {
    static final ProgramFile OUR_JAR = read();
  }

  /**
   * Returns the program's files for data steps, with our jar first. The first call reads the whole
   * jar for its digest.
   *
   * @throws java.io.UncheckedIOException if the jar cannot be read
   */
  public static List<ProgramFile> files() {
    return Stream.concat(Stream.of(Digested.OUR_JAR), DuckDb.files().stream()).toList();
  }

  /**
   * Returns the program's files for {@code sync}: our jar, then {@code aws.jar}. A folder of
   * classes has no {@code aws.jar}: the manifest of its jar names the SDK's own jars.
   *
   * @throws java.io.UncheckedIOException if the jar cannot be read
   */
  public static List<ProgramFile> filesForS3() {
    return Stream.concat(Stream.of(Digested.OUR_JAR), AwsJar.file().stream()).toList();
  }

  private static ProgramFile read() {
    Path location = location();
    try {
      return Files.isDirectory(location)
          ? ProgramFile.of(JAR, out -> writeJar(location, out))
          : new ProgramFile(JAR, Sha256.of(location), out -> Files.copy(location, out));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", location, failed);
    }
  }

  /** Writes a jar of the folder: equal classes make equal bytes. Does not close the stream. */
  private static void writeJar(Path classes, OutputStream out) throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, MAIN);
    attributes.put(Attributes.Name.CLASS_PATH, libraries());
    JarOutputStream jar = new JarOutputStream(out);
    jar.setLevel(1);
    JarEntry first = new JarEntry("META-INF/MANIFEST.MF");
    first.setTime(0);
    jar.putNextEntry(first);
    manifest.write(jar);
    List<Path> files;
    try (Stream<Path> all = Files.walk(classes)) {
      files = all.filter(Files::isRegularFile).sorted().toList();
    }
    for (Path file : files) {
      String name = classes.relativize(file).toString();
      if (!name.endsWith(".jar")) {
        JarEntry entry = new JarEntry(name);
        entry.setTime(0);
        jar.putNextEntry(entry);
        Files.copy(file, jar);
      }
    }
    jar.finish();
  }

  private static String libraries() {
    return Stream.of(System.getProperty("java.class.path", "").split(File.pathSeparator, -1))
        .filter(entry -> entry.endsWith(".jar"))
        .map(entry -> Path.of(entry).toUri().toString())
        .collect(Collectors.joining(" "));
  }
}
