/** Queries AWS Cost Explorer. Only this package uses the AWS SDK. */
@NullMarked
package dev.nexa.slurm.money.bills.aws;

import org.jspecify.annotations.NullMarked;
