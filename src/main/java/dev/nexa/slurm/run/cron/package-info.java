/** Regular passes: the crontab's line, the systemd user timer, and the check for missing passes. */
@NullMarked
package dev.nexa.slurm.run.cron;

import org.jspecify.annotations.NullMarked;
