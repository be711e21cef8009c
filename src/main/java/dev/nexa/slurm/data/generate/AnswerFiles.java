package dev.nexa.slurm.data.generate;

/** Writes what a task came to, when no request of the task is open any more. */
interface AnswerFiles {
  /** Writes the files and returns the bytes of those with answers. */
  long write(Requests requests, KeptAnswers kept);
}
