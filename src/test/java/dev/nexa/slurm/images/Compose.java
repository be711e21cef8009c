package dev.nexa.slurm.images;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLFactory;

/** The file that publishes the images, held against the seeds' tags, mounts and shared memory. */
final class Compose {
  private static final YAMLFactory FACTORY =
      YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
  private static final String REGISTRY = "${REGISTRY:-ghcr.io/nexa}/";
  private static final List<String> MOUNTS =
      List.of(
          "${HOME}/.cache/huggingface:/home/runner/.cache/huggingface",
          "${NVME:-/mnt/nvme}:/mnt/nvme",
          "${WORK:-..}:/workspace/nexa_compute");

  /** Each scalar by where it is, such as {@code /services/nexa_light/build/tags/0}. */
  private final Map<String, String> scalars = new TreeMap<>();

  Compose(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token.isScalarValue()) {
          scalars.put(parser.streamReadContext().pathAsPointer().toString(), parser.getString());
        }
      }
    }
  }

  Set<String> services() {
    Set<String> services = new TreeSet<>();
    for (String path : scalars.keySet()) {
      if (path.startsWith("/services/")) {
        services.add(path.split("/", 4)[2]);
      }
    }
    return services;
  }

  /** The Dockerfile of a service, from the root of the repository. */
  String dockerfile(String service) {
    return one(service, "build/dockerfile");
  }

  /**
   * What is wrong with a service; nothing, if it is as the seeds say.
   *
   * @param variant the tag that tells CUDA, Python and torch
   * @param sharedMemory such as 16g
   */
  List<String> faults(String service, String variant, String sharedMemory) {
    List<String> faults = new ArrayList<>();
    expect(faults, service, "image", one(service, "image"), REGISTRY + service + ":" + variant);
    expect(faults, service, "build/context", one(service, "build/context"), "..");
    expect(
        faults,
        service,
        "build/tags",
        list(service, "build/tags"),
        List.of(
            REGISTRY + service + ":latest",
            REGISTRY + service + ":${DATE:?export DATE=YYYYMMDD first}"));
    expect(
        faults, service, "shm_size", one(service, "shm_size"), "${SHM_SIZE:-" + sharedMemory + "}");
    expect(faults, service, "volumes", list(service, "volumes"), MOUNTS);
    expect(faults, service, "env_file", one(service, "env_file/0/path"), "../.env");
    expect(faults, service, "gpus", one(service, "gpus"), "all");
    return faults;
  }

  private static void expect(
      List<String> faults, String service, String key, Object is, Object should) {
    if (!is.equals(should)) {
      faults.add(service + "/" + key + " is " + is + ", expected " + should);
    }
  }

  private String one(String service, String key) {
    return scalars.getOrDefault("/services/" + service + "/" + key, "missing");
  }

  private List<String> list(String service, String key) {
    List<String> values = new ArrayList<>();
    for (int i = 0; !one(service, key + "/" + i).equals("missing"); i++) {
      values.add(one(service, key + "/" + i));
    }
    return values;
  }
}
