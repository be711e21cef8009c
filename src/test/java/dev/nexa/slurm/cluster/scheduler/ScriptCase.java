package dev.nexa.slurm.cluster.scheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * One row of the conformance table: a script, what is done to it while it runs, and how its tasks
 * end. A script that something is to be done to prints {@code ready} first.
 */
public final class ScriptCase {
  public final String name;
  private String script = "";
  private final Map<Integer, List<String>> attempts = new TreeMap<>();
  private final Map<Integer, List<String>> newer = new TreeMap<>();
  private final List<Action> actions = new ArrayList<>();
  private final List<String> says = new ArrayList<>();
  private String output = "%a.log";
  private boolean sameLog = true;
  private boolean environment;

  private ScriptCase(String name) {
    this.name = name;
  }

  /** What is done to a job, and when. */
  record Action(Kind kind, OptionalInt task, int readyTask) {
    enum Kind {
      CANCEL,
      REQUEUE
    }
  }

  /** A script in bash; lines that begin with a dash are its directives. */
  static ScriptCase bash(String name, String... lines) {
    return interpreted(name, "#!/bin/bash", lines);
  }

  static ScriptCase interpreted(String name, String first, String... lines) {
    ScriptCase row = new ScriptCase(name);
    StringBuilder text = new StringBuilder(first).append('\n');
    for (String line : lines) {
      text.append(line.startsWith("-") ? "#SBATCH " : "").append(line).append('\n');
    }
    row.script = text.toString();
    return row;
  }

  /** The states and exit codes of the one task's attempts, the oldest first. */
  ScriptCase ends(String... all) {
    return task(0, all);
  }

  ScriptCase task(int task, String... all) {
    attempts.put(task, List.of(all));
    return this;
  }

  /** How the one task's attempts may end on a Slurm newer than 22.05 instead. */
  ScriptCase orOnNewerSlurm(String... all) {
    newer.put(0, List.of(all));
    return this;
  }

  /** Lines that the log of task 0 holds. */
  public ScriptCase says(String... lines) {
    says.addAll(List.of(lines));
    return this;
  }

  ScriptCase cancelled() {
    actions.add(new Action(Action.Kind.CANCEL, OptionalInt.empty(), 0));
    return this;
  }

  ScriptCase cancelled(int task, int whenReady) {
    actions.add(new Action(Action.Kind.CANCEL, OptionalInt.of(task), whenReady));
    return this;
  }

  ScriptCase requeued() {
    actions.add(new Action(Action.Kind.REQUEUE, OptionalInt.of(0), 0));
    return this;
  }

  ScriptCase output(String pattern) {
    output = pattern;
    return this;
  }

  /** The log holds times or pids, or its lines come in any order: it is not compared. */
  ScriptCase logDiffers() {
    sameLog = false;
    return this;
  }

  /** The log is the script's environment, NUL-separated. */
  ScriptCase isEnvironment() {
    environment = true;
    return this;
  }

  String script() {
    return script;
  }

  public Map<Integer, List<String>> attempts() {
    return attempts;
  }

  Map<Integer, List<String>> attemptsOnNewerSlurm() {
    return newer.isEmpty() ? attempts : newer;
  }

  List<Action> actions() {
    return actions;
  }

  public List<String> says() {
    return says;
  }

  String output() {
    return output;
  }

  boolean sameLog() {
    return sameLog;
  }

  boolean environment() {
    return environment;
  }

  /** The same name as part of a path. */
  String folder() {
    return name.replaceAll("[^A-Za-z0-9]+", "-");
  }

  @Override
  public String toString() {
    return name;
  }
}
