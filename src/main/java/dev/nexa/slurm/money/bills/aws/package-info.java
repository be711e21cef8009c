/** Queries AWS Cost Explorer. Only this package uses the AWS SDK. */
package dev.nexa.slurm.money.bills.aws;
