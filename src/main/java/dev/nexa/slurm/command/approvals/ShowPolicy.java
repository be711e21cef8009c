package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.Policy;
import dev.nexa.slurm.job.config.yaml.Setting;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** Implements {@code policy show}: the policy in force and the source of each of its values. */
public final class ShowPolicy {
  private static final String OWN = "configs/policy.yaml";

  private static final Columns<Setting> SETTINGS =
      new Columns<Setting>()
          .text("key", Setting::key)
          .as("key")
          .text("value", Setting::value)
          .as("value")
          .text("from", Setting::from)
          .as("from");

  private final Context context;

  public ShowPolicy(Context context) {
    this.context = context;
  }

  /**
   * The policy in force.
   *
   * @param file the file in force
   * @param ignored policy files that are not used, because {@code file} takes precedence
   */
  public record Shown(String file, List<String> ignored, List<Setting> settings) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      return JsonObject.ofVersion(1)
          .with("file", file)
          .with("ignored", ignored)
          .with("settings", SETTINGS.of(settings).json());
    }

    /** Returns the policy as text for users. */
    public String text() {
      StringBuilder text = new StringBuilder("policy: " + file + "\n");
      for (String other : ignored) {
        text.append("ignored: ").append(other).append('\n');
      }
      return text.append('\n').append(SETTINGS.of(settings).table()).toString();
    }
  }

  /** Returns the policy in force. */
  public Shown show() {
    Policy policy = context.configs().policy();
    List<String> ignored = new ArrayList<>();
    if (Files.isRegularFile(ConfigReader.ADMIN_POLICY) && context.source().isOwn(OWN)) {
      ignored.add(context.root().resolve(OWN) + " (" + ConfigReader.ADMIN_POLICY + " wins)");
    }
    if (!policy.name().startsWith("jar:")) {
      ignored.add("jar:" + OWN + " (a file on disk wins)");
    }
    return new Shown(policy.name(), ignored, context.configs().policySettings());
  }
}
