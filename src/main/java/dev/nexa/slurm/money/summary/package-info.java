/** Filters, groups and adds up finished runs. */
@NullMarked
package dev.nexa.slurm.money.summary;

import org.jspecify.annotations.NullMarked;
