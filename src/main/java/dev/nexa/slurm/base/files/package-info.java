/**
 * Files that survive a crash: atomic writes, fsync, locks, permissions, SHA-256, and reads confined
 * to a folder.
 */
package dev.nexa.slurm.base.files;
