package dev.nexa.slurm.storage.oms;

import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The signed list of a model's files: the in-toto statement of the format (spec v1.0, 5 and 6).
 *
 * @param digests the SHA-256 of each resource by its name: a file, or a part of a file
 * @param shardSize the size of the parts in bytes; empty if each file is one resource
 * @param links whether links were followed
 * @param ignored the paths that were left out
 */
record OmsManifest(
    TreeMap<String, String> digests, Optional<Long> shardSize, boolean links, Set<String> ignored) {
  private static final String STATEMENT = "https://in-toto.io/Statement/v1";
  private static final String PREDICATE = "https://model_signing/signature/v1.0";

  /** The predicate of version 0.2.0, whose files are the subjects. */
  private static final String OLD_PREDICATE = "https://model_signing/Digests/v0.1";

  private static final String HASH = "sha256";

  /** Reads all files and computes their digests. */
  static OmsManifest of(Map<String, Path> files, Set<String> ignored) throws IOException {
    TreeMap<String, String> digests = new TreeMap<>(NamesOfFiles.ORDER);
    for (Map.Entry<String, Path> file : files.entrySet()) {
      digests.put(file.getKey(), Sha256.of(file.getValue()));
    }
    TreeSet<String> left = new TreeSet<>(OmsFiles.GIT);
    left.addAll(ignored);
    return new OmsManifest(digests, Optional.empty(), false, left);
  }

  /**
   * Returns the statement.
   *
   * @param name the model's name, for people
   */
  JsonObject statement(String name) {
    List<JsonObject> resources = new ArrayList<>();
    digests.forEach(
        (path, digest) ->
            resources.add(
                new JsonObject()
                    .with("name", path)
                    .with("digest", digest)
                    .with("algorithm", HASH)));
    JsonObject subject =
        new JsonObject().with("name", name).with("digest", new JsonObject().with(HASH, root()));
    JsonObject how =
        new JsonObject()
            .with("method", "files")
            .with("hash_type", HASH)
            .with("allow_symlinks", links)
            .with("ignore_paths", List.copyOf(ignored));
    return new JsonObject()
        .with("_type", STATEMENT)
        .with("subject", List.of(subject))
        .with("predicateType", PREDICATE)
        .with(
            "predicate", new JsonObject().with("resources", resources).with("serialization", how));
  }

  private String root() {
    MessageDigest root = Sha256.digest();
    digests.values().forEach(digest -> root.update(HexFormat.of().parseHex(digest)));
    return Sha256.hex(root);
  }

  /**
   * Reads a statement.
   *
   * @throws OmsException if it is no statement of this format
   */
  static OmsManifest parse(JsonObject statement) throws OmsException {
    try {
      require("_type", statement.text("_type"), STATEMENT);
      String type = statement.text("predicateType");
      List<JsonObject> subjects = statement.objects("subject");
      if (type.equals(OLD_PREDICATE)) {
        TreeMap<String, String> digests = new TreeMap<>(NamesOfFiles.ORDER);
        for (JsonObject subject : subjects) {
          add(digests, subject.text("name"), subject.object("digest").text(HASH));
        }
        return new OmsManifest(digests, Optional.empty(), false, Set.of());
      }
      require("predicateType", type, PREDICATE);
      if (subjects.size() != 1 || subjects.get(0).text("name").isEmpty()) {
        throw new OmsException("the statement has " + subjects.size() + " subjects instead of one");
      }
      JsonObject predicate = statement.object("predicate");
      JsonObject how = predicate.object("serialization");
      require("hash_type", how.text("hash_type"), HASH);
      TreeMap<String, String> digests = new TreeMap<>(NamesOfFiles.ORDER);
      MessageDigest root = Sha256.digest();
      for (JsonObject resource : predicate.objects("resources")) {
        require("algorithm", resource.text("algorithm"), HASH);
        add(digests, resource.text("name"), resource.text("digest"));
        root.update(HexFormat.of().parseHex(resource.text("digest")));
      }
      if (digests.isEmpty()) {
        throw new OmsException("the statement lists no files");
      }
      require("digest", subjects.get(0).object("digest").text(HASH), Sha256.hex(root));
      Optional<Long> shards = Optional.empty();
      if (how.text("method").equals("shards")) {
        shards = Optional.of(how.number("shard_size"));
      } else {
        require("method", how.text("method"), "files");
      }
      Set<String> ignored =
          how.members().containsKey("ignore_paths")
              ? new TreeSet<>(how.texts("ignore_paths"))
              : Set.of();
      return new OmsManifest(digests, shards, how.flag("allow_symlinks"), ignored);
    } catch (IllegalArgumentException broken) {
      throw new OmsException("the statement is broken: " + broken.getMessage(), broken);
    }
  }

  private static void add(Map<String, String> digests, String name, String digest)
      throws OmsException {
    List<String> parts = List.of(name.split("/", -1));
    if (parts.contains("..") || parts.contains("") || !digest.matches("[0-9a-f]{64}")) {
      throw new OmsException("the statement lists '" + name + "' with the digest " + digest);
    }
    if (digests.put(name, digest) != null) {
      throw new OmsException("the statement lists '" + name + "' twice");
    }
  }

  private static void require(String key, String found, String expected) throws OmsException {
    if (!found.equals(expected)) {
      throw new OmsException(key + " is '" + found + "' instead of '" + expected + "'");
    }
  }

  /**
   * Compares a model with the list.
   *
   * @param files the files of the model
   * @param unsigned whether the model may hold files that the list lacks
   * @return a line for each file that differs
   */
  List<String> problems(Map<String, Path> files, boolean unsigned) throws IOException {
    TreeMap<String, String> rest = new TreeMap<>(digests);
    List<String> problems = new ArrayList<>();
    for (Map.Entry<String, Path> file : files.entrySet()) {
      for (Map.Entry<String, String> found : resources(file.getKey(), file.getValue()).entrySet()) {
        String signed = rest.remove(found.getKey());
        // Version 0.3.1 called the only file of a model '.'.
        signed = signed == null && files.size() == 1 ? rest.remove(".") : signed;
        if (signed == null && !unsigned) {
          problems.add("not signed: " + found.getKey());
        } else if (signed != null && !signed.equals(found.getValue())) {
          problems.add("changed: " + found.getKey());
        }
      }
    }
    rest.keySet().forEach(name -> problems.add("missing: " + name));
    return problems;
  }

  private Map<String, String> resources(String name, Path file) throws IOException {
    if (shardSize.isEmpty()) {
      return Map.of(name, Sha256.of(file));
    }
    TreeMap<String, String> parts = new TreeMap<>(NamesOfFiles.ORDER);
    byte[] buffer = new byte[1 << 16];
    try (InputStream in = Files.newInputStream(file)) {
      for (long begin = 0; ; ) {
        MessageDigest digest = Sha256.digest();
        long left = shardSize.get();
        int read = 0;
        while (left > 0 && (read = in.read(buffer, 0, (int) Math.min(buffer.length, left))) > 0) {
          digest.update(buffer, 0, read);
          left -= read;
        }
        long end = begin + shardSize.get() - left;
        if (end == begin) {
          return parts;
        }
        parts.put(name + ":" + begin + ":" + end, Sha256.hex(digest));
        begin = end;
      }
    }
  }

  /** Lists the files of a model by the rules of the format (spec v1.0, 6.1 and 6.2). */
  static final class OmsFiles {
    /** The entries at the top of the folder that no signature covers. */
    static final List<String> GIT = List.of(".git", ".gitattributes", ".github", ".gitignore");

    private OmsFiles() {}

    /**
     * Returns the files of a model by their names, in order.
     *
     * @param model a folder, or a file, whose name is then its file name
     * @param ignored paths below the folder that are left out, with all below them
     * @param links whether links are followed; otherwise a link is an error
     * @throws OmsException if the model holds a thing that cannot be signed
     */
    static SortedMap<String, Path> list(Path model, Set<String> ignored, boolean links)
        throws OmsException, IOException {
      TreeMap<String, Path> files = new TreeMap<>(NamesOfFiles.ORDER);
      if (Files.isSymbolicLink(model) && !links) {
        throw new OmsException(model + " is a link");
      }
      if (Files.isRegularFile(model)) {
        files.put(model.getFileName().toString(), model);
        return files;
      }
      Path root = model.toRealPath();
      Set<String> left = new TreeSet<>(GIT);
      left.addAll(ignored);
      String[] problem = {""};
      Set<FileVisitOption> how =
          links ? EnumSet.of(FileVisitOption.FOLLOW_LINKS) : EnumSet.noneOf(FileVisitOption.class);
      Files.walkFileTree(
          root,
          how,
          Integer.MAX_VALUE,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
              return left.contains(root.relativize(folder).toString())
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              String name = root.relativize(file).toString();
              if (left.contains(name)) {
                return FileVisitResult.CONTINUE;
              }
              problem[0] = problem(root, file, name, attributes);
              files.put(name, file);
              return problem[0].isEmpty() ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
            }
          });
      if (!problem[0].isEmpty()) {
        throw new OmsException(problem[0]);
      }
      if (files.isEmpty()) {
        throw new OmsException(model + " holds no files");
      }
      return files;
    }

    private static String problem(
        Path root, Path file, String name, BasicFileAttributes attributes) {
      try {
        if (attributes.isSymbolicLink()) {
          return name + " is a link";
        }
        if (!attributes.isRegularFile()) {
          return name + " is no regular file";
        }
        if (Files.isSymbolicLink(file) && !file.toRealPath().startsWith(root)) {
          return name + " is a link out of the folder";
        }
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
      boolean text =
          StandardCharsets.UTF_8.newEncoder().canEncode(name) && name.indexOf('\uFFFD') < 0;
      return text ? "" : "a file's name is not UTF-8";
    }

    /** Returns the path below the model; empty if it is elsewhere. */
    static String below(Path model, Path path) {
      try {
        Path root = model.toRealPath();
        Path parent = path.toAbsolutePath().normalize().getParent();
        Path real =
            parent != null && Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)
                ? parent.toRealPath().resolve(path.getFileName())
                : path.toAbsolutePath().normalize();
        return real.startsWith(root) ? root.relativize(real).toString() : "";
      } catch (IOException missing) {
        return "";
      }
    }
  }
}
