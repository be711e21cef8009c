package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.plan.PlanFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The nodes that new submissions of a workspace leave out, because they failed or did not pass a
 * check in the last week. Each has a file in {@code .nexa/bad_nodes/CLUSTER}, written at that time.
 * A newer file NODE.ok beside it takes it back.
 *
 * @param folder the cluster's folder; it need not exist
 */
public record BadNodes(Path folder) {
  private static final Duration REMEMBERED = Duration.ofDays(7);
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,252}";
  private static final String TAKEN_BACK = ".ok";

  /**
   * A node that is left out.
   *
   * @param why what it did, one line
   */
  public record BadNode(String name, Instant when, String why) {}

  /** Remembers a node. Does nothing if it is known to have failed at that time or later. */
  public void remember(String node, String why, Instant when) {
    Path file = folder.resolve(node);
    boolean old = when.plus(REMEMBERED).isBefore(Instant.now());
    if (!node.matches(NAME) || node.endsWith(TAKEN_BACK) || old || !written(file).isBefore(when)) {
      return;
    }
    DurableFiles files = DurableFiles.onDisk();
    files.directories(folder);
    files.replace(file, why + "\n");
    DurableFiles.attempt("write", file, () -> Files.setLastModifiedTime(file, FileTime.from(when)));
  }

  private static Instant written(Path file) {
    return Files.exists(file) ? DurableFiles.written(file) : Instant.MIN;
  }

  /** Forgets a node that was well at that time. Does nothing if it failed later. */
  public void forget(String node, Instant when) {
    Path file = folder.resolve(node);
    if (node.matches(NAME) && Files.exists(file) && !written(file).isAfter(when)) {
      DurableFiles.onDisk().replace(folder.resolve(node + TAKEN_BACK), "");
    }
  }

  /** Returns the nodes that failed in the last week, the newest first. */
  public List<BadNode> known(Instant now) {
    List<BadNode> nodes = new ArrayList<>();
    for (Path file : DurableFiles.list(folder, "*")) {
      String name = file.getFileName().toString();
      if (!name.matches(NAME) || name.endsWith(TAKEN_BACK)) {
        continue;
      }
      try {
        Instant when = DurableFiles.written(file);
        boolean back = !written(folder.resolve(name + TAKEN_BACK)).isBefore(when);
        if (!back && when.plus(REMEMBERED).isAfter(now)) {
          String why = DurableFiles.readRegular(file, 1000).strip();
          nodes.add(new BadNode(name, when, why));
        }
      } catch (UncheckedIOException | NexaException unreadable) {
        // It is another user's file of another kind, and names no node.
      }
    }
    nodes.sort((one, other) -> other.when().compareTo(one.when()));
    return nodes;
  }

  /**
   * Returns the nodes that a submission leaves out: a tenth of the partition's nodes at most, but
   * one at least, and never a node that the job needs; all for {@code exclude: bad}. None for a job
   * that names its nodes.
   */
  public List<BadNode> leftOut(PlanFile plan, Scheduler scheduler, Instant now) {
    List<BadNode> known = known(now);
    if (known.isEmpty() || plan.option(ResourceOption.NODELIST).isPresent()) {
      return List.of();
    }
    String asked = plan.option(ResourceOption.EXCLUDE).orElse("");
    boolean everyOne = asked.equals(ResourceOption.BAD);
    List<String> without = asked.isEmpty() || everyOne ? List.of() : HostList.names(asked);
    known.removeIf(node -> without.contains(node.name()));
    int all = scheduler.nodeCount(plan.option(ResourceOption.PARTITION).orElse(""));
    int most =
        everyOne
            ? known.size()
            : Math.min(Math.max(1, all / 10), all - without.size() - plan.nodes());
    return known.subList(0, Math.max(0, Math.min(most, known.size())));
  }

  /** Returns sbatch's {@code --exclude} for a submission; empty if the script's own applies. */
  public static String exclude(Path nodes, PlanFile plan, Scheduler scheduler) {
    BadNodes bad = new BadNodes(nodes.resolve(plan.cluster()));
    StringBuilder names = new StringBuilder();
    for (BadNode node : bad.leftOut(plan, scheduler, Instant.now())) {
      names.append(names.isEmpty() ? "" : ",").append(node.name());
    }
    Optional<String> own =
        plan.option(ResourceOption.EXCLUDE).filter(list -> !list.equals(ResourceOption.BAD));
    return names.isEmpty() || own.isEmpty() ? names.toString() : own.get() + "," + names;
  }

  /** Returns a note for each node that a submission leaves out, and how to use it again. */
  public static List<String> notes(Path nodes, PlanFile plan, Scheduler scheduler) {
    BadNodes bad = new BadNodes(nodes.resolve(plan.cluster()));
    List<String> notes = new ArrayList<>();
    for (BadNode node : bad.leftOut(plan, scheduler, Instant.now())) {
      notes.add(
          "note: without node %s: %s at %s; to use it again, type `touch %s`"
              .formatted(
                  node.name(),
                  VisibleText.line(node.why()),
                  node.when().truncatedTo(ChronoUnit.SECONDS),
                  bad.folder().resolve(node.name() + TAKEN_BACK)));
    }
    return notes;
  }
}
