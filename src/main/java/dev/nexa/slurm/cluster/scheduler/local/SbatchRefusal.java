package dev.nexa.slurm.cluster.scheduler.local;

/** Thrown with the message that sbatch would print instead of a job id. No job was made. */
final class SbatchRefusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  SbatchRefusal(String message) {
    super(message);
  }

  /** Returns a refusal that begins as sbatch's messages do. */
  static SbatchRefusal error(String message) {
    return new SbatchRefusal("sbatch: error: " + message);
  }

  /** Returns a refusal by slurmctld, not by sbatch itself. */
  static SbatchRefusal submission(String message) {
    return error("Batch job submission failed: " + message);
  }

  String text() {
    String message = getMessage();
    return message == null ? "sbatch: error" : message;
  }
}
