package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What an approval of one run allows.
 *
 * @param config the file it was planned from, as it was told to the approver
 * @param configDigest digest of the plan
 * @param whatRuns digests of script, options and files ({@link WhatRuns})
 * @param limits the options that cost or give rights, by name
 * @param submitter who may submit it; empty for anybody
 * @param rates the prices it is settled at
 * @param reservation the most it could cost when it was approved
 */
public record ApprovedRun(
    String config,
    String configDigest,
    JsonObject whatRuns,
    JsonObject limits,
    Optional<Person> submitter,
    JsonObject rates,
    Money reservation)
    implements Approval.Scope {

  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

  public ApprovedRun {
    // It becomes a part of a file's name, and an estimate is written by who wants the approval.
    if (!DIGEST.matcher(configDigest).matches()) {
      throw new IllegalArgumentException(
          "expected a config_digest of 64 hex digits, got '" + configDigest + "'");
    }
  }

  static ApprovedRun fromJson(JsonObject json, String currency) {
    return new ApprovedRun(
        json.text("config"),
        json.text("config_digest"),
        json.object("what_runs"),
        json.object("limits"),
        json.optionalObject("submitter").map(Person::fromJson),
        json.object("rates"),
        Money.parse(json.text("reservation"), currency));
  }

  @Override
  public void addTo(JsonObject json) {
    json.with("config", config)
        .with("config_digest", configDigest)
        .with("what_runs", whatRuns)
        .with("limits", limits)
        .with("submitter", submitter.map(Person::toJson).orElse(null))
        .with("rates", rates)
        .with("reservation", reservation.amount().toPlainString());
  }
}
