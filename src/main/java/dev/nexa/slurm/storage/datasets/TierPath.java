package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A path on the durable or the shared tier, after all links are resolved.
 *
 * @param written the path as the registry holds it, such as <code>${durable}/datasets/a</code>
 * @param real the path on this machine
 */
public record TierPath(String written, Path real) {
  /**
   * Resolves what a person typed.
   *
   * @param typed an absolute path, or one relative to {@code here}, or one that begins with <code>
   *     ${durable}</code> or <code>${shared}</code>
   * @throws NexaException if there is no such file, or if it lies on neither tier
   */
  public static TierPath of(String typed, Path here, Storage tiers) {
    Path real;
    try {
      real = here.resolve(tiers.written(typed)).toRealPath();
    } catch (NoSuchFileException missing) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no file or folder " + VisibleText.line(typed),
          missing,
          Advice.command("shows what is there", "ls", tiers.durable() + "/datasets"));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", here.resolve(typed), failed);
    }
    for (String tier : List.of("durable", "shared")) {
      Path root = Path.of(tier.equals("durable") ? tiers.durable() : tiers.shared());
      try {
        if (!Files.isDirectory(root)) {
          continue;
        }
        Path realRoot = root.toRealPath();
        if (realRoot.startsWith(real)) {
          String holds = real.equals(realRoot) ? "is" : "contains";
          throw ErrorCode.FILE_OUTSIDE_FOLDER.error(
              "%s %s the %s tier %s; name a file or folder below the tier"
                  .formatted(VisibleText.line(typed), holds, tier, root),
              Advice.command("shows what is there", "ls", root));
        }
        if (real.startsWith(realRoot)) {
          return new TierPath("${" + tier + "}/" + realRoot.relativize(real), real);
        }
      } catch (IOException failed) {
        throw DurableFiles.failure("read", root, failed);
      }
    }
    Path datasets = Path.of(tiers.durable(), "datasets");
    List<Advice> advice = new ArrayList<>();
    if (!Files.isDirectory(datasets)) {
      advice.add(Advice.command("makes a folder for it", "mkdir", "-p", datasets));
    }
    advice.add(Advice.command("copies it there", "cp", "-a", real, datasets + "/"));
    advice.add(Advice.instead(typed, datasets.resolve(real.getFileName()).toString()));
    advice.add(Advice.step("or name the cluster profile with other tiers: --cluster NAME"));
    String link =
        typed.equals(real.toString())
            ? ""
            : " is %s, which".formatted(VisibleText.line(real.toString()));
    String where = VisibleText.line(typed) + link;
    throw ErrorCode.FILE_OUTSIDE_FOLDER.error(
        "%s is neither below the durable tier %s nor below the shared tier %s"
            .formatted(where, tiers.durable(), tiers.shared()),
        advice);
  }
}
