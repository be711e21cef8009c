/** Reads and writes JSON, as trees and as streams. Members keep their order. */
package dev.nexa.slurm.base.json;
