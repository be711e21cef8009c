/**
 * Renders a plan as an sbatch script, and the policy as job_submit.lua. Quotes values for bash, Lua
 * and #SBATCH lines.
 */
package dev.nexa.slurm.job.render;
