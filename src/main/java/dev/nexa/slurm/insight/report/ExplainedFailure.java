package dev.nexa.slurm.insight.report;

import java.util.List;

/**
 * Why a run failed, as {@code why} says it.
 *
 * @param kind the class of the failure, such as {@code gpu-memory}; empty if it is not known
 * @param headline the cause in one sentence
 * @param facts what shows it, and what to change
 */
public record ExplainedFailure(String kind, String headline, List<Fact> facts) {}
