#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void hs_error_release(struct hs_error *err)
{
    free(err->text);
    *err = (struct hs_error){0};
}

const char *hs_error_reason(struct hs_error *err)
{
    if (err->length > 0 && err->text[err->length - 1] == '\n')
        err->text[--err->length] = '\0';
    return err->text ? err->text : "";
}

bool hs_error_is_full(const struct hs_error *err)
{
    return err->mistakes >= HS_ERROR_MOST;
}

void hs_error_join(struct hs_error *err, const struct hs_error *other)
{
    const size_t mistakes = err->mistakes + other->mistakes;
    if (other->text)
        hs_error_add(err, other->status, "%s", other->text);
    err->mistakes = mistakes;
    err->more += other->more;
}

void hs_error_warn(struct hs_error *err, const char *place, const char *format, ...)
{
    const size_t from = err->length;
    char said[400];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    hs_error_add(err, HS_OK, "%s: %s", place, said);
    for (size_t n = from; n + 1 < err->length; n++)
        if (err->text[n] == '\n')
            err->text[n] = ' ';
}

enum hs_status hs_error_add(struct hs_error *err, enum hs_status status, const char *format, ...)
{
    if (!err)
        return status;
    if (status == HS_BAD_INPUT && hs_error_is_full(err)) {
        err->more++;
        return status;
    }
    err->mistakes += status == HS_BAD_INPUT;
    va_list args;
    va_start(args, format);
    const int needed = vsnprintf(NULL, 0, format, args);
    va_end(args);

    if (err->status == HS_OK)
        err->status = status;
    if (needed < 0)
        return status;
    const size_t size = (size_t)needed;
    char *text = (char *)realloc(err->text, err->length + size + 2);
    if (!text) /* the status still gives the kind of failure */
        return status;
    va_start(args, format);
    vsnprintf(text + err->length, size + 1, format, args);
    va_end(args);
    err->text = text;
    err->length += size;
    if (size == 0 || text[err->length - 1] != '\n') {
        text[err->length++] = '\n';
        text[err->length] = '\0';
    }
    err->count++;
    return status;
}
