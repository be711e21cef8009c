/**
 * Object stores by the AWS SDK. In aws.jar, out of the other commands' way (docs/decisions/005).
 */
package dev.nexa.slurm.storage.s3;
