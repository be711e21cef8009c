package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.program.OwnProgram;
import dev.nexa.slurm.base.program.ProgramFile;
import dev.nexa.slurm.job.config.run.SyncStage;
import dev.nexa.slurm.job.plan.NodeProgram;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** {@code backend: sync}: runs our own program, {@code nexa-slurm sync push}, in the job. */
public final class SyncBackend implements Backend {
  private static final String FILE = "sync.json";

  /** A million objects are compared in this heap. Digests need the second compiler. */
  private static final List<String> JVM = List.of("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC");

  @Override
  public String name() {
    return SyncStage.NAME;
  }

  @Override
  public Launch launch(Plan plan) {
    if (plan.payload().sync().isEmpty()) {
      throw plan.written().error("sync", "missing; backend sync needs it");
    }
    SyncStage sync = plan.payload().sync().get();
    RunnerFile settings = RunnerFile.text(FILE, Json.pretty(sync.settings(plan.site().storage())));
    return new Launch(Launch.TASK, command(plan, sync), List.of(settings));
  }

  private static List<String> command(Plan plan, SyncStage sync) {
    NodeProgram program = plan.payload().program().orElseThrow();
    List<String> command = new ArrayList<>();
    // Java can name files in any language only in a UTF-8 locale.
    command.addAll(List.of("env", "LC_ALL=C.UTF-8", program.java()));
    command.addAll(JVM);
    // Not -jar: aws.jar is then on the class path, and is not unpacked into the user's cache.
    command.addAll(List.of("-cp", classPath(program), OwnProgram.MAIN, "sync", "push"));
    command.addAll(List.of("--settings", "${run_dir}/runner/" + FILE));
    sync.threads().ifPresent(count -> command.addAll(List.of("--threads", "" + count)));
    sync.bandwidth().ifPresent(rate -> command.addAll(List.of("--bandwidth", rate)));
    // The last pattern that matches decides, so `include` comes last.
    sync.exclude().forEach(glob -> command.add("--exclude=" + glob));
    sync.include().forEach(glob -> command.add("--include=" + glob));
    command.add(sync.from());
    sync.to().ifPresent(command::add);
    return command;
  }

  private static String classPath(NodeProgram program) {
    return program.files().stream()
        .map(ProgramFile::name)
        .map(name -> "${nexa_program}/" + name)
        .collect(Collectors.joining(":"));
  }
}
