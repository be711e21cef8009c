package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.storage.cleanup.Checkpoints;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files of a checkpoint that go into a release.
 *
 * @param root the checkpoint's folder or its only file, with all links resolved
 * @param files the files by their paths in the release, such as {@code model/config.json}
 * @param pickles the paths of those that are pickled
 * @param leftOut the names of earlier checkpoints and of the training's state, which nothing loads
 * @param modelClass the class of config.json, or the type of the adapter
 * @param base the model that an adapter or config.json names
 * @param adapter whether it is a LoRA adapter
 */
public record ModelSource(
    Path root,
    TreeMap<String, Path> files,
    List<String> pickles,
    List<String> leftOut,
    Optional<String> modelClass,
    Optional<String> base,
    boolean adapter) {
  /** Files that Hugging Face's Trainer and DeepSpeed write so that a training can go on. */
  private static final Pattern STATE =
      Pattern.compile(
          "optimizer\\.(?:pt|bin)|scheduler\\.pt|scaler\\.pt|rng_state.*\\.pth|training_args\\.bin"
              + "|trainer_state\\.json|latest|zero_to_fp32\\.py");

  /** The copies of the run's records beside its checkpoints; a release has its own. */
  private static final Set<String> RECORDS = Set.of("manifest.json", "config.yaml", "logs.json");

  private static final Pattern INDEX = Pattern.compile(".*\\.(?:safetensors|bin)\\.index\\.json");

  /** A part of a model in several files: model-00001-of-00003.safetensors. */
  private static final Pattern SHARD =
      Pattern.compile("(.*-)(\\d{1,9})(-of-)(\\d{1,9})(\\.[a-z]+)");

  /** The endings of files that hold a model. checkpoints.sh has the same. */
  private static final Pattern WEIGHTS =
      Pattern.compile(
          ".*\\.(?:safetensors|bin|pt|pth|ckpt|distcp|gguf|onnx|h5|keras|msgpack|npz|pkl|nemo)");

  private static final int LONGEST_JSON = 64 << 20;

  /**
   * Reads a checkpoint and checks its files.
   *
   * @param checkpoint a folder or a file
   * @throws NexaException with {@link ErrorCode#MODEL_INVALID} if a release cannot hold it
   */
  public static ModelSource read(Path checkpoint) {
    Path[] at = {checkpoint};
    try {
      Path root = checkpoint.toRealPath();
      TreeMap<String, Path> files = new TreeMap<>(NamesOfFiles.ORDER);
      List<String> leftOut = new ArrayList<>();
      if (Files.isRegularFile(root)) {
        files.put(path(root.getFileName().toString()), root);
      } else {
        walk(root, files, leftOut, at);
      }
      if (files.isEmpty()) {
        throw ErrorCode.MODEL_INVALID.error(checkpoint + " holds no files");
      }
      List<String> pickles = new ArrayList<>();
      for (Map.Entry<String, Path> file : files.entrySet()) {
        at[0] = file.getValue();
        if (Pickles.is(file.getValue())) {
          pickles.add(file.getKey());
        }
        check(file.getKey(), file.getValue(), files);
      }
      requireModel(checkpoint, files.keySet());
      Optional<JsonObject> config = json(files, "config.json");
      Optional<JsonObject> adapter = json(files, "adapter_config.json");
      return new ModelSource(
          root,
          files,
          pickles,
          leftOut,
          adapter.flatMap(it -> text(it, "peft_type")).or(() -> config.flatMap(ModelSource::named)),
          adapter
              .flatMap(it -> text(it, "base_model_name_or_path"))
              .or(() -> config.flatMap(it -> text(it, "_name_or_path"))),
          adapter.isPresent());
    } catch (IOException failed) {
      throw DurableFiles.failure("read", at[0], failed);
    }
  }

  private static String path(String below) {
    return ReleaseFolder.MODEL + "/" + below;
  }

  private static void walk(Path root, Map<String, Path> files, List<String> leftOut, Path[] at)
      throws IOException {
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            boolean earlier =
                root.equals(folder.getParent())
                    && Checkpoints.isCheckpoint(folder.getFileName().toString());
            if (earlier) {
              leftOut.add(folder.getFileName().toString());
            }
            return earlier ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            at[0] = file;
            String below = root.relativize(file).toString();
            requireName(file, below);
            Path real = file;
            if (attributes.isSymbolicLink()) {
              real = target(file, root);
            } else if (!attributes.isRegularFile()) {
              throw ErrorCode.MODEL_INVALID.error(
                  shown(file) + " is a pipe, a socket or a device: a model holds files only");
            }
            if (isPacked(root.relativize(file))) {
              files.put(path(below), real);
            } else {
              leftOut.add(below);
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /**
   * Returns whether a release holds a file of a checkpoint: not of an earlier checkpoint, not the
   * training's state.
   *
   * @param below its path below the checkpoint
   */
  static boolean isPacked(Path below) {
    String name = below.getFileName().toString();
    boolean other =
        below.getNameCount() == 1
            ? RECORDS.contains(name)
            : Checkpoints.isCheckpoint(below.getName(0).toString());
    return !other && !STATE.matcher(name).matches();
  }

  /** A link may lead to a file of the same checkpoint, whose content is then copied. */
  private static Path target(Path link, Path root) {
    try {
      Path real = link.toRealPath();
      if (real.startsWith(root) && Files.isRegularFile(real, LinkOption.NOFOLLOW_LINKS)) {
        return real;
      }
      throw ErrorCode.MODEL_INVALID.error(
          "%s is a link to %s, which is not a file of the checkpoint: its content could change later"
              .formatted(shown(link), shown(real)),
          "replace the link by a copy of the file");
    } catch (IOException broken) {
      throw ErrorCode.MODEL_INVALID.error(
          shown(link) + " is a link that leads nowhere: " + DurableFiles.reason(broken),
          "remove the link, or replace it by a copy of the file");
    }
  }

  private static void requireName(Path file, String below) {
    boolean odd =
        below.chars().anyMatch(c -> c == '\uFFFD' || c == '\\' || Character.isISOControl(c));
    if (odd || !StandardCharsets.UTF_8.newEncoder().canEncode(below)) {
      throw ErrorCode.MODEL_INVALID.error(
          ("the name %s has a control character, '\\' or bytes that are not UTF-8:"
                  + " a release cannot hold it")
              .formatted(shown(file)),
          "rename the file");
    }
  }

  private static void requireModel(Path checkpoint, Set<String> paths) {
    if (paths.stream().noneMatch(path -> WEIGHTS.matcher(path).matches())) {
      throw ErrorCode.MODEL_INVALID.error(
          checkpoint + " has no file of a model, such as model.safetensors",
          "name the folder of the model: --checkpoint DIR");
    }
    for (String path : paths) {
      Matcher shard = SHARD.matcher(path);
      if (shard.matches()) {
        int width = shard.group(2).length();
        long count = Long.parseLong(shard.group(4));
        for (long number = 1; number <= count; number++) {
          String end = shard.group(3) + shard.group(4) + shard.group(5);
          String name = shard.group(1) + String.format("%0" + width + "d", number) + end;
          if (!paths.contains(name)) {
            String missing = VisibleText.line(name.substring(ReleaseFolder.MODEL.length() + 1));
            throw ErrorCode.MODEL_INVALID.error(
                "%s lacks %s, one of %s parts of the model".formatted(checkpoint, missing, count),
                "write the whole checkpoint again, or name another: --checkpoint DIR");
          }
        }
      }
    }
  }

  private static void check(String path, Path file, Map<String, Path> files) throws IOException {
    if (WEIGHTS.matcher(path).matches() && Files.size(file) == 0) {
      throw ErrorCode.MODEL_INVALID.error(shown(file) + " is empty");
    }
    if (Pickles.isHalfZip(file)) {
      throw ErrorCode.MODEL_INVALID.error(
          shown(file) + " is half a file: the directory at the end of its zip is missing");
    }
    if (path.endsWith(".safetensors")) {
      Optional<String> problem = Safetensors.problem(file);
      if (problem.isPresent()) {
        throw ErrorCode.MODEL_INVALID.error(
            shown(file) + " is not a whole safetensors file: " + problem.get());
      }
    } else if (INDEX.matcher(path).matches()) {
      String folder = path.substring(0, path.lastIndexOf('/') + 1);
      for (Object shard : weights(file).members().values()) {
        if (!(shard instanceof String name) || !files.containsKey(folder + name)) {
          throw ErrorCode.MODEL_INVALID.error(
              "%s names the shard '%s', which the checkpoint lacks"
                  .formatted(shown(file), VisibleText.line(String.valueOf(shard))),
              "write the whole checkpoint again, or name another: --checkpoint DIR");
        }
      }
    }
  }

  private static JsonObject weights(Path index) {
    try {
      return Json.parseObject(DurableFiles.readRegular(index, LONGEST_JSON)).object("weight_map");
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.MODEL_INVALID.error(
          shown(index) + " is no index of shards: " + broken.getMessage());
    }
  }

  private static Optional<JsonObject> json(Map<String, Path> files, String name) {
    Optional<Path> file = Optional.ofNullable(files.get(path(name)));
    try {
      return file.map(it -> Json.parseObject(DurableFiles.readRegular(it, LONGEST_JSON)));
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.MODEL_INVALID.error(
          shown(file.orElseThrow()) + " is not JSON: " + broken.getMessage());
    }
  }

  private static Optional<String> text(JsonObject json, String key) {
    return json.members().get(key) instanceof String text && !text.isEmpty()
        ? Optional.of(text)
        : Optional.empty();
  }

  private static Optional<String> named(JsonObject config) {
    return config.members().get("architectures") instanceof List<?> list
            && !list.isEmpty()
            && list.get(0) instanceof String name
        ? Optional.of(name)
        : text(config, "model_type");
  }

  private static String shown(Path file) {
    return VisibleText.line(file.toString());
  }

  /**
   * Checks that a safetensors file is whole, by its header. The file has eight bytes with the
   * header's length, the header in JSON, then the tensors' bytes without gaps up to its end. The
   * format has no checksum, so the values of the tensors are not checked.
   */
  public static final class Safetensors {
    /** The format's own limit, in bytes. */
    private static final long LONGEST_HEADER = 100_000_000;

    private static final int LENGTH_BYTES = 8;
    private static final String METADATA = "__metadata__";

    private Safetensors() {}

    /** A tensor's place in the data: from {@code begin} up to, not including, {@code end}. */
    private record Span(String name, long begin, long end) {}

    /**
     * Returns which rule of the format the file breaks; empty if it is whole.
     *
     * @throws IOException if the file cannot be read
     */
    public static Optional<String> problem(Path file) throws IOException {
      try (SeekableByteChannel in = Files.newByteChannel(file)) {
        long size = in.size();
        if (size < LENGTH_BYTES) {
          return Optional.of("it has " + size + " bytes, too few for a header");
        }
        long length = read(in, LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN).getLong();
        if (length < 0 || length > LONGEST_HEADER) {
          return Optional.of(
              "its header claims " + Long.toUnsignedString(length) + " bytes, more than 100000000");
        }
        if (length > size - LENGTH_BYTES) {
          return Optional.of(
              "its header has " + length + " bytes, but the file ends after " + size + " bytes");
        }
        ByteBuffer header = read(in, (int) length);
        if (length == 0 || header.get(0) != '{') {
          return Optional.of("its header does not begin with '{'");
        }
        String text;
        try {
          text = StandardCharsets.UTF_8.newDecoder().decode(header).toString();
        } catch (CharacterCodingException notText) {
          return Optional.of("its header is not UTF-8");
        }
        return header(text, size - LENGTH_BYTES - length);
      }
    }

    private static ByteBuffer read(SeekableByteChannel in, int length) throws IOException {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      while (bytes.hasRemaining()) {
        if (in.read(bytes) < 0) {
          throw new IOException("it became shorter while it was read");
        }
      }
      return bytes.flip();
    }

    /**
     * Checks a header.
     *
     * @param data the number of bytes behind it
     */
    static Optional<String> header(String text, long data) {
      try {
        // The header may be padded with spaces, which JSON allows at its end.
        JsonObject json = Json.parseObject(text);
        List<Span> spans = new ArrayList<>();
        for (Map.Entry<String, @Nullable Object> member : json.members().entrySet()) {
          if (member.getKey().equals(METADATA)) {
            JsonObject texts = json.object(METADATA);
            texts.members().keySet().forEach(texts::text);
          } else {
            spans.add(span(member.getKey(), json.object(member.getKey())));
          }
        }
        spans.sort(Comparator.comparingLong(Span::begin).thenComparingLong(Span::end));
        long at = 0;
        for (Span span : spans) {
          if (span.begin() != at) {
            return Optional.of(
                ("the tensor '%s' begins at byte %s of the data, not at %s, where the"
                        + " one before it ends")
                    .formatted(span.name(), span.begin(), at));
          }
          at = span.end();
        }
        return at == data
            ? Optional.empty()
            : Optional.of(
                "its header describes " + at + " bytes of data, but the file has " + data);
      } catch (IllegalArgumentException | ArithmeticException broken) {
        return Optional.of("its header is broken: " + broken.getMessage());
      }
    }

    /** Returns the bits of an element; 0 for a type that is not known. */
    private static int bits(String type) {
      return switch (type) {
        case "F4" -> 4;
        case "F6_E2M3", "F6_E3M2" -> 6;
        case "BOOL", "U8", "I8" -> 8;
        case "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ" -> 8;
        case "I16", "U16", "F16", "BF16" -> 16;
        case "I32", "U32", "F32" -> 32;
        case "C64", "F64", "I64", "U64" -> 64;
        default -> 0;
      };
    }

    private static Span span(String name, JsonObject tensor) {
      for (String key : tensor.members().keySet()) {
        Arguments.require(
            List.of("dtype", "shape", "data_offsets").contains(key),
            "the tensor '" + name + "' has a key '" + key + "'");
      }
      String type = tensor.text("dtype");
      int bits = bits(type);
      Arguments.require(bits != 0, "the tensor '" + name + "' has the type '" + type + "'");
      List<Long> offsets = numbers(tensor, "data_offsets");
      Arguments.require(
          offsets.size() == 2 && offsets.get(0) <= offsets.get(1),
          "the tensor '" + name + "' has no valid data_offsets");
      BigInteger wanted = BigInteger.valueOf(bits);
      for (long dimension : numbers(tensor, "shape")) {
        wanted = wanted.multiply(BigInteger.valueOf(dimension));
        Arguments.require(
            wanted.bitLength() <= 80, "the shape of the tensor '" + name + "' is too large");
      }
      long bytes = offsets.get(1) - offsets.get(0);
      if (!wanted.equals(BigInteger.valueOf(bytes).shiftLeft(3))) {
        throw new IllegalArgumentException(
            "the tensor '%s' has %s bytes, but its shape and type need %s"
                .formatted(name, bytes, wanted.shiftRight(3)));
      }
      return new Span(name, offsets.get(0), offsets.get(1));
    }

    private static List<Long> numbers(JsonObject tensor, String key) {
      if (!(tensor.members().get(key) instanceof List<?> list)) {
        throw new IllegalArgumentException("expected a list of numbers under \"" + key + "\"");
      }
      List<Long> numbers = new ArrayList<>();
      for (Object element : list) {
        if (!(element instanceof BigDecimal number) || number.signum() < 0) {
          throw new IllegalArgumentException("expected numbers of 0 or more under \"" + key + "\"");
        }
        numbers.add(number.longValueExact());
      }
      return numbers;
    }
  }
}
