package dev.nexa.slurm.data.generate;

import java.nio.file.Path;

/** Writes what a task came to, when no request of the task is open any more. */
interface AnswerFiles {
  /** Writes the files and returns the one with answers. */
  Path write(Requests requests, KeptAnswers kept);
}
