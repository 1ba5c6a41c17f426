// How long checking one password takes on one thread: what log-ins per second are compared with.
//
//   hash_time ENCODED_HASH PASSWORD COUNT        prints the median in seconds

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int count, char **words) {
    int rounds = count == 4 ? atoi(words[3]) : 0;
    if (rounds < 1 || rounds > 10000 || sodium_init() < 0) {
        fputs("usage: hash_time ENCODED_HASH PASSWORD COUNT (1 to 10000)\n", stderr);
        return 2;
    }
    double *seconds = calloc((size_t)rounds, sizeof *seconds);
    if (!seconds) return 1;
    for (int round = 0; round < rounds; round++) {
        double start = now();
        if (crypto_pwhash_str_verify(words[1], words[2], strlen(words[2])) != 0) {
            fputs("hash_time: the password does not fit the hash\n", stderr);
            return 1;
        }
        seconds[round] = now() - start;
    }
    qsort(seconds, (size_t)rounds, sizeof *seconds, ascending);
    printf("%.6f\n", seconds[rounds / 2]);
    free(seconds);
    return 0;
}
