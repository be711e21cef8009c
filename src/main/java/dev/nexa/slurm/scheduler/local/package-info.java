/**
 * This machine as a scheduler, for people without Slurm and for tests.
 *
 * <p>A submission becomes a folder and a detached {@link
 * dev.nexa.slurm.scheduler.local.Supervisor}, which starts the array's tasks, watches their time,
 * and writes down what happens to them. Everybody else only reads, leaves requests, and starts
 * another supervisor where one died. Facts about Slurm are those of 22.05, from its man pages, its
 * source and the cluster of {@code dev/cluster}; the conformance tests compare the two.
 */
@NullMarked
package dev.nexa.slurm.scheduler.local;

import org.jspecify.annotations.NullMarked;
