package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.approvals.ApprovalDirectory;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.records.signatures.GuardedPath;
import dev.nexa.slurm.records.signatures.RevokedKeys;
import dev.nexa.slurm.records.signatures.SshKeygen;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.releases.ReleaseContent;
import dev.nexa.slurm.storage.releases.ReleaseSignatures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The policy's section on approvals, with the folder of approvals and the trusted signers.
 *
 * @param mayChange whether this user can change the policy: never the administrator's
 */
public record PolicyApprovals(
    Policy.Approvals policy, ApprovalDirectory directory, Signers signers, boolean mayChange) {
  private static final int STICKY = 01000;

  /**
   * Reads the approvals section and its files.
   *
   * @throws NexaException if the policy names no approvers, if a file cannot be read, or if a
   *     submitter could change a file that the administrator's policy relies on
   */
  public static PolicyApprovals of(Context context, Policy policy) {
    Policy.Approvals approvals =
        policy
            .approvals()
            .orElseThrow(
                () ->
                    ErrorCode.POLICY_INCOMPLETE.error(
                        "the policy names nobody who may approve: it has no `approvals`",
                        "the owner of "
                            + policy.name()
                            + " can add it (`nexa-slurm explain docs/approvals.md`)"));
    Path root = context.root().toAbsolutePath().normalize();
    Path directory = root.resolve(approvals.directory());
    Path allowed = root.resolve(approvals.allowedSigners());
    Optional<Path> revoked = approvals.revokedKeys().map(root::resolve);
    boolean admins = policy.name().equals(ConfigReader.ADMIN_POLICY.toString());
    requireThere(context, allowed, "allowed_signers");
    revoked.ifPresent(file -> requireThere(context, file, "revoked_keys"));
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw ErrorCode.APPROVALS_UNUSABLE.error(
          place(context, "directory") + directory + " is a file",
          "write the path of a folder there");
    }
    if (admins) {
      requireGuarded(allowed, directory, revoked);
    }
    Signers signers =
        new Signers(
            AllowedSigners.parse(
                allowed.toString(), DurableFiles.read(allowed), AllowedSigners.zoneOfMachine()),
            revoked
                .map(file -> RevokedKeys.parse(file.toString(), DurableFiles.readBytes(file)))
                .orElse(RevokedKeys.NONE),
            revoked,
            new SshKeygen(context.environment()));
    return new PolicyApprovals(
        approvals,
        new ApprovalDirectory(directory, context.workspace().files()),
        signers,
        !admins && mayChange(root.resolve("configs/policy.yaml")));
  }

  /** Checks the signatures on a release: which of them count now. */
  public ReleaseSignatures signatures(ReleaseContent content) {
    return ReleaseSignatures.of(content, signers, policy.selfApproval(), Instant.now());
  }

  /** Returns the place of a key of the section in the policy, and the key, for a message. */
  private static String place(Context context, String key) {
    String whole = "approvals." + key;
    return context.configs().policySettings().stream()
            .filter(setting -> setting.key().equals(whole))
            .findFirst()
            .map(setting -> setting.from() + ": ")
            .orElse("")
        + whole
        + ": ";
  }

  private static void requireThere(Context context, Path file, String key) {
    if (Files.isDirectory(file)) {
      throw ErrorCode.APPROVALS_UNUSABLE.error(
          place(context, key) + file + " is a folder",
          "write the path of a file there, such as " + file.resolve(key));
    }
    if (!Files.isReadable(file)) {
      boolean there = Files.exists(file);
      throw ErrorCode.APPROVALS_UNUSABLE.error(
          "the policy's approvals.%s can't be read: %s%s"
              .formatted(key, file, there ? " is not readable for you" : " does not exist"),
          there
              ? Workspace.ownerOf(file) + " types: " + Advice.command("", "chmod", "a+r", file)
              : Workspace.ownerOf(DurableFiles.nearest(file))
                  + " writes it, readable for all (`nexa-slurm explain docs/approvals.md`)");
    }
  }

  /**
   * Checks the owners and modes of the guarded files: anyone who can change them could approve
   * their own runs.
   */
  private static void requireGuarded(Path allowed, Path directory, Optional<Path> revoked) {
    Set<Integer> trusted = new HashSet<>(Set.of(0));
    GuardedPath.owner(ConfigReader.ADMIN_POLICY).ifPresent(trusted::add);
    List<Path> guarded = new ArrayList<>(List.of(ConfigReader.ADMIN_POLICY, allowed));
    Path above = directory.resolveSibling("");
    if (!Files.exists(above)) {
      throw ErrorCode.APPROVALS_UNUSABLE.error(
          "there is no folder " + above + ", in which the approvals' folder lies",
          "root types: " + Advice.command("", "install", "-d", "-m", "755", above));
    }
    guarded.add(above);
    revoked.ifPresent(guarded::add);
    for (Path path : guarded) {
      Optional<String> problem = GuardedPath.problem(path, trusted);
      if (problem.isPresent()) {
        throw ErrorCode.APPROVALS_UNUSABLE.error(
            "approvals can't be trusted here: " + problem.get(),
            ("%s and each folder above it must belong to root or to the owner of %s, and"
                    + " nobody else may write there")
                .formatted(path, ConfigReader.ADMIN_POLICY));
      }
    }
  }

  /**
   * Returns whether this user can write the file, replace it, or create it together with the
   * folders that are missing above it.
   */
  static boolean mayChange(Path file) {
    if (Files.isWritable(file)) {
      return true;
    }
    Path folder = DurableFiles.nearest(file.resolveSibling(""));
    return Files.isWritable(folder) && (!Files.exists(file) || mayReplaceIn(folder));
  }

  /** In a sticky folder, only the owner of a file or of the folder can replace the file. */
  private static boolean mayReplaceIn(Path folder) {
    try {
      boolean sticky = ((Integer) Files.getAttribute(folder, "unix:mode") & STICKY) != 0;
      return !sticky || GuardedPath.owner(folder).equals(GuardedPath.owner(Path.of("/proc/self")));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException notUnix) {
      return true;
    }
  }

  /** Returns a warning if this user can change the policy; empty for everybody else. */
  public Optional<String> note() {
    return mayChange
        ? Optional.of(
            "This limit is set in the workspace, not by the admin: you can change it there.")
        : Optional.empty();
  }
}
