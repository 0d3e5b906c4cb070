/* Reads a command's arguments by a table. */
#ifndef HS_INPUT_ARGUMENTS_H
#define HS_INPUT_ARGUMENTS_H

#include "core/status.h"

#include <stdbool.h>

enum hs_argument_type {
    HS_ARGUMENT_FLAG,     /* bool: no value */
    HS_ARGUMENT_STRING,   /* const char * */
    HS_ARGUMENT_OPTIONAL, /* the same, for a positional one that may be left out */
    HS_ARGUMENT_COUNT,    /* int64_t, at least 1; 1e6 is accepted */
    HS_ARGUMENT_LIST,     /* struct hs_argument_list: may be given again and again */
};

/* Values in the order given; they point into argv. */
struct hs_argument_list {
    const char **items; /* owned: hs_argument_list_release */
    int count;
};
void hs_argument_list_add(struct hs_argument_list *list, const char *item);
void hs_argument_list_release(struct hs_argument_list *list);

struct hs_argument {
    const char *name; /* "--set"; NULL for the positional one, which is a string */
    enum hs_argument_type type;
    void *to;         /* what the type says; left alone if the argument is not given */
    const char *what; /* "KEY=VALUE", "CONFIG": for messages */
};

/*
 * argv[0] is the command's name. `table` has `count` rows. "--set x" and "--set=x" are the same.
 * HS_BAD_INPUT with a message for each thing that is unknown, lacking or too much.
 */
enum hs_status hs_arguments_read(int argc, char **argv, const struct hs_argument *table, int count,
                                 struct hs_error *err);

#endif
