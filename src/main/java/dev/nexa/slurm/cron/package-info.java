/** Passes of reconcile that nobody has to type: a crontab's line, a systemd user timer. */
@NullMarked
package dev.nexa.slurm.cron;

import org.jspecify.annotations.NullMarked;
