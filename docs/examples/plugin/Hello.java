/** Says what it was given, and which task it is. */
final class Hello {
  public static void main(String[] args) {
    System.out.println("hello " + String.join(" ", args) + ", task " + System.getenv("NEXA_TASK"));
  }
}
