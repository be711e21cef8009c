package dev.nexa.slurm.command.approvals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random commands of a user, as lines of bash: one job each, named fN, that is submitted in any of
 * Slurm's ways, changed a few times while it is held, and released. Values lie around the limits,
 * in every form that Slurm reads.
 *
 * <p>Each function says on stdout what became of its commands: {@code N|submit|STATUS|ID|STDERR},
 * {@code N|update|STATUS||STDERR}.
 */
final class PolicyFuzz {
  /** Above so many GPU-hours an approval is needed. */
  static final int GPU_HOURS_OVER = 8;

  private static final int[] GPUS = {
    1, 1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 9, 12, 16, 17, 32, 33, 64, 65
  };
  private static final int[] SIZES = {1, 1, 1, 2, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128};

  private final Random random;

  PolicyFuzz(long seed) {
    random = new Random(seed);
  }

  // What any user may type

  /** A job that may be anything. */
  String any(int number) {
    String name = "f" + number;
    int how = random.nextInt(100);
    if (how < 14) {
      return function(
          number, "$RAW submit name=" + name + held() + rawFields(1 + random.nextInt(6)), "");
    }
    if (how < 20) {
      // They wait for their allocation, in the background.
      String command = one("srun", "salloc");
      return "f"
          + number
          + "() {\n("
          + environment(command.equals("srun") ? "SLURM" : "SALLOC")
          + "timeout -k 1 4 "
          + command
          + " --job-name="
          + name
          + options(random.nextInt(3))
          + " true) </dev/null >/dev/null 2>&1 &\n}\n";
    }
    boolean het = how < 26;
    StringBuilder command = new StringBuilder(environment("SBATCH"));
    command.append("sbatch --parsable --output=/dev/null");
    boolean hold = random.nextInt(10) > 0;
    if (hold) {
      command.append(" --hold");
    }
    command.append(" --job-name=").append(name).append(options(random.nextInt(4)));
    if (het) {
      for (int part = random.nextInt(3); part >= 0; part--) {
        command.append(" : --job-name=").append(name).append(options(random.nextInt(3)));
      }
    }
    StringBuilder script = new StringBuilder("#!/bin/bash\n");
    for (int line = random.nextInt(6) / 4; line > 0; line--) {
      script.append("#SBATCH").append(option(random.nextBoolean()).replace('\'', '"')).append('\n');
    }
    return function(number, command.toString(), script + "exit\n");
  }

  private String held() {
    return random.nextInt(8) > 0 ? " priority=0" : "";
  }

  private String function(int number, String submit, String script) {
    StringBuilder text = new StringBuilder("f" + number + "() {\n");
    text.append("id=$(").append(submit).append(" 2>$E");
    text.append(script.isEmpty() ? "\n)" : " <<'EOF'\n" + script + "EOF\n)");
    text.append("\nsay ").append(number).append(" submit $? \"${id%%;*}\"; id=${id%%;*}\n");
    text.append("[[ $id =~ ^[0-9]+$ ]] || return\n");
    for (int i = random.nextInt(5); i > 0; i--) {
      text.append(update()).append(" >/dev/null 2>$E; say ").append(number).append(" update $?\n");
    }
    text.append("scontrol release $id >/dev/null 2>&1\n");
    if (random.nextInt(6) == 0) {
      text.append(update()).append(" >/dev/null 2>$E; say ").append(number).append(" update $?\n");
    }
    return text.append("}\n").toString();
  }

  /** Mostly one way to ask for GPUs and a few sizes, which Slurm takes; else whatever comes. */
  private String options(int count) {
    StringBuilder text = new StringBuilder();
    boolean sound = random.nextInt(4) > 0;
    if (sound) {
      text.append(random.nextInt(5) > 0 ? quoted("--time", time()) : "");
      int gpus = oneOf(new int[] {1, 1, 2, 2, 3, 4, 8});
      int nodes = 1 + random.nextInt(3);
      int tasks = oneOf(new int[] {1, 2, 3, 4, 8});
      String each = one("", "", "", "+", "0", " ") + gpus;
      String typed = one("", "", "", "h100:", "a100:") + each;
      text.append(
          switch (random.nextInt(9)) {
            case 0 -> quoted("--gpus", typed);
            case 1 -> quoted("--gres", "gpu:" + typed);
            case 2 -> quoted("--gpus-per-node", typed) + quoted("--nodes", "" + nodes);
            case 3 -> quoted("--gres", "gpu:" + typed) + quoted("--ntasks", "" + tasks);
            case 4 -> quoted("--gpus-per-task", typed) + quoted("--ntasks", "" + tasks);
            case 5 ->
                quoted("--ntasks-per-gpu", "" + tasks) + quoted("--ntasks", "" + tasks * nodes);
            case 6 ->
                quoted("--ntasks-per-gpu", "" + tasks)
                    + one(quoted("--gpus", each), quoted("--gpus-per-node", each));
            case 7 ->
                quoted("--gpus-per-socket", typed) + quoted("--sockets-per-node", one("1", "2"));
            default -> " --exclusive";
          });
    }
    for (int i = 0; i < count; i++) {
      text.append(option(sound));
    }
    return text.toString();
  }

  private String option(boolean sound) {
    return switch (sound
        ? one(
            "0", "12", "12", "14", "14", "16", "16", "17", "17", "18", "20", "20", "21", "22", "23",
            "24", "25", "26", "26", "27", "28", "29")
        : "" + random.nextInt(30)) {
      case "0", "1", "2", "3" -> quoted("--time", time());
      case "4", "5" -> quoted("--gpus", gpus());
      case "6" -> quoted("--gpus-per-node", gpus());
      case "7", "8" ->
          quoted(
              "--gres",
              "gpu" + one(":", ":", "=") + gpus() + one("", "", "", ",gpu:a100:" + oneOf(GPUS)));
      case "9" -> quoted("--gpus-per-task", gpus());
      case "10" ->
          quoted("--gpus-per-socket", gpus())
              + quoted("--sockets-per-node", "" + (1 + random.nextInt(2)));
      case "11" -> quoted("--ntasks-per-gpu", size());
      case "12", "13" -> quoted("--nodes", nodes());
      case "14", "15" -> quoted("--ntasks", size());
      case "16" -> quoted("--cpus-per-task", size());
      case "17" -> quoted("--mincpus", size());
      case "18" ->
          quoted(one("--ntasks-per-node", "--ntasks-per-socket", "--ntasks-per-core"), size());
      case "19" -> one(" --exclusive", " --exclusive=user", " --exclusive=mcs", " --oversubscribe");
      case "20", "21" -> quoted("--partition", partition());
      case "22" -> quoted("--array", array());
      case "23" ->
          quoted(
              one("--mem", "--mem-per-cpu", "--mem-per-gpu"),
              one("0", "100", "1000", "4G", "7000", "16000", "60G"));
      case "24" -> quoted(one("--nodelist", "--nodelist", "--exclude"), hosts());
      case "25" -> quoted("--constraint", features());
      case "26" ->
          one(
              " --spread-job",
              " --use-min-nodes",
              " --contiguous",
              " --overcommit",
              " --no-kill",
              " --requeue",
              " --distribution=cyclic",
              " --hint=nomultithread",
              " --hint=multithread",
              " --gpu-bind=closest",
              " --gres-flags=enforce-binding",
              " --gres-flags=disable-binding");
      case "27" ->
          quoted(
              one(
                  "--cores-per-socket",
                  "--threads-per-core",
                  "--sockets-per-node",
                  "--core-spec",
                  "--thread-spec"),
              "" + (1 + random.nextInt(4)));
      case "28" -> quoted("--cpus-per-gpu", size());
      default ->
          one(
              " --time-min=1",
              " --comment=mine",
              " --comment=nexa:v1:0123456789abcdef",
              " --qos=normal",
              " --licenses=x",
              " --dependency=singleton",
              " --dependency=expand:1",
              " --extra-node-info=1:1:1",
              " --extra-node-info=2:4");
    };
  }

  /** Options by the environment, as one in four submits has them. */
  private String environment(String prefix) {
    if (random.nextInt(4) > 0) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    for (int i = 1 + random.nextInt(2); i > 0; i--) {
      switch (random.nextInt(9)) {
        case 0, 1 -> text.append(prefix).append("_TIMELIMIT='").append(time());
        case 2 -> text.append(prefix).append("_GPUS='").append(gpus());
        case 3 -> text.append(prefix).append("_GPUS_PER_NODE='").append(gpus());
        case 4 -> text.append(prefix).append("_GRES='gpu:").append(gpus());
        case 5 -> text.append(prefix).append("_GPUS_PER_TASK='").append(gpus());
        case 6 -> text.append(prefix).append("_PARTITION='").append(partition());
        case 7 -> text.append(prefix).append("_EXCLUSIVE='").append(one("exclusive", "user"));
        default -> text.append(prefix).append("_ARRAY_INX='").append(array());
      }
      text.append("' ");
    }
    return text.toString();
  }

  private String update() {
    String job =
        "${id}"
            + one(
                "",
                "",
                "",
                "",
                "",
                "",
                "",
                "",
                "",
                "",
                one("_1", "_2", "_[0-1]", "_3", "+0", "+1"));
    if (random.nextInt(5) == 0) {
      return "$RAW update " + job + rawFields(1 + random.nextInt(3));
    }
    StringBuilder text = new StringBuilder("scontrol update JobId=" + job);
    for (int i = 1 + random.nextInt(2); i > 0; i--) {
      text.append(change());
    }
    return text.toString();
  }

  private String change() {
    return switch (random.nextInt(24)) {
      case 0, 1, 2, 3 ->
          quoted("TimeLimit", one(time(), time(), "+" + oneOf(SIZES), "-" + oneOf(SIZES)));
      case 4, 5 -> quoted("NumCPUs", one(size(), size() + "-" + size()));
      case 6, 7 -> quoted("NumNodes", nodes());
      case 8, 9 -> quoted("NumTasks", size());
      case 10 -> quoted("MinCPUsNode", size());
      case 11 -> quoted("CPUsPerTask", size());
      case 12 ->
          quoted(
              one("MinMemoryNode", "MinMemoryCPU"), one("0", "1", "100", "1000", "4000", "60000"));
      case 13 ->
          quoted("Gres", one("", "gpu", "gpu:" + gpus(), "gpu=" + gpus(), "gres:gpu:" + gpus()));
      case 14 ->
          quoted(
              one("TresPerNode", "TresPerJob", "TresPerTask", "TresPerSocket"),
              one("", "gres:gpu:" + gpus(), "gpu:" + gpus()));
      case 15, 16 -> quoted("Partition", partition());
      case 17 -> quoted(one("NodeList", "ReqNodeList", "ExcNodeList"), one("", hosts()));
      case 18 -> quoted("Features", features());
      case 19 ->
          quoted(one("OverSubscribe", "Shared"), one("yes", "no", "ok", "exclusive", "user"));
      case 20 ->
          quoted(
              one(
                  "ReqSockets",
                  "ReqCores",
                  "ReqThreads",
                  "TasksPerNode",
                  "CpusPerTres",
                  "MemPerTres",
                  "CoreSpec",
                  "ThreadSpec"),
              size());
      case 21 -> quoted("Comment", one("mine", "nexa:v1:0123456789abcdef", ""));
      case 22 -> quoted("AdminComment", "nexa:v1:bound(gpus=0)");
      default ->
          one(
              " Requeue=1",
              " ArrayTaskThrottle=3",
              " Contiguous=yes",
              " TimeMin=1",
              " Dependency=expand:1",
              " Dependency=",
              " Nice=5",
              " QOS=normal",
              " ReservationName=",
              " Priority=9",
              " EndTime=now+9hours",
              " StartTime=now",
              " UserId=0",
              " Account=x");
    };
  }

  private String rawFields(int count) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      switch (random.nextInt(12)) {
        case 0, 1 -> {
          String field = one("tres_per_job", "tres_per_node", "tres_per_task", "tres_per_socket");
          text.append(
              quoted(
                  field,
                  one(
                      "",
                      "gres:gpu",
                      "gres:gpu:" + gpus(),
                      "gres:gpu:" + gpus(),
                      "gres:gpu:h100:1,gres:gpu:a100:" + gpus(),
                      "gpu:" + gpus(),
                      "xgres:gpu:" + gpus(),
                      "gres:gpu:1,gpu:" + gpus(),
                      "license:x,gres:gpu:" + gpus())));
        }
        case 2, 3, 4 -> {
          String field =
              one(
                  "min_nodes",
                  "max_nodes",
                  "num_tasks",
                  "min_cpus",
                  "max_cpus",
                  "time_limit",
                  "time_limit");
          text.append(
              quoted(
                  field,
                  one(
                      "0",
                      size(),
                      size(),
                      "" + oneOf(new int[] {30, 60, 120, 480, 481}),
                      "0xfffffffe",
                      "0xffffffff",
                      "0xfffffffd")));
        }
        case 5, 6 -> {
          String field =
              one(
                  "cpus_per_task",
                  "pn_min_cpus",
                  "ntasks_per_node",
                  "ntasks_per_socket",
                  "ntasks_per_core",
                  "ntasks_per_board",
                  "ntasks_per_tres",
                  "boards_per_node",
                  "sockets_per_board",
                  "sockets_per_node",
                  "cores_per_socket",
                  "threads_per_core");
          text.append(
              quoted(field, one("0", size(), size(), size(), "0xfffe", "0xffff", "0xfffd")));
        }
        case 7 -> {
          String field =
              one(
                  "shared",
                  "core_spec",
                  "plane_size",
                  "contiguous",
                  "overcommit",
                  "immediate",
                  "requeue");
          text.append(
              quoted(field, one("0", "0", "1", "2", "3", "4", "0x8000", "0xfffe", "0xffff")));
        }
        case 8 -> {
          text.append(quoted("bitflags", "0x" + Long.toHexString(1L << random.nextInt(40))));
        }
        case 9 -> {
          text.append(
              one(
                  quoted("partition", one(partition(), partition(), "")),
                  quoted("req_nodes", hosts()),
                  quoted("features", features()),
                  quoted("array_inx", array())));
        }
        case 10 -> {
          text.append(
              one(
                  quoted("cpus_per_tres", "gres:gpu:" + size()),
                  quoted("mem_per_tres", "gres:gpu:" + size()),
                  quoted(
                      "pn_min_memory",
                      one("0", "1000", "0x80000000000003e8", "0x8000000000000000", "60000"))));
        }
        default -> {
          text.append(
              one(
                  " het_job_offset=0",
                  " het_job_offset=1",
                  " dependency=expand:1",
                  " admin_comment='nexa:v1:bound(gpus=0)'",
                  " comment=nexa:v1:0123456789abcdef",
                  " time_min=1",
                  " end_time=9999999999"));
        }
      }
    }
    return text.toString();
  }

  private static String quoted(String name, String value) {
    return " " + name + "='" + value + "'";
  }

  private String time() {
    int minutes =
        random.nextInt(3) > 0
            ? oneOf(new int[] {1, 2, 5, 7, 10})
            : oneOf(
                new int[] {
                  1, 1, 5, 7, 10, 15, 29, 30, 31, 53, 59, 60, 60, 61, 119, 120, 121, 160, 239, 240,
                  241, 480, 481
                });
    return one(
        "" + minutes,
        "" + minutes,
        minutes + ":00",
        minutes / 60 + ":" + minutes % 60 + ":00",
        "0-" + minutes / 60 + ":" + minutes % 60,
        "0" + minutes,
        "" + minutes,
        "" + minutes,
        one("UNLIMITED", "0", "0-00:" + minutes + ":59"));
  }

  private String gpus() {
    String count =
        one("", "", "", "", "", "", "", "+", " ", one("0", "000", "\t", " +", "+0", "-"))
            + oneOf(GPUS)
            + one("", "", "", "", "", "", "", "", "", one("k", "K", "M", "kb", "KiB"));
    if (random.nextInt(40) == 0) {
      count =
          one(
              "18446744073709551617",
              "18446744073709551608",
              "18014398509481985K",
              "9223372036854775809",
              "-9223372036854775800",
              "",
              "x",
              "0");
    }
    return one("", "", "", "", "", "", "h100:", "h100:", "a100:", "H100:") + count;
  }

  private String size() {
    return one("", "", "", "", "", "", "+", "0") + oneOf(SIZES);
  }

  private String nodes() {
    int least = 1 + random.nextInt(4);
    return one(
        "" + least,
        "" + least,
        least + "-" + (least + random.nextInt(6)),
        "1-8",
        "1-2",
        one("+2", "02", "1-1", "4k", "0", "ALL"));
  }

  private String partition() {
    String name =
        one(
            "gpu", "gpu", "gpu", "whole", "shared", "shared", "forced", "long", "owned", "lean",
            "unknown", "cpu", "short", "debug");
    return random.nextInt(5) > 0
        ? name
        : name + "," + one("gpu", "whole", "short", "long", "debug");
  }

  private String array() {
    return one(
        "0-1", "0-3", "1-8", "0-7:2", "1,2,3", "0-15%2", "1%1,2-4", "0-3,0-3", "+1", " 1-3",
        "0-9:3", "[0-3]", "00-03", "1-20");
  }

  private String hosts() {
    return one(
        "p1",
        "p[1-2]",
        "p[1-4]",
        "p1,p2,p3",
        "q1",
        "q[1-2]",
        "p[1-2],q1",
        "many",
        one("c1", "many,q1", "p[1,2]", "p0[1-2]", "ALL", "p[01-02]"));
  }

  private String features() {
    return one(
        "a", "b", "a|b", "a&b", "[a|b]", "a*2", "[a*2&b*2]", "[a*4]", "(a|b)", "[(a)*1&(b)*2]", "");
  }

  private int oneOf(int[] values) {
    return values[random.nextInt(values.length)];
  }

  private String one(String... values) {
    return values[random.nextInt(values.length)];
  }

  // What a user types who stays under the limit

  /** A job within the limit, and changes that keep it there: nothing of it may be refused. */
  String ordinary(int number) {
    String name = "f" + number;
    List<String> changes =
        new ArrayList<>(
            List.of(
                "Name=" + name,
                "Nice=5",
                "Comment=mine",
                "StartTime=now",
                "Dependency=",
                "Dependency=singleton",
                "Requeue=0",
                "Priority=0"));
    StringBuilder options = new StringBuilder();
    boolean cpu = random.nextInt(3) == 0;
    if (cpu) {
      int tasks = oneOf(new int[] {1, 2, 4, 8});
      options
          .append(" --ntasks=")
          .append(tasks)
          .append(" --time=")
          .append(one("1", "60", "1-00:00:00", "2-00:00:00"));
      options.append(
          one(
              "",
              " --partition=cpu",
              " --cpus-per-task=2",
              " --mem=1000",
              " --array=0-3",
              " --nodes=1-2"));
      changes.addAll(
          List.of(
              "TimeLimit=30",
              "TimeLimit=2-00:00:00",
              "NumCPUs=" + 2 * tasks,
              "NumTasks=" + 2 * tasks,
              "NumNodes=1-2",
              "MinMemoryNode=2000",
              "Partition=gpu,shared",
              "CPUsPerTask=1",
              "NumNodes=1"));
    } else {
      int gpus = oneOf(new int[] {1, 1, 1, 2, 4, 8});
      int nodes = gpus > 1 && random.nextInt(3) == 0 ? 2 : 1;
      int tasks = random.nextInt(4) == 0 ? oneOf(new int[] {2, 4}) : 1;
      int most = GPU_HOURS_OVER * 60 / gpus / tasks;
      int minutes = one("", "", "x").isEmpty() ? 1 + random.nextInt(most) : most;
      String type = one("", "", "h100:");
      options
          .append(" --time=")
          .append(one("" + minutes, minutes + ":00", minutes / 60 + ":" + minutes % 60 + ":00"));
      if (tasks > 1) {
        options.append(" --array=0-").append(tasks - 1).append(one("", "%1"));
      }
      if (nodes == 2) {
        options
            .append(" --nodes=2")
            .append(one(" --gres=gpu:" + type, " --gpus-per-node=" + type))
            .append(gpus / 2)
            .append(one("", " --ntasks-per-node=1"));
        changes.add("NumNodes=1");
      } else {
        options.append(
            one(
                " --gpus=" + type + gpus,
                " --gres=gpu:" + type + gpus + " --nodes=1",
                " --gpus-per-node=" + type + gpus,
                " --ntasks=" + gpus + " --gpus-per-task=" + type + "1",
                " --nodes=1 --ntasks=" + gpus + " --gres=gpu:" + type + gpus));
      }
      options.append(
          one(
              "",
              "",
              " --cpus-per-task=1",
              " --mem=2000",
              " --mem-per-gpu=1000",
              " --requeue",
              " --partition=shared",
              " --constraint=a",
              " --exclude=q1",
              " --comment=mine",
              " --mem-per-cpu=500"));
      changes.addAll(
          List.of(
              "TimeLimit=" + most,
              "TimeLimit=" + minutes,
              "TimeLimit=" + Math.max(1, minutes / 2),
              "NumTasks=1",
              "Partition=shared",
              "NumCPUs=1",
              "MinMemoryNode=100",
              "Features=a",
              "ExcNodeList=q2",
              "ArrayTaskThrottle=1"));
    }
    String command = "sbatch --parsable --output=/dev/null --hold --job-name=" + name + options;
    if (random.nextInt(20) == 0) {
      // The parts together: two GPUs for an hour, and CPUs. Different ones at once are asked to
      // wait.
      command =
          "sbatch --parsable --output=/dev/null --hold --job-name="
              + name
              + " --gpus=1 --time=60 : --gpus=1 --time=60 --job-name="
              + name
              + " : --ntasks=2 --time=1-0 --job-name="
              + name;
      changes =
          new ArrayList<>(
              List.of("Nice=5", "TimeLimit=60", "TimeLimit=30", "Comment=mine", "NumTasks=1"));
    }
    StringBuilder text = new StringBuilder("f" + number + "() {\n");
    text.append("id=$(")
        .append(command)
        .append(" --wrap=exit 2>$E)\nsay ")
        .append(number)
        .append(" submit $? \"$id\"\n");
    text.append("[[ $id =~ ^[0-9]+$ ]] || return\n");
    for (int i = random.nextInt(4); i > 0; i--) {
      text.append("scontrol update JobId=$id ")
          .append(one(changes.toArray(String[]::new)))
          .append(" >/dev/null 2>$E; say ")
          .append(number)
          .append(" update $?\n");
    }
    text.append("scontrol hold $id >/dev/null 2>$E; say ").append(number).append(" update $?\n");
    text.append("scontrol release $id >/dev/null 2>$E; say ").append(number).append(" update $?\n");
    return text.append("}\n").toString();
  }
}
