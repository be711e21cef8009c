package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.releases.Halts.Halt;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The durable tiers of a halt: the tiers of all profiles of the workspace. Each tier has its own
 * file of the halt. Other workspaces on the tier find that file.
 *
 * @param tiers the tiers' folders, each with the profiles that have it; the chosen tier comes first
 */
public record HaltedTiers(Map<Path, List<String>> tiers, DurableFiles files) {
  /**
   * A tier, and the result of setting a halt there.
   *
   * @param halt the halt in force; empty if it could not be set
   * @param absent whether the tier is not on this host, so that it was not written
   * @param failure why it could not be set; empty if it was, or if the tier is absent
   */
  public record Tried(
      Path tier,
      List<String> profiles,
      Optional<Halt> halt,
      boolean absent,
      Optional<RuntimeException> failure) {
    /** Returns why the halt could not be set. */
    public String why() {
      return absent
          ? "the folder does not exist on this host"
          : failure.map(failed -> String.valueOf(failed.getMessage())).orElse("");
    }
  }

  /**
   * Returns the durable tiers of all profiles of the workspace.
   *
   * @param durable the durable tier of the chosen profile
   */
  public static HaltedTiers of(Context context, String durable) {
    Map<Path, List<String>> tiers = new LinkedHashMap<>();
    tiers.put(real(durable), List.of());
    TierRoot.of(context.configs(), context.workspace().root(), Optional.empty()).stream()
        .filter(root -> root.tier() == Tier.DURABLE)
        .forEach(root -> tiers.put(root.path(), root.profiles()));
    return new HaltedTiers(tiers, context.workspace().files());
  }

  /** Returns the halts of a tier. */
  public Halts halts(Path tier) {
    return new Halts(RequireNoHalt.deploy(tier.toString()), files);
  }

  /** Returns these tiers without the chosen one. */
  public HaltedTiers others() {
    Map<Path, List<String>> others = new LinkedHashMap<>(tiers);
    others.remove(tiers.keySet().iterator().next());
    return new HaltedTiers(others, files);
  }

  /** Returns the chosen tier without the others. */
  public HaltedTiers chosen() {
    Map.Entry<Path, List<String>> first = tiers.entrySet().iterator().next();
    return new HaltedTiers(Map.of(first.getKey(), first.getValue()), files);
  }

  /**
   * Sets a halt on each tier that is on this host. A tier that fails does not keep the others from
   * it.
   *
   * @param unnamed sets the halt on the first tier, where it gets its id
   * @throws RuntimeException if it could be set on no tier
   */
  public List<Tried> set(Function<Halts, Halt> unnamed) {
    List<Tried> all = new ArrayList<>();
    Optional<Halt> named = Optional.empty();
    Optional<RuntimeException> first = Optional.empty();
    for (Map.Entry<Path, List<String>> tier : tiers.entrySet()) {
      Path path = tier.getKey();
      List<String> users = tier.getValue();
      if (named.isPresent() && !Files.isDirectory(path)) {
        // A folder that was made here would hide behind the tier when it is mounted.
        all.add(new Tried(path, users, Optional.empty(), true, Optional.empty()));
        continue;
      }
      try {
        Halts halts = halts(path);
        Halt halt = named.isPresent() ? halts.put(named.get()) : unnamed.apply(halts);
        named = named.or(() -> Optional.of(halt));
        all.add(new Tried(path, users, Optional.of(halt), false, Optional.empty()));
      } catch (RuntimeException failed) {
        first = first.or(() -> Optional.of(failed));
        all.add(new Tried(path, users, Optional.empty(), false, Optional.of(failed)));
      }
    }
    if (named.isEmpty() && first.isPresent()) {
      throw first.get();
    }
    return all;
  }

  /** Sets the halt of another tier on these tiers, too. */
  public List<Tried> put(Halt halt) {
    Map<Path, List<String>> here = new LinkedHashMap<>(tiers);
    here.keySet().removeIf(tier -> !Files.isDirectory(tier));
    return here.isEmpty() ? List.of() : new HaltedTiers(here, files).set(halts -> halts.put(halt));
  }

  /** Returns the notification of a halt that was set. */
  public static Notice notice(Halt halt) {
    String what = halt.pipeline().map(name -> "the pipeline " + name).orElse("every release");
    List<String> lines = new ArrayList<>();
    if (!halt.reason().isEmpty()) {
      lines.add("reason: " + halt.reason());
    }
    halt.run().ifPresent(run -> lines.add("set by the failed gate of " + run));
    lines.add("nexa-slurm unhalt " + halt.id());
    return Notice.of(
            NoticeKind.HALTED,
            halt.id(),
            halt.run(),
            halt.id() + " by " + halt.by() + " stops " + what,
            lines)
        .with("halt_id", halt.id())
        .with("reason", halt.reason());
  }

  private static Path real(String durable) {
    Path path = Path.of(durable).toAbsolutePath().normalize();
    return DurableFiles.attempt(
        "read", path, () -> Files.isDirectory(path) ? path.toRealPath() : path);
  }
}
