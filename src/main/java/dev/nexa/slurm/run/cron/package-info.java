/** Regular passes: the crontab's line, the systemd user timer, and the check for missing passes. */
package dev.nexa.slurm.run.cron;
