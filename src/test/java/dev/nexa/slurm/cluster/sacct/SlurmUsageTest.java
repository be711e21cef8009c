package dev.nexa.slurm.cluster.sacct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.command.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** On a real Slurm: what accounting says now, and what two dumps and its JSON say of it. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Execution(ExecutionMode.CONCURRENT)
class SlurmUsageTest {
  private static final String FIELDS =
      "JobID,JobIDRaw,Cluster,JobName,User,Account,State,ExitCode,Submit,Start,End,ElapsedRaw,"
          + "Suspended,AllocCPUS,TotalCPU,MaxRSS,NTasks,ReqTRES,AllocTRES,TRESUsageInTot,"
          + "ConsumedEnergyRaw,NodeList";
  private static final String REORDERED =
      "State,AllocTRES,JobName,ReqTRES,End,Start,NTasks,ElapsedRaw,ConsumedEnergyRaw,User,Cluster,"
          + "MaxRSS,Suspended,Account,TRESUsageInTot,NodeList,Submit,TotalCPU,AllocCPUS,JobIDRaw,"
          + "ExitCode,JobID";

  @TempDir Path folder;

  @Test
  void liveAndSavedAgreeOnARequeueAnArrayAndSteps() throws Exception {
    String requeued =
        submit("usage|requeued", "--gpus=h100:2", "[ $SLURM_RESTART_COUNT ] || sleep 300");
    String array = submit("usage array", "--array=0-2%2", "sleep 1");
    String steps = submit("usage\nsteps", "--ntasks=2", "srun -n1 true; srun -n2 sleep 1");
    await(requeued, "RUNNING");
    run("scontrol", "requeue", requeued);
    // Changed while it still completes, its new record is named "allocation" (22.05.8).
    while (!run("squeue", "--noheader", "--format=%T", "--jobs=" + requeued).contains("PENDING")) {
      Thread.sleep(500);
    }
    Thread.sleep(2000);
    for (String job : List.of(requeued, array, steps)) {
      // A requeued job would wait two minutes; an ended one can't be changed.
      for (int i = 0; i < 240 && !squeue(job).isBlank(); i++) {
        Thread.sleep(500);
        run("scontrol", "update", "JobId=" + job, "StartTime=now");
      }
    }
    String jobs = requeued + "," + array + "," + steps;
    await(steps, "COMPLETED");
    Thread.sleep(2000);

    List<String> live = usage(requeued, array, steps);
    Path table = save("table.txt", "-D", "-P", "--noconvert", "--format=" + FIELDS, "-j", jobs);
    Path other =
        save("other.txt", "-D", "-p", "--delimiter=~~", "--format=" + REORDERED, "-j", jobs);
    Path json = save("jobs.json", "-D", "--json", "-j", jobs);

    assertThat(live).hasSize(5);
    assertThat(usage("--from", table.toString())).isEqualTo(live);
    assertThat(usage("--from", other.toString())).isEqualTo(live);
    List<String> saved = usage("--from", json.toString());
    assertThat(withoutCpuTime(saved)).isEqualTo(withoutCpuTime(live));
    for (int i = 0; i < live.size(); i++) {
      // The table of 24.11 has each row's milliseconds cut; the JSON has microseconds.
      assertThat(cpuSeconds(saved.get(i))).isCloseTo(cpuSeconds(live.get(i)), within(0.005));
    }
    JsonObject first = Json.parseObject(live.get(0));
    assertThat(first.text("name")).isEqualTo("usage|requeued");
    assertThat(first.objects("attempts"))
        .extracting(attempt -> attempt.text("state"))
        .containsExactly("REQUEUED", "COMPLETED");
    assertThat(first.objects("attempts").get(0).object("gpus").number("h100")).isEqualTo(2);
  }

  private static List<String> withoutCpuTime(List<String> jobs) {
    return jobs.stream()
        .map(job -> job.replaceAll("\"cpu_(used_seconds|efficiency)\":[^,]+", ""))
        .toList();
  }

  private static double cpuSeconds(String job) {
    return Json.parseObject(job).decimal("cpu_used_seconds").doubleValue();
  }

  private List<String> usage(String... arguments) {
    List<String> line = new ArrayList<>(List.of("usage", "--json"));
    line.addAll(List.of(arguments));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        Main.run(
            line.toArray(String[]::new),
            System.getenv(),
            new PrintWriter(out, true),
            new PrintWriter(err, true));
    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    return Json.parseObject(out.toString()).objects("jobs").stream().map(Json::compact).toList();
  }

  private String submit(String name, String option, String shell) throws IOException {
    return run(
            "sbatch",
            "--parsable",
            "--requeue",
            "--job-name=" + name,
            "--mem=50M",
            "--time=5",
            "--output=/dev/null",
            option,
            "--wrap=" + shell)
        .strip();
  }

  private void await(String job, String state) throws Exception {
    for (int i = 0; i < 120; i++) {
      if (run("sacct", "-n", "-X", "-P", "-j", job, "--format=State").strip().equals(state)) {
        return;
      }
      Thread.sleep(500);
    }
    throw new AssertionError(job + " is not " + state);
  }

  private String squeue(String job) throws IOException {
    return run("squeue", "--noheader", "--jobs=" + job);
  }

  private Path save(String name, String... arguments) throws IOException {
    List<String> argv = new ArrayList<>(List.of("sacct"));
    argv.addAll(List.of(arguments));
    return Files.writeString(folder.resolve(name), run(argv.toArray(String[]::new)));
  }

  private String run(String... argv) throws IOException {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("SLURM_BITSTR_LEN", "0");
    CommandResult result =
        new CommandRunner()
            .run(new Command(List.of(argv), environment, folder, Duration.ofMinutes(1)));
    return result.out();
  }
}
