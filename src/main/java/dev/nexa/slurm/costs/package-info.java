/** What finished runs came to, added up: from the ledger, bills and budgets. */
@NullMarked
package dev.nexa.slurm.costs;

import org.jspecify.annotations.NullMarked;
