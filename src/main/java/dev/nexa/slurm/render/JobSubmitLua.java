package dev.nexa.slurm.render;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ConfigSource;
import dev.nexa.slurm.config.Policy;
import freemarker.cache.StringTemplateLoader;
import freemarker.template.Configuration;
import freemarker.template.TemplateException;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The policy's threshold as a job_submit.lua, by which Slurm itself holds raw sbatch jobs to it.
 */
public final class JobSubmitLua {
  /** How the file begins: what begins otherwise is somebody else's. */
  public static final String FIRST_WORDS = "-- nexa-slurm: ";

  private static final String TEMPLATE = "job_submit.lua.ftl";

  private JobSubmitLua() {}

  /**
   * The file's text. Only the jar's own template counts: an admin types this, and a workspace's may
   * be anybody's.
   *
   * @param gate the policy's {@code slurm}
   * @param approved where the admin's approvals lie
   */
  public static String render(
      ConfigSource source, Policy policy, Policy.Gate gate, ClusterProfile cluster, Path approved) {
    StringTemplateLoader templates = new StringTemplateLoader();
    templates.putTemplate(TEMPLATE, source.carried("templates/" + TEMPLATE).text());
    Configuration freemarker = Renderer.configuration(templates);
    freemarker.setRegisteredCustomOutputFormats(List.of(LuaFormat.INSTANCE));
    freemarker.setOutputFormat(LuaFormat.INSTANCE);
    StringWriter text = new StringWriter(32_768);
    try {
      freemarker.getTemplate(TEMPLATE).process(model(policy, gate, cluster, approved), text);
    } catch (IOException | TemplateException wrong) {
      throw new IllegalStateException("the jar's " + TEMPLATE + " does not render", wrong);
    }
    return text.toString();
  }

  private static Map<String, Object> model(
      Policy policy, Policy.Gate gate, ClusterProfile cluster, Path approved) {
    Map<String, Object> model = new LinkedHashMap<>();
    model.put("policy", policy.name());
    model.put("gpu_hours_over", gate.gpuHoursOver().toPlainString());
    model.put("approved_dir", approved.toString());
    model.put("exempt_users", gate.exemptUsers());
    model.put("exempt_partitions", gate.exemptPartitions());
    List<Map<String, Object>> partitions = new ArrayList<>();
    cluster
        .partitions()
        .forEach(
            (name, partition) -> {
              if (partition.gpusPerNode().isPresent()) {
                partitions.add(
                    Map.of("name", name, "gpus", partition.gpusPerNode().get().toString()));
              }
            });
    model.put("partitions", partitions);
    return model;
  }
}
