/** Reads and writes JSON, as trees and as streams. Members keep their order. */
@NullMarked
package dev.nexa.slurm.base.json;

import org.jspecify.annotations.NullMarked;
