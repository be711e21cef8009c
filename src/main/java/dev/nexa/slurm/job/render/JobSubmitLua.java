package dev.nexa.slurm.job.render;

import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
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
 * Renders the policy as a job_submit.lua. With this file, Slurm itself applies the policy to raw
 * sbatch jobs.
 */
public final class JobSubmitLua {
  /** The first words of the file. A job_submit.lua with other first words is not nexa-slurm's. */
  public static final String FIRST_WORDS = "-- nexa-slurm: ";

  private static final String TEMPLATE = "job_submit.lua.ftl";

  private JobSubmitLua() {}

  /**
   * Returns the file's text. Uses only the jar's template, because an admin installs the file and
   * the workspace may belong to anybody.
   *
   * @param gate the policy's key {@code slurm}
   * @param approved the folder of the admin's approvals
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
    model.put("observes", gate.observes());
    model.put("exempt_users", gate.exemptUsers());
    model.put("exempt_partitions", gate.exemptPartitions());
    List<Map<String, Object>> partitions = new ArrayList<>();
    cluster
        .partitions()
        .forEach(
            (name, partition) ->
                partition
                    .gpusPerNode()
                    .ifPresent(
                        gpus -> partitions.add(Map.of("name", name, "gpus", gpus.toString()))));
    model.put("partitions", partitions);
    return model;
  }
}
