package dev.nexa.slurm.records.telemetry;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects a series of any length in bounded memory: when it is full, each two neighbours become
 * one point.
 */
final class Points {
  /** The most points of a series: a chart is not wider. */
  static final int MOST = 1000;

  /** A value at a place: a time in milliseconds, or a step. */
  record Point(double at, double value) {}

  private final List<Point> points = new ArrayList<>();

  /** How many values make a point. */
  private int each = 1;

  private int waiting;
  private double sum;
  private double begin;

  void add(double at, double value) {
    if (waiting == 0) {
      begin = at;
    }
    sum += value;
    waiting++;
    if (waiting == each) {
      points.add(new Point(begin, sum / waiting));
      waiting = 0;
      sum = 0;
      if (points.size() == MOST) {
        halve();
      }
    }
  }

  private void halve() {
    for (int i = 0; i < MOST / 2; i++) {
      Point left = points.get(2 * i);
      points.set(i, new Point(left.at(), (left.value() + points.get(2 * i + 1).value()) / 2));
    }
    points.subList(MOST / 2, MOST).clear();
    each *= 2;
  }

  /** Returns the points; the last point has the values that do not fill a point yet. */
  List<Point> toList() {
    List<Point> all = new ArrayList<>(points);
    if (waiting > 0) {
      all.add(new Point(begin, sum / waiting));
    }
    return List.copyOf(all);
  }
}
