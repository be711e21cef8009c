/**
 * From a config to a submitted run: plan, estimate, render, check policy and budgets, write the
 * folder, submit.
 */
@NullMarked
package dev.nexa.slurm.run.start;

import org.jspecify.annotations.NullMarked;
