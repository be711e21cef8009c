/* The clock stands at the second that CLOCK names, and each user has the name in WHO: dev/example-report types with it what others
   typed on other days. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t named(void) {
  const char *second = getenv("CLOCK");
  return second ? atol(second) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real)
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (clock == CLOCK_REALTIME)
    *now = (struct timespec){named(), 0};
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  *now = (struct timeval){named(), 0};
  return 0;
}

time_t time(time_t *now) {
  if (now)
    *now = named();
  return named();
}

int getpwuid_r(uid_t user, struct passwd *entry, char *text, size_t size, struct passwd **found) {
  (void)text, (void)size;
  *entry = (struct passwd){getenv("WHO"), "x", user, user, "", "/", "/bin/sh"};
  *found = entry;
  return 0;
}
