/**
 * Object stores by the AWS SDK. In aws.jar, out of the other commands' way (docs/decisions/005).
 */
@NullMarked
package dev.nexa.slurm.storage.s3;

import org.jspecify.annotations.NullMarked;
