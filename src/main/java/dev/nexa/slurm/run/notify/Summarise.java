package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.records.notices.Delivery;
import dev.nexa.slurm.records.notices.Delivery.State;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Bounds a backlog: if more than 20 notifications wait for a channel of the policy, one summary
 * stands for all of them.
 */
record Summarise(Outbox outbox, Consumer<SendStep> passing) {
  /** How many notifications a channel gets one by one. */
  static final int MOST = 20;

  /** How many notifications one summary stands for. */
  private static final int LARGEST = 1000;

  private static final int NAMED = 10;
  private static final String FOLDS = "stands_for";
  private static final String COUNTS = "counts";
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss_SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** Replaces backlogs in the outbox and in this map. */
  void fold(Map<String, Notice> waiting) {
    // A process that died may have left a summary whose notifications do not say so yet.
    List.copyOf(waiting.values()).stream()
        .filter(notice -> notice.kind() == NoticeKind.SUMMARY)
        .forEach(summary -> mark(summary, waiting));
    Map<String, List<Notice>> backlogs = new LinkedHashMap<>();
    for (Notice notice : waiting.values()) {
      for (Delivery delivery : notice.deliveries()) {
        if (!delivery.ofRun() && delivery.state() == State.WAITING) {
          backlogs.computeIfAbsent(delivery.channel(), name -> new ArrayList<>()).add(notice);
        }
      }
    }
    backlogs.forEach(
        (channel, backlog) -> {
          for (int i = 0; backlog.size() - i > MOST; i += LARGEST) {
            List<Notice> part = backlog.subList(i, Math.min(i + LARGEST, backlog.size()));
            Notice summary = summary(channel, part);
            outbox.record(summary);
            passing.accept(SendStep.SUMMARY_WRITTEN);
            waiting.put(summary.id(), summary);
            mark(summary, waiting);
          }
        });
  }

  private void mark(Notice summary, Map<String, Notice> waiting) {
    String channel = summary.deliveries().get(0).channel();
    Set<String> folded = new HashSet<>(summary.facts().texts(FOLDS));
    for (Notice notice : List.copyOf(waiting.values())) {
      if (!folded.contains(notice.id())) {
        continue;
      }
      for (int i = 0; i < notice.deliveries().size(); i++) {
        Delivery one = notice.deliveries().get(i);
        if (one.channel().equals(channel) && !one.ofRun() && one.state() == State.WAITING) {
          Notice marked = notice.with(i, one.as(State.SUMMARISED, Instant.now()));
          outbox.save(marked);
          waiting.put(marked.id(), marked);
        }
      }
    }
    waiting.values().removeIf(Notice::isDone);
  }

  private static Notice summary(String channel, List<Notice> backlog) {
    Map<String, Long> counts = new TreeMap<>();
    List<String> named = new ArrayList<>();
    for (Notice notice : backlog) {
      if (notice.kind() == NoticeKind.SUMMARY) {
        JsonObject earlier = notice.facts().object(COUNTS);
        earlier
            .members()
            .keySet()
            .forEach(kind -> counts.merge(kind, earlier.number(kind), Long::sum));
      } else {
        counts.merge(notice.kind().text(), 1L, Long::sum);
        if (notice.kind() != NoticeKind.ENDED && named.size() < NAMED) {
          named.add(notice.title());
        }
      }
    }
    JsonObject facts = new JsonObject();
    counts.forEach(facts::with);
    long all = counts.values().stream().mapToLong(Long::longValue).sum();
    List<String> words = new ArrayList<>();
    counts.forEach((kind, count) -> words.add(count + " " + kind));
    List<String> lines = new ArrayList<>(named);
    lines.add(0, "since " + backlog.get(0).at() + ": " + String.join(", ", words));
    long unnamed = all - named.size();
    lines.add((unnamed > 0 ? "and " + unnamed + " more: " : "") + "nexa-slurm notify list");
    return Notice.of(
            NoticeKind.SUMMARY,
            channel + "." + TIME.format(Instant.now()) + "." + backlog.size(),
            Optional.empty(),
            all + " notifications waited for the channel " + channel,
            lines)
        .with(COUNTS, facts)
        .with(FOLDS, backlog.stream().map(Notice::id).toList())
        .to(List.of(Delivery.waiting(channel, false)));
  }
}
