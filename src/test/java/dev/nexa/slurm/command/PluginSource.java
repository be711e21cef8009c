package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.backend.Backend;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** What a plugin's jar is made of; compiled as its author would, against our classes only. */
public final class PluginSource {
  public static final String SERVICE = "META-INF/services/dev.nexa.slurm.job.backend.Backend";

  private final Path folder;
  private final Map<String, byte[]> entries = new TreeMap<>();

  /** In an empty folder. */
  public PluginSource(Path folder) {
    this.folder = folder;
  }

  /** A backend {@code class X} of that name, whose launch does this. */
  public static PluginSource ofOne(Path folder, String name, String launch) throws IOException {
    String source =
        """
        import dev.nexa.slurm.job.backend.*;
        import dev.nexa.slurm.job.plan.*;
        import java.util.*;
        public final class X implements Backend {
          public String name() { return "%s"; }
          public Launch launch(Plan plan) { %s }
        }
        """
            .formatted(name, launch);
    Path file = Files.createDirectories(folder).resolve("X.java");
    return new PluginSource(folder).compiled(Files.writeString(file, source)).with(SERVICE, "X\n");
  }

  public PluginSource with(String name, String content) {
    entries.put(name, content.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  public PluginSource without(String name) {
    assertThat(entries.remove(name)).isNotNull();
    return this;
  }

  /** Writes over one byte of an entry. */
  public PluginSource patched(String name, int at, int value) {
    entries.get(name)[at] = (byte) value;
    return this;
  }

  /** Everything below a folder, by its path there. */
  public PluginSource withFiles(Path root, String below) throws IOException {
    try (Stream<Path> files = Files.walk(root.resolve(below))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        entries.put(root.relativize(file).toString(), Files.readAllBytes(file));
      }
    }
    return this;
  }

  public PluginSource compiled(Path source) throws IOException {
    Path classes = Files.createDirectories(folder.resolve("classes"));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter out = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of("--release", "17", "-cp", ourClasses(), "-d", classes.toString());
      boolean compiled =
          compiler
              .getTask(out, files, null, options, null, files.getJavaFileObjects(source))
              .call();
      assertThat(compiled).as(out.toString()).isTrue();
    }
    return withFiles(classes, "");
  }

  private static String ourClasses() {
    try {
      return Path.of(Backend.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (java.net.URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Writes the jar into the workspace's plugins/. */
  public Path jar(Path workspace, String name) {
    Path jar = workspace.resolve("plugins").resolve(name);
    try {
      Files.createDirectories(jar.getParent());
      try (OutputStream file = Files.newOutputStream(jar);
          JarOutputStream zip = new JarOutputStream(file)) {
        for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
          zip.putNextEntry(new ZipEntry(entry.getKey()));
          zip.write(entry.getValue());
        }
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return jar;
  }
}
