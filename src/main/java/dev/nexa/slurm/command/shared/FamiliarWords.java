package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import java.util.List;

/**
 * Words that people type by habit, because another program has a command of that name, and the
 * commands of ours that do it.
 *
 * <p>A command that ends or changes something is named in a sentence, never as a command that can
 * be run as it is.
 */
final class FamiliarWords {
  private FamiliarWords() {}

  /** Returns the commands that do what the word says elsewhere; empty for other words. */
  static List<Advice> advice(String word) {
    return switch (word) {
      case "ls", "list", "ps", "jobs", "queue", "squeue", "top", "watch", "stat" ->
          List.of(
              Advice.command("shows the unfinished runs", "nexa-slurm", "status"),
              Advice.command("lists all runs", "nexa-slurm", "runs", "list"));
      case "history", "sacct" ->
          List.of(Advice.command("lists all runs", "nexa-slurm", "runs", "list"));
      case "show", "info", "describe", "get" ->
          List.of(
              Advice.command("shows the newest run", "nexa-slurm", "runs", "show", "latest"),
              Advice.step("To show another run: nexa-slurm runs show RUN"));
      case "rm", "remove", "del", "delete", "kill", "stop", "end", "abort", "scancel" ->
          List.of(Advice.step("To end a run: nexa-slurm cancel RUN"));
      case "run", "start", "launch", "exec", "sbatch", "srun", "create", "new", "apply" ->
          List.of(Advice.step("To start a run: nexa-slurm submit CONFIG"));
      case "retry", "restart", "resume", "requeue" ->
          List.of(Advice.step("To run a run's failed tasks again: nexa-slurm rerun --failed RUN"));
      case "tail", "output" ->
          List.of(Advice.command("follows the newest run", "nexa-slurm", "logs", "-f", "latest"));
      case "budget", "budgets", "quota" ->
          List.of(
              Advice.command("shows what is left of each budget", "nexa-slurm", "costs", "budget"));
      case "price", "rates" ->
          List.of(
              Advice.command("shows the prices", "nexa-slurm", "prices", "show"),
              Advice.step("To see a price before a run: nexa-slurm estimate CONFIG"));
      case "cost", "spend", "spending", "bill", "bills", "billing", "invoice", "sreport" ->
          List.of(
              Advice.command("shows what finished runs cost", "nexa-slurm", "costs"),
              Advice.step("To see a price before a run: nexa-slurm estimate CONFIG"));
      case "version" -> List.of(Advice.command("", "nexa-slurm", "--version"));
      default -> List.of();
    };
  }
}
