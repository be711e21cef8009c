package dev.nexa.slurm.data.generate;

import java.nio.file.Path;

/** Writes the results of a task, when no request of the task is open any more. */
interface AnswerFiles {
  /** Writes the files and returns the file with answers. */
  Path write(Requests requests, KeptAnswers kept);
}
