/* The floor of the benches: passes bytes, or lines, and judges nothing.
     relay stdio|lines COMMAND ARGS...   to and from a child
     relay tcp LISTEN TARGET             ports on 127.0.0.1 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static int put(int fd, const char *p, size_t n) {
  while (n) { ssize_t k = write(fd, p, n); if (k < 0) { if (errno == EINTR) continue; return -1; } p += k; n -= k; }
  return 0;
}
struct way { int from, to, lines; };
static void *pump(void *arg) {
  struct way *w = arg; static __thread char b[1 << 16]; size_t have = 0; ssize_t k;
  while ((k = read(w->from, b + have, sizeof b - have)) > 0) {
    have += k;
    if (!w->lines) { if (put(w->to, b, have)) break; have = 0; continue; }
    char *s = b, *e;
    while ((e = memchr(s, '\n', b + have - s))) { if (put(w->to, s, e - s + 1)) return 0; s = e + 1; }
    have = b + have - s; memmove(b, s, have);
    if (have == sizeof b) return 0;
  }
  shutdown(w->to, SHUT_WR); close(w->to); return 0;
}
static void pair(int a, int b) {
  struct way *w = malloc(2 * sizeof *w); pthread_t t;
  w[0] = (struct way){a, dup(b), 0}; w[1] = (struct way){b, dup(a), 0};
  pthread_create(&t, 0, pump, &w[0]); pthread_detach(t);
  pthread_create(&t, 0, pump, &w[1]); pthread_detach(t);
}
int main(int c, char **v) {
  if (c < 4 && !(c >= 3 && strcmp(v[1], "tcp"))) return 2;
  if (!strcmp(v[1], "tcp")) {
    int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(v[2]))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(l, (void *)&a, sizeof a) || listen(l, 128)) return 1;
    a.sin_port = htons(atoi(v[3]));
    for (;;) {
      int s = accept(l, 0, 0); if (s < 0) continue;
      int u = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(u, (void *)&a, sizeof a)) { close(s); close(u); continue; }
      setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      setsockopt(u, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      pair(s, u);
    }
  }
  int in[2], out[2]; if (pipe(in) || pipe(out)) return 1;
  if (!fork()) { dup2(in[0], 0); dup2(out[1], 1); close(in[0]); close(in[1]); close(out[0]); close(out[1]); execvp(v[2], v + 2); _exit(127); }
  close(in[0]); close(out[1]);
  int lines = !strcmp(v[1], "lines"); pthread_t t;
  struct way up = {0, in[1], lines}, down = {out[0], 1, lines};
  pthread_create(&t, 0, pump, &up); pump(&down); return 0;
}
