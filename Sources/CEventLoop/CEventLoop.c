#define _GNU_SOURCE
#include "CEventLoop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>
#ifdef __linux__
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#endif

struct cel_loop {
    uv_loop_t uv;
    uv_async_t async;
    uv_idle_t idle;
    uv_timer_t timer;
    void *owner;
    const cel_callbacks *callbacks;
    char name[16];
    char read_buffer[CEL_READ_BUFFER_BYTES];
};

struct cel_tcp {
    uv_tcp_t uv;
    size_t read_limit;
    char aborts;
};

struct cel_poll {
    uv_poll_t uv;
    /* -1 in a cel_watch, which is the same but for what it owns. */
    int fd;
};

struct cel_watch {
    cel_poll poll;
};

struct cel_signal {
    uv_signal_t uv;
};

typedef struct {
    uv_write_t uv;
    char bytes[];
} cel_write;

const ssize_t CEL_EOF = UV_EOF;
static _Thread_local void *current_owner;

void *cel_current(void) { return current_owner; }
const char *cel_error_text(int code) { return uv_strerror(code); }
void cel_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }
uint64_t cel_monotonic_ms(void) { return uv_hrtime() / 1000000; }
int cel_online_cores(void) { long n = sysconf(_SC_NPROCESSORS_ONLN); return n < 1 ? 1 : (int)n; }

void cel_set_thread_name(const char *name) {
#ifdef __APPLE__
    pthread_setname_np(name);
#else
    char text[16];
    strncpy(text, name, sizeof text - 1);
    text[sizeof text - 1] = 0;
    pthread_setname_np(pthread_self(), text);
#endif
}

void cel_set_thread_niceness(int niceness) {
#ifdef __linux__
    /* On Linux the "process" of setpriority may be one thread. */
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), niceness);
#else
    (void)niceness;
#endif
}

/* ---- Loop ---- */

static const cel_callbacks *callbacks_of(const uv_handle_t *handle) {
    return ((cel_loop *)handle->loop->data)->callbacks;
}

static void on_async(uv_async_t *h) { callbacks_of((uv_handle_t *)h)->woken(h->data); }
static void on_idle(uv_idle_t *h) { callbacks_of((uv_handle_t *)h)->idle(h->data); }
static void on_timer(uv_timer_t *h) { callbacks_of((uv_handle_t *)h)->timer(h->data); }

int cel_loop_make(cel_loop **out, void *owner, const cel_callbacks *callbacks) {
    cel_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return UV_ENOMEM;
    loop->owner = owner;
    loop->callbacks = callbacks;
    int r = uv_loop_init(&loop->uv);
    if (r) { free(loop); return r; }
    loop->uv.data = loop;
    r = uv_async_init(&loop->uv, &loop->async, on_async);
    if (r) { uv_loop_close(&loop->uv); free(loop); return r; }
    uv_idle_init(&loop->uv, &loop->idle);
    uv_timer_init(&loop->uv, &loop->timer);
    loop->async.data = loop->idle.data = loop->timer.data = owner;
    *out = loop;
    return 0;
}

static void *loop_main(void *argument) {
    cel_loop *loop = argument;
    cel_set_thread_name(loop->name);
    current_owner = loop->owner;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    /* What is handed in from here on must not wait for a loop that has ended. */
    current_owner = NULL;
    loop->callbacks->stopped(loop->owner);
    return NULL;
}

int cel_loop_start(cel_loop *loop, const char *name) {
    strncpy(loop->name, name, sizeof loop->name - 1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 8 << 20);
    pthread_t thread;
    int r = pthread_create(&thread, &attributes, loop_main, loop);
    pthread_attr_destroy(&attributes);
    return -r;
}

static void close_any(uv_handle_t *handle, void *unused) {
    (void)unused;
    if (uv_is_closing(handle)) return;
    switch (uv_handle_get_type(handle)) {
    case UV_TCP: cel_tcp_close((cel_tcp *)handle); break;
    case UV_POLL:
        if (((cel_poll *)handle)->fd < 0) cel_watch_close((cel_watch *)handle);
        else cel_poll_close((cel_poll *)handle);
        break;
    case UV_SIGNAL: cel_signal_close((cel_signal *)handle); break;
    default: uv_close(handle, NULL);
    }
}

void cel_loop_stop(cel_loop *loop) { uv_walk(&loop->uv, close_any, NULL); }

void cel_loop_close(cel_loop *loop) { uv_loop_close(&loop->uv); }

void cel_loop_free(cel_loop *loop, int was_started) {
    if (!was_started) {
        cel_loop_stop(loop);
        uv_run(&loop->uv, UV_RUN_DEFAULT);
        uv_loop_close(&loop->uv);
    }
    free(loop);
}

void cel_loop_wake(cel_loop *loop) { uv_async_send(&loop->async); }

void cel_loop_set_idle(cel_loop *loop, int on) {
    if (uv_is_closing((uv_handle_t *)&loop->idle)) return;
    if (on) uv_idle_start(&loop->idle, on_idle); else uv_idle_stop(&loop->idle);
}

void cel_loop_set_timer(cel_loop *loop, uint64_t after_ms) {
    if (uv_is_closing((uv_handle_t *)&loop->timer)) return;
    uv_timer_start(&loop->timer, on_timer, after_ms, 0);
}

uint64_t cel_loop_now(const cel_loop *loop) { return uv_now(&loop->uv); }
void cel_loop_update_time(cel_loop *loop) { uv_update_time(&loop->uv); }

/* ---- TCP ---- */

static void tcp_closed(uv_handle_t *handle) {
    void *owner = handle->data;
    const cel_callbacks *callbacks = callbacks_of(handle);
    free(handle);
    if (owner) callbacks->tcp_closed(owner);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)suggested;
    cel_loop *loop = handle->loop->data;
    *buffer = uv_buf_init(loop->read_buffer, (unsigned)((cel_tcp *)handle)->read_limit);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    if (count == 0) return; /* EAGAIN */
    callbacks_of((uv_handle_t *)stream)->tcp_read(stream->data, buffer->base, count);
}

int cel_tcp_open(cel_loop *loop, int fd, void *owner, cel_tcp **out) {
    cel_tcp *tcp = malloc(sizeof *tcp);
    if (!tcp) { close(fd); return UV_ENOMEM; }
    tcp->read_limit = CEL_READ_BUFFER_BYTES;
    tcp->aborts = 0;
    int r = uv_tcp_init(&loop->uv, &tcp->uv);
    if (r) { close(fd); free(tcp); return r; }
    tcp->uv.data = NULL;
    r = uv_tcp_open(&tcp->uv, fd);
    if (r) {
        close(fd);
        uv_close((uv_handle_t *)&tcp->uv, tcp_closed);
        return r;
    }
    tcp->uv.data = owner;
    *out = tcp;
    return 0;
}

void cel_tcp_set_read_limit(cel_tcp *tcp, size_t bytes) {
    tcp->read_limit = bytes > CEL_READ_BUFFER_BYTES ? CEL_READ_BUFFER_BYTES : bytes < 1 ? 1 : bytes;
}

int cel_tcp_read_start(cel_tcp *tcp) { return uv_read_start((uv_stream_t *)&tcp->uv, on_allocate, on_read); }
void cel_tcp_read_stop(cel_tcp *tcp) { uv_read_stop((uv_stream_t *)&tcp->uv); }
size_t cel_tcp_queued(const cel_tcp *tcp) { return tcp->uv.write_queue_size; }

size_t cel_tcp_outstanding(const cel_tcp *tcp) {
    uv_os_fd_t fd;
    int waiting = 0;
    if (uv_fileno((const uv_handle_t *)&tcp->uv, &fd) == 0) {
#ifdef __linux__
        ioctl(fd, SIOCOUTQ, &waiting);
#else
        socklen_t length = sizeof waiting;
        getsockopt(fd, SOL_SOCKET, SO_NWRITE, &waiting, &length);
#endif
    }
    return tcp->uv.write_queue_size + (waiting > 0 ? (size_t)waiting : 0);
}

static void on_written(uv_write_t *request, int status) {
    uv_stream_t *stream = request->handle;
    free(request);
    if (status != UV_ECANCELED && stream->data)
        callbacks_of((uv_handle_t *)stream)->tcp_written(stream->data, status);
}

int cel_tcp_write(cel_tcp *tcp, const void *first, size_t first_count, const void *second, size_t second_count) {
    uv_buf_t buffers[2] = { uv_buf_init((char *)first, (unsigned)first_count),
                            uv_buf_init((char *)second, (unsigned)second_count) };
    size_t total = first_count + second_count, done = 0;
    if (total == 0) return 0;
    int r = uv_try_write((uv_stream_t *)&tcp->uv, buffers, second_count ? 2 : 1);
    if (r < 0 && r != UV_EAGAIN) return r;
    if (r > 0) done = (size_t)r;
    if (done == total) return 0;

    cel_write *request = malloc(sizeof *request + (total - done));
    if (!request) return UV_ENOMEM;
    char *to = request->bytes;
    if (done < first_count) {
        memcpy(to, (const char *)first + done, first_count - done);
        to += first_count - done;
        done = first_count;
    }
    if (done < total) memcpy(to, (const char *)second + (done - first_count), total - done);
    size_t rest = (size_t)(to - request->bytes) + (total - done);
    uv_buf_t buffer = uv_buf_init(request->bytes, (unsigned)rest);
    r = uv_write(&request->uv, (uv_stream_t *)&tcp->uv, &buffer, 1, on_written);
    if (r) free(request);
    return r;
}

static void on_shutdown(uv_shutdown_t *request, int status) { (void)status; free(request); }

int cel_tcp_shutdown(cel_tcp *tcp) {
    uv_shutdown_t *request = malloc(sizeof *request);
    if (!request) return UV_ENOMEM;
    int r = uv_shutdown(request, (uv_stream_t *)&tcp->uv, on_shutdown);
    if (r) free(request);
    return r;
}

void cel_tcp_abort_on_close(cel_tcp *tcp) { tcp->aborts = 1; }

void cel_tcp_close(cel_tcp *tcp) {
    if (uv_is_closing((uv_handle_t *)&tcp->uv)) return;
    if (tcp->aborts && uv_tcp_close_reset(&tcp->uv, tcp_closed) == 0) return;
    uv_close((uv_handle_t *)&tcp->uv, tcp_closed);
}

/* ---- Listening ---- */

static void prepare_descriptor(int fd) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int cel_listen(const char *host, int port, int backlog, int *real_port, const char **resolver_error) {
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV }, *found = NULL;
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    int r = getaddrinfo(host, service, &hints, &found);
    if (r) { *resolver_error = gai_strerror(r); return -EINVAL; }
    int error = EADDRNOTAVAIL;
    for (struct addrinfo *a = found; a; a = a->ai_next) {
        int on = 1, off = 0;
        int fd = socket(a->ai_family, SOCK_STREAM, 0);
        if (fd < 0) { error = errno; continue; }
        prepare_descriptor(fd);
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        /* "::" serves IPv4 as well, as people expect of "all addresses". */
        if (a->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        struct sockaddr_storage bound;
        socklen_t length = sizeof bound;
        if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, backlog)
            || getsockname(fd, (struct sockaddr *)&bound, &length)) {
            error = errno;
            close(fd);
            continue;
        }
        *real_port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                                       : ((struct sockaddr_in *)&bound)->sin_port);
        freeaddrinfo(found);
        return fd;
    }
    freeaddrinfo(found);
    return -error;
}

int cel_accept(int fd, char *address, size_t capacity) {
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    int client;
    do {
#ifdef __linux__
        client = accept4(fd, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        client = accept(fd, (struct sockaddr *)&peer, &length);
        if (client >= 0) prepare_descriptor(client);
#endif
    } while (client < 0 && errno == EINTR);
    if (client < 0) return -errno;
    int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const void *source = peer.ss_family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)&peer)->sin6_addr
                                                    : (const void *)&((struct sockaddr_in *)&peer)->sin_addr;
    if (!inet_ntop(peer.ss_family, source, address, (socklen_t)capacity)) address[0] = 0;
    return client;
}

void cel_close_fd(int fd) { close(fd); }

static void poll_closed(uv_handle_t *handle) {
    void *owner = handle->data;
    const cel_callbacks *callbacks = callbacks_of(handle);
    free(handle);
    if (owner) callbacks->poll_closed(owner);
}

static void on_poll(uv_poll_t *handle, int status, int events) {
    (void)events;
    callbacks_of((uv_handle_t *)handle)->poll_readable(handle->data, status);
}

int cel_poll_open(cel_loop *loop, int fd, void *owner, cel_poll **out) {
    cel_poll *poll = malloc(sizeof *poll);
    if (!poll) return UV_ENOMEM;
    poll->fd = fd;
    int r = uv_poll_init(&loop->uv, &poll->uv, fd);
    if (r) { free(poll); return r; }
    poll->uv.data = owner;
    *out = poll;
    return cel_poll_set(poll, 1);
}

int cel_poll_set(cel_poll *poll, int on) {
    if (uv_is_closing((uv_handle_t *)&poll->uv)) return 0;
    return on ? uv_poll_start(&poll->uv, UV_READABLE, on_poll) : uv_poll_stop(&poll->uv);
}

void cel_poll_close(cel_poll *poll) {
    if (uv_is_closing((uv_handle_t *)&poll->uv)) return;
    uv_close((uv_handle_t *)&poll->uv, poll_closed);
    /* uv_close has taken the descriptor out of the poll set, so it may go now. */
    close(poll->fd);
}

/* ---- Descriptors that belong to somebody else ---- */

static void watch_closed(uv_handle_t *handle) {
    void *owner = handle->data;
    const cel_callbacks *callbacks = callbacks_of(handle);
    free(handle);
    if (owner) callbacks->watch_closed(owner);
}

static void on_watch(uv_poll_t *handle, int status, int events) {
    /* An error is reported as "ready for all": whoever then reads or writes is told which. */
    if (status < 0) events = UV_READABLE | UV_WRITABLE;
    callbacks_of((uv_handle_t *)handle)->watch_ready(handle->data, !!(events & UV_READABLE), !!(events & UV_WRITABLE));
}

int cel_watch_open(cel_loop *loop, int fd, void *owner, cel_watch **out) {
    cel_watch *watch = malloc(sizeof *watch);
    if (!watch) return UV_ENOMEM;
    watch->poll.fd = -1;
    int r = uv_poll_init(&loop->uv, &watch->poll.uv, fd);
    if (r) { free(watch); return r; }
    watch->poll.uv.data = owner;
    *out = watch;
    return 0;
}

int cel_watch_set(cel_watch *watch, int readable, int writable) {
    uv_poll_t *poll = &watch->poll.uv;
    if (uv_is_closing((uv_handle_t *)poll)) return 0;
    int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0);
    return events ? uv_poll_start(poll, events, on_watch) : uv_poll_stop(poll);
}

void cel_watch_close(cel_watch *watch) {
    uv_handle_t *handle = (uv_handle_t *)&watch->poll.uv;
    if (!uv_is_closing(handle)) uv_close(handle, watch_closed);
}

/* ---- Signals ---- */

static void signal_closed(uv_handle_t *handle) {
    void *owner = handle->data;
    const cel_callbacks *callbacks = callbacks_of(handle);
    free(handle);
    if (owner) callbacks->signal_closed(owner);
}

static void on_signal(uv_signal_t *handle, int number) {
    callbacks_of((uv_handle_t *)handle)->signal_received(handle->data, number);
}

int cel_signal_open(cel_loop *loop, int number, void *owner, cel_signal **out) {
    cel_signal *source = malloc(sizeof *source);
    if (!source) return UV_ENOMEM;
    int r = uv_signal_init(&loop->uv, &source->uv);
    if (r) { free(source); return r; }
    r = uv_signal_start(&source->uv, on_signal, number);
    source->uv.data = r ? NULL : owner;
    if (r) { uv_close((uv_handle_t *)&source->uv, signal_closed); return r; }
    *out = source;
    return 0;
}

void cel_signal_close(cel_signal *source) {
    if (uv_is_closing((uv_handle_t *)&source->uv)) return;
    uv_close((uv_handle_t *)&source->uv, signal_closed);
}
