package dev.nexa.slurm.scheduler.local;

/** What sbatch would have said instead of a job id: no job was made. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Refusal(String message) {
    super(message);
  }

  /** The message with sbatch's usual beginning. */
  static Refusal error(String message) {
    return new Refusal("sbatch: error: " + message);
  }

  /** What slurmctld, not sbatch itself, finds wrong. */
  static Refusal submission(String message) {
    return error("Batch job submission failed: " + message);
  }

  String text() {
    String message = getMessage();
    return message == null ? "sbatch: error" : message;
  }
}
