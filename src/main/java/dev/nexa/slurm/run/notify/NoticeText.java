package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.records.notices.Notice;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;

/** The words of a notification for each kind of channel. */
final class NoticeText {
  private static final int LONGEST = 3000;
  private static final int LONGEST_SUBJECT = 120;
  private static final int BYTES_IN_WORD = 45;
  private static final String AGAIN = "(sent again: an earlier attempt may have arrived)";
  private static final Pattern MENTION = Pattern.compile("@(?=[\\p{L}\\p{N}_])");

  private NoticeText() {}

  /** Returns the lines of a notification, the title first. */
  static List<String> lines(Notice notice, boolean doubtful) {
    List<String> lines = new ArrayList<>();
    lines.add(notice.title());
    lines.addAll(notice.lines());
    if (doubtful) {
      lines.add(AGAIN);
    }
    return lines;
  }

  /**
   * Returns the text for Slack and for services that read its JSON. The three characters that Slack
   * reads are escaped, and a @ is parted from its name, so that no text of a job can mention
   * anybody.
   */
  static String slack(Notice notice, boolean doubtful) {
    String text = String.join("\n", lines(notice, doubtful));
    if (text.length() > LONGEST) {
      int end = Character.isHighSurrogate(text.charAt(LONGEST - 2)) ? LONGEST - 2 : LONGEST - 1;
      text = text.substring(0, end) + "…";
    }
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    return MENTION.matcher(text).replaceAll("@\u200b");
  }

  /**
   * Returns a mail for {@code sendmail -t}. The body is in base64, so that it has no long line and
   * no line with a dot. A notification always has the same Message-ID.
   *
   * @param host the name after the @ of the Message-ID
   */
  static String mail(Notice notice, List<String> to, String host, boolean doubtful) {
    String body = String.join("\n", lines(notice, doubtful)) + "\n";
    Base64.Encoder encoder = Base64.getMimeEncoder(76, new byte[] {'\n'});
    return """
        To: %s
        Subject: %s
        Date: %s
        Message-ID: <%s.%s@%s>
        Auto-Submitted: auto-generated
        MIME-Version: 1.0
        Content-Type: text/plain; charset=UTF-8
        Content-Transfer-Encoding: base64

        %s
        """
        .formatted(
            String.join(", ", to),
            encodedWords("[nexa-slurm] " + notice.title()),
            DateTimeFormatter.RFC_1123_DATE_TIME.format(Instant.now().atOffset(ZoneOffset.UTC)),
            notice.id(),
            notice.at().getEpochSecond(),
            host.replaceAll("[^A-Za-z0-9.-]", "-"),
            encoder.encodeToString(body.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns a header's text: plain, or as encoded words (RFC 2047) if it is not plain ASCII. */
  private static String encodedWords(String text) {
    String cut =
        text.codePointCount(0, text.length()) <= LONGEST_SUBJECT
            ? text
            : text.substring(0, text.offsetByCodePoints(0, LONGEST_SUBJECT - 1)) + "…";
    if (cut.chars().allMatch(c -> c >= ' ' && c < 0x7f) && !cut.contains("=?")) {
      return cut;
    }
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    int bytes = 0;
    for (int i = 0; i < cut.length(); i += Character.charCount(cut.codePointAt(i))) {
      String one = Character.toString(cut.codePointAt(i));
      int size = one.getBytes(StandardCharsets.UTF_8).length;
      if (bytes + size > BYTES_IN_WORD) {
        words.add(encoded(word.toString()));
        word.setLength(0);
        bytes = 0;
      }
      word.append(one);
      bytes += size;
    }
    words.add(encoded(word.toString()));
    return String.join("\n ", words);
  }

  private static String encoded(String word) {
    return "=?UTF-8?B?%s?="
        .formatted(Base64.getEncoder().encodeToString(word.getBytes(StandardCharsets.UTF_8)));
  }
}
