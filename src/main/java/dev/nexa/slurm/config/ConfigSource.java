package dev.nexa.slurm.config;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.units.Memory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Where files come from: the workspace's own win over those the jar carries.
 *
 * @param workspace the workspace's directory
 */
public record ConfigSource(Path workspace) {
  /** Far above any config a person writes; checked before a byte is parsed. */
  public static final int MAX_BYTES = 1 << 20;

  /** For the programs that a config names: they are kept with every run. */
  private static final int MAX_PROGRAM_BYTES = 16 << 20;

  /** A file that was found. */
  public static final class Found {
    private final String name;
    private final byte[] bytes;
    private final Optional<Path> path;

    Found(String name, byte[] bytes, Optional<Path> path) {
      this.name = name;
      this.bytes = bytes;
      this.path = path;
    }

    /** As it is told to people: the path, or {@code jar:path}. */
    public String name() {
      return name;
    }

    public byte[] bytes() {
      return bytes.clone();
    }

    /** Where it lies on disk; empty where it lies in the jar. */
    public Optional<Path> path() {
      return path;
    }

    /** The content as text. */
    public String text() {
      ByteBuffer rest = ByteBuffer.wrap(bytes);
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(rest).toString();
      } catch (CharacterCodingException notUtf8) {
        String before = new String(bytes, 0, rest.position(), StandardCharsets.UTF_8);
        int line = 1 + (int) before.chars().filter(c -> c == '\n').count();
        Position at = new Position(name, line, before.length() - before.lastIndexOf('\n'));
        throw new NexaException(
            ExitCode.USAGE, at + ": is not UTF-8 text", notUtf8, "save it as UTF-8");
      }
    }
  }

  /** A file by the path a person typed: as it is, else below the workspace, else in the jar. */
  public Found file(String typed) {
    for (Path candidate : List.of(Path.of(typed), workspace.resolve(typed))) {
      if (isFile(candidate)) {
        return onDisk(candidate, MAX_BYTES);
      }
      if (Files.isDirectory(candidate)) {
        throw new NexaException(
            ExitCode.USAGE, typed + " is a folder: name a YAML file in it", "ls " + typed);
      }
    }
    return found(inJar(typed), typed);
  }

  /** A file of the product's own tree, such as {@code configs/prices/default.yaml}. */
  public Found product(String path) {
    Path own = workspace.resolve(path);
    return isFile(own) ? onDisk(own, MAX_BYTES) : found(inJar(path), path);
  }

  /** The jar's own file of that path, whatever the workspace has. */
  public Found carried(String path) {
    return found(inJar(path), path);
  }

  /** Whether the workspace has its own file of that path, which then wins over the jar's. */
  public boolean isOwn(String path) {
    return isFile(workspace.resolve(path));
  }

  /** The same, where it may be missing from both. */
  public Optional<Found> optional(String path) {
    Path own = workspace.resolve(path);
    return isFile(own) ? Optional.of(onDisk(own, MAX_BYTES)) : inJar(path);
  }

  /** A file named inside a config: beside it, wherever that lies; else below the workspace. */
  public Found beside(Found config, String relative) {
    if (config.path().isPresent()) {
      Path file = config.path().get().resolveSibling(relative).normalize();
      for (Path candidate : List.of(file, workspace.resolve(relative).normalize())) {
        if (isFile(candidate)) {
          return onDisk(candidate, MAX_PROGRAM_BYTES);
        }
      }
      throw missing(file.toString());
    }
    String folder = config.name().substring("jar:".length(), config.name().lastIndexOf('/') + 1);
    return found(inJar(folder + relative), config.name() + " → " + relative);
  }

  private Found found(Optional<Found> file, String typed) {
    if (file.isEmpty()) {
      throw missing(typed);
    }
    return file.get();
  }

  /**
   * Whether there is a file. One that can't be seen for want of permission is no missing one: the
   * jar's policy would silently stand in for the workspace's.
   */
  static boolean isFile(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class).isRegularFile();
    } catch (NoSuchFileException missing) {
      return false;
    } catch (FileSystemException failed) {
      if ("Not a directory".equals(failed.getReason())) {
        return false;
      }
      throw unreadable(path, failed);
    } catch (IOException failed) {
      throw unreadable(path, failed);
    }
  }

  private static NexaException unreadable(Path path, IOException failed) {
    return new NexaException(
        ExitCode.USAGE, "cannot read " + path + ": " + DurableFiles.reason(failed), failed);
  }

  private static Found onDisk(Path file, int maxBytes) {
    try {
      if (Files.size(file) > maxBytes) {
        throw new NexaException(
            ExitCode.USAGE,
            file + " is larger than " + Memory.words(maxBytes) + "iB, the most that is read here",
            "name larger data by its path and let the job read it");
      }
      return new Found(file.toString(), Files.readAllBytes(file), Optional.of(file));
    } catch (NoSuchFileException gone) {
      throw missing(file.toString());
    } catch (IOException failed) {
      throw unreadable(file, failed);
    }
  }

  private static Optional<Found> inJar(String path) {
    try (InputStream in = Carried.open(path)) {
      return in == null
          ? Optional.empty()
          : Optional.of(new Found("jar:" + path, in.readAllBytes(), Optional.empty()));
    } catch (IOException failed) {
      throw new NexaException(ExitCode.DEFECT, "cannot read " + path + " from the jar", failed);
    }
  }

  private static NexaException missing(String path) {
    if (Files.isDirectory(Path.of(path))) {
      return new NexaException(ExitCode.USAGE, path + " is a folder; name a file in it");
    }
    return new NexaException(
        ExitCode.USAGE,
        "no such file: " + path + Nearest.hint(path, neighbours(path)),
        "paths are looked up here, in the workspace and in the jar; see `nexa-slurm init`");
  }

  /** Files in the folder of the path, as the person would type them. */
  private static List<String> neighbours(String path) {
    Path folder = Path.of(path).getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return new ArrayList<>(new TreeSet<>(files.map(Path::toString).toList()));
    } catch (IOException unreadable) {
      return List.of();
    }
  }
}
