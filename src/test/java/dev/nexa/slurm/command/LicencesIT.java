package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;

/** The jar as it was built: each class in it is of a library that the jar names. */
class LicencesIT {

  @Test
  void eachClassInTheJarIsOfALibraryThatTheJarNames() throws IOException {
    Path jar = Path.of("nexa-slurm.jar");
    Map<String, List<String>> owners = owners();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      ZipEntry list = zip.getEntry("META-INF/THIRD-PARTY.txt");
      assertThat(list).isNotNull();
      Map<String, String> named = LicencesTest.named(text(zip.getInputStream(list)));
      TreeSet<String> used = new TreeSet<>();
      List<String> classes = new ArrayList<>();
      zip.stream().map(ZipEntry::getName).forEach(classes::add);
      for (String jarInside : List.of("aws.jar", "duckdb.jar")) {
        byte[] inner = zip.getInputStream(zip.getEntry(jarInside)).readAllBytes();
        try (ZipInputStream entries = new ZipInputStream(new ByteArrayInputStream(inner))) {
          for (ZipEntry entry = entries.getNextEntry();
              entry != null;
              entry = entries.getNextEntry()) {
            classes.add(entry.getName());
          }
        }
      }
      for (String name : classes) {
        if (name.endsWith(".class") && !name.startsWith("dev/nexa/")) {
          // picocli is compiled here, which makes a package-info.class that its own jar lacks.
          String known = name.endsWith("/package-info.class") ? "picocli/CommandLine.class" : name;
          List<String> of = owners.getOrDefault(owners.containsKey(name) ? name : known, List.of());
          assertThat(of).as(name).isNotEmpty().anyMatch(named::containsKey);
          used.addAll(of);
        }
      }
      assertThat(used).containsAll(named.keySet());
    }
  }

  /** Which libraries of the test's class path hold an entry. */
  private static Map<String, List<String>> owners() throws IOException {
    Map<String, List<String>> owners = new HashMap<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path file = Path.of(entry);
      if (entry.endsWith(".jar") && file.getNameCount() > 3) {
        String version = file.getName(file.getNameCount() - 2).toString();
        String library = file.getName(file.getNameCount() - 3) + " " + version;
        try (ZipFile zip = new ZipFile(file.toFile())) {
          zip.stream()
              .forEach(
                  each ->
                      owners.computeIfAbsent(each.getName(), n -> new ArrayList<>()).add(library));
        }
      }
    }
    return owners;
  }

  private static String text(InputStream in) throws IOException {
    try (in) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
