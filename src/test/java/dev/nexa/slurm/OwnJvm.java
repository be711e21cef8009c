package dev.nexa.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A main class in a process of its own, with the classes and libraries of this test run. */
public final class OwnJvm {
  /**
   * Options for a JVM that ends after a second. A sixth of its time would be the check of classes
   * that javac has just written.
   */
  private static final List<String> FAST =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:-BytecodeVerificationRemote");

  private OwnJvm() {}

  /**
   * Returns the words that start it, in a list that can grow. Any folder can be the current one.
   */
  public static List<String> words(Class<?> main, String... arguments) {
    return words(List.of(), main, arguments);
  }

  /**
   * Runs it in a folder, to its end. Its PATH is the folder's bin, its HOME is the folder, and it
   * has no other variables.
   *
   * @return what it printed
   */
  public static String printed(Path folder, List<String> words) throws Exception {
    Path printed = folder.resolve("printed");
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.directory(folder.toFile()).redirectErrorStream(true);
    builder.redirectOutput(printed.toFile());
    builder.environment().clear();
    builder.environment().put("PATH", folder.resolve("bin").toString());
    builder.environment().put("HOME", folder.toString());
    Process process = builder.start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(printed)).isZero();
    return Files.readString(printed);
  }

  /** The same with options for the JVM. */
  public static List<String> words(List<String> options, Class<?> main, String... arguments) {
    List<String> words = java(classPath());
    words.addAll(options);
    words.add(main.getName());
    words.addAll(List.of(arguments));
    return words;
  }

  /** Returns the words of java alone with a class path, in a list that can grow. */
  public static List<String> java(String classPath) {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(FAST);
    words.addAll(List.of("-cp", classPath));
    return words;
  }

  private static String classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
