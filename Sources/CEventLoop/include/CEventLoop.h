#ifndef CEVENTLOOP_H
#define CEVENTLOOP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thin layer over libuv: what is awkward in Swift (handle casts, variadic
 * calls, thread-local storage, allocation together with a request) is here,
 * every decision is in the Swift target EventLoop.
 *
 * All functions but cel_loop_wake and cel_current are for the loop's own thread. */

#define CEL_READ_BUFFER_BYTES 65536

typedef struct cel_loop cel_loop;
typedef struct cel_tcp cel_tcp;
typedef struct cel_poll cel_poll;
typedef struct cel_watch cel_watch;
typedef struct cel_signal cel_signal;

/* `owner` is the opaque pointer given when the handle was made. */
typedef struct {
    void (*_Nonnull woken)(void *_Nonnull owner);
    void (*_Nonnull idle)(void *_Nonnull owner);
    void (*_Nonnull timer)(void *_Nonnull owner);
    void (*_Nonnull stopped)(void *_Nonnull owner);
    /* count >= 0: bytes; < 0: an error, CEL_EOF at the end of the stream. */
    void (*_Nonnull tcp_read)(void *_Nonnull owner, const void *_Nullable bytes, ssize_t count);
    void (*_Nonnull tcp_written)(void *_Nonnull owner, int status);
    void (*_Nonnull tcp_closed)(void *_Nonnull owner);
    void (*_Nonnull poll_readable)(void *_Nonnull owner, int status);
    void (*_Nonnull poll_closed)(void *_Nonnull owner);
    void (*_Nonnull watch_ready)(void *_Nonnull owner, int readable, int writable);
    void (*_Nonnull watch_closed)(void *_Nonnull owner);
    void (*_Nonnull signal_received)(void *_Nonnull owner, int number);
    void (*_Nonnull signal_closed)(void *_Nonnull owner);
} cel_callbacks;

extern const ssize_t CEL_EOF;
const char *_Nonnull cel_error_text(int code);
void cel_ignore_sigpipe(void);
void cel_set_thread_name(const char *_Nonnull name);
void cel_set_thread_niceness(int niceness);
int cel_online_cores(void);

/* Loop. */
int cel_loop_make(cel_loop *_Nullable *_Nonnull out, void *_Nonnull owner, const cel_callbacks *_Nonnull callbacks);
/* Starts the thread. `stopped` is the last callback made on it and calls cel_loop_close, before which
 * cel_loop_wake must have been ruled out: libuv aborts when it wakes a closed loop. */
int cel_loop_start(cel_loop *_Nonnull loop, const char *_Nonnull name);
/* Closes every handle; the thread ends once all are closed. */
void cel_loop_stop(cel_loop *_Nonnull loop);
void cel_loop_close(cel_loop *_Nonnull loop);
/* Frees a loop whose thread was never started or has ended. */
void cel_loop_free(cel_loop *_Nonnull loop, int was_started);
void cel_loop_wake(cel_loop *_Nonnull loop);
void cel_loop_set_idle(cel_loop *_Nonnull loop, int on);
void cel_loop_set_timer(cel_loop *_Nonnull loop, uint64_t after_ms);
uint64_t cel_loop_now(const cel_loop *_Nonnull loop);
void cel_loop_update_time(cel_loop *_Nonnull loop);
uint64_t cel_monotonic_ms(void);
/* The owner of the loop whose thread this is. */
void *_Nullable cel_current(void);

/* TCP. Takes the descriptor over, also when it fails. */
int cel_tcp_open(cel_loop *_Nonnull loop, int fd, void *_Nonnull owner, cel_tcp *_Nullable *_Nonnull out);
void cel_tcp_set_read_limit(cel_tcp *_Nonnull tcp, size_t bytes);
int cel_tcp_read_start(cel_tcp *_Nonnull tcp);
void cel_tcp_read_stop(cel_tcp *_Nonnull tcp);
/* Writes both parts, copying and queueing what the socket does not take now. */
int cel_tcp_write(cel_tcp *_Nonnull tcp, const void *_Nullable first, size_t first_count,
                  const void *_Nullable second, size_t second_count);
size_t cel_tcp_queued(const cel_tcp *_Nonnull tcp);
/* What is queued and what the system holds but the peer has not acknowledged. */
size_t cel_tcp_outstanding(const cel_tcp *_Nonnull tcp);
/* Sends FIN after what is queued. */
int cel_tcp_shutdown(cel_tcp *_Nonnull tcp);
void cel_tcp_close(cel_tcp *_Nonnull tcp);
/* The next close sends RST instead of FIN, dropping what is queued. */
void cel_tcp_abort_on_close(cel_tcp *_Nonnull tcp);

/* Listening sockets. Both return a descriptor, or a negative errno. */
int cel_listen(const char *_Nonnull host, int port, int backlog, int *_Nonnull real_port,
               const char *_Nullable *_Nonnull resolver_error);
int cel_accept(int fd, char *_Nonnull address, size_t address_capacity);
void cel_close_fd(int fd);
int cel_poll_open(cel_loop *_Nonnull loop, int fd, void *_Nonnull owner, cel_poll *_Nullable *_Nonnull out);
int cel_poll_set(cel_poll *_Nonnull poll, int on);
/* Also closes the descriptor. */
void cel_poll_close(cel_poll *_Nonnull poll);

/* Watches a descriptor that another library owns. It must stay open until cel_watch_close, which takes it out of
 * the poll set at once. */
int cel_watch_open(cel_loop *_Nonnull loop, int fd, void *_Nonnull owner, cel_watch *_Nullable *_Nonnull out);
int cel_watch_set(cel_watch *_Nonnull watch, int readable, int writable);
void cel_watch_close(cel_watch *_Nonnull watch);

int cel_signal_open(cel_loop *_Nonnull loop, int number, void *_Nonnull owner, cel_signal *_Nullable *_Nonnull out);
void cel_signal_close(cel_signal *_Nonnull source);

#endif
