package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.AllowedSigners;
import dev.nexa.slurm.approve.ApprovalDirectory;
import dev.nexa.slurm.approve.GuardedPath;
import dev.nexa.slurm.approve.RevokedKeys;
import dev.nexa.slurm.approve.Signers;
import dev.nexa.slurm.approve.SshKeygen;
import dev.nexa.slurm.config.ConfigReader;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the policy says of approvals, read: where they lie, and whose signatures count.
 *
 * @param isAdmins whether the policy is the admin's, and so not the submitter's to change
 */
record PolicyApprovals(
    Policy.Approvals policy, ApprovalDirectory directory, Signers signers, boolean isAdmins) {

  /**
   * Reads it.
   *
   * @throws NexaException if the policy names nobody, or if what the admin's policy relies on could
   *     be changed by those whom it is to hold
   */
  static PolicyApprovals of(Nexa nexa, Policy policy) {
    Policy.Approvals approvals =
        policy
            .approvals()
            .orElseThrow(
                () ->
                    new NexaException(
                        ExitCode.USAGE,
                        "the policy names nobody who may approve: it has no `approvals`",
                        "whoever keeps " + policy.name() + " can add it (docs/approvals.md)"));
    Path root = nexa.root().toAbsolutePath().normalize();
    Path directory = root.resolve(approvals.directory());
    Path allowed = root.resolve(approvals.allowedSigners());
    Optional<Path> revoked = approvals.revokedKeys().map(root::resolve);
    boolean admins = policy.name().equals(ConfigReader.ADMIN_POLICY.toString());
    requireThere(allowed, "allowed_signers");
    revoked.ifPresent(file -> requireThere(file, "revoked_keys"));
    if (admins) {
      requireGuarded(allowed, directory, revoked);
    }
    Signers signers =
        new Signers(
            AllowedSigners.parse(
                allowed.toString(), DurableFiles.read(allowed), ZoneId.systemDefault()),
            revoked
                .map(file -> RevokedKeys.parse(file.toString(), DurableFiles.readBytes(file)))
                .orElse(RevokedKeys.NONE),
            revoked,
            new SshKeygen(nexa.environment()));
    return new PolicyApprovals(
        approvals, new ApprovalDirectory(directory, nexa.workspace().files()), signers, admins);
  }

  private static void requireThere(Path file, String key) {
    if (!Files.isReadable(file)) {
      throw new NexaException(
          ExitCode.NEEDS_APPROVAL,
          "the policy's approvals." + key + " can't be read: " + file,
          "whoever keeps the policy puts it there, readable for all");
    }
  }

  /** Who could change these could approve their own runs. */
  private static void requireGuarded(Path allowed, Path directory, Optional<Path> revoked) {
    Set<Integer> trusted = new HashSet<>();
    trusted.add(0);
    GuardedPath.owner(ConfigReader.ADMIN_POLICY).ifPresent(trusted::add);
    List<Path> guarded = new ArrayList<>(List.of(ConfigReader.ADMIN_POLICY, allowed));
    guarded.add(directory.getParent());
    revoked.ifPresent(guarded::add);
    for (Path path : guarded) {
      Optional<String> problem = GuardedPath.problem(path, trusted);
      if (problem.isPresent()) {
        throw new NexaException(
            ExitCode.NEEDS_APPROVAL,
            "approvals can't be trusted here: " + problem.get() + " (" + path + ")",
            "it must belong to root or to who owns " + ConfigReader.ADMIN_POLICY,
            "and be writable by nobody else: chmod go-w");
      }
    }
  }

  /** What a person should know of a policy that they can edit themselves; empty for the admin's. */
  Optional<String> note() {
    return isAdmins
        ? Optional.empty()
        : Optional.of("this policy is yours to edit: it guards against accidents only");
  }
}
