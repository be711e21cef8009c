/** AWS Cost Explorer: the one user of the AWS SDK. */
@NullMarked
package dev.nexa.slurm.costs.aws;

import org.jspecify.annotations.NullMarked;
