/**
 * From a config to a submitted run: plan, estimate, render, check policy and budgets, write the
 * folder, submit.
 */
package dev.nexa.slurm.run.start;
