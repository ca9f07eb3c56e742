/* A bare DEALER with libzmq: sends a frame, waits for its echo, again and again.

   dealer ADDRESS USER PASSWORD BYTES ROUNDS prints the microseconds of each round trip, one a line.
   libzmq's functions are declared here, so that no header needs to be installed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *zmq_ctx_new(void);
int zmq_ctx_term(void *context);
void *zmq_socket(void *context, int type);
int zmq_setsockopt(void *socket, int option, const void *value, size_t size);
int zmq_connect(void *socket, const char *address);
int zmq_send(void *socket, const void *data, size_t size, int flags);
int zmq_recv(void *socket, void *data, size_t size, int flags);
int zmq_close(void *socket);

enum { DEALER = 5, PLAIN_USERNAME = 45, PLAIN_PASSWORD = 46, FRAME_BYTES_MAX = 65536 };

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    static char frame[FRAME_BYTES_MAX], echo[FRAME_BYTES_MAX];
    if (argc != 6) return 2;
    int bytes = atoi(argv[4]), rounds = atoi(argv[5]);
    if (bytes < 1 || bytes > FRAME_BYTES_MAX) return 2;
    memset(frame, 7, sizeof frame);
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, DEALER);
    if (socket == NULL) return 1;
    zmq_setsockopt(socket, PLAIN_USERNAME, argv[2], strlen(argv[2]));
    zmq_setsockopt(socket, PLAIN_PASSWORD, argv[3], strlen(argv[3]));
    if (zmq_connect(socket, argv[1]) != 0) return 1;
    for (int round = 0; round < rounds; round++) {
        double sent_us = now_us();
        if (zmq_send(socket, frame, (size_t)bytes, 0) != bytes) return 1;
        if (zmq_recv(socket, echo, sizeof echo, 0) != bytes) return 1;
        printf("%.1f\n", now_us() - sent_us);
    }
    zmq_close(socket);
    return zmq_ctx_term(context) == 0 ? 0 : 1;
}
