/* Parses a command's arguments from a table of options. */
#ifndef HS_INPUT_ARGUMENTS_H
#define HS_INPUT_ARGUMENTS_H

#include "core/status.h"

enum hs_argument_type {
    HS_ARGUMENT_FLAG,     /* bool: no value */
    HS_ARGUMENT_STRING,   /* const char * */
    HS_ARGUMENT_OPTIONAL, /* the same, for an optional positional argument */
    HS_ARGUMENT_COUNT,    /* int64_t, at least 1; 1e6 is accepted */
    HS_ARGUMENT_LIST,     /* struct hs_argument_list: may be repeated */
};

/* Values in the order given; they point into argv. */
struct hs_argument_list {
    const char **items; /* owned: hs_argument_list_release */
    int count;
};
void hs_argument_list_release(struct hs_argument_list *list);

struct hs_argument {
    const char *name; /* "--set"; NULL for the positional argument, a string */
    enum hs_argument_type type;
    void *to;         /* of the type's kind; unchanged if the argument is not given */
    const char *what; /* "KEY=VALUE", "CONFIG": for messages */
};

/*
 * argv[0] is the command's name. `table` has `count` rows. "--set x" and "--set=x" are equivalent.
 * HS_BAD_INPUT with a message for each unknown, missing or excess argument.
 */
enum hs_status hs_arguments_read(int argc, char **argv, const struct hs_argument *table, int count,
                                 struct hs_error *err);

#endif
