package dev.nexa.slurm.base.text;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Recognizes secrets by their names and their forms. For the output of programs there is {@link
 * OutputSecrets}, which regards more texts as secrets.
 *
 * <p>A run keeps its config and shows it to others, so a config must not contain secrets. No
 * message contains the value. Pure.
 */
public final class Secrets {
  /** A shorter text has none of the forms below. */
  public static final int SHORTEST = 9;

  /** Words of a name, between underscores, that occur only in names of secrets. */
  private static final Set<String> WORDS =
      Set.of("PAT", "JWT", "APIKEY", "COOKIE", "CREDS", "WEBHOOK", "AUTHORIZATION");

  /** Parts of a word that occur only in names of secrets. */
  private static final List<String> PARTS = List.of("SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL");

  /** Names of secrets that contain none of these words. */
  private static final Set<String> NAMES =
      Set.of(
          ("PGPASS NETRC DOCKERCONFIGJSON DOCKER_AUTH_CONFIG NPM_AUTH BASIC_AUTH"
                  + " AUTH_HEADER KRB5_KEYTAB")
              .split(" ", -1));

  /** Endings of names whose value is an address, often with a password. */
  private static final List<String> ADDRESSES =
      List.of(
          ("DATABASE_URL DATABASE_URI DB_URL DB_URI REDIS_URL MONGO_URL MONGO_URI"
                  + " MONGODB_URL MONGODB_URI AMQP_URL RABBITMQ_URL BROKER_URL POSTGRES_URL"
                  + " POSTGRESQL_URL MYSQL_URL CONNECTION_STRING DSN")
              .split(" ", -1));

  /** Beginnings of ordinary words that contain TOKEN or KEY. */
  private static final Set<String> ORDINARY_WORDS =
      Set.of(
          ("TOKENIZER TOKENIZERS TOKENIZE TOKENIZED TOKENIZATION TOKENS MONKEY DONKEY"
                  + " TURKEY HOCKEY JOCKEY WHISKEY KEYBOARD KEYWORD KEYWORDS KEYFRAME"
                  + " KEYFRAMES KEYNOTE KEYMAP KEYPOINT KEYPOINTS HOTKEY KEYS KEYED")
              .split(" ", -1));

  /**
   * Words before TOKEN, KEY and PASS that make a name ordinary: words of language models and
   * tables.
   */
  private static final Set<String> BEFORE_ORDINARY =
      Set.of(
          ("EOS BOS PAD UNK MASK SEP CLS SPECIAL MAX MIN NUM STOP START END IMAGE"
                  + " AUDIO VIDEO PER EXTRA NEW NEXT LAST FIRST DRAFT PUBLIC SORT PRIMARY"
                  + " FOREIGN CACHE TEXT LABEL INPUT OUTPUT PROMPT RESPONSE GROUP PARTITION"
                  + " INDEX COLUMN DATA ROW FORWARD BACKWARD SINGLE SECOND MULTI ONE TWO BY")
              .split(" ", -1));

  /** Words before KEY that mark a secret. */
  private static final Set<String> BEFORE_KEY =
      Set.of(
          ("API ACCESS PRIVATE ENCRYPTION SSH SIGNING LICENSE DEPLOY MASTER SERVICE"
                  + " ACCOUNT AUTH WANDB OPENAI STORAGE SHARED")
              .split(" ", -1));

  private static final Set<String> PLACEHOLDERS =
      Set.of(
          ("true false yes no on off none null empty dummy test changeme fake"
                  + " placeholder unused not-needed not-used auto file disabled enabled"
                  + " default bearer basic x xxx sk-xxx - local")
              .split(" ", -1));

  /**
   * The form of one kind of secret.
   *
   * @param begin the text at its beginning
   * @param shortest the least number of characters that follow
   * @param also characters that may follow besides letters and digits
   * @param run the number of letters and digits that must follow each other, at least one of them a
   *     digit; 0 for any
   * @param what the kind of secret, for messages
   */
  private record Form(String begin, int shortest, String also, int run, String what) {}

  private static final List<Form> FORMS =
      List.of(
          new Form("ghp_", 20, "", 0, "a token of GitHub"),
          new Form("gho_", 20, "", 0, "a token of GitHub"),
          new Form("ghu_", 20, "", 0, "a token of GitHub"),
          new Form("ghs_", 20, "", 0, "a token of GitHub"),
          new Form("ghr_", 20, "", 0, "a token of GitHub"),
          new Form("github_pat_", 20, "_", 0, "a token of GitHub"),
          new Form("glpat-", 16, "_-", 0, "a token of GitLab"),
          new Form("sk-", 20, "_-", 16, "an API key"),
          new Form("sk_live_", 16, "", 0, "an API key"),
          new Form("gsk_", 20, "", 16, "an API key"),
          new Form("nvapi-", 20, "_-", 0, "an API key"),
          new Form("wandb_v1_", 16, "_-", 0, "an API key of W&B"),
          new Form("hf_", 20, "", 0, "a token of Hugging Face"),
          new Form("AKIA", 16, "", 0, "an access key of AWS"),
          new Form("ASIA", 16, "", 0, "an access key of AWS"),
          new Form("AIza", 35, "_-", 0, "an API key of Google"),
          new Form("ya29.", 20, "_-", 0, "a token of Google"),
          new Form("xoxb-", 10, "-", 0, "a token of Slack"),
          new Form("xoxp-", 10, "-", 0, "a token of Slack"),
          new Form("xoxa-", 10, "-", 0, "a token of Slack"),
          new Form("xoxr-", 10, "-", 0, "a token of Slack"),
          new Form("xoxs-", 10, "-", 0, "a token of Slack"),
          new Form("xapp-", 10, "-", 0, "a token of Slack"),
          new Form("hooks.slack.com/services/", 20, "/", 0, "the address of a webhook of Slack"),
          new Form("npm_", 30, "", 0, "a token of npm"),
          new Form("pypi-AgE", 16, "_-", 0, "a token of PyPI"),
          new Form("dckr_pat_", 16, "_-", 0, "a token of Docker"),
          new Form("dapi", 32, "", 0, "a token of Databricks"),
          new Form("AGE-SECRET-KEY-1", 20, "", 0, "a private key"),
          new Form("AccountKey=", 20, "+/=", 0, "a key of Azure"),
          new Form("X-Amz-Signature=", 20, "", 0, "a signed address"));

  /** The first line of a private key, headers of older forms, and a line of the key itself. */
  private static final Pattern PRIVATE_KEY =
      Pattern.compile(
          "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----\\s{1,4}"
              + "(?:[A-Za-z-]{1,40}: [^\n]{0,200}\\s{1,4}){0,4}[A-Za-z0-9+/=]{24}");

  private static final int RANDOM = 32;

  private Secrets() {}

  /** Returns whether a variable with that name probably holds a secret. */
  public static boolean isNameOfOne(String name) {
    String upper = name.toUpperCase(Locale.ROOT);
    if (isStrong(upper) || lastWordsAre(upper)) {
      return true;
    }
    String[] words = upper.split("[_.-]", -1);
    for (int i = 0; i < words.length; i++) {
      String word = words[i];
      boolean tokenOrKey = word.contains("TOKEN") || word.contains("KEY");
      if (tokenOrKey
          && !beginsOrdinary(word)
          && !(i > 0 && BEFORE_ORDINARY.contains(words[i - 1]))) {
        return true;
      }
    }
    return false;
  }

  private static boolean beginsOrdinary(String word) {
    return ORDINARY_WORDS.stream().anyMatch(word::startsWith);
  }

  private static boolean lastWordsAre(String upper) {
    return ADDRESSES.stream()
        .anyMatch(address -> upper.equals(address) || upper.endsWith("_" + address));
  }

  /** Returns whether any value of a variable with that name counts as a secret. */
  static boolean isStrong(String upper) {
    if (NAMES.contains(upper) || PARTS.stream().anyMatch(upper::contains)) {
      return true;
    }
    String[] words = upper.split("[_.-]", -1);
    for (int i = 0; i < words.length; i++) {
      String before = i == 0 ? "" : words[i - 1];
      boolean last = i == words.length - 1;
      String word = words[i];
      if (WORDS.contains(word)
          || (last && word.equals("TOKEN") && !BEFORE_ORDINARY.contains(before))
          || (word.equals("KEY") && BEFORE_KEY.contains(before))
          || (last && i > 0 && word.equals("PASS") && !BEFORE_ORDINARY.contains(before))
          || (last && i > 0 && word.equals("PWD"))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the kind of secret that a value of a config probably is: {@code a token of GitHub}, or
   * {@code a secret, by its name}. Empty for an ordinary value.
   *
   * @param variable whether the name is a name of a variable of the job
   */
  public static Optional<String> of(String name, String value, boolean variable) {
    Optional<String> form = inText(value);
    if (form.isPresent()) {
      return form;
    }
    String upper = name.toUpperCase(Locale.ROOT);
    boolean random = value.length() >= 16 && isMixed(value);
    boolean named =
        isNameOfOne(name)
            && !lastWordsAre(upper)
            && !isHarmless(value, upper)
            && (random || (variable && isStrong(upper)));
    return named ? Optional.of("a secret, by its name") : Optional.empty();
  }

  static boolean isHarmless(String value, String upper) {
    String word = value.strip().toLowerCase(Locale.ROOT);
    if (word.isEmpty()
        || PLACEHOLDERS.contains(word)
        || "/~.$<{".indexOf(word.charAt(0)) >= 0
        || word.contains("${")) {
      return true;
    }
    boolean number = word.chars().allMatch(c -> "0123456789.".indexOf(c) >= 0);
    return number && !upper.contains("PASS") && !upper.contains("SECRET") && !upper.contains("PWD");
  }

  /**
   * Returns the kind of secret that a text, such as a script, holds; empty for an ordinary text.
   */
  public static Optional<String> inText(String text) {
    if (text.length() < SHORTEST) {
      return Optional.empty();
    }
    Optional<String> token = token(text);
    if (token.isPresent()) {
      return token;
    }
    int begin = text.indexOf("-----BEGIN ");
    if (begin >= 0 && text.indexOf("PRIVATE KEY", begin) >= 0) {
      return Optional.of("a private key");
    }
    if (holdsJwt(text)) {
      return Optional.of("a JSON web token");
    }
    return holdsPassword(text) ? Optional.of("an address with a password") : assigned(text);
  }

  /**
   * Returns the kind of secret that a file of a program's source holds; empty for an ordinary file.
   *
   * <p>Finds tokens of known forms and whole private keys only. Sources have examples of
   * assignments and addresses, and name the first line of a key.
   */
  public static Optional<String> inSource(String text) {
    Optional<String> token = token(text);
    return token.isEmpty() && PRIVATE_KEY.matcher(text).find()
        ? Optional.of("a private key")
        : token;
  }

  private static Optional<String> token(String text) {
    for (Form form : FORMS) {
      for (int at = text.indexOf(form.begin()); at >= 0; at = text.indexOf(form.begin(), at + 1)) {
        int from = at + form.begin().length();
        int end = behind(text, from, form.also());
        if (!isWithinWord(text, at)
            && end - from >= form.shortest()
            && (!form.what().endsWith("AWS") || end - from == form.shortest())
            && holdsRun(text, from, end, form.run())) {
          return Optional.of(form.what());
        }
      }
    }
    return Optional.empty();
  }

  private static boolean holdsJwt(String text) {
    for (int at = text.indexOf("eyJ"); at >= 0; at = text.indexOf("eyJ", at + 1)) {
      int end = behind(text, at, "_-");
      if (!isWithinWord(text, at) && end - at >= 12 && text.startsWith(".eyJ", end)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether the text contains {@code scheme://user:password@host}. A variable instead of
   * the password is not a secret.
   */
  private static boolean holdsPassword(String text) {
    for (int at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 1)) {
      int colon = -1;
      for (int i = at + 3; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == '@') {
          if (colon > at && i > colon + 1 && "$<{%*".indexOf(text.charAt(colon + 1)) < 0) {
            return true;
          }
          break;
        }
        if (c <= ' ' || c == '/' || c == '"' || c == '\'' || c == '?' || c == '#') {
          break;
        }
        colon = c == ':' && colon < 0 ? i : colon;
      }
    }
    return false;
  }

  /**
   * Finds an assignment such as {@code export PGPASSWORD=hunter2}: a name in capitals, and a value
   * without substitution.
   */
  private static Optional<String> assigned(String text) {
    for (int at = text.indexOf('='); at >= 0; at = text.indexOf('=', at + 1)) {
      int from = at;
      while (from > 0 && isOfName(text.charAt(from - 1))) {
        from--;
      }
      if (at - from < 3 || (from > 0 && " \t\n;&|('\"".indexOf(text.charAt(from - 1)) < 0)) {
        continue;
      }
      int begin = at + 1;
      int quote = begin < text.length() && "'\"".indexOf(text.charAt(begin)) >= 0 ? 1 : 0;
      int end = begin + quote;
      while (end < text.length() && " \t\n;&|'\"".indexOf(text.charAt(end)) < 0) {
        end++;
      }
      String value = text.substring(begin + quote, end);
      String name = text.substring(from, at);
      boolean code = value.indexOf('(') >= 0 || value.indexOf('[') >= 0 || value.startsWith("=");
      if (!code && isStrong(name) && !isHarmless(value, name)) {
        return Optional.of("a secret, by the name " + name);
      }
    }
    return Optional.empty();
  }

  /**
   * Returns whether the value looks as if a program had generated it. Names and digests do not:
   * they have one case or contain words.
   */
  public static boolean isRandom(String value) {
    int end = behind(value, 0, "+/=");
    if (end != value.length() || value.length() < RANDOM || value.startsWith("/")) {
      return false;
    }
    int[] kinds = new int[4];
    int changes = 0;
    int before = -1;
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      int kind = c >= '0' && c <= '9' ? 0 : c >= 'A' && c <= 'Z' ? 1 : c >= 'a' && c <= 'z' ? 2 : 3;
      kinds[kind]++;
      changes += kind != before && before >= 0 ? 1 : 0;
      before = kind;
    }
    return kinds[0] >= 3 && kinds[1] >= 4 && kinds[2] >= 4 && changes * 5 >= value.length() * 2;
  }

  private static int behind(String text, int from, String also) {
    int end = from;
    while (end < text.length()
        && (isAlphanumeric(text.charAt(end)) || also.indexOf(text.charAt(end)) >= 0)) {
      end++;
    }
    return end;
  }

  private static boolean isWithinWord(String text, int at) {
    return at > 0
        && (isAlphanumeric(text.charAt(at - 1)) || "_-".indexOf(text.charAt(at - 1)) >= 0);
  }

  private static boolean isAlphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }

  private static boolean isOfName(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  /**
   * Returns whether the text has a long enough run of letters and digits. Ordinary names have short
   * words between their hyphens.
   */
  private static boolean holdsRun(String text, int from, int end, int length) {
    int begin = from;
    boolean digit = false;
    for (int i = from; i < end; i++) {
      char c = text.charAt(i);
      if (!isAlphanumeric(c)) {
        begin = i + 1;
        digit = false;
      }
      digit |= c >= '0' && c <= '9';
      if (digit && i + 1 - begin >= length) {
        return true;
      }
    }
    return length == 0;
  }

  /** Returns whether the text has capitals, small letters and digits, and no blanks. */
  private static boolean isMixed(String text) {
    boolean upper = false;
    boolean lower = false;
    boolean digit = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      upper |= c >= 'A' && c <= 'Z';
      lower |= c >= 'a' && c <= 'z';
      digit |= c >= '0' && c <= '9';
      if (c <= ' ') {
        return false;
      }
    }
    return upper && lower && digit;
  }
}
