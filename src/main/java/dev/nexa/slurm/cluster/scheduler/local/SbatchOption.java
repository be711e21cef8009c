package dev.nexa.slurm.cluster.scheduler.local;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The options of sbatch(1) that our scripts use, with their long and short names. */
enum SbatchOption {
  JOB_NAME("job-name", 'J'),
  OUTPUT("output", 'o'),
  ERROR("error", 'e'),
  TIME("time", 't'),
  ARRAY("array", 'a'),
  CPUS_PER_TASK("cpus-per-task", 'c'),
  NTASKS("ntasks", 'n'),
  NTASKS_PER_NODE("ntasks-per-node"),
  NODES("nodes", 'N'),
  MEM("mem"),
  GRES("gres"),
  GPUS_PER_NODE("gpus-per-node"),
  PARTITION("partition", 'p'),
  ACCOUNT("account", 'A'),
  QOS("qos", 'q'),
  CONSTRAINT("constraint", 'C'),
  SIGNAL("signal"),
  REQUEUE("requeue", Value.NEVER),
  NO_REQUEUE("no-requeue", Value.NEVER),
  OPEN_MODE("open-mode"),
  CHDIR("chdir", 'D'),
  COMMENT("comment"),
  EXPORT("export"),
  EXCLUSIVE("exclusive", Value.OPTIONAL),
  RESERVATION("reservation"),
  NODELIST("nodelist", 'w'),
  EXCLUDE("exclude", 'x'),
  LICENSES("licenses", 'L'),
  MAIL_TYPE("mail-type"),
  MAIL_USER("mail-user"),
  DEPENDENCY("dependency", 'd'),
  KILL_ON_INVALID_DEP("kill-on-invalid-dep");

  /** Whether an option has a value. An optional value must follow an equals sign. */
  enum Value {
    NEVER,
    OPTIONAL,
    ALWAYS
  }

  private final String longName;
  private final char shortName;
  private final Value value;

  SbatchOption(String longName) {
    this(longName, '\0', Value.ALWAYS);
  }

  SbatchOption(String longName, char shortName) {
    this(longName, shortName, Value.ALWAYS);
  }

  SbatchOption(String longName, Value value) {
    this(longName, '\0', value);
  }

  SbatchOption(String longName, char shortName, Value value) {
    this.longName = longName;
    this.shortName = shortName;
    this.value = value;
  }

  String longName() {
    return longName;
  }

  Value value() {
    return value;
  }

  static Optional<SbatchOption> byName(String name) {
    for (SbatchOption option : values()) {
      if (option.longName.equals(name)) {
        return Optional.of(option);
      }
    }
    return Optional.empty();
  }

  static Optional<SbatchOption> byLetter(char letter) {
    for (SbatchOption option : values()) {
      if (option.shortName == letter) {
        return Optional.of(option);
      }
    }
    return Optional.empty();
  }

  static List<String> names() {
    List<String> names = new ArrayList<>();
    for (SbatchOption option : values()) {
      names.add(option.longName);
    }
    return names;
  }
}
