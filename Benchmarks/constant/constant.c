// The upper bound that the benchmarks are compared with: one thread, one epoll, and the same reply to
// whatever ends in an empty line or in a body as long as announced. It looks at nothing else, so no HTTP
// server on this machine does less work.
//
//   constant BODY_BYTES        prints the port it listens at, on loopback, and serves until it is ended

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    exit(1);
}

// A request of the load generator always arrives whole. Its body is JSON and never ends in an empty line.
static int is_whole(const char *request, size_t got) {
    if (got < 4 || !memcmp(request + got - 4, "\r\n\r\n", 4)) return got >= 4;
    const char *head_end = memmem(request, got, "\r\n\r\n", 4);
    if (!head_end) return 0;
    const char *length = memmem(request, head_end - request, "Content-Length: ", 16);
    return length && head_end + 4 + atol(length + 16) == request + got;
}

int main(int count, char **words) {
    int body = count == 2 ? atoi(words[1]) : 0;
    if (body < 14 || body > 60000) {
        fputs("usage: constant BODY_BYTES (14 to 60000)\n", stderr);
        return 2;
    }
    static char reply[65536], request[65536];
    int length = snprintf(reply, sizeof reply,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
        "{\"filler\":\"%0*d\"}", body, body - 13, 0);

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024)) fail("listen");
    if (getsockname(listener, (struct sockaddr *)&address, &size)) fail("getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);

    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) fail("epoll");
    for (;;) {
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int index = 0; index < ready; index++) {
            int peer = events[index].data.fd;
            if (peer == listener) {
                while ((peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                    struct epoll_event added = {.events = EPOLLIN, .data.fd = peer};
                    epoll_ctl(epoll, EPOLL_CTL_ADD, peer, &added);
                }
                continue;
            }
            ssize_t got = read(peer, request, sizeof request);
            if (got <= 0 || !is_whole(request, got) || write(peer, reply, length) != length) close(peer);
        }
    }
}
