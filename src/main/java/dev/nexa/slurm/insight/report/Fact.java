package dev.nexa.slurm.insight.report;

/** A line of a page: a name and its value. */
public record Fact(String label, String value) {}
