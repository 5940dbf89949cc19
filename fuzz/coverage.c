/* Lets libFuzzer, the engine inside atheris, see what code an input reaches.
 *
 * gcc's -fsanitize-coverage=trace-pc calls the first function below from every basic block; libFuzzer
 * wants an array of counters. Atheris registers its own counters, of Python code, by the two other
 * functions, which gcc's sanitizer library would otherwise take from libFuzzer and ignore; so they are
 * handed on from here, and ours with the first of them. Loaded before the sanitizer library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE (1 << 16)

typedef void take(void *start, void *stop);

static uint8_t counters[SIZE];
static uintptr_t places[2 * SIZE]; /* for each counter a place in the code, and flags */

void __sanitizer_cov_trace_pc(void) {
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    counters[(here * UINT64_C(0x9e3779b97f4a7c15)) >> 48]++;
}

static take *engine(const char *name) {
    void *library = dlopen(getenv("FUZZ_ENGINE"), RTLD_LAZY | RTLD_NOLOAD);
    take *found = library ? (take *)dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "coverage.c: no %s in the engine of atheris\n", name);
        exit(1);
    }
    return found;
}

void __sanitizer_cov_8bit_counters_init(void *start, void *stop) {
    static int known;
    take *hand_on = engine(__func__);
    if (!known++)
        hand_on(counters, counters + SIZE);
    hand_on(start, stop);
}

void __sanitizer_cov_pcs_init(void *start, void *stop) {
    static int known;
    take *hand_on = engine(__func__);
    if (!known++) {
        for (uintptr_t i = 0; i < SIZE; i++)
            places[2 * i] = i + 1;
        hand_on(places, places + 2 * SIZE);
    }
    hand_on(start, stop);
}
