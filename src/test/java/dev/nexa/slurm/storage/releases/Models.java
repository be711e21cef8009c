package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Small models, and drafts of releases of them. */
public final class Models {
  private Models() {}

  /** A safetensors file with this header, and data. */
  public static byte[] safetensors(String header, byte[] data) {
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(text.length).array());
    all.writeBytes(text);
    all.writeBytes(data);
    return all.toByteArray();
  }

  /** A whole safetensors file with two tensors. */
  public static byte[] safetensors() {
    return safetensors(
        "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],"
            + "\"data_offsets\":[0,24]},\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[24,32]}} ",
        new byte[32]);
  }

  /** A checkpoint as Hugging Face writes it. */
  public static Path llama(Path folder) throws IOException {
    Files.createDirectories(folder.resolve("tokenizer"));
    Files.write(folder.resolve("model.safetensors"), safetensors());
    Files.writeString(
        folder.resolve("config.json"),
        "{\"architectures\":[\"LlamaForCausalLM\"],\"_name_or_path\":\"org/base\"}\n");
    Files.writeString(folder.resolve("tokenizer/tokenizer.json"), "{}\n");
    return folder;
  }

  /** A draft of a release of the model in a folder. */
  public static ReleaseDraft draft(String name, Path model) {
    ReleaseFile facts =
        new ReleaseFile(
            new ReleaseFile.Origin(
                name,
                "train_20251101_143200",
                Instant.parse("2025-11-01T15:00:00Z"),
                new UnixUser("ada", Optional.of(1001L)),
                "0".repeat(64),
                Optional.empty()),
            new ReleaseFile.Model(
                "train", Optional.of("trl"), Optional.of("org/base"), Optional.empty(), false),
            List.of(new ReleaseFile.Dataset("science@v1", "1".repeat(64), Optional.of("MIT"))),
            List.of("data_20251101_100000"),
            Optional.empty(),
            Optional.empty(),
            Optional.of(
                new ReleaseFile.Gate(
                    "gate_20251101_160000",
                    ReleaseFile.Gate.Verdict.PASS,
                    "eval/gate.json",
                    new JsonObject().with("verdict", "pass").with("reason", "all is well"),
                    List.of())),
            ReleaseFile.UNKNOWN,
            List.of(),
            List.of());
    TreeMap<String, byte[]> written = new TreeMap<>(NamesOfFiles.ORDER);
    for (String path : List.of("README.md", "config.yaml", "eval/gate.json", "manifest.json")) {
      written.put(
          path, Json.pretty(new JsonObject().with("file", path)).getBytes(StandardCharsets.UTF_8));
    }
    return new ReleaseDraft(facts, ModelSource.read(model), written, List.of());
  }
}
