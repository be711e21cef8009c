package dev.nexa.slurm.base.units;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses lists of nodes in Slurm's notation, {@code n1,g[001-003,7]} (scontrol(1), {@code show
 * hostnames}).
 */
public final class HostList {
  private static final Pattern GROUP =
      Pattern.compile("([^\\[\\],]*)(?:\\[([0-9,-]+)\\])?([^\\[\\],]*)");
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})(?:-([0-9]{1,9}))?");
  private static final int MOST = 100_000;

  private HostList() {}

  /**
   * Returns the node names in the order of the list. A name that occurs twice is returned twice.
   *
   * @throws IllegalArgumentException if the text has another form or names more than 100,000 nodes
   */
  public static List<String> names(String list) {
    List<String> names = new ArrayList<>();
    Matcher group = GROUP.matcher(list);
    int at = 0;
    while (at <= list.length()) {
      group.region(at, list.length());
      if (!group.lookingAt() || group.end() == at) {
        throw new IllegalArgumentException("expected nodes such as n1,g[1-4], got '" + list + "'");
      }
      add(names, group, list);
      at = group.end();
      if (at < list.length() && list.charAt(at) != ',') {
        throw new IllegalArgumentException("expected nodes such as n1,g[1-4], got '" + list + "'");
      }
      at++;
    }
    return names;
  }

  private static void add(List<String> names, Matcher group, String list) {
    if (group.group(2) == null) {
      names.add(group.group());
      return;
    }
    for (String part : group.group(2).split(",", -1)) {
      Matcher range = RANGE.matcher(part);
      if (!range.matches()) {
        throw new IllegalArgumentException(
            "expected numbers in '" + list + "', got '" + part + "'");
      }
      int last = Integer.parseInt(range.group(2) == null ? range.group(1) : range.group(2));
      for (int n = Integer.parseInt(range.group(1)); n <= last; n++) {
        if (names.size() == MOST) {
          throw new IllegalArgumentException("more than " + MOST + " nodes in '" + list + "'");
        }
        String digits = "" + n;
        String zeros = "0".repeat(Math.max(0, range.group(1).length() - digits.length()));
        names.add(group.group(1) + zeros + digits + group.group(3));
      }
    }
  }
}
