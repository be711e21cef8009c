package dev.nexa.slurm.cluster.scheduler.slurm;

import java.util.List;

/** Rows of stand-ins for sacct, which tests write with {@link #US} between two cells. */
public final class SacctRows {
  public static final String US = "\u001f";

  private SacctRows() {}

  /** Returns the rows with the delimiter of the call. */
  public static String delimited(String rows, List<String> argv) {
    String option = "--delimiter=";
    String asked = argv.stream().filter(word -> word.startsWith(option)).findFirst().orElseThrow();
    return rows.replace(US, asked.substring(option.length()));
  }

  /**
   * Returns a text for bash that prints what the command prints, with the delimiter of the call for
   * rows without a header. It exits as the command does.
   */
  public static String delimited(String command) {
    return """
        set -o pipefail
        delimiter=$'\\037'
        for argument; do
          case $argument in
            --noheader) rows=yes ;;
            --delimiter=*) delimiter=${argument#*=} ;;
          esac
        done
        if [ -n "$rows" ]; then
          %1$s | /bin/sed "s/\\x1f/$delimiter/g"
        else
          %1$s
        fi
        """
        .formatted(command);
  }
}
