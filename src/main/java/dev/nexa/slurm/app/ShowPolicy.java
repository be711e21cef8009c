package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ConfigReader;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.config.Setting;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.Table;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** {@code policy show}: the policy in force, and where each of its values is from. */
public final class ShowPolicy {
  private static final String OWN = "configs/policy.yaml";

  private final Nexa nexa;

  public ShowPolicy(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What is in force.
   *
   * @param file the one that decides
   * @param ignored files that would, were it not for that one
   */
  public record Shown(String file, List<String> ignored, List<Setting> settings) {

    /** The document that {@code --json} prints. */
    public JsonObject toJson() {
      List<JsonObject> values = new ArrayList<>();
      for (Setting setting : settings) {
        values.add(
            new JsonObject()
                .with("key", setting.key())
                .with("value", setting.value())
                .with("from", setting.from()));
      }
      return new JsonObject()
          .with("schema_version", 1)
          .with("file", file)
          .with("ignored", ignored)
          .with("settings", values);
    }

    /** The same for people. */
    public String text() {
      Table table = new Table("key", "value", "from");
      for (Setting setting : settings) {
        table.row(setting.key(), setting.value(), setting.from());
      }
      StringBuilder text = new StringBuilder("policy: " + file + "\n");
      for (String other : ignored) {
        text.append("ignored: ").append(other).append('\n');
      }
      return text.append('\n').append(table).toString();
    }
  }

  public Shown show() {
    Policy policy = nexa.configs().policy();
    List<String> ignored = new ArrayList<>();
    if (Files.isRegularFile(ConfigReader.ADMIN_POLICY) && nexa.source().isOwn(OWN)) {
      ignored.add(nexa.root().resolve(OWN) + " (" + ConfigReader.ADMIN_POLICY + " wins)");
    }
    if (!policy.name().startsWith("jar:")) {
      ignored.add("jar:" + OWN + " (a file on disk wins)");
    }
    return new Shown(policy.name(), ignored, nexa.configs().policySettings());
  }
}
