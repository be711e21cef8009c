package dev.nexa.slurm.command.workspace.doctor;

import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.advice;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.failed;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.ok;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.orOk;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.workspace.ShareWorkspace;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Checks of a workspace that a group of Unix users shares (docs/teams.md). */
final class TeamChecks {
  private static final int MOST_NAMED = 3;

  private TeamChecks() {}

  static List<CheckFinding> team(Context context) {
    Workspace workspace = context.workspace();
    Set<String> members = new TreeSet<>(workspace.unsharedMembers());
    if (!members.isEmpty()) {
      return lost(context, members);
    }
    if (context.missing().isPresent() || !ShareWorkspace.isTeams(workspace)) {
      return List.of(ok("the workspace is not shared with a group"));
    }
    Path runs = workspace.runs();
    String group = Access.group(runs);
    String affects = "who can submit here, and what members can do to each other's runs";
    // Some sites share with the system's group `users`.
    if (!Access.isTeams(runs) && !(group.matches("\\D.*") && Access.isMember(runs))) {
      String says = "the workspace belongs to the group %s, which is no team's".formatted(group);
      return List.of(failed(says, affects).with(Access.toTeam(workspace.root(), group)));
    }
    List<CheckFinding> findings = new ArrayList<>();
    if (!Access.isMember(runs) && !Files.isWritable(runs)) {
      String says = "the workspace belongs to the group %s, and you are not in it".formatted(group);
      findings.add(failed(says, affects).with(Access.toJoin(runs)));
    }
    Path top = workspace.root();
    if (!Access.group(top).equals(group)) {
      String says = top + " has another group than its runs, " + group;
      findings.add(failed(says, affects, Access.share(context)));
    }
    String owner = Workspace.ownerOf(top);
    if (owner.matches("\\d+")) {
      String find = Advice.command("", "find", top, "-uid", owner).toString();
      String says = "%s belongs to the user id %s, which has no account".formatted(top, owner);
      String who = "root types, with the new owner's name for NAME: ";
      Advice give = Advice.step(who + find + " -exec chown -h NAME {} +");
      findings.add(failed(says, affects, give));
      return findings;
    }
    if (!Workspace.ownerOf(runs).equals(owner)) {
      String says = "%s belongs to %s, who can remove what is others' in it, and %s to %s";
      says = says.formatted(runs, Workspace.ownerOf(runs), top, owner);
      findings.add(failed(says, affects, Access.type("chown -h " + owner, "root types it", runs)));
    }
    configs(context, top.resolve("configs"), owner).ifPresent(findings::add);
    if (Access.isMine(top)) { // a member's commands cannot read them: see `workspace`
      closed(top.resolve("configs"), group).ifPresent(findings::add);
    }
    Map<Path, Integer> wrong = ShareWorkspace.wrongModes(workspace);
    if (!wrong.isEmpty()) {
      List<Advice> remedies = new ArrayList<>(List.of(Access.share(context)));
      if (wrong.containsKey(runs)) {
        // Without its own mode, runs/ does not say that the workspace is shared.
        remedies.add(0, Advice.command("", "chmod", Integer.toOctalString(wrong.get(runs)), runs));
      }
      String modes =
          wrong.entrySet().stream()
              .limit(MOST_NAMED)
              .map(one -> one.getKey() + " has the mode " + mode(one))
              .collect(Collectors.joining("; "));
      String more = wrong.size() > MOST_NAMED ? "; and so on" : "";
      findings.add(failed(modes + more, affects).with(remedies));
    }
    writable(workspace, affects).ifPresent(findings::add);
    return orOk(findings, "the workspace is shared with the group " + group);
  }

  /** Returns the finding that a team's workspace has lost its modes, and what shares it again. */
  private static List<CheckFinding> lost(Context context, Set<String> members) {
    Workspace workspace = context.workspace();
    String says = "%s was shared, and its modes are lost: it has ledgers of %s";
    String group = Access.group(workspace.runs());
    boolean kept =
        Access.isTeams(workspace.runs()) && !Workspace.ownerOf(workspace.root()).equals(group);
    List<Advice> advice = new ArrayList<>();
    // With its modes, the workspace belongs to several users again.
    advice.add(kept ? Access.share(context) : Access.toShare(workspace.root()));
    for (String member : members) {
      Path[] its =
          DurableFiles.list(workspace.runs(), "*." + member + "{,.*}").stream()
              .filter(path -> !Workspace.ownerOf(path).equals(member))
              .toArray(Path[]::new);
      if (its.length > 0) {
        advice.add(Access.type("chown -hR " + member, "root types it", its));
      }
    }
    if (advice.size() > 1) {
      String runs = "root gives each run in runs/ to its submitter, as its journal says";
      advice.add(Advice.step(runs));
    }
    String affects = "who can submit here, and whose the records are";
    String who = String.join(", ", members);
    List<CheckFinding> findings = new ArrayList<>();
    findings.add(failed(says.formatted(workspace.root(), who), affects).with(advice));
    writable(workspace, affects).ifPresent(findings::add);
    return findings;
  }

  /**
   * Looks for what a member owns of the policy, the profiles and the prices, and so could change
   * for all. Configs of runs may be the members'.
   */
  private static Optional<CheckFinding> configs(Context context, Path folder, String owner) {
    Set<Path> theirs = rules(folder);
    HostChecks.RULES.stream().map(folder::resolve).filter(Files::isReadable).forEach(theirs::add);
    // Each command refuses a link of another user, and other folders hold configs of runs.
    theirs.removeIf(
        path ->
            List.of(owner, "root").contains(Workspace.ownerOf(path))
                || Files.isSymbolicLink(path)
                || (Files.isDirectory(path)
                    && !HostChecks.RULES.contains(folder.relativize(path).toString())));
    if (theirs.isEmpty()) {
      return Optional.empty();
    }
    Path first = theirs.iterator().next();
    String says = "%s belongs to %s, who can change it for all, and the workspace to %s";
    Advice give = Access.giveRule(context, theirs.toArray(Path[]::new));
    return Optional.of(
        failed(
            says.formatted(first, Workspace.ownerOf(first), owner),
            "the rules that are in force",
            give));
  }

  /** Returns what is in configs/ and its folders of rules for all. */
  private static Set<Path> rules(Path configs) {
    return HostChecks.RULES.stream()
        .map(configs::resolve)
        .filter(Files::isReadable)
        .flatMap(folder -> DurableFiles.list(folder, "*").stream())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Looks for a policy, profiles and prices that members cannot read. */
  private static Optional<CheckFinding> closed(Path folder, String group) {
    Set<Path> closed = rules(folder);
    // Other files in configs/ itself may be configs of runs.
    closed.removeIf(
        path ->
            Files.isDirectory(path)
                || (ShareWorkspace.mode(path) & (Access.group(path).equals(group) ? 044 : 04)) != 0
                || (folder.equals(path.getParent()) && !path.endsWith("policy.yaml")));
    if (closed.isEmpty()) {
      return Optional.empty();
    }
    Path first = closed.iterator().next();
    Path[] paths = closed.toArray(Path[]::new);
    Advice give = Access.type("chgrp -h " + group, "", paths);
    Advice open = Access.type("chmod g+r", "", paths);
    String says = "members cannot read " + first;
    return Optional.of(failed(says, "all commands of members", give, open));
  }

  /** Looks for records and folders of runs that others than their owner can change. */
  private static Optional<CheckFinding> writable(Workspace workspace, String affects) {
    List<Path> open = new ArrayList<>(DurableFiles.list(workspace.runs(), "{ledger-*,*_*}"));
    open.addAll(DurableFiles.list(workspace.runs().resolve("manifests"), "*"));
    open.removeIf(path -> Files.isSymbolicLink(path) || (ShareWorkspace.mode(path) & 022) == 0);
    if (open.isEmpty()) {
      return Optional.empty();
    }
    String says = "others than the owner can change " + open.get(0);
    String who = "root or the owner types it";
    Advice close =
        open.size() > MOST_NAMED
            ? closeAll(workspace.runs(), who)
            : Access.type("chmod -R go-w", who, open.toArray(Path[]::new));
    return Optional.of(
        failed(
            says + (open.size() == 1 ? "" : " and " + (open.size() - 1) + " more"),
            affects,
            close));
  }

  /** Returns the command that takes the right to write from others, as {@link #writable} looks. */
  private static Advice closeAll(Path runs, String who) {
    List<Object> words = new ArrayList<>(List.of("find", runs, "-mindepth", "1", "("));
    for (String name : List.of("ledger-*", "*_*", "manifests/*")) {
      words.addAll(List.of("-path", runs.resolve(name), "-o"));
    }
    words.set(words.size() - 1, ")");
    words.addAll(List.of("-perm", "/022", "!", "-type", "l", "-exec", "chmod", "go-w", "{}", "+"));
    return Advice.command(who, words.toArray());
  }

  private static String mode(Map.Entry<Path, Integer> wrong) {
    return "%o and not %o".formatted(ShareWorkspace.mode(wrong.getKey()), wrong.getValue());
  }
}
