package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.zip.ZipFile;

/**
 * Loads the backends of one jar in {@code plugins/}, with a class loader of its own below
 * nexa-slurm's.
 */
final class PluginJar {
  private static final String SERVICE = "META-INF/services/" + Backend.class.getName();
  private static final String ADVICE =
      "`nexa-slurm explain docs/plugins.md` says what such a jar must hold; or take it out of plugins/";

  /** A broken file may hold a very long class name. */
  private static final int LONGEST = 1000;

  private PluginJar() {}

  /**
   * Returns the jar's backends.
   *
   * @throws NexaException if the jar cannot be used; the message names the jar
   */
  static List<Plugin> read(Path jar) {
    String sha256 = digest(jar);
    URLClassLoader loader =
        new URLClassLoader(new URL[] {url(jar)}, Backend.class.getClassLoader());
    List<Plugin> plugins = new ArrayList<>();
    try {
      for (Backend backend : ServiceLoader.load(Backend.class, loader)) {
        // The loader also finds the built-in backends, through its parent.
        if (backend.getClass().getClassLoader() == loader) {
          plugins.add(new Plugin(jar, sha256, backend));
        }
      }
    } catch (UnsupportedClassVersionError newer) {
      throw broken(
          jar,
          "is built for a newer Java than this " + Runtime.version().feature(),
          newer,
          "build it with `javac --release 17`, or run nexa-slurm with a newer JDK");
    } catch (ServiceConfigurationError | LinkageError | RuntimeException wrong) {
      throw broken(jar, "holds a backend that can't be loaded: " + reason(wrong), wrong, ADVICE);
    }
    if (plugins.isEmpty()) {
      throw broken(jar, "names no class of its own in " + SERVICE);
    }
    return plugins;
  }

  /** Opens the jar first, because a class loader silently ignores a file that is not a jar. */
  private static String digest(Path jar) {
    try (ZipFile opened = new ZipFile(jar.toFile())) {
      if (opened.getEntry(SERVICE) == null) {
        throw broken(jar, "holds no backend: it has no " + SERVICE);
      }
      return Sha256.of(Files.readAllBytes(jar));
    } catch (IOException failed) {
      throw broken(
          jar, "is no jar that can be read: " + DurableFiles.reason(failed), failed, ADVICE);
    }
  }

  private static URL url(Path jar) {
    try {
      return jar.toUri().toURL();
    } catch (IOException impossible) {
      throw new IllegalStateException("a file has a URL: " + jar, impossible);
    }
  }

  /** Returns the message with its cause, because Java keeps the details in the cause. */
  private static String reason(Throwable wrong) {
    String message = String.valueOf(wrong.getMessage()).replace(Backend.class.getName() + ": ", "");
    String own = wrong instanceof ServiceConfigurationError ? message : wrong.toString();
    String whole = wrong.getCause() == null ? own : own + ": " + wrong.getCause();
    return whole.length() <= LONGEST ? whole : whole.substring(0, LONGEST) + "...";
  }

  private static NexaException broken(Path jar, String what) {
    return ErrorCode.PLUGIN_UNUSABLE.error(jar.normalize() + " " + what, ADVICE);
  }

  private static NexaException broken(Path jar, String what, Throwable cause, String advice) {
    return ErrorCode.PLUGIN_UNUSABLE.error(
        jar.normalize() + " " + what, cause, Advice.step(advice));
  }
}
